//! Who may decide, how many, and by which key.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{SHA512, digest};
use ring::signature::{Ed25519KeyPair, KeyPair as _};

use super::*;
use crate::door::Door;
use crate::handoff::StateName;
use crate::journal::Fact;
use crate::known::HowKnown;
use crate::lifecycle::table::sample;
use crate::lifecycle::{Command, apply, replay, to_journal};
use crate::ssh::NAMESPACE;

/// Somebody with a key.
struct Signer(Ed25519KeyPair);

fn put(bytes: &mut Vec<u8>, part: &[u8]) {
    bytes.extend((part.len() as u32).to_be_bytes());
    bytes.extend(part);
}

impl Signer {
    fn new(seed: u8) -> Signer {
        Signer(Ed25519KeyPair::from_seed_unchecked(&[seed; 32]).expect("a seed"))
    }

    fn blob(&self) -> Vec<u8> {
        let mut blob = Vec::new();
        put(&mut blob, b"ssh-ed25519");
        put(&mut blob, self.0.public_key().as_ref());
        blob
    }

    fn key(&self) -> Key {
        let key = format!("ssh-ed25519 {}", STANDARD.encode(self.blob()));
        Key { key, valid_after: None, valid_before: None }
    }

    fn sign(&self, text: &str) -> Signature {
        let hashed = digest(&SHA512, text.as_bytes());
        let head = |bytes: &mut Vec<u8>| {
            put(bytes, NAMESPACE.as_bytes());
            put(bytes, b"");
            put(bytes, b"sha512");
        };
        let mut signed = b"SSHSIG".to_vec();
        head(&mut signed);
        put(&mut signed, hashed.as_ref());
        let mut proof = Vec::new();
        put(&mut proof, b"ssh-ed25519");
        put(&mut proof, self.0.sign(&signed).as_ref());
        let mut whole = b"SSHSIG\0\0\0\x01".to_vec();
        put(&mut whole, &self.blob());
        head(&mut whole);
        put(&mut whole, &proof);
        let armoured =
            format!("-----BEGIN SSH SIGNATURE-----\n{}\n-----END SSH SIGNATURE-----\n", STANDARD.encode(whole));
        Signature::read(&armoured).expect("a signature")
    }
}

fn approver(name: &str, key: Option<Key>) -> Approver {
    Approver { name: name.to_owned(), keys: key.into_iter().collect() }
}

fn gate(approval: Approval) -> Handoff {
    let mut gate = sample::handoff(StateName::AwaitingPerson);
    gate.state = State::AwaitingPerson { ask: Ask::Gate };
    Arc::make_mut(&mut gate.terms).approval = Some(approval);
    gate
}

fn of_two(signed: bool, approvers: Vec<Approver>) -> Approval {
    Approval { at_least: 2, signed, approvers }
}

fn decide(gate: &Handoff, by: &str, decision: Decision) -> Decide {
    Decide {
        by: by.to_owned(),
        known: HowKnown::Account,
        label: None,
        door: Door::CommandLine,
        shown: gate.shown().expect("something is shown"),
        decision,
        note: None,
        asked: None,
    }
}

fn approve(gate: &Handoff, by: &str) -> Decide {
    decide(gate, by, Decision::Approve)
}

fn signed(gate: &Handoff, mut decide: Decide, signer: &Signer) -> Decide {
    decide.known = HowKnown::Signature(Box::new(signer.sign(&decide.signed_text(&gate.id))));
    decide
}

fn after(gate: &Handoff, decide: Decide) -> Result<Handoff, Refusal> {
    apply(gate, Command::Decide(decide), sample::time(40)).map(|transition| transition.handoff)
}

fn choose(gate: &Handoff, by: &str, choice: &str) -> Decide {
    decide(gate, by, Decision::Answer { answers: choice.to_owned() })
}

#[test]
fn two_must_approve_and_the_first_alone_changes_nothing() {
    let gate = gate(of_two(false, Vec::new()));
    let first = after(&gate, approve(&gate, "ana")).expect("anybody may");
    assert_eq!((first.state.name(), first.shown()), (StateName::AwaitingPerson, gate.shown()));
    assert_eq!(first.approved_so_far().as_deref(), Some("1 of 2: ana"));
    assert_eq!(after(&first, approve(&gate, "ana")), Err(Refusal::Twice { by: "ana".to_owned() }));
    let second = after(&first, approve(&gate, "ben")).expect("another one");
    assert_eq!(second.state.name(), StateName::Completed);
    assert_eq!(second.approved_so_far().as_deref(), Some("2 of 2: ana, ben"));
}

