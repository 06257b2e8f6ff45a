//! How the history of a handoff is written: a line per event for people, and the events as JSON.

use baton_engine::journal::{Event, Fact};
use baton_engine::lifecycle::{Command, Decision, Ending, RefusedCommand, Verdict, readable_claimant};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::columns::{columns, cut};
use super::handoff::one_line;
use crate::output::Output;
use crate::showing::telling::{asked_again, left_open};

/// The longest text of an event that is shown in its line on a terminal.
const COLUMNS_MAX: usize = 100;

/// The longest text of an event that is written elsewhere: a fingerprint or a path must not be cut off.
const WRITTEN_MAX: usize = 1_000;

/// Returns the JSON form of an event.
pub(crate) fn json(event: &Event) -> Value {
    json!({
        "seq": event.seq,
        "version": event.version,
        "at": event.at,
        "kind": event.kind,
        "hash": event.hash.to_string(),
        "detail": serde_json::from_str::<Value>(&event.detail).unwrap_or_else(|_| event.detail.as_str().into()),
    })
}

/// Returns a line for each event: when, what, and who or why.
pub(crate) fn lines(events: &[Event], output: &Output) -> String {
    let row = |event: &Event| [clock_time(event.at), event.kind.clone(), shortened(&told(event), output)];
    columns(&events.iter().map(row).collect::<Vec<_>>())
}

/// Returns when an event happened, and who or why.
pub(crate) fn told_at(event: &Event, output: &Output) -> (String, String) {
    (clock_time(event.at), shortened(&told(event), output))
}

/// Returns the JSON form of an event with the handoff and the run that it is about.
pub(crate) fn object(event: &Event) -> Value {
    json!({
        "version": 1,
        "run": event.run,
        "seq": event.seq,
        "at": event.at,
        "handoff": event.handoff,
        "phase": null,
        "event": event.kind,
        "detail": serde_json::from_str::<Value>(&event.detail).unwrap_or_else(|_| event.detail.as_str().into()),
    })
}

fn told(event: &Event) -> String {
    match event.fact() {
        Ok(Fact::Accepted(accept)) => {
            format!("from {} to {} ({} request)", accept.terms.from, accept.terms.to, accept.request.dialect)
        }
        Ok(Fact::Refused(RefusedCommand { by: Some(by), why, command, .. })) => format!("{why}; {command} by {by}"),
        Ok(Fact::Refused(refused)) => {
            format!("{} with fence {} came too late: {}", refused.command, refused.fence, refused.why)
        }
        Ok(Fact::Happened(command)) => happened(&command),
        Err(why) => why.to_string(),
    }
}

fn happened(command: &Command) -> String {
    let noted = |by: &str, text: Option<&str>| match text {
        Some(text) => format!("by {by}: {text}"),
        None => format!("by {by}"),
    };
    match command {
        Command::Claim(claim) => {
            format!("by {} for {} s", readable_claimant(&claim.claimant), claim.lease_ms as f64 / 1000.0)
        }
        Command::Acknowledge(acknowledge) if acknowledge.understood => "understood".to_owned(),
        Command::Acknowledge(_) => "not understood: a person must clarify".to_owned(),
        Command::Heartbeat(heartbeat) => format!("fence {}", heartbeat.fence),
        Command::Report(report) => match &report.ending {
            Ending::Complete => "complete".to_owned(),
            Ending::Blocked { reason } => format!("blocked: {reason}"),
            Ending::NeedsReview => "needs review".to_owned(),
            Ending::NeedsClarification => "needs clarification".to_owned(),
        },
        Command::Fail(fail) => fail.failure.to_string(),
        Command::Verify(verify) => match &verify.verdict {
            Verdict::Verified => match (asked_again(verify), left_open(verify)) {
                (Some(changed), _) => format!("asked again: {changed}"),
                (None, Some(open)) => format!("a person must look: {open}"),
                (None, None) => "verified".to_owned(),
            },
            Verdict::Refuted { reasons, .. } => format!("refuted: {reasons}"),
        },
        Command::Expire(_) => "a lease, a time-out or another time limit ended".to_owned(),
        Command::Resume(resume) => noted(&resume.by, Some(&resume.resolution)),
        Command::Decide(decide) => {
            let (word, text) = match &decide.decision {
                Decision::Approve => ("approved", None),
                Decision::Reject { feedback } => ("rejected", Some(feedback.as_str())),
                Decision::Answer { answers } => ("answered", Some(answers.as_str())),
                Decision::Ask { question } => ("asked", Some(question.as_str())),
            };
            let text = text.or(decide.note.as_deref());
            format!("{word} {}", noted(&format!("{} ({})", decide.who(), decide.way()), text))
        }
        Command::Cancel(cancel) => noted(&cancel.by, cancel.reason.as_deref()),
        Command::Requeue(requeue) => noted(&requeue.by, requeue.note.as_deref()),
        Command::Release(release) => release.why.clone(),
        Command::Route(route) => format!("to {}: {}", route.to, route.why),
    }
}

fn shortened(text: &str, output: &Output) -> String {
    cut(&one_line(text), if output.width().is_some() { COLUMNS_MAX } else { WRITTEN_MAX })
}

/// Returns a time in whole seconds.
fn clock_time(time: Timestamp) -> String {
    Timestamp::from_second(time.as_second()).unwrap_or(time).to_string()
}
