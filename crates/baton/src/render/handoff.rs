//! How a handoff is written: the JSON form, which is a promise (members are added, never changed), and lines for people.

use std::time::Duration;

use baton_engine::failure::{Failure, Transience};
use baton_engine::handoff::{Ask, Note, WrittenDocument};
use baton_engine::lifecycle::readable_claimant;
use baton_engine::step::Role;
use baton_engine::{Handoff, State};
use baton_protocol::{Dialect, Hints};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::columns::columns;
use crate::moment::briefly;
use crate::output::printable;

/// Returns the JSON form of a handoff.
pub(crate) fn json(handoff: &Handoff) -> Value {
    let terms = &handoff.terms;
    let lease = handoff.lease().map(|lease| {
        json!({
            "claimant": lease.claimant,
            "since": lease.since,
            "until": lease.until,
            "length_seconds": seconds(lease.length_ms),
            "acknowledged": lease.acknowledged,
            "acknowledge_by": handoff.acknowledge_by(),
        })
    });
    json!({
        "id": handoff.id.as_str(),
        "run": handoff.run.as_str(),
        "from": terms.from,
        "to": terms.to,
        "queue": terms.queue(),
        "state": handoff.state.name().as_str(),
        "priority": terms.priority.as_str(),
        "attempts": handoff.attempts,
        "fence": handoff.fence,
        "version": handoff.version,
        "ready_at": ready_at(handoff),
        "lease": lease,
        "blocked_reason": match &handoff.state { State::Blocked { reason } => Some(reason), _ => None },
        "ask": ask(handoff).map(ask_word),
        "choices": terms.choices,
        "phase": terms.step.as_ref().map(|step| &step.phase),
        "not_before": terms.not_before,
        "deadline": handoff.deadline,
        "timeout_seconds": terms.timeout_ms.map(seconds),
        "acknowledge": terms.acknowledge,
        "acknowledge_within_seconds": terms.acknowledge_within_ms.map(seconds),
        "pick_up_within_seconds": terms.pick_up_within_ms.map(seconds),
        "retry": {
            "max_retries": terms.retry.max_retries,
            "retry_delay_seconds": seconds(terms.retry.delay_ms),
            "backoff_multiplier": terms.retry.multiplier,
            "jitter": terms.retry.jitter,
        },
        "key": terms.key,
        "returns_to": terms.returns_to.as_ref().map(|id| id.as_str()),
        "notes": handoff.notes.iter().map(note).collect::<Vec<_>>(),
        "failure": handoff.last_failure.as_ref().map(failure),
        "request_digest": handoff.request.0,
        "report_digest": handoff.last_report.as_ref().map(|digest| &digest.0),
        "accepted_at": handoff.accepted_at,
        "changed_at": handoff.changed_at,
        "finished_at": handoff.state.finished_at(),
    })
}

/// Returns the JSON form of a note.
pub(crate) fn note(note: &Note) -> Value {
    json!({ "about": note.about.as_str(), "from": note.from, "text": note.text, "question": note.question })
}

/// Returns the JSON form of a document: as it was written, and as a value where it can be read.
pub(crate) fn document(written: &WrittenDocument) -> Value {
    let dialect = Dialect::parse(&written.dialect);
    let reading = baton_protocol::read(written.text.as_bytes(), Hints { format: None, dialect });
    let value = reading.document.as_ref().zip(dialect).and_then(|(document, dialect)| dialect.write(document));
    json!({ "dialect": written.dialect, "text": written.text, "document": value, "warnings": written.warnings })
}

fn failure(failure: &Failure) -> Value {
    json!({
        "code": failure.code.as_str(),
        "message": failure.message,
        "transient": failure.chance == Transience::Transient,
    })
}

/// Returns a table of handoffs: one line each, under a line of titles.
pub(crate) fn table(handoffs: &[Handoff], now: Timestamp) -> String {
    let mut rows = vec![["ID", "TO", "STATE", "PRIORITY", "TRIES", "CHANGED"].map(str::to_owned)];
    rows.extend(handoffs.iter().map(|handoff| {
        [
            handoff.id.to_string(),
            handoff.terms.to.clone(),
            handoff.state.name().to_string(),
            handoff.terms.priority.as_str().to_owned(),
            handoff.attempts.to_string(),
            ago(handoff.changed_at, now),
        ]
    }));
    columns(&rows)
}

/// Returns a handoff for people: what matters now, one thing per line.
pub(crate) fn lines(handoff: &Handoff, now: Timestamp) -> String {
    let terms = &handoff.terms;
    let mut lines = vec![
        ("handoff", handoff.id.to_string()),
        ("from", format!("{} to {}", terms.from, terms.to)),
        ("state", state(handoff, now)),
        ("priority", terms.priority.as_str().to_owned()),
    ];
    // What is asked of a person is not tried.
    if !terms.asks_person() {
        let tries = format!("{} of {}", handoff.attempts, terms.retry.max_retries.saturating_add(1));
        lines.push(("tries", tries));
    }
    if handoff.run.as_str() != handoff.id.as_str() {
        lines.insert(1, ("run", handoff.run.to_string()));
    }
    let optional = [
        ("key", terms.key.clone()),
        ("deadline", handoff.deadline.map(|deadline| deadline.to_string())),
        ("time-out", terms.timeout_ms.map(|limit| briefly(Duration::from_millis(limit)))),
        ("returns", terms.returns_to.as_ref().map(ToString::to_string)),
        ("finished", handoff.state.finished_at().map(|at| ago(at, now))),
        ("failure", handoff.last_failure.as_ref().map(ToString::to_string)),
    ];
    if let Some(step) = terms.step.as_ref().filter(|step| !step.phase.is_empty()) {
        lines.insert(1, ("phase", format!("{}, visit {}", step.phase, step.visit)));
    }
    lines.extend(optional.into_iter().filter_map(|(name, value)| Some((name, value?))));
    let mut text: String = lines.iter().map(|(name, value)| format!("{name:<9} {}\n", printable(value))).collect();
    for note in &handoff.notes {
        text.push_str(&note_line(note));
    }
    text
}

