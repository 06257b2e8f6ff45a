//! Requests and commands for tests: the usual ones, to be varied where a test is about the difference.

use baton_engine::Fence;
use baton_engine::door::Door;
use baton_engine::failure::{Code, Failure};
use baton_engine::handoff::{Digest, WrittenDocument};
use baton_engine::known::HowKnown;
use baton_engine::lifecycle::{
    Accept, Acknowledge, Cancel, Claim, Command, Decide, Decision, Ending, Fail, HandIn, Heartbeat, Requeue, Resume,
    Route, Verdict, Verify,
};
use baton_engine::{HandoffId, Priority, RunId, Terms};
use jiff::Timestamp;

/// Whom the usual request is for.
pub(crate) const AGENT: &str = "builder";

/// How many seconds after the beginning.
pub(crate) fn time(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_767_225_600 + seconds).unwrap()
}

pub(crate) fn id(name: &str) -> HandoffId {
    HandoffId::parse(name).unwrap()
}

pub(crate) fn run(name: &str) -> RunId {
    RunId::parse(name).unwrap()
}

pub(crate) fn written(text: &str) -> WrittenDocument {
    WrittenDocument { dialect: "native".to_owned(), text: text.to_owned(), path: None, warnings: Box::default() }
}

/// A request that is a run of its own.
pub(crate) fn request(name: &str) -> Accept {
    let id = id(name);
    let terms = Terms::between("lead", AGENT);
    Accept { run: RunId::alone(&id), id, terms, request: written("build it"), notes: Vec::new() }
}

pub(crate) fn request_in(run_name: &str, name: &str) -> Accept {
    Accept { run: run(run_name), ..request(name) }
}

pub(crate) fn request_for(agent: &str, name: &str) -> Accept {
    with(request(name), |terms| terms.to = agent.to_owned())
}

pub(crate) fn urgent(name: &str, priority: Priority) -> Accept {
    with(request(name), |terms| terms.priority = priority)
}

/// Varies the terms of a request.
pub(crate) fn with(mut accept: Accept, vary: impl FnOnce(&mut Terms)) -> Accept {
    vary(&mut accept.terms);
    accept
}

pub(crate) fn claim(claimant: &str) -> Command {
    Command::Claim(Claim::by(claimant.to_owned(), 60_000))
}

pub(crate) fn route(to: &str) -> Command {
    let (to, why) = (to.to_owned(), "it comes next".to_owned());
    Command::Route(Route { to, why, instead_of: None, skipped: Vec::new() })
}

pub(crate) fn report(fence: Fence, text: &str) -> Command {
    ended(fence, Ending::Complete, text)
}

pub(crate) fn ended(fence: Fence, ending: Ending, text: &str) -> Command {
    Command::Report(HandIn::new(fence, ending, written(text)))
}

pub(crate) fn blocked(fence: Fence) -> Command {
    ended(fence, Ending::Blocked { reason: "missing_requirements".to_owned() }, "which database?")
}

pub(crate) fn fail(fence: Fence, message: &str) -> Command {
    let failure = Failure::new(Code::processing_error(), message);
    Command::Fail(Fail::new(fence, failure, 0.0))
}

pub(crate) fn acknowledge(fence: Fence, understood: bool) -> Command {
    Command::Acknowledge(Acknowledge { fence, understood, document: written("understood"), author: None })
}

pub(crate) fn heartbeat(fence: Fence, lease_ms: Option<u64>) -> Command {
    Command::Heartbeat(Heartbeat { lease_ms, ..Heartbeat::new(fence) })
}

pub(crate) fn verify(fence: Fence, verdict: Verdict) -> Command {
    Command::Verify(Verify {
        fence,
        verdict,
        examined: Vec::new(),
        evidence: None,
        kept: Vec::new(),
        review: false,
        repair: false,
        dice: 0.0,
    })
}

pub(crate) fn resume(resolution: &str) -> Command {
    Command::Resume(Resume { by: "dba".to_owned(), resolution: resolution.to_owned(), question: None })
}

pub(crate) fn decide(shown: Digest, decision: Decision) -> Command {
    let (by, known, label, door) = ("ana".to_owned(), HowKnown::Account, None, Door::CommandLine);
    Command::Decide(Decide { by, known, label, door, shown, decision, note: None, asked: None })
}

pub(crate) fn cancel() -> Command {
    Command::Cancel(Cancel { by: "ana".to_owned(), reason: Some("not needed".to_owned()) })
}

pub(crate) fn requeue(note: &str) -> Command {
    Command::Requeue(Requeue { by: "ana".to_owned(), note: Some(note.to_owned()), ..Requeue::default() })
}
