//! Facts and a handoff in which nothing is left out: what is stored of every field.

use std::sync::Arc;

use baton_protocol::model::terms::Priority;
use jiff::Timestamp;
use serde_json::Value;

use crate::Fence;
use crate::approval::{Approval, Approver, Key, Vote};
use crate::door::Door;
use crate::evidence::{ClaimFinding, ClaimKind, ExaminedClaim, SeenFile, Transcript};
use crate::failure::{Code, CommandStream, Failure, FailureOutput, Transience};
use crate::handoff::{About, Ask, Digest, Handoff, Lease, Note, State, StateName, Terms, WrittenDocument};
use crate::id::HandoffId;
use crate::journal::Fact;
use crate::known::{CommandAuthor, HowKnown};
use crate::lifecycle::table::sample;
use crate::lifecycle::{
    Accept, Acknowledge, Again, Cancel, Claim, Command, Decide, Decision, Ending, Expire, Fail, HandIn, Heartbeat,
    RefusedCommand, Release, Requeue, Resume, Route, SkippedPhase, Verdict, Verify,
};
use crate::protection::Protection;
use crate::retry::Policy;
use crate::session::{SessionTurn, Spent};
use crate::ssh::Signature;
use crate::step::{Role, Step};

fn text(word: &str) -> String {
    format!("{word} \"ü\"\n")
}

fn some(word: &str) -> Option<String> {
    Some(text(word))
}

fn several(word: &str) -> Vec<String> {
    vec![text(word), "second".to_owned()]
}

fn id(word: &str) -> Option<HandoffId> {
    Some(HandoffId::parse(word).expect("safe"))
}

fn time(seconds: i64) -> Option<Timestamp> {
    Some(sample::time(seconds))
}

fn digest(word: &str) -> Digest {
    Digest(word.to_owned())
}

fn written() -> WrittenDocument {
    WrittenDocument {
        dialect: "native".to_owned(),
        text: text("document"),
        path: some("path"),
        warnings: several("warning").into(),
    }
}

fn note() -> Note {
    Note { about: About::Feedback, from: text("from"), text: text("text"), question: some("question") }
}

fn failure() -> Failure {
    Failure {
        code: Code::timeout(),
        message: text("message"),
        output: Some(FailureOutput::LastLines(text("output"))),
        help: Some(text("help")),
        chance: Transience::Permanent,
        stream: Some(CommandStream::Stdout),
    }
}

fn approver() -> Approver {
    let key = Key { key: text("key"), valid_after: time(1), valid_before: time(2) };
    Approver { name: text("name"), keys: vec![key] }
}

fn terms() -> Terms {
    let (role, phase) = (Role::Delegation, text("phase"));
    Terms {
        from: text("from"),
        to: text("to"),
        queue: some("queue"),
        priority: Priority::Critical,
        not_before: time(1),
        deadline: time(2),
        timeout_ms: Some(3),
        retry: Policy { max_retries: 4, delay_ms: 5, multiplier: 1.5, jitter: 0.25, at_once_if_refused: true },
        key: some("key"),
        verify: true,
        returns_to: id("caller"),
        step: Some(Step { role, phase, visit: 6, within: id("around"), about: id("about"), after: id("after") }),
        choices: several("choice"),
        files: vec![SeenFile { path: text("path"), sha256: some("sha256") }],
        look_first: true,
        acknowledge: true,
        acknowledge_within_ms: Some(7),
        pick_up_within_ms: Some(8),
        approval: Some(Approval { at_least: 2, signed: true, approvers: vec![approver()] }),
    }
}

fn examined() -> ExaminedClaim {
    ExaminedClaim {
        rule: text("rule"),
        claim: text("claim"),
        verdict: ClaimFinding::Unverifiable,
        seen: text("seen"),
        path: some("path"),
        sha256: some("sha256"),
        mark: some("mark"),
        allowed: some("allowed"),
        asks_person: true,
        kind: Some(ClaimKind::Unchanged),
    }
}

fn author() -> Option<Arc<CommandAuthor>> {
    let (name, known) = (text("name"), HowKnown::Token(text("token")));
    Some(Arc::new(CommandAuthor { name, known, door: Door::Http }))
}

fn claim(protection: Protection) -> Command {
    Command::Claim(Claim {
        claimant: text("claimant"),
        lease_ms: 1,
        prompt_tokens: Some(2),
        driver: true,
        times_itself: true,
        moved: several("moved"),
        baseline: Some(digest("baseline")),
        protection: Some(protection),
        session: Some(SessionTurn { id: some("session"), goes_on: true, repairs: true }),
        author: author(),
    })
}

fn spent() -> Spent {
    Spent { input: 1, cached: 2, output: 3, cost_micros: Some(4) }
}

fn report(ending: Ending) -> Command {
    Command::Report(HandIn {
        spent: Some(spent()),
        skills: Some(several("skills")),
        changed: several("changed"),
        transcript: Some(Transcript { path: text("path"), sha256: text("sha256") }),
        examined: vec![examined()],
        author: author(),
        ..HandIn::new(Fence(1), ending, written())
    })
}

