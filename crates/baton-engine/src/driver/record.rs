//! Writes down what came out of something that the driver had started.

use baton_protocol::model::Report;
use baton_protocol::model::terms::Outcome;
use baton_protocol::{Dialect, Document, convert};
use serde_json::{Value, json};

use super::attempt::{Answered, Failed, Finished, SeenReport, TurnFigures};
use super::brief::Brief;
use crate::Fence;
use crate::agent::AfterFailure;
use crate::answer::Answer;
use crate::draft::Draft;
use crate::evidence;
use crate::failure::{Code, Failure, Transience};
use crate::flow;
use crate::handoff::{State, WrittenDocument};
use crate::id::HandoffId;
use crate::lifecycle::{self, Acknowledge, Again, Command, Ending, Fail, HandIn, Heartbeat, Refusal, Verdict, Verify};
use crate::run::{Known, Run, TrackedHandoff};
use crate::step::Role;

/// Adds what came out to a draft. What is refused came too late: somebody else has it, or it was called off. If it is
/// still ours, the attempt has failed: nothing else would ever come of it.
pub(super) fn record(draft: &mut Draft, id: &HandoffId, fence: Fence, finished: &Finished, dice: f64) {
    let Err(refusal) = recorded(draft, id, fence, finished, dice) else { return };
    let Some(tracked) = draft.run.find(id).filter(|tracked| lifecycle::holds(&tracked.handoff, fence).is_ok()) else {
        return;
    };
    if matches!(finished, Finished::Understood(_) | Finished::Session(_) | Finished::Spent(_)) {
        return;
    }
    let failure = match refusal {
        Refusal::TooLong { .. } => {
            let limit = tracked.handoff.terms.timeout_ms.unwrap_or_default() as f64 / 1000.0;
            Failure::new(Code::timeout(), format!("it did not finish within {limit} s"))
        }
        refusal => Failure::new(Code::validation_failed(), refusal.to_string()),
    };
    let failure = repeated(&draft.run, id, failure);
    let _ = draft.apply(id, Command::Fail(Fail::new(fence, failure, dice)));
}

fn recorded(draft: &mut Draft, id: &HandoffId, fence: Fence, finished: &Finished, dice: f64) -> Result<(), Refusal> {
    match finished {
        // What cannot be looked at again may have changed: a person must look.
        Finished::Failed(failed) if is_decided_about(&draft.run, id) => {
            let examined = vec![evidence::unseen(&failed.failure.text())];
            draft.apply(id, looked(fence, Some(&SeenReport { examined, ..SeenReport::default() }), dice))
        }
        Finished::Looked(seen) => draft.apply(id, looked(fence, seen.as_ref(), dice)),
        // Nobody holds what is being examined, so it cannot fail; and what cannot be examined does not count.
        Finished::Failed(failed) if is_examined(&draft.run, id) => {
            let reasons = format!("it could not be examined: {}", failed.failure.text());
            draft.apply(id, verify(&draft.run, id, fence, &SeenReport::default(), Some(reasons), dice))
        }
        Finished::Failed(failed) => {
            let Failed { failure, document, changed, turn, after } = (**failed).clone();
            let fail = Fail { document, changed, ..Fail::new(fence, failure, dice) };
            draft.apply(id, failed_turn(draft, id, fail, turn, after))
        }
        Finished::Session(id_of_session) => {
            let session = Some(id_of_session.clone());
            draft.apply(id, Command::Heartbeat(Heartbeat { session, ..Heartbeat::new(fence) }))
        }
        Finished::Spent(spent) => {
            draft.apply(id, Command::Heartbeat(Heartbeat { spent: Some(*spent), ..Heartbeat::new(fence) }))
        }
        Finished::Understood(document) => draft.apply(id, acknowledge(fence, true, document)),
        Finished::NotUnderstood(document) => draft.apply(id, acknowledge(fence, false, document)),
        Finished::Answered(answered) => record_answer(draft, id, fence, answered, dice),
        Finished::Examined(seen) => {
            let refuted = evidence::refuted(&seen.examined);
            draft.apply(id, verify(&draft.run, id, fence, seen, refuted, dice))
        }
        Finished::Checked(outcome) => {
            let document = checked(draft, id, outcome);
            let examined = outcome.examined.clone();
            let report = HandIn { examined, ..HandIn::new(fence, Ending::Complete, document) };
            draft.apply(id, Command::Report(report))
        }
    }
}

