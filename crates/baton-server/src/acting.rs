//! What people do through the API and through the page alike: decide, start, call off, go on, begin again. One place for each, so
//! that both doors let the same people do the same.

use std::time::Duration;

use axum::http::StatusCode;
use baton_engine::definition::Definition;
use baton_engine::driver::{DriverProblem, WorkspaceProblem};
use baton_engine::engine::{AppliedCommand, Caller, GivenDecision, Problem};
use baton_engine::flow::Restart;
use baton_engine::handoff::{Handoff, Terms};
use baton_engine::lifecycle::Decide;
use baton_engine::store::{AcceptedHandoff, StoreError};
use baton_engine::{HandoffId, RunId};
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use crate::access::Principal;
use crate::host::RunStart;
use crate::incoming::{optional, value};
use crate::problem_json::ProblemJson;
use crate::server::Server;

/// How long a start waits for another start of the same run that has its workspace already and is not recorded yet.
const START_WITHIN: Duration = Duration::from_secs(5);

/// How often it looks.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Why a decision was not recorded.
pub(crate) struct UnrecordedDecision {
    pub(crate) problem: ProblemJson,
    /// The handoff as it is now.
    pub(crate) handoff: Handoff,
    /// What somebody else has decided meanwhile, and when.
    pub(crate) decided: Option<(Decide, Timestamp)>,
}

/// Lets everybody pass who has a token. Whether it is that of a person is for the engine to say.
pub(crate) fn is_known(principal: &Principal) -> Result<(), ProblemJson> {
    if principal.is_anonymous() {
        return Err(ProblemJson::unauthorized("decisions always need the token of an approver")
            .hint("baton token create --role approver"));
    }
    Ok(())
}

/// Finds what the caller decides about, as far as they see it: a handoff, or the only question of a run.
pub(crate) async fn asked(server: &Server, principal: &Principal, id: &str) -> Result<Handoff, ProblemJson> {
    let asked = server.engine.asked(server.visible(principal, id).await?).await?;
    if principal.sees(&asked) { Ok(asked) } else { Err(ProblemJson::unknown(id)) }
}

/// Records a decision about a handoff that the caller sees.
pub(crate) async fn decide(
    server: &Server,
    principal: &Principal,
    handoff: &Handoff,
    given: GivenDecision,
) -> Result<AppliedCommand, Box<UnrecordedDecision>> {
    let unrecorded = |problem| Box::new(UnrecordedDecision { problem, handoff: handoff.clone(), decided: None });
    is_known(principal).map_err(unrecorded)?;
    let (engine, caller) = (&server.engine, principal.caller());
    let question = engine.question(handoff).await.map_err(|why| unrecorded(why.into()))?;
    let decide = engine.decision(handoff, question.as_ref(), given, &caller).map_err(|why| unrecorded(why.into()))?;
    match engine.decide(handoff, decide, &caller).await {
        Ok(applied) => Ok(applied),
        Err(problem @ (Problem::Refused { .. } | Problem::AlreadyDecided { .. })) => {
            let problem = ProblemJson::from(problem);
            let handoff = engine.again(handoff).await.map_err(|why| unrecorded(why.into()))?;
            let is_late = problem.status() == StatusCode::CONFLICT;
            let decided = if is_late { last_decision(server, &handoff).await } else { None };
            Err(Box::new(UnrecordedDecision { problem, handoff, decided }))
        }
        Err(problem) => Err(unrecorded(problem.into())),
    }
}

/// Returns what was decided last about a handoff, and when, if anything was.
pub(crate) async fn last_decision(server: &Server, handoff: &Handoff) -> Option<(Decide, Timestamp)> {
    server.engine.last_decision(&handoff.id).await.ok()?
}

/// A run that somebody wants to start.
#[derive(Debug)]
pub(crate) struct WantedRun {
    pub(crate) workflow: String,
    pub(crate) inputs: Map<String, Value>,
    pub(crate) workspace: Option<String>,
    pub(crate) id: Option<String>,
    /// The key under which it is remembered, as the caller sent it.
    pub(crate) key: Option<String>,
}

