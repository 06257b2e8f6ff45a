//! What is stored stays as it is, byte by byte, and what is newer is told from what is damaged.

use serde_json::{Value, json};

use super::body::BesideBody;
use super::*;
use crate::evidence::{ClaimFinding, ClaimKind};
use crate::failure::{Failure, FailureOutput, Transience};
use crate::handoff::{About, Ask, Handoff};
use crate::journal::Fact;
use crate::lifecycle::{Command, Expire};
use crate::step::Role;

fn beside(handoff: &Handoff) -> BesideBody {
    let Handoff { id, run, version, fence, .. } = handoff;
    BesideBody { id: id.clone(), run: run.clone(), version: *version, fence: *fence }
}

#[test]
fn every_field_of_every_fact_is_stored_as_ever() {
    let lines: Vec<String> =
        sample::facts().iter().map(|fact| format!("{} {}", fact.kind(), fact::write(fact))).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn every_field_of_a_handoff_is_stored_as_ever() {
    let lines: Vec<String> = sample::handoffs().iter().map(body::write).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn facts_and_handoffs_are_read_as_they_were_written() {
    for fact in sample::facts() {
        assert_eq!(fact::read(fact.kind().as_str(), &fact::write(&fact)), Ok(fact));
    }
    for handoff in sample::handoffs() {
        assert_eq!(body::read(&body::write(&handoff), beside(&handoff)), Ok(handoff));
    }
}

#[test]
fn failure_without_parts_is_read_as_what_it_said() {
    let read =
        |json: Value| Failure::from(serde_json::from_value::<document::StoredFailure<'_>>(json).expect("a form"));
    let old = |message: &str| read(json!({ "code": "PROCESSING_ERROR", "message": message, "chance": "transient" }));
    let said = old("the command ended with 3; it said last:\none\nthe index is gone\n");
    assert_eq!(said.message, "the command ended with 3");
    assert_eq!(said.output, Some(FailureOutput::LastLines("one\nthe index is gone\n".to_owned())));
    assert_eq!(said.text(), "the command ended with 3; it said last:\none\nthe index is gone\n");
    let refused = old("the report is not valid:\n1:1: empty");
    assert_eq!(refused.output, Some(FailureOutput::Findings("1:1: empty".to_owned())));
    for whole in ["no such key\nhelp: add it", "it said last week: no", "it said last:", "it said last on stdout:\nno"]
    {
        let failure = old(whole);
        assert_eq!((failure.message.as_str(), failure.output.as_ref(), failure.help.as_ref()), (whole, None, None));
    }
    let lost = read(json!({
        "code": "TIMEOUT", "message": "ü", "chance": "transient", "parts": { "what": 1, "output": [7, 3], "help": 9 },
    }));
    assert_eq!((lost.text().as_str(), lost.output), ("ü", None), "places that are none are left out");
}

#[test]
fn what_digests_are_computed_from_is_stored_as_ever() {
    let facts = sample::facts();
    let seen = facts.iter().find_map(|fact| match fact {
        Fact::Happened(Command::Verify(verify)) => Some(examined(&verify.examined)),
        _ => None,
    });
    insta::assert_snapshot!(seen.expect("one of them is about evidence"));
    let Fact::Accepted(accept) = &facts[0] else { panic!("the first one accepts") };
    insta::assert_snapshot!(files(&accept.terms.files));
}

#[test]
fn words_of_closed_vocabularies_are_stored_as_ever() {
    let words: [(Value, &str); 27] = [
        (json!(Ask::Review), "review"),
        (json!(Ask::Clarification), "clarification"),
        (json!(Ask::Gate), "gate"),
        (json!(About::Refuted), "refuted"),
        (json!(About::Resolution), "resolution"),
        (json!(About::Feedback), "feedback"),
        (json!(About::Answer), "answer"),
        (json!(About::Question), "question"),
        (json!(About::Requeued), "requeued"),
        (json!(Role::Run), "run"),
        (json!(Role::Work), "work"),
        (json!(Role::Check), "check"),
        (json!(Role::Group), "group"),
        (json!(Role::Gate), "gate"),
        (json!(Role::Delegation), "delegation"),
        (json!(Role::Escalation), "escalation"),
        (json!(Role::Failure), "failure"),
        (json!(Role::Limit), "limit"),
        (json!(Transience::Transient), "transient"),
        (json!(Transience::Permanent), "permanent"),
        (json!(ClaimFinding::Verified), "verified"),
        (json!(ClaimFinding::Refuted), "refuted"),
        (json!(ClaimFinding::Unverifiable), "unverifiable"),
        (json!(ClaimKind::Unchanged), "unchanged"),
        (json!(ClaimKind::Unbound), "unbound"),
        (json!(ClaimKind::ChangedSince), "changed_since"),
        (json!(ClaimKind::GateCheck), "gate_check"),
    ];
    for (stored, word) in words {
        assert_eq!(stored, word);
    }
}

#[test]
fn field_of_a_newer_program_is_passed_over() {
    for fact in sample::facts() {
        let detail = fact::write(&fact).replacen('{', "{\"later\":{\"v\":9},", 1);
        assert_eq!(fact::read(fact.kind().as_str(), &detail), Ok(fact));
    }
    for handoff in sample::handoffs() {
        let text = body::write(&handoff).replacen('{', "{\"later\":{\"v\":9},", 1);
        assert_eq!(body::read(&text, beside(&handoff)), Ok(handoff));
    }
}

#[test]
fn newer_version_is_refused_and_not_taken_for_damage() {
    let newer = Err(Unreadable::Newer { found: 2, known: 1 });
    for fact in sample::facts() {
        let detail = fact::write(&fact).replacen('{', "{\"v\":2,", 1);
        assert_eq!(fact::read(fact.kind().as_str(), &detail), newer);
    }
    assert_eq!(fact::read("claimed", "{\"v\":2,\"who\":\"w\"}"), newer);
    let handoff = &sample::handoffs()[1];
    for text in [body::write(handoff).replacen("\"v\":1", "\"v\":2", 1), "{\"v\":2,\"all\":[]}".to_owned()] {
        let refused = body::read(&text, beside(handoff)).expect_err("it is newer");
        assert_eq!(refused, Unreadable::Newer { found: 2, known: 1 });
        let told = refused.at("the row of handoff `hoff-1`").to_string();
        assert!(told.starts_with("the row of handoff `hoff-1`: it was written by a newer baton"), "{told}");
    }
}

#[test]
fn unknown_kind_of_event_and_damage_are_told_apart() {
    let unknown = fact::read("delegated", "{}").expect_err("there is no such kind");
    assert!(unknown.to_string().contains("written by a newer baton"), "{unknown}");
    assert!(matches!(unknown.at("event 1"), store::StoreError::Newer(_)));
    for detail in ["", "{}", "{\"v\":", "{\"v\":\"two\"}", "[]"] {
        let why = fact::read("claimed", detail);
        assert!(matches!(why, Err(Unreadable::Damaged(_))), "{detail}: {why:?}");
    }
}

#[test]
fn number_that_is_none_is_stored_as_zero() {
    let expire = Expire { dice: f64::NAN, for_good: false, fence: None };
    assert_eq!(fact::write(&Fact::from(Command::Expire(expire))), "{\"dice\":0.0}");
}