fn record_answer(
    draft: &mut Draft,
    id: &HandoffId,
    fence: Fence,
    answered: &Answered,
    dice: f64,
) -> Result<(), Refusal> {
    if let Some(document) = &answered.acknowledgment {
        draft.apply(id, acknowledge(fence, true, document))?;
    }
    let document = answered.document.clone();
    if let Some(other) = handed_in_by(&draft.run, id, &document) {
        let path = document.path.clone().unwrap_or_default();
        let message = format!("{path} is the report of {other}; every attempt must write its own report");
        let failure = Failure::new(Code::validation_failed(), message);
        let fail = Fail { changed: answered.changed.clone(), ..Fail::new(fence, failure, dice) };
        return draft.apply(id, failed_turn(draft, id, fail, answered.turn.clone(), AfterFailure::Policy));
    }
    let ending = match &answered.answer {
        Answer::Ended(ending) => ending.clone(),
        Answer::Failed(failure) => {
            let failure = repeated(&draft.run, id, failure.clone());
            let TurnFigures { spent, skills, .. } = answered.turn.clone();
            let (document, changed) = (Some(document), answered.changed.clone());
            let fail = Fail { document, changed, spent, skills, ..Fail::new(fence, failure, dice) };
            return draft.apply(id, Command::Fail(fail));
        }
    };
    let complete = matches!(ending, Ending::Complete | Ending::NeedsReview);
    let report = HandIn {
        spent: answered.turn.spent,
        skills: answered.turn.skills.clone(),
        changed: answered.changed.clone(),
        transcript: answered.transcript.clone(),
        ..HandIn::new(fence, ending, document)
    };
    let known = answered.known.as_ref().map_or(Known::Nothing, |told| Known::Report(told.clone()));
    draft.apply_known(id, Command::Report(report), known)?;
    match &answered.examined {
        Some(seen) if complete => {
            let refuted = evidence::refuted(&seen.examined);
            draft.apply(id, verify(&draft.run, id, fence, seen, refuted, dice))
        }
        _ => Ok(()),
    }
}

/// Returns the command that follows a failed turn. A report is repaired in its session if that can go on, a limit is
/// waited for as long as that is likely to help, and everything else is up to the policy.
fn failed_turn(draft: &Draft, id: &HandoffId, fail: Fail, turn: TurnFigures, after: AfterFailure) -> Command {
    let tracked = draft.run.find(id);
    let goes_on = tracked.and_then(TrackedHandoff::turn).is_some_and(|turn| turn.goes_on);
    let can_park = |until| tracked.is_some_and(|tracked| tracked.parks.allow(&tracked.handoff, until));
    let again = match after {
        AfterFailure::Wait { until } if until > draft.at && can_park(until) => Again::At(until),
        AfterFailure::Wait { until } | AfterFailure::Pause { until } if until > draft.at => Again::NotBefore(until),
        AfterFailure::FreshSession if goes_on => Again::Fresh,
        AfterFailure::Policy if is_repaired(&draft.run, id, &fail.failure) => Again::Repair,
        AfterFailure::Policy | AfterFailure::Pause { .. } | AfterFailure::Wait { .. } | AfterFailure::FreshSession => {
            Again::Policy
        }
    };
    let counts = matches!(again, Again::Policy | Again::NotBefore(_));
    let failure = if counts { repeated(&draft.run, id, fail.failure) } else { fail.failure };
    let TurnFigures { spent, skills, mut warnings } = turn;
    if fail.document.is_some() {
        // It has them itself.
        warnings.clear();
    }
    Command::Fail(Fail { failure, warnings, spent, skills, again, ..fail })
}

/// Returns whether what was wrong with a report is repaired in the session that wrote it.
fn is_repaired(run: &Run, id: &HandoffId, failure: &Failure) -> bool {
    let can_be = run.find(id).is_some_and(TrackedHandoff::can_be_repaired);
    can_be && failure.code == Code::validation_failed() && failure.chance == Transience::Transient
}

fn acknowledge(fence: Fence, understood: bool, document: &WrittenDocument) -> Command {
    Command::Acknowledge(Acknowledge { fence, understood, document: document.clone(), author: None })
}

