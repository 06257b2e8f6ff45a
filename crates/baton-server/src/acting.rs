//! What people do through the API and through the page alike: decide, start, call off, go on, begin again. One place for each, so
//! that both doors let the same people do the same.

use axum::http::StatusCode;
use baton_engine::RunId;
use baton_engine::driver::{DriverProblem, WorkspaceProblem};
use baton_engine::engine::{AppliedCommand, Problem};
use baton_engine::handoff::{Digest, Handoff};
use baton_engine::known::Decider;
use baton_engine::lifecycle::{Decide, Decision};
use baton_engine::people::{Question, Response};
use baton_engine::ssh::Signature;
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::access::Principal;
use crate::host::RunStart;
use crate::incoming::optional;
use crate::problem_json::ProblemJson;
use crate::server::Server;

/// A decision that somebody sends.
#[derive(Debug, Clone)]
pub(crate) struct SentDecision {
    pub(crate) decision: Decision,
    /// What was looked at.
    pub(crate) shown: Digest,
    /// What the person says beyond that.
    pub(crate) note: Option<String>,
    /// The name that they want to be shown beside the one that is known.
    pub(crate) label: Option<String>,
    /// Proves who decided by a key instead of the token.
    pub(crate) signature: Option<Signature>,
}

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

/// Records a decision about a handoff that the caller sees.
pub(crate) async fn decide(
    server: &Server,
    principal: &Principal,
    handoff: &Handoff,
    sent: SentDecision,
) -> Result<AppliedCommand, Box<UnrecordedDecision>> {
    let unrecorded = |problem| Box::new(UnrecordedDecision { problem, handoff: handoff.clone(), decided: None });
    is_known(principal).map_err(unrecorded)?;
    let caller = principal.caller();
    let question = server.engine.question(handoff).await.map_err(|why| unrecorded(why.into()))?;
    let SentDecision { decision, shown, note, label, signature } = sent;
    let other_name = label.clone().filter(|label| *label != caller.decider.name);
    let by = Decider { label: other_name, ..caller.decider.clone() };
    let mut decide = recorded(Response { decision, note, by, door: caller.door }, shown, question.as_ref());
    if let Some(signature) = signature {
        // Under a signature stands what was typed, whatever the token is called.
        decide = Decide { label, ..decide }.signed(signature, handoff.terms.approval.as_ref());
    }
    match server.engine.decide(handoff, decide, &caller).await {
        Ok(applied) => Ok(applied),
        Err(problem @ (Problem::Refused { .. } | Problem::AlreadyDecided { .. })) => {
            let problem = ProblemJson::from(problem);
            let handoff = server.engine.again(handoff).await.map_err(|why| unrecorded(why.into()))?;
            let is_late = problem.status() == StatusCode::CONFLICT;
            let decided = if is_late { last_decision(server, &handoff).await } else { None };
            Err(Box::new(UnrecordedDecision { problem, handoff, decided }))
        }
        Err(problem) => Err(unrecorded(problem.into())),
    }
}

/// Returns the decision as it is recorded. What waits for nobody is for the lifecycle to refuse.
fn recorded(said: Response, shown: Digest, question: Option<&Question>) -> Decide {
    match question {
        Some(question) => Decide { shown, ..question.decided(said) },
        None => {
            let Response { decision, note, by, door } = said;
            Decide { by: by.name, known: by.known, label: by.label, door, shown, decision, note, asked: None }
        }
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
    from: Option<&str>,
    note: Option<&str>,
) -> Result<Handoff, ProblemJson> {
    if principal.is_anonymous() {
        return Err(ProblemJson::unauthorized("repeating a run needs the token of an approver")
            .hint("baton token create --role approver"));
    }
    let caller = principal.caller();
    caller.person()?;
    let root = server.visible_run(principal, id).await?;
    server.driving.runs().begin_again(&root.run, from, note, &caller).await?;
    server.driving.start(&root.run);
    Ok(root)
}
