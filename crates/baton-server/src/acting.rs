//! What people do through the API and through the page alike: decide, start, call off, go on, begin again. One place for each, so
//! that both doors let the same people do the same.

use axum::http::StatusCode;
use baton_engine::RunId;
use baton_engine::driver::{DriverProblem, WorkspaceProblem};
use baton_engine::engine::{AppliedCommand, GivenDecision, Problem};
use baton_engine::flow::Restart;
use baton_engine::handoff::Handoff;
use baton_engine::lifecycle::Decide;
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::access::Principal;
use crate::host::RunStart;
use crate::incoming::optional;
use crate::problem_json::ProblemJson;
use crate::server::Server;

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
}

/// Starts a run, which this server drives. Returns the handoff of the run.
pub(crate) async fn start_run(
    server: &Server,
    principal: &Principal,
    wanted: WantedRun,
) -> Result<Handoff, ProblemJson> {
    principal.runs_workflows()?;
    let WantedRun { workflow, inputs, workspace, id } = wanted;
    let id = optional("/id", id.as_deref(), RunId::chosen)?;
    let (run, definition) = server.host.definition(RunStart { workflow, inputs, workspace, id })?;
    let begun = server.driving.runs().begin(&run, &definition, &principal.caller()).await;
    begun.map_err(|problem| not_begun(server, problem))?;
    server.driving.start(&run);
    Ok(server.engine.resolve_run(run.as_str()).await?)
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
