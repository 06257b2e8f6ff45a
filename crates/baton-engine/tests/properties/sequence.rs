//! A random life of one handoff: its terms, and commands with times, tokens and documents that may be right or wrong.

use baton_engine::Fence;
use baton_engine::door::Door;
use baton_engine::failure::{Code, Failure};
use baton_engine::handoff::{Digest, Handoff, Terms, WrittenDocument};
use baton_engine::journal::Fact;
use baton_engine::known::HowKnown;
use baton_engine::lifecycle::{
    self, Accept, Acknowledge, Cancel, Claim, Command, Decide, Decision, Ending, Expire, Fail, HandIn, Heartbeat,
    Requeue, Resume, Verdict, Verify,
};
use baton_engine::{HandoffId, RunId, retry};
use jiff::Timestamp;
use proptest::prelude::*;

/// A handoff and everything that is asked of it.
#[derive(Debug, Clone)]
pub(crate) struct Life {
    /// The request.
    pub(crate) accept: Accept,
    /// When it is accepted.
    pub(crate) accepted_at: Timestamp,
    steps: Vec<Step>,
}

/// One thing that is asked, and what comes of it.
#[derive(Debug, Clone)]
pub(crate) struct Moment {
    /// The handoff before.
    pub(crate) before: Handoff,
    /// What is asked.
    pub(crate) command: Command,
    /// The time that the caller believes it is.
    pub(crate) at: Timestamp,
    /// What came of it.
    pub(crate) outcome: Outcome,
    /// What is journalled.
    pub(crate) fact: Option<Fact>,
    /// The handoff after.
    pub(crate) after: Handoff,
}

/// What came of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It had its effect.
    Happened,
    /// It was refused, and that was journalled.
    Refused,
    /// It was refused without a trace.
    Ignored,
}

#[derive(Debug, Clone)]
struct Step {
    moves_ms: i64,
    token: Token,
    text: u8,
    ask: Asked,
}

#[derive(Debug, Clone, Copy)]
enum Token {
    Right,
    Older,
    Absurd,
}

