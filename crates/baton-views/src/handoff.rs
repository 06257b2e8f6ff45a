//! The JSON form of a handoff and of what is recorded about it: documents, notes, evidence, votes, and how it is known who
//! decided. And where a handoff is, in words.

use baton_engine::approval::Vote;
use baton_engine::evidence::ExaminedClaim;
use baton_engine::failure::{Failure, FailureOutput, Transience};
use baton_engine::handoff::{Ask, Note, Terms, WrittenDocument};
use baton_engine::known::HowKnown;
use baton_engine::lifecycle::readable_claimant;
use baton_engine::ssh::Signature;
use baton_engine::{Handoff, State};
use baton_protocol::Dialect;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::words::{ago, ahead, one_line};

/// Returns the JSON form of a handoff.
pub fn json(handoff: &Handoff) -> Value {
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
        "phase": terms.step.as_ref().map(|step| &step.phase).filter(|phase| !phase.is_empty()),
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
        "key": terms.key.as_deref().map(Terms::readable_key),
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
pub fn note(note: &Note) -> Value {
    json!({ "about": note.about.as_str(), "from": note.from, "text": note.text, "question": note.question })
}

/// Returns the JSON form of a document: as it was written, and as a value where it can be read.
pub fn document(written: &WrittenDocument) -> Value {
    let value =
        written.read().zip(Dialect::parse(&written.dialect)).and_then(|(document, dialect)| dialect.write(&document));
    json!({ "dialect": written.dialect, "text": written.text, "document": value, "warnings": written.warnings })
}

/// Returns the JSON form of a claim: the handoff, what later calls need, the request, and whatever else a door tells.
pub fn claim<const N: usize>(handoff: &Handoff, request: &WrittenDocument, more: [(&str, Value); N]) -> Value {
    let mut value = json!({
        "handoff": json(handoff),
        "fence": handoff.fence,
        "attempt": handoff.attempts,
        "acknowledge_by": handoff.acknowledge_by(),
        "notes": handoff.notes.iter().map(note).collect::<Vec<_>>(),
        "request": document(request),
    });
    for (name, told) in more {
        value[name] = told;
    }
    value
}

/// Returns the JSON form of a failure: the message is all of it, what was said last and the advice are there once more alone.
pub fn failure(failure: &Failure) -> Value {
    json!({
        "code": failure.code.as_str(),
        "message": failure.text(),
        "output": failure.output.as_ref().map(FailureOutput::text),
        "help": failure.help,
        "transient": failure.chance == Transience::Transient,
    })
}

/// Returns where a handoff is, with what belongs to that state.
pub fn state(handoff: &Handoff, now: Timestamp) -> String {
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
        State::AwaitingPerson { ask: Ask::Gate } => format!("{name}: decide what it asks{}", so_far(handoff)),
        State::AwaitingPerson { ask: Ask::Review } => format!("{name}: approve or reject it{}", so_far(handoff)),
        State::AwaitingPerson { ask: Ask::Clarification } => format!("{name}: answer its questions"),
        State::Pending { .. }
        | State::Verifying
        | State::Completed { .. }
        | State::Failed { .. }
        | State::Cancelled { .. } => name.to_string(),
    }
}

/// Returns who has decided, while others must do so, too.
fn so_far(handoff: &Handoff) -> String {
    handoff.approved_so_far().map(|votes| format!("; {}", one_line(&votes))).unwrap_or_default()
}

/// Returns the word for what a person is asked for.
pub fn ask_word(ask: Ask) -> &'static str {
    match ask {
        Ask::Review => "review",
        Ask::Clarification => "clarification",
        Ask::Gate => "gate",
    }
}

/// Returns what a person is asked for, while one is.
pub fn ask(handoff: &Handoff) -> Option<Ask> {
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

/// Returns what came out about claims. What is not there is left out.
pub fn examined(examined: &[ExaminedClaim]) -> Value {
    let one = |examined: &ExaminedClaim| {
        let ExaminedClaim { rule, claim, verdict, seen, path, sha256, mark, allowed, asks_person, kind: _ } = examined;
        let mut value = json!({ "rule": rule, "claim": claim, "verdict": verdict, "seen": seen });
        let texts = [("path", path), ("sha256", sha256), ("mark", mark), ("allowed", allowed)];
        add(&mut value, texts, ("asks_person", *asks_person));
        value
    };
    examined.iter().map(one).collect()
}

/// Returns who has approved so far, or what they chose.
pub fn votes(votes: &[Vote]) -> Value {
    let one = |vote: &Vote| {
        let Vote { by, label, key, choice, withdrawn } = vote;
        let mut value = json!({ "by": by });
        add(&mut value, [("label", label), ("key", key), ("choice", choice)], ("withdrawn", *withdrawn));
        value
    };
    votes.iter().map(one).collect()
}

/// Returns how it is known who decided.
pub fn known(known: &HowKnown) -> Value {
    match known {
        HowKnown::Unproven => json!("unproven"),
        HowKnown::Account => json!("account"),
        HowKnown::Token(token) => json!({ "token": token }),
        HowKnown::Signature(signature) => {
            let Signature { key, armoured } = signature.as_ref();
            json!({ "signature": { "key": key, "armoured": armoured } })
        }
    }
}

/// Adds texts that are there, and a mark that is set.
fn add<const N: usize>(value: &mut Value, texts: [(&str, &Option<String>); N], mark: (&str, bool)) {
    for (name, text) in texts {
        if let Some(text) = text {
            value[name] = json!(text);
        }
    }
    if let (name, true) = mark {
        value[name] = json!(true);
    }
}

#[cfg(test)]
mod tests {
    use baton_engine::evidence::ClaimFinding;

    use super::*;

    #[test]
    fn what_is_not_there_is_left_out() {
        let mut seen = ExaminedClaim::new("artifact-missing", ClaimFinding::Refuted, "out.txt", "nothing there");
        let bare = r#"[{"rule":"artifact-missing","claim":"out.txt","verdict":"refuted","seen":"nothing there"}]"#;
        assert_eq!(examined(&[seen.clone()]).to_string(), bare);
        let some = |text: &str| Some(text.to_owned());
        (seen.path, seen.sha256, seen.mark, seen.allowed) = (some("p"), some("s"), some("m"), some("a"));
        seen.asks_person = true;
        let more = r#","path":"p","sha256":"s","mark":"m","allowed":"a","asks_person":true}]"#;
        assert_eq!(examined(&[seen]).to_string(), bare.replace("}]", more));
        let mut vote = Vote { by: "ana".to_owned(), label: None, key: None, choice: None, withdrawn: false };
        assert_eq!(votes(&[vote.clone()]).to_string(), r#"[{"by":"ana"}]"#);
        (vote.label, vote.key, vote.choice, vote.withdrawn) = (some("l"), some("k"), some("c"), true);
        let whole = r#"[{"by":"ana","label":"l","key":"k","choice":"c","withdrawn":true}]"#;
        assert_eq!(votes(&[vote]).to_string(), whole);
    }
}