/// Returns who has handed in the very same file before. Two agents of one name may write to one folder at the same time,
/// and a block does not say which of them it is from.
fn handed_in_by<'r>(run: &'r Run, id: &HandoffId, document: &'r WrittenDocument) -> Option<&'r HandoffId> {
    document.path.as_ref()?;
    run.handed_in(document).map(|tracked| &tracked.handoff.id).find(|other| *other != id)
}

/// Returns whether the files of a handoff must be examined, because a person decides about it or has decided.
fn is_decided_about(run: &Run, id: &HandoffId) -> bool {
    run.find(id).is_some_and(|tracked| tracked.handoff.approved || tracked.step.role == Role::Gate)
}

fn is_examined(run: &Run, id: &HandoffId) -> bool {
    run.find(id).is_some_and(|tracked| matches!(tracked.handoff.state, State::Verifying))
}

/// Returns the command that records the evidence; `refuted` is why the report does not count.
fn verify(run: &Run, id: &HandoffId, fence: Fence, seen: &SeenReport, refuted: Option<String>, dice: f64) -> Command {
    let SeenReport { examined, kept, .. } = seen.clone();
    let brief = run.find(id).and_then(|tracked| Brief::of(run, tracked));
    let reviewed = brief.as_ref().and_then(Brief::phase).is_some_and(|phase| phase.review.is_some());
    let review = reviewed || evidence::asks_person(&examined);
    let phase = brief.map(|brief| brief.tracked.step.phase.clone()).unwrap_or_default();
    let (verdict, repair) = match refuted {
        None => (Verdict::Verified, false),
        Some(reasons) => {
            let failure = Failure::new(Code::validation_failed(), reasons.clone());
            let repair = is_repaired(run, id, &failure);
            let for_good = !repair && flow::same_failure(run, &phase, &failure.to_string());
            (Verdict::Refuted { for_good, reasons }, repair)
        }
    };
    let evidence = evidence::digest(&examined);
    Command::Verify(Verify { fence, verdict, evidence, examined, kept, review, repair, dice })
}

/// Returns the command that asks a person about what was seen, or that records that everything is as the person
/// approved it.
fn looked(fence: Fence, seen: Option<&SeenReport>, dice: f64) -> Command {
    let (review, SeenReport { examined, kept, .. }) = (seen.is_some(), seen.cloned().unwrap_or_default());
    let (verdict, evidence) = (Verdict::Verified, evidence::digest(&examined));
    Command::Verify(Verify { fence, verdict, evidence, examined, kept, review, repair: false, dice })
}

/// The same failure again and again is not tried again.
fn repeated(run: &Run, id: &HandoffId, mut failure: Failure) -> Failure {
    let phase = run.find(id).map(|tracked| tracked.step.phase.clone()).unwrap_or_default();
    if flow::same_failure(run, &phase, &failure.to_string()) {
        failure.chance = Transience::Permanent;
    }
    failure
}

/// What Baton itself reports about a command.
fn checked(draft: &Draft, id: &HandoffId, outcome: &evidence::CheckOutcome) -> WrittenDocument {
    let phase = draft.run.find(id).map(|tracked| tracked.step.phase.clone()).unwrap_or_default();
    let summary = match outcome.passed {
        true => format!("The check {phase} passed ({}).", outcome.ended),
        false => format!("The check {phase} failed: {}.\n{}", outcome.ended, outcome.tail.trim()),
    };
    let verification =
        [("passed", json!(outcome.passed)), ("ended", json!(outcome.ended)), ("output", json!(outcome.tail))];
    let report = Report {
        id: Some(id.to_string()),
        outcome: Some(Outcome::Complete),
        timestamp: Some(draft.at.to_string()),
        verdict: (!outcome.passed).then(|| "failed".to_owned()),
        summary: Some(summary.trim().to_owned()),
        verification: verification.into_iter().map(|(name, value): (&str, Value)| (name.to_owned(), value)).collect(),
        ..Report::default()
    };
    let value = Dialect::Native.write(&Document::Report(Box::new(report))).unwrap_or(Value::Null);
    WrittenDocument::new(Dialect::Native, convert::render(&value, convert::Form::Json))
}