#[derive(Debug, Clone)]
enum Asked {
    Claim(u64),
    Acknowledge(bool),
    Heartbeat(Option<u64>),
    Report(Ending),
    Fail(&'static str, bool, f64),
    Verify(bool, f64),
    Expire(f64),
    Resume,
    Decide(Decision),
    Cancel,
    Requeue,
}

impl Life {
    /// Lives the life.
    pub(crate) fn moments(&self) -> Vec<Moment> {
        let mut handoff = self.accept.clone().apply(self.accepted_at).handoff;
        let mut now = self.accepted_at;
        let mut moments = Vec::new();
        for step in &self.steps {
            now = shifted(now, step.moves_ms);
            let command = step.command(&handoff);
            let moment = moment(handoff, command, now);
            handoff = moment.after.clone();
            moments.push(moment);
        }
        moments
    }
}

fn moment(before: Handoff, command: Command, at: Timestamp) -> Moment {
    match lifecycle::apply(&before, command.clone(), at) {
        Ok(next) => {
            Moment { before, command, at, outcome: Outcome::Happened, fact: Some(next.fact), after: next.handoff }
        }
        Err(refusal) => match lifecycle::to_journal(&command, &refusal) {
            Some(refused) => {
                let next = lifecycle::refuse(&before, refused, at);
                Moment { before, command, at, outcome: Outcome::Refused, fact: Some(next.fact), after: next.handoff }
            }
            None => Moment { after: before.clone(), before, command, at, outcome: Outcome::Ignored, fact: None },
        },
    }
}

impl Step {
    fn command(&self, handoff: &Handoff) -> Command {
        let fence = match self.token {
            Token::Right => handoff.fence,
            Token::Older => Fence(handoff.fence.0.saturating_sub(1)),
            Token::Absurd => baton_engine::Fence(u64::MAX),
        };
        let document = WrittenDocument {
            dialect: "native".to_owned(),
            text: format!("text {}", self.text),
            path: None,
            warnings: Box::default(),
        };
        let by = "ana".to_owned();
        match self.ask.clone() {
            Asked::Claim(lease_ms) => Command::Claim(Claim::by("w", lease_ms)),
            Asked::Acknowledge(understood) => {
                Command::Acknowledge(Acknowledge { fence, understood, document, author: None })
            }
            Asked::Heartbeat(lease_ms) => Command::Heartbeat(Heartbeat { lease_ms, ..Heartbeat::new(fence) }),
            Asked::Report(ending) => Command::Report(HandIn::new(fence, ending, document)),
            Asked::Fail(code, documented, dice) => {
                let failure = Failure::new(Code::parse(code).unwrap(), format!("failure {}", self.text));
                Command::Fail(Fail { document: documented.then_some(document), ..Fail::new(fence, failure, dice) })
            }
            Asked::Verify(true, dice) => Command::Verify(Verify {
                fence,
                verdict: Verdict::Verified,
                examined: Vec::new(),
                evidence: None,
                kept: Vec::new(),
                review: false,
                repair: false,
                dice,
            }),
            Asked::Verify(false, dice) => Command::Verify(Verify {
                fence,
                verdict: Verdict::Refuted { reasons: document.text, for_good: false },
                examined: Vec::new(),
                evidence: None,
                kept: Vec::new(),
                review: false,
                repair: false,
                dice,
            }),
            Asked::Expire(dice) => Command::Expire(Expire { dice, for_good: false, fence: None }),
            Asked::Resume => Command::Resume(Resume { by, resolution: document.text, question: None }),
            Asked::Decide(decision) => {
                let last = handoff.shown().filter(|_| !matches!(self.token, Token::Absurd));
                let shown = last.unwrap_or(Digest::of(b"never shown"));
                let (door, known, label) = (Door::CommandLine, HowKnown::Account, None);
                Command::Decide(Decide { by, known, label, door, shown, decision, note: None, asked: None })
            }
            Asked::Cancel => Command::Cancel(Cancel { by, reason: None }),
            Asked::Requeue => Command::Requeue(Requeue { by, ..Requeue::default() }),
        }
    }
}

fn shifted(time: Timestamp, milliseconds: i64) -> Timestamp {
    time.checked_add(jiff::SignedDuration::from_millis(milliseconds)).unwrap_or(time)
}

/// Any life of up to 60 commands.
pub(crate) fn life() -> impl Strategy<Value = Life> {
    (terms(), prop::collection::vec(step(), 0..60)).prop_map(|(terms, steps)| {
        let id = HandoffId::parse("hoff-1").unwrap();
        let request = WrittenDocument {
            dialect: "native".to_owned(),
            text: "do it".to_owned(),
            path: None,
            warnings: Box::default(),
        };
        let accept = Accept { run: RunId::alone(&id), id, terms, request, notes: Vec::new() };
        Life { accept, accepted_at: start(), steps }
    })
}

fn start() -> Timestamp {
    Timestamp::from_second(1_767_225_600).unwrap()
}

fn terms() -> impl Strategy<Value = Terms> {
    let offset = || prop::option::weighted(0.3, -60_000_i64..600_000);
    (offset(), offset(), prop::option::weighted(0.4, 0_u64..200_000), policy(), any::<bool>(), any::<bool>()).prop_map(
        |(not_before, deadline, timeout_ms, retry, verify, returns)| Terms {
            not_before: not_before.map(|offset| shifted(start(), offset)),
            deadline: deadline.map(|offset| shifted(start(), offset)),
            timeout_ms,
            retry,
            verify,
            returns_to: returns.then(|| HandoffId::parse("caller").unwrap()),
            ..Terms::between("a", "b")
        },
    )
}

fn policy() -> impl Strategy<Value = retry::Policy> {
    let multiplier = prop_oneof![Just(0.0), Just(1.0), Just(2.0), Just(-3.0), Just(1e300)];
    (0_u32..4, prop_oneof![Just(0_u64), 1_u64..60_000, Just(u64::MAX)], multiplier, -0.5_f64..1.5).prop_map(
        |(max_retries, delay_ms, multiplier, jitter)| retry::Policy {
            max_retries,
            delay_ms,
            multiplier,
            jitter,
            ..retry::Policy::default()
        },
    )
}

fn step() -> impl Strategy<Value = Step> {
    let moves_ms = prop_oneof![6 => 0_i64..90_000, 2 => Just(0), 1 => -120_000_i64..0, 1 => 0_i64..4_000_000_000];
    let token = prop_oneof![8 => Just(Token::Right), 2 => Just(Token::Older), 1 => Just(Token::Absurd)];
    (moves_ms, token, 0_u8..3, asked()).prop_map(|(moves_ms, token, text, ask)| Step { moves_ms, token, text, ask })
}

fn asked() -> impl Strategy<Value = Asked> {
    let lease = || prop_oneof![Just(0_u64), 1_u64..120_000, Just(u64::MAX)];
    let code = prop_oneof![3 => Just("PROCESSING_ERROR"), 1 => Just("SCHEMA_VALIDATION_FAILED"), 1 => Just("MY_OWN")];
    let dice = || prop_oneof![0.0_f64..1.0, Just(0.0), Just(1.0)];
    prop_oneof![
        8 => lease().prop_map(Asked::Claim),
        1 => any::<bool>().prop_map(Asked::Acknowledge),
        1 => prop::option::of(lease()).prop_map(Asked::Heartbeat),
        4 => ending().prop_map(Asked::Report),
        3 => (code, any::<bool>(), dice()).prop_map(|(code, documented, dice)| Asked::Fail(code, documented, dice)),
        3 => (any::<bool>(), dice()).prop_map(|(verified, dice)| Asked::Verify(verified, dice)),
        3 => dice().prop_map(Asked::Expire),
        1 => Just(Asked::Resume),
        3 => decision().prop_map(Asked::Decide),
        1 => Just(Asked::Cancel),
        2 => Just(Asked::Requeue),
    ]
}

fn ending() -> impl Strategy<Value = Ending> {
    prop_oneof![
        2 => Just(Ending::Complete),
        1 => Just(Ending::Blocked { reason: "missing_requirements".to_owned() }),
        1 => Just(Ending::NeedsReview),
        1 => Just(Ending::NeedsClarification),
    ]
}

fn decision() -> impl Strategy<Value = Decision> {
    prop_oneof![
        Just(Decision::Approve),
        Just(Decision::Reject { feedback: "again".to_owned() }),
        Just(Decision::Answer { answers: "yes".to_owned() }),
    ]
}
