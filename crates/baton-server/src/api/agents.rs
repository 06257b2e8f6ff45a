//! Agents: how full their queues are, how these are set, and how their work turns out.

use axum::Json;
use axum::extract::State;
use baton_engine::engine::agent_name;
use baton_page::agents::AgentFigures;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::access::Principal;
use crate::incoming::{InPath, JsonBody, value};
use crate::looking::QueueCounts;
use crate::problem_json::ProblemJson;
use crate::server::Server;

/// List agents: the depth of each queue, and its settings; also agents of known workflows that have had no work
#[utoipa::path(get, path = "/api/v1/agents", tag = "agents", responses((status = 200, description = "The agents")))]
pub(crate) async fn list(State(server): State<Server>, principal: Principal) -> Result<Json<Value>, ProblemJson> {
    let queues = server.queue_counts().await?;
    let own = queues.iter().filter(|(queue, _)| principal.sees_queue(&queue.agent));
    let agents = own.map(|(queue, counts)| baton_views::queue::json(queue, counts));
    Ok(Json(json!({ "version": 1, "agents": agents.collect::<Vec<_>>() })))
}

/// Look at an agent: its queue, and how its latest work turned out
#[utoipa::path(get, path = "/api/v1/agents/{agent}", tag = "agents", params(("agent" = String, Path, description = "Its name, or that of its queue, with / as %2F")),
    responses((status = 200, description = "The agent"), (status = 404, description = "Nothing was ever sent to it, and no known workflow has it")))]
pub(crate) async fn show(
    State(server): State<Server>,
    principal: Principal,
    InPath(agent): InPath<String>,
) -> Result<Json<Value>, ProblemJson> {
    let agent = value("agent", agent_name(&agent))?;
    if !principal.sees_queue(&agent) {
        return Err(ProblemJson::unknown(&agent));
    }
    let queues = server.queue_counts().await?;
    let (queue, counts) =
        queues.iter().find(|(queue, _)| queue.agent == agent).ok_or_else(|| unknown(&agent, &queues, &principal))?;
    let mut form = baton_views::queue::json(queue, counts);
    form["recent"] = figures(&server.agent_figures(&agent).await?);
    Ok(Json(json!({ "version": 1, "agent": form })))
}

/// The problem when nothing is known of an agent. One of a workflow is called by the name of its queue.
fn unknown(agent: &str, queues: &[QueueCounts], principal: &Principal) -> ProblemJson {
    let in_workflow = |queue: &&str| queue.rsplit_once('/').is_some_and(|(_, name)| name == agent);
    let names = queues.iter().map(|(queue, _)| queue.agent.as_str()).filter(|queue| principal.sees_queue(queue));
    let meant: Vec<&str> = names.filter(in_workflow).collect();
    let problem = ProblemJson::unknown(agent);
    if meant.is_empty() { problem } else { problem.hint(format!("in workflows it is called {}", meant.join(", "))) }
}

/// Writes how handoffs turned out. Counts stand beside every share.
fn figures(figures: &AgentFigures) -> Value {
    let AgentFigures { ended, completed, first_pass, attempts, claims, refuted, spending } = figures;
    let share = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
    json!({
        "finished": ended,
        "completed": completed,
        "failed": ended - completed,
        "first_pass": first_pass,
        "first_pass_share": share(*first_pass, *ended),
        "attempts": attempts,
        "claims": claims,
        "refuted_claims": refuted,
        "refuted_share": share(*refuted, *claims),
        "tokens": spending.spent.tokens(),
        "cost_micros": spending.spent.cost_micros,
        "turns_without_price": spending.unpriced,
    })
}

/// The settings of a queue.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct QueueSettings {
    /// Whether nothing is handed out; default: as it is.
    paused: Option<bool>,
    /// How many may be claimed at the same time, 0 for no limit; default: as it is.
    limit: Option<u32>,
}

/// Pause or limit the queue of an agent
#[utoipa::path(patch, path = "/api/v1/agents/{agent}", tag = "agents", params(("agent" = String, Path, description = "Its name, or that of its queue, with / as %2F")),
    request_body = QueueSettings, responses((status = 200, description = "The settings"), (status = 403, description = "This needs an admin")))]
pub(crate) async fn set(
    State(server): State<Server>,
    principal: Principal,
    InPath(agent): InPath<String>,
    JsonBody(new): JsonBody<QueueSettings>,
) -> Result<Json<Value>, ProblemJson> {
    principal.configures()?;
    let agent = value("agent", agent_name(&agent))?;
    let mut queue = server.engine.store.queue(&agent).await?;
    queue.paused = new.paused.unwrap_or(queue.paused);
    queue.concurrency = new.limit.map_or(queue.concurrency, |limit| Some(limit).filter(|limit| *limit > 0));
    server.engine.store.set_queue(&queue).await?;
    Ok(Json(json!({ "version": 1, "agent": baton_views::queue::settings(&queue) })))
}
