//! Starting a run with a form. What cannot be started is told in the form, with everything that was typed.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use baton_engine::definition::Definition;
use baton_page::starting::{self, SentStart, StartInput, StartableWorkflow, field};
use baton_page::{address, plain};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::answering::{html, text};
use super::form::{SentForm, see};
use super::visitor::Visitor;
use crate::access::Principal;
use crate::acting::{self, WantedRun};
use crate::host::{KnownInput, KnownWorkflow};
use crate::incoming::Search;
use crate::problem_json::ProblemJson;
use crate::server::Server;

/// Which workflow.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Chosen {
    workflow: String,
    /// The run whose inputs stand in the form.
    like: String,
}

/// Shows the form; where several workflows are known and none is named, those.
pub(super) async fn form(
    State(server): State<Server>,
    visitor: Visitor,
    Search(chosen): Search<Chosen>,
) -> Result<Response, ProblemJson> {
    let principal = visitor.principal()?;
    principal.runs_workflows()?;
    let workflows: Vec<StartableWorkflow> = server.host.workflows().into_iter().map(startable).collect();
    let viewer = visitor.viewer();
    match (chosen.workflow.as_str(), &workflows[..]) {
        ("", all) if !visitor.wants_html => Ok(text(plain::workflows(all))),
        ("", [only]) => Ok(html(starting::form(&viewer, only, None))),
        ("", all) => Ok(html(starting::choice(&viewer, all))),
        (name, all) => {
            let named = all.iter().find(|workflow| workflow.name == name);
            let named = named.ok_or_else(|| ProblemJson::unknown(name))?;
            let filled = match chosen.like.as_str() {
                "" => None,
                run => Some(given_to(&server, principal, run).await?),
            };
            Ok(html(starting::form(&viewer, named, filled.as_ref())))
        }
    }
}

/// Starts a run, and leads to it.
pub(super) async fn start(
    State(server): State<Server>,
    visitor: Visitor,
    form: SentForm,
) -> Result<Response, ProblemJson> {
    let principal = visitor.principal()?;
    principal.runs_workflows()?;
    let name = form.field(field::WORKFLOW);
    let known = server.host.workflows().into_iter().find(|workflow| workflow.name == name);
    let workflow = known.map(startable).ok_or_else(|| ProblemJson::unknown(name))?;
    let inputs = typed(&form, workflow.inputs.iter().map(|input| input.name.as_str()));
    let begun = match given(&inputs) {
        Ok(inputs) => {
            let (workspace, id) = (form.optional(field::WORKSPACE), form.optional(field::ID));
            let wanted = WantedRun { workflow: workflow.name.clone(), inputs, workspace, id, key: None };
            acting::start_run(&server, principal, wanted).await
        }
        Err(problem) => Err(problem),
    };
    match begun {
        Ok(started) => Ok(see(&address::run(&started.handoff.run))),
        Err(problem) if problem.status().is_server_error() || problem.status() == StatusCode::FORBIDDEN => Err(problem),
        Err(problem) => {
            let sent = SentStart {
                why: problem.detail().to_owned(),
                advice: problem.advice().map(str::to_owned),
                inputs,
                workspace: form.field(field::WORKSPACE).to_owned(),
                id: form.field(field::ID).to_owned(),
            };
            let page = html(starting::form(&visitor.viewer(), &workflow, Some(&sent)));
            Ok((problem.status(), page).into_response())
        }
    }
}

/// Returns what a run was given, as somebody would type it.
async fn given_to(server: &Server, principal: &Principal, run: &str) -> Result<SentStart, ProblemJson> {
    let root = server.visible_run(principal, run).await?;
    let record = server.run_record(&root).await?;
    let definition = &record.run.definition;
    let inputs = definition.inputs.keys().map(|name| (name.clone(), definition.typed(name))).collect();
    let folder = definition.workspace.strip_prefix(server.host.workspace()).map(|inside| inside.display().to_string());
    Ok(SentStart { inputs, workspace: folder.unwrap_or_default(), ..SentStart::default() })
}

/// Returns what stands in the fields of inputs, by their names.
pub(super) fn typed<'n>(form: &SentForm, names: impl Iterator<Item = &'n str>) -> Vec<(String, String)> {
    let text = |name: &str| form.field(&format!("{}{name}", field::INPUT)).to_owned();
    names.map(|name| (name.to_owned(), text(name))).collect()
}

/// Reads what was typed as the command line does; what was left empty is not given.
pub(super) fn given(typed: &[(String, String)]) -> Result<Map<String, Value>, ProblemJson> {
    let filled = typed.iter().filter(|(_, text)| !text.is_empty());
    let read = |(name, text): &(String, String)| {
        let value = Definition::typed_input(text).map_err(|error| {
            ProblemJson::bad_value(format!("/inputs/{name}"), format!("{name} is not JSON: {error}"))
        })?;
        Ok((name.clone(), value))
    };
    filled.map(read).collect()
}

fn startable(workflow: KnownWorkflow) -> StartableWorkflow {
    let KnownWorkflow { name, description, inputs, phases, .. } = workflow;
    let input = |input: KnownInput| {
        let default = input.default.as_ref().map(Definition::as_typed);
        let is_required = input.required == Some(true) && default.is_none();
        StartInput { name: input.name, description: input.description, default, is_required }
    };
    StartableWorkflow { name, description, inputs: inputs.into_iter().map(input).collect(), phases }
}