/// Starts a run, which this server drives, unless the same was started before. Returns the handoff of the run.
pub(crate) async fn start_run(
    server: &Server,
    principal: &Principal,
    wanted: WantedRun,
) -> Result<AcceptedHandoff, ProblemJson> {
    principal.runs_workflows()?;
    let WantedRun { workflow, inputs, workspace, id, key } = wanted;
    let caller = principal.caller();
    let key = key.map(|key| principal.own_key(&key));
    let id = optional("/id", id.as_deref(), RunId::chosen)?;
    let id = id.or_else(|| key.as_deref().map(|key| RunId::of_key(&workflow, key)));
    let start = RunStart { workflow, inputs, workspace, id };
    // Before anything else: the workspace is held by the very run, and the answer to its start may have been lost.
    if let Some(existing) = started_before(server, &start, &caller, key.as_deref()).await? {
        return Ok(existing);
    }
    let (run, definition) = server.host.definition(start.clone())?;
    let until = Instant::now() + START_WITHIN;
    while let Err(problem) = server.driving.runs().begin(&run, &definition, &caller, key.as_deref()).await {
        if let Some(meanwhile) = started_before(server, &start, &caller, key.as_deref()).await? {
            return Ok(meanwhile);
        }
        if Instant::now() >= until || !start.id.as_ref().is_some_and(|id| is_just_starting(id, &problem)) {
            return Err(not_begun(server, problem));
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    server.driving.start(&run);
    Ok(AcceptedHandoff { handoff: server.engine.resolve_run(run.as_str()).await?, existing: false })
}

/// Returns the run that has this id, if the same caller has started it with the same; one that was started with something else
/// is a problem.
async fn started_before(
    server: &Server,
    start: &RunStart,
    caller: &Caller,
    key: Option<&str>,
) -> Result<Option<AcceptedHandoff>, ProblemJson> {
    let Some(run) = &start.id else { return Ok(None) };
    let id = value("/id", HandoffId::parse(run.as_str()))?;
    let Some(root) = server.engine.store.find(&id).await?.filter(Handoff::is_run) else { return Ok(None) };
    let Some(begun) = server.engine.definition(run).await? else { return Ok(None) };
    let workspace = server.host.workspace().join(start.workspace.as_deref().unwrap_or_default());
    let workspace = workspace.canonicalize().unwrap_or(workspace);
    let inputs = Definition::inputs(&begun.workflow, start.inputs.clone());
    let is_same = begun.name() == start.workflow && begun.workspace == workspace && inputs == Ok(begun.inputs);
    let is_theirs = root.terms.from == caller.decider.name && root.terms.key.as_deref() == key;
    if is_same && is_theirs {
        return Ok(Some(AcceptedHandoff { handoff: root, existing: true }));
    }
    let what = if key.is_some() && root.terms.key.as_deref() == key { "key" } else { "id" };
    let value = key.filter(|_| what == "key").map(Terms::readable_key).unwrap_or(run.as_str()).to_owned();
    Err(StoreError::Taken { what, value, existing: id }.into())
}

/// Returns whether the workspace is held by the very run that is to start: somebody starts it at the same moment. Who has taken a
/// workspace in another process is written there a little later.
fn is_just_starting(id: &RunId, problem: &DriverProblem) -> bool {
    matches!(problem, DriverProblem::Workspace(WorkspaceProblem::Held { run, .. }) if run.is_empty() || run == id.as_str())
}

/// The problem when a run was not begun. A run in the folder of the server itself leaves no room beside it.
fn not_begun(server: &Server, problem: DriverProblem) -> ProblemJson {
    let whole = match &problem {
        DriverProblem::Workspace(WorkspaceProblem::Held { workspace, run, .. }) => {
            let is_whole = server.host.workspace().canonicalize().is_ok_and(|folder| folder == *workspace);
            is_whole.then(|| (run.clone(), workspace.clone()))
        }
        _ => None,
    };
    match whole {
        Some((run, folder)) if !run.is_empty() => {
            let detail = format!("run {run} holds the whole folder of the server, {}", folder.display());
            ProblemJson::new(StatusCode::CONFLICT, "workspace_held", detail)
                .hint(format!(
                    "wait for it or cancel it: baton cancel {run}. Runs with a `workspace` each work side by side"
                ))
                .with("run", json!(run))
        }
        _ => problem.into(),
    }
}

/// Calls a run off, with everything that is open in it.
pub(crate) async fn cancel_run(
    server: &Server,
    principal: &Principal,
    id: &str,
    reason: Option<String>,
) -> Result<AppliedCommand, ProblemJson> {
    principal.writes()?;
    let root = server.visible_run(principal, id).await?;
    Ok(server.engine.cancel(&root, reason, &principal.caller()).await?)
}

/// Continues a run that has no driver. Returns the handoff of the run.
pub(crate) async fn resume_run(server: &Server, principal: &Principal, id: &str) -> Result<Handoff, ProblemJson> {
    principal.runs_workflows()?;
    let root = server.visible_run(principal, id).await?;
    server.driving.start(&root.run);
    Ok(root)
}

/// Lets a run begin again from a phase, or from the one that it came to last. Returns the handoff of the run.
pub(crate) async fn retry_run(
    server: &Server,
    principal: &Principal,
    id: &str,
    restart: &Restart,
) -> Result<Handoff, ProblemJson> {
    if principal.is_anonymous() {
        return Err(ProblemJson::unauthorized("repeating a run needs the token of an approver")
            .hint("baton token create --role approver"));
    }
    let caller = principal.caller();
    caller.person()?;
    let root = server.visible_run(principal, id).await?;
    server.driving.runs().begin_again(&root.run, restart, &caller).await?;
    server.driving.start(&root.run);
    Ok(root)
}