fn verify(verdict: Verdict) -> Command {
    Command::Verify(Verify {
        fence: Fence(1),
        verdict,
        examined: vec![examined(), examined()],
        evidence: Some(digest("evidence")),
        kept: vec![digest("kept")],
        review: true,
        repair: true,
        dice: 0.1,
    })
}

fn decide(known: HowKnown, decision: Decision) -> Command {
    Command::Decide(Decide {
        by: text("by"),
        known,
        label: some("label"),
        door: Door::AnswersFile,
        shown: digest("shown"),
        decision,
        note: some("note"),
        asked: some("asked"),
    })
}

/// Everything that can happen, with every field.
pub(super) fn facts() -> Vec<Fact> {
    let run = sample::run();
    let accept = Accept { id: sample::id(), run, terms: terms(), request: written(), notes: vec![note()] };
    let refused = RefusedCommand {
        command: text("command"),
        fence: Fence(1),
        why: text("why"),
        document: Some(written()),
        by: some("by"),
        author: author(),
    };
    let signature = Signature { key: text("key"), armoured: text("armoured") };
    let commands = [
        claim(Protection::Bubblewrap),
        claim(Protection::Landlock { why: text("why") }),
        claim(Protection::Nothing { why: text("why") }),
        Command::Acknowledge(Acknowledge { fence: Fence(1), understood: true, document: written(), author: author() }),
        Command::Heartbeat(Heartbeat {
            lease_ms: Some(2),
            baseline: Some(digest("baseline")),
            session: some("session"),
            spent: Some(spent()),
            author: author(),
            ..Heartbeat::new(Fence(1))
        }),
        report(Ending::Complete),
        report(Ending::Blocked { reason: text("reason") }),
        report(Ending::NeedsReview),
        report(Ending::NeedsClarification),
        Command::Fail(Fail {
            document: Some(written()),
            warnings: several("warning"),
            changed: several("changed"),
            spent: Some(spent()),
            skills: Some(several("skills")),
            again: Again::At(Timestamp::UNIX_EPOCH),
            author: author(),
            ..Fail::new(Fence(1), failure(), 0.5)
        }),
        verify(Verdict::Verified),
        verify(Verdict::Refuted { reasons: text("reasons"), for_good: true }),
        Command::Expire(Expire { dice: 0.5, for_good: true, fence: Some(Fence(1)) }),
        Command::Resume(Resume { by: text("by"), resolution: text("resolution"), question: some("question") }),
        decide(HowKnown::Account, Decision::Approve),
        decide(HowKnown::Signature(Box::new(signature)), Decision::Reject { feedback: text("feedback") }),
        decide(HowKnown::Unproven, Decision::Answer { answers: text("answers") }),
        decide(HowKnown::Token(text("token")), Decision::Approve),
        decide(HowKnown::Account, Decision::Ask { question: text("question") }),
        Command::Cancel(Cancel { by: text("by"), reason: some("reason") }),
        Command::Requeue(Requeue {
            by: text("by"),
            note: some("note"),
            from: some("from"),
            inputs: [(text("name"), Value::from(1))].into_iter().collect(),
            seen: None,
        }),
        Command::Release(Release { fence: Fence(1), why: text("why") }),
        Command::Route(Route {
            to: text("to"),
            why: text("why"),
            instead_of: some("instead of"),
            skipped: several("skipped").iter().map(|text| SkippedPhase::parse(text)).collect(),
        }),
    ];
    let happened = commands.into_iter().map(Fact::Happened);
    std::iter::once(Fact::Accepted(Box::new(accept))).chain(happened).chain([Fact::Refused(refused)]).collect()
}

/// A handoff with every field, and a handoff in every state.
pub(super) fn handoffs() -> Vec<Handoff> {
    let at = sample::time(9);
    let states = [
        State::Pending { ready_at: at },
        State::Claimed { lease: lease() },
        State::Verifying,
        State::Blocked { reason: text("reason") },
        State::AwaitingPerson { ask: Ask::Clarification },
        State::Completed { at },
        State::Failed { at },
        State::Cancelled { at },
    ];
    let bare = states.map(|state| Handoff { state, ..sample::handoff(StateName::Pending) });
    std::iter::once(full()).chain(bare).collect()
}

fn lease() -> Lease {
    Lease {
        claimant: text("claimant"),
        since: sample::time(1),
        until: sample::time(2),
        length_ms: 3,
        acknowledged: true,
        driven: true,
        times_itself: true,
    }
}

fn full() -> Handoff {
    let vote = Vote { by: text("by"), label: some("label"), key: some("key"), choice: some("choice"), withdrawn: true };
    Handoff {
        id: sample::id(),
        run: sample::run(),
        terms: terms().into(),
        request: digest("request"),
        accepted_at: sample::time(1),
        changed_at: sample::time(2),
        deadline: time(3),
        version: 4,
        fence: Fence(5),
        attempts: 6,
        state: State::Verifying,
        notes: vec![note()],
        last_report: Some(digest("report")),
        evidence: Some(digest("evidence")),
        has_files: true,
        approved: true,
        last_failure: Some(failure()),
        returned_early: true,
        routed: true,
        review_owed: true,
        approvals: vec![vote],
    }
}