#[test]
fn one_rejection_is_enough_and_what_was_approved_before_is_forgotten() {
    let mut review = gate(of_two(false, vec![approver("ana", None), approver("ben", None)]));
    review.state = State::AwaitingPerson { ask: Ask::Review };
    let first = after(&review, approve(&review, "ana")).expect("named");
    let reject = || Decision::Reject { feedback: "no tests".to_owned() };
    let refused = after(&first, decide(&review, "carl", reject()));
    assert!(matches!(refused, Err(Refusal::NotNamed { .. })), "{refused:?}");
    let back = after(&first, decide(&review, "ben", reject())).expect("named");
    assert_eq!((back.state.name(), back.approvals.len()), (StateName::Pending, 0));
}

#[test]
fn whoever_is_not_named_or_not_known_does_not_decide_and_the_journal_says_so() {
    let gate = gate(of_two(false, vec![approver("ana", None), approver("ben", None)]));
    let mut file = approve(&gate, "ana");
    file.known = HowKnown::Unproven;
    for (decide, expected) in [(approve(&gate, "carl"), "not named"), (file, "not named")] {
        let command = Command::Decide(decide);
        let refusal = apply(&gate, command.clone(), sample::time(40)).expect_err("refused");
        assert_eq!(refusal.name(), expected);
        let journalled = to_journal(&command, &refusal).expect("journalled");
        assert_eq!((journalled.command.as_str(), journalled.document), ("decide", None));
        assert!(journalled.by.expect("somebody").contains("(cli)"));
    }
}

#[test]
fn refused_decisions_cannot_fill_the_journal() {
    let gate = gate(of_two(false, vec![approver("ana", None)]));
    let long = "x".repeat(1_000_000);
    let mut decide = approve(&gate, &long);
    decide.note = Some(long.clone());
    decide.label = Some(long);
    let command = Command::Decide(decide);
    let refusal = apply(&gate, command.clone(), sample::time(40)).expect_err("refused");
    let journalled = Fact::Refused(to_journal(&command, &refusal).expect("journalled"));
    assert!(journalled.detail().len() < 2_000);
}

#[test]
fn people_who_choose_must_choose_the_same_and_may_change_their_mind() {
    let mut gate = gate(of_two(false, Vec::new()));
    Arc::make_mut(&mut gate.terms).choices = vec!["ship".to_owned(), "wait".to_owned()];
    let one = after(&gate, choose(&gate, "ana", "ship")).expect("a choice");
    let two = after(&one, choose(&gate, "ben", "Wait")).expect("a choice");
    assert_eq!(two.approved_so_far().as_deref(), Some("1 of 2 for ship: ana; 1 of 2 for Wait: ben"));
    assert_eq!(after(&two, choose(&gate, "ben", "wait")), Err(Refusal::Twice { by: "ben".to_owned() }));
    let agreed = after(&two, choose(&gate, "ana", "wait")).expect("another choice");
    assert_eq!(agreed.state.name(), StateName::Completed);
    assert_eq!(agreed.approved_so_far().as_deref(), Some("2 of 2 for Wait: ben, ana"));
}

#[test]
fn where_signatures_are_demanded_only_they_count() {
    let (ana, ben) = (Signer::new(1), Signer::new(2));
    let gate = gate(of_two(true, vec![approver("ana", Some(ana.key())), approver("ben", Some(ben.key()))]));
    assert!(matches!(after(&gate, approve(&gate, "ana")), Err(Refusal::Unsigned { .. })));
    let first = after(&gate, signed(&gate, approve(&gate, "ana"), &ana)).expect("hers");
    let second = after(&first, signed(&gate, approve(&gate, "ben"), &ben)).expect("his");
    assert_eq!(second.state.name(), StateName::Completed);
}

#[test]
fn signature_counts_for_its_key_its_words_and_its_handoff_only() {
    let (ana, ben) = (Signer::new(1), Signer::new(2));
    let gate = gate(of_two(true, vec![approver("ana", Some(ana.key())), approver("ben", Some(ben.key()))]));
    let forged = |decide: Decide| {
        let command = Command::Decide(decide);
        let refusal = apply(&gate, command.clone(), sample::time(40)).expect_err("forged");
        assert!(to_journal(&command, &refusal).is_some(), "{refusal}");
        refusal.to_string()
    };
    let as_ana = signed(&gate, approve(&gate, "ana"), &ben);
    assert!(forged(as_ana).contains("does not belong to ana"));
    let mut noted = signed(&gate, approve(&gate, "ana"), &ana);
    noted.note = Some("and drop the table".to_owned());
    assert!(forged(noted).contains("does not match the decision"));
    let mut labelled = signed(&gate, approve(&gate, "ana"), &ana);
    labelled.label = Some("the board".to_owned());
    assert!(forged(labelled).contains("does not match"));
    let mut other = approve(&gate, "ana");
    let elsewhere = HandoffId::parse("elsewhere").expect("safe");
    other.known = HowKnown::Signature(Box::new(ana.sign(&other.signed_text(&elsewhere))));
    assert!(forged(other).contains("does not match"));
}

