//! The one JSON form of an event of the journal, wherever events are shown.
//!
//! ```json
//! {"version":1,"run":"letter-1","seq":4,"at":"…","handoff":"letter-1.write.1","handoff_version":2,"phase":"write",
//!  "event":"claimed","detail":{…},"hash":"…"}
//! ```

use baton_engine::journal::Event;
use baton_engine::{Handoff, Terms};
use serde_json::{Value, json};

/// The version of the form.
pub const VERSION: u32 = 1;

/// Returns the JSON form of an event that happened in a phase, or in none.
pub fn json(event: &Event, phase: Option<&str>) -> Value {
    // What cannot be read is shown as it is.
    let mut detail = serde_json::from_str(&event.detail).unwrap_or_else(|_| Value::from(event.detail.as_str()));
    // A server keeps a key together with the token of whoever sent it.
    if let Some(key) = detail.pointer_mut("/terms/key")
        && let Some(kept) = key.as_str()
    {
        *key = Terms::readable_key(kept).into();
    }
    form(event, phase, detail)
}

/// Returns the same with the particulars letter by letter, as the hash covers them.
pub fn letter_by_letter(event: &Event, phase: Option<&str>) -> Value {
    form(event, phase, event.detail.as_str().into())
}

/// Returns the phase that a handoff is a step of; there is none for a run itself and outside of runs.
pub fn phase_of(handoff: &Handoff) -> Option<&str> {
    handoff.terms.step.as_ref().map(|step| step.phase.as_str()).filter(|phase| !phase.is_empty())
}

fn form(event: &Event, phase: Option<&str>, detail: Value) -> Value {
    json!({
        "version": VERSION,
        "run": event.run,
        "seq": event.seq,
        "at": event.at,
        "handoff": event.handoff,
        "handoff_version": event.version,
        "phase": phase,
        "event": event.kind,
        "detail": detail,
        "hash": event.hash.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use baton_engine::journal::Hash;
    use baton_engine::{HandoffId, RunId};

    use super::*;

    #[test]
    fn particulars_are_a_value_and_where_the_hash_is_checked_their_letters() {
        let mut event = Event {
            run: RunId::parse("r").expect("safe"),
            seq: 3,
            handoff: HandoffId::parse("r.a.1").expect("safe"),
            version: 2,
            at: "2026-05-01T12:00:00Z".parse().expect("a time"),
            kind: "extended".to_owned(),
            detail: r#"{"fence": 1}"#.to_owned(),
            hash: Hash([0; 32]),
        };
        assert_eq!(json(&event, Some("a"))["detail"], json!({ "fence": 1 }));
        assert_eq!(letter_by_letter(&event, Some("a"))["detail"], r#"{"fence": 1}"#);
        event.detail = "damaged".to_owned();
        assert_eq!(json(&event, None)["detail"], "damaged", "what cannot be read is shown as it is");
    }
}
