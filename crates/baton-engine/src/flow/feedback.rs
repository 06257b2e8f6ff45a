//! What the agent must know that does work again: what failed, and who asked for which changes.

use baton_protocol::model::{PhaseFindings, Report};

use super::turn::{is_stopped, never_said};
use crate::answer::{self, context};
use crate::failure::Code;
use crate::handoff::{About, Note, State};
use crate::handover;
use crate::lifecycle::{Decide, Decision};
use crate::run::{Run, TrackedHandoff};
use crate::step::Role;

/// What the next attempt must know about what went wrong.
pub(super) fn what_failed(run: &Run, about: &TrackedHandoff) -> Vec<Note> {
    let failure = about.handoff.last_failure.as_ref().map(ToString::to_string);
    let failure = failure.map(|text| note(about_failure(about), about, &text));
    let report = about.report().filter(|report| !answer::passes(report) && !is_stopped(about));
    failure.into_iter().chain(report.map(|report| feedback(run, about, &told(report))).unwrap_or_default()).collect()
}

/// What a report says to the agent that must do the work again.
pub(super) fn told(report: &Report) -> String {
    let context = context(report).map(str::to_owned);
    let verdict = report.verdict.as_ref().map(|verdict| format!("verdict: {verdict}"));
    // What the members of a group said is handed over by themselves.
    let found =
        report.findings.as_ref().filter(|findings| !matches!(findings, PhaseFindings::Parallel(_))).map(|findings| {
            use baton_protocol::wire::Wire as _;
            findings.write().to_string()
        });
    let issues = report.issues.iter().cloned();
    let parts: Vec<String> = verdict.into_iter().chain(context).chain(issues).chain(found).collect();
    parts.join("\n")
}

/// Returns what the agent must know that does the work again. After a group that is what each member says that did not pass:
/// notes are read without the handovers beside them.
pub(super) fn feedback(run: &Run, tracked: &TrackedHandoff, text: &str) -> Vec<Note> {
    let mut notes = vec![note(about(tracked), tracked, text)];
    // Nobody but its own agent can do anything about an agent that failed without saying anything.
    for member in handover::members(run, tracked).into_iter().filter(|it| !it.passed() && !never_said(it)) {
        let said = match (member.report(), &member.handoff.last_failure) {
            (Some(report), _) if !answer::passes(report) => told(report),
            (_, Some(failure)) => failure.to_string(),
            (_, None) => continue,
        };
        notes.extend(feedback(run, member, &said));
    }
    notes
}

/// Only a report can be refuted; anything else that went wrong is passed on as it is.
fn about_failure(tracked: &TrackedHandoff) -> About {
    let failure = tracked.handoff.last_failure.as_ref();
    match failure.is_some_and(|failure| failure.code == Code::validation_failed()) {
        true => About::Refuted,
        false => about(tracked),
    }
}

/// Returns what somebody means who has work done again: only whoever has looked at it asks for changes.
fn about(tracked: &TrackedHandoff) -> About {
    let is_done = matches!(tracked.handoff.state, State::Completed { .. }) || is_stopped(tracked);
    let is_rejected = tracked.decided.as_ref().is_some_and(|decide| matches!(decide.decision, Decision::Reject { .. }));
    match tracked.step.role {
        Role::Work | Role::Gate | Role::Group if is_done || is_rejected => About::Feedback,
        _ => About::Failure,
    }
}

pub(super) fn note(about: About, tracked: &TrackedHandoff, text: &str) -> Note {
    let person = tracked.decided.as_ref().filter(|decide| matches!(decide.decision, Decision::Reject { .. }));
    let from = person.map_or_else(|| tracked.handoff.terms.to.clone(), Decide::who);
    Note::new(about, from, text)
}