#[test]
fn signature_that_was_used_before_is_refused_and_journalled() {
    let ana = Signer::new(1);
    let mut review = gate(Approval { at_least: 1, signed: true, approvers: vec![approver("ana", Some(ana.key()))] });
    review.state = State::AwaitingPerson { ask: Ask::Review };
    let old = Command::Decide(signed(&review, approve(&review, "ana"), &ana));
    let mut again = review.clone();
    again.fence = again.fence.next();
    let refusal = apply(&again, old.clone(), sample::time(40)).expect_err("replayed");
    assert!(matches!(refusal, Refusal::Changed { .. }));
    assert!(to_journal(&old, &refusal).is_some());
    let done = apply(&review, old.clone(), sample::time(40)).expect("hers").handoff;
    let refusal = apply(&done, old.clone(), sample::time(41)).expect_err("replayed");
    assert!(to_journal(&old, &refusal).is_some(), "{refusal}");
}

#[test]
fn one_key_is_one_person_whatever_its_names_are() {
    let ana = Signer::new(1);
    let approvers = vec![approver("ana", Some(ana.key())), approver("ana@example.com", Some(ana.key()))];
    let gate = gate(of_two(true, approvers));
    let first = after(&gate, signed(&gate, approve(&gate, "ana"), &ana)).expect("hers");
    let second = signed(&gate, approve(&gate, "ana@example.com"), &ana);
    assert_eq!(after(&first, second), Err(Refusal::Twice { by: "ana@example.com".to_owned() }));
}

#[test]
fn keys_count_while_they_are_valid() {
    let ana = Signer::new(1);
    let key = |after, before| Key { valid_after: after, valid_before: before, ..ana.key() };
    for (key, counts) in [
        (key(Some(sample::time(39)), Some(sample::time(41))), true),
        (key(Some(sample::time(40)), None), true),
        (key(Some(sample::time(41)), None), false),
        (key(None, Some(sample::time(40))), false),
    ] {
        let gate = gate(Approval { at_least: 1, signed: true, approvers: vec![approver("ana", Some(key.clone()))] });
        let done = after(&gate, signed(&gate, approve(&gate, "ana"), &ana));
        assert_eq!(done.is_ok(), counts, "{key:?} {done:?}");
    }
}

#[test]
fn signature_where_nobody_is_named_is_nobodys() {
    let ana = Signer::new(1);
    let mut gate = sample::handoff(StateName::AwaitingPerson);
    gate.state = State::AwaitingPerson { ask: Ask::Gate };
    let refused = after(&gate, signed(&gate, approve(&gate, "ana"), &ana));
    assert!(matches!(refused, Err(Refusal::Forged { .. })), "{refused:?}");
}

#[test]
fn journal_is_replayed_without_looking_at_signatures_again() {
    let ana = Signer::new(1);
    let gate = gate(Approval { at_least: 1, signed: true, approvers: vec![approver("ana", Some(ana.key()))] });
    let forged = signed(&gate, approve(&gate, "ana"), &Signer::new(2));
    assert!(after(&gate, forged.clone()).is_err());
    let replayed = replay(Some(gate), Fact::from(Command::Decide(forged)), sample::time(40));
    assert_eq!(replayed.expect("what happened, happened").state.name(), StateName::Completed);
}

#[test]
fn what_is_signed_can_be_read_and_has_one_line_for_each_text() {
    let gate = gate(of_two(false, Vec::new()));
    let mut reject = decide(&gate, "ana", Decision::Reject { feedback: "one\ntwo \"three\"".to_owned() });
    reject.label = Some("release manager".to_owned());
    let text = reject.signed_text(&gate.id);
    let expected = format!(
        "baton decision 1\nhandoff: {}\nshown: {}\ndecision: reject\nwords: \"one\\ntwo \\\"three\\\"\"\nas: \"release manager\"\n",
        gate.id, reject.shown.0
    );
    assert_eq!(text, expected);
    assert_eq!(reject.who(), "ana (as \"release manager\")");
}
