//! What can be said at each place of a workflow that is played through.

use baton_protocol::wire::fits;
use baton_protocol::workflow::COMMON_REASONS;

use crate::flow;
use crate::handoff::{Ask, State};
use crate::route::reasons;
use crate::run::{Run, TrackedHandoff};
use crate::step::Role;

/// What somebody says.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Line {
    Done,
    SaysNo,
    Fails,
    Blocked(String),
    Verdict(String),
    Approves,
    Rejects,
    Answers,
    Chooses(String),
}

impl Line {
    pub(super) fn words(&self) -> String {
        match self {
            Line::Done => "done".to_owned(),
            Line::SaysNo => "says no".to_owned(),
            Line::Fails => "fails".to_owned(),
            Line::Blocked(reason) => format!("blocked: {reason}"),
            Line::Verdict(verdict) => format!("verdict: {verdict}"),
            Line::Approves => "approve".to_owned(),
            Line::Rejects => "reject".to_owned(),
            Line::Answers => "answer".to_owned(),
            Line::Chooses(word) => word.clone(),
        }
    }
}

/// What can be said there; what lets the run go on well comes first.
pub(super) fn lines(run: &Run, tracked: &TrackedHandoff) -> Vec<Line> {
    let choices = &tracked.handoff.terms.choices;
    match (&tracked.handoff.state, tracked.step.role) {
        (State::AwaitingPerson { .. }, Role::Limit) => vec![Line::Chooses("stop".to_owned())],
        (State::AwaitingPerson { .. }, _) if !choices.is_empty() => {
            choices.iter().cloned().map(Line::Chooses).collect()
        }
        (State::AwaitingPerson { ask: Ask::Clarification }, _) => vec![Line::Answers],
        (State::AwaitingPerson { .. }, Role::Escalation) => vec![Line::Answers, Line::Rejects],
        (State::AwaitingPerson { .. }, _) => vec![Line::Approves, Line::Rejects],
        (_, Role::Check) => vec![Line::Done, Line::Fails],
        (_, Role::Work) => of_an_agent(run, tracked),
        _ => vec![Line::Done],
    }
}

fn of_an_agent(run: &Run, tracked: &TrackedHandoff) -> Vec<Line> {
    let Some(located) = run.definition.locate(&tracked.step.phase) else { return vec![Line::Done] };
    let (phase, agent) = (located.phase(), &tracked.handoff.terms.to);
    let workflow = &located.definition.workflow;
    let is_own = |name: &Option<String>| name.as_ref().is_none_or(|pattern| fits(pattern, agent));
    let verdicts =
        workflow.routes.iter().filter(|route| is_own(&route.agent)).filter_map(|route| route.verdict.clone());
    let mut reasons = reasons(workflow, agent);
    // One that no row of the workflow knows.
    reasons.extend(COMMON_REASONS.iter().map(|reason| (*reason).to_owned()).find(|reason| !reasons.contains(reason)));
    let says_no = flow::is_review(phase) || phase.on_failure.is_some();
    let mut lines = vec![Line::Done];
    lines.extend(says_no.then_some(Line::SaysNo));
    lines.push(Line::Fails);
    lines.extend(verdicts.map(Line::Verdict));
    lines.extend(reasons.into_iter().map(Line::Blocked));
    lines
}