/// Returns a note for people.
pub(crate) fn note_line(note: &Note) -> String {
    let indented = |text: &str| printable(text).trim_end().replace('\n', "\n          ");
    let asked = note.question.as_ref().map(|question| format!("{:<9} {}\n", "asked", indented(question)));
    let (about, from) = (note.about.as_str(), printable(&note.from));
    format!("{}{about:<9} {from}: {}\n", asked.unwrap_or_default(), indented(&note.text))
}

/// Says where a handoff is, with what belongs to that state.
pub(crate) fn state(handoff: &Handoff, now: Timestamp) -> String {
    let name = handoff.state.name();
    match &handoff.state {
        State::Pending { ready_at } if *ready_at > now => format!("{name}, ready {}", ahead(*ready_at, now)),
        State::Claimed { lease } => {
            let end = if lease.until > now { ahead(lease.until, now) } else { ago(lease.until, now) };
            format!(
                "{name} by {} with fence {}, lease ends {end}",
                one_line(readable_claimant(&lease.claimant)),
                handoff.fence
            )
        }
        State::Blocked { reason } => format!("{name}: {}", one_line(reason)),
        State::AwaitingPerson { ask: Ask::Gate } if handoff.terms.returns_to.is_some() => {
            format!("{name}: answer what the agent asks")
        }
        State::AwaitingPerson { ask: Ask::Gate } => format!("{name}: decide what it asks{}", votes(handoff)),
        State::AwaitingPerson { ask: Ask::Review } => format!("{name}: approve or reject it{}", votes(handoff)),
        State::AwaitingPerson { ask: Ask::Clarification } => format!("{name}: answer its questions"),
        State::Pending { .. }
        | State::Verifying
        | State::Completed { .. }
        | State::Failed { .. }
        | State::Cancelled { .. } => name.to_string(),
    }
}

/// Says who has decided, while others must do so, too.
fn votes(handoff: &Handoff) -> String {
    handoff.approved_so_far().map(|votes| format!("; {}", one_line(&votes))).unwrap_or_default()
}

/// Returns the word for what a person is asked for.
pub(crate) fn ask_word(ask: Ask) -> &'static str {
    match ask {
        Ask::Review => "review",
        Ask::Clarification => "clarification",
        Ask::Gate => "gate",
    }
}

/// Returns the word for a question, as people sort them.
pub(crate) fn question_kind(handoff: &Handoff, ask: Ask) -> &'static str {
    match (ask, handoff.terms.step.as_ref().map(|step| step.role)) {
        (Ask::Gate, Some(Role::Limit)) => "limit",
        (Ask::Gate, Some(Role::Failure)) => "failure",
        (Ask::Gate, Some(Role::Escalation)) => "escalation",
        (ask, _) => ask_word(ask),
    }
}

/// Returns what a person is asked for, while one is.
pub(crate) fn ask(handoff: &Handoff) -> Option<Ask> {
    match handoff.state {
        State::AwaitingPerson { ask } => Some(ask),
        _ => None,
    }
}

fn ready_at(handoff: &Handoff) -> Option<Timestamp> {
    match handoff.state {
        State::Pending { ready_at } => Some(ready_at),
        _ => None,
    }
}

fn seconds(milliseconds: u64) -> f64 {
    milliseconds as f64 / 1000.0
}

pub(crate) fn ago(time: Timestamp, now: Timestamp) -> String {
    match Duration::try_from(now.duration_since(time)) {
        Ok(passed) if passed.as_secs() > 0 => format!("{} ago", briefly(passed)),
        _ => "now".to_owned(),
    }
}

fn ahead(time: Timestamp, now: Timestamp) -> String {
    let left = Duration::try_from(time.duration_since(now)).unwrap_or_default();
    // A moment after it was given, a minute is still a minute.
    let whole = if left.as_secs() > 0 { Duration::from_secs_f64(left.as_secs_f64().ceil()) } else { left };
    format!("in {}", briefly(whole))
}

/// Makes a text one printable line.
pub(crate) fn one_line(text: &str) -> String {
    printable(text).replace(['\n', '\t'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_from_now() {
        let now = Timestamp::from_second(1_000_000).expect("a time");
        let at = |second: i64| Timestamp::from_second(1_000_000 + second).expect("a time");
        assert_eq!((ago(at(-90), now), ago(at(5), now)), ("1m30s ago".to_owned(), "now".to_owned()));
        assert_eq!(ahead(at(60), now), "in 1m");
    }
}
