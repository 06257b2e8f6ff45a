//! Workflows that runs can be started from.

use axum::Json;
use axum::extract::State;
use serde_json::{Map, Value, json};

use crate::access::Principal;
use crate::host::{KnownInput, KnownWorkflow};
use crate::incoming::InPath;
use crate::problem_json::ProblemJson;
use crate::server::Server;

/// List the workflows that runs can be started from
#[utoipa::path(get, path = "/api/v1/workflows", tag = "workflows", responses((status = 200, description = "The workflows")))]
pub(crate) async fn list(State(server): State<Server>, _: Principal) -> Json<Value> {
    let workflows: Vec<Value> = server.host.workflows().iter().map(as_json).collect();
    Json(json!({ "version": 1, "workflows": workflows }))
}

/// Look at a workflow: what it must be given, its phases and agents
#[utoipa::path(get, path = "/api/v1/workflows/{name}", tag = "workflows", params(("name" = String, Path, description = "Its name")),
    responses((status = 200, description = "The workflow"), (status = 404, description = "Unknown workflow")))]
pub(crate) async fn show(
    State(server): State<Server>,
    _: Principal,
    InPath(name): InPath<String>,
) -> Result<Json<Value>, ProblemJson> {
    let found = server.host.workflows().into_iter().find(|workflow| workflow.name == name);
    let found = found.ok_or_else(|| ProblemJson::unknown(&name))?;
    Ok(Json(json!({ "version": 1, "workflow": as_json(&found) })))
}

fn as_json(workflow: &KnownWorkflow) -> Value {
    let KnownWorkflow { name, description, inputs, phases, agents, .. } = workflow;
    let declared = |input: &KnownInput| json!({ "description": input.description, "default": input.default, "required": input.required });
    let inputs: Map<String, Value> = inputs.iter().map(|input| (input.name.clone(), declared(input))).collect();
    json!({ "name": name, "description": description, "inputs": inputs, "phases": phases, "agents": agents })
}
