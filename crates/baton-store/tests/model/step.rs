//! One random step: what is asked, and how the clock moves before it. Few names, so that they meet often.

use baton_engine::Priority;
use proptest::prelude::*;

/// The agents that there are.
pub(crate) const AGENTS: [&str; 3] = ["builder", "reviewer", "Ünï 'x'"];

/// One step.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    /// How far the clock goes, or goes back.
    pub(crate) moves_ms: i64,
    /// What is asked.
    pub(crate) ask: Ask,
}

/// What is asked of the store.
#[derive(Debug, Clone)]
pub(crate) enum Ask {
    /// Accept these requests.
    Accept(Vec<Draft>),
    /// Accept the request of a handoff again, maybe with another id.
    AcceptAgain { which: u8, other_id: Option<u8> },
    /// Claim.
    Claim { agent: usize, lease_ms: u64, count: u32 },
    /// Apply a command to a handoff.
    Apply(Act),
    /// Do several things in one transaction.
    CarryOut(Vec<Part>),
    /// Apply a command to a handoff that may not be there.
    ApplyToNobody { id: u8 },
    /// Rescue.
    Rescue { limit: u32, dice: f64 },
    /// Set a queue.
    SetQueue { agent: usize, paused: bool, concurrency: Option<u32> },
    /// Remove a run that was finished so long before now.
    RemoveRun { run: u8, age_ms: i64 },
}

/// A command for one of the handoffs that are there.
#[derive(Debug, Clone)]
pub(crate) struct Act {
    pub(crate) which: u8,
    pub(crate) token: Token,
    pub(crate) text: u8,
    pub(crate) command: Verb,
}

/// A part of a transaction.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    /// Accept a request.
    Accept(Draft),
    /// Apply a command to a handoff that was there before the transaction.
    Apply(Act),
    /// Claim a handoff that may have been accepted a moment ago, report, verify and route it: so many steps of that.
    Live { id: u8, verified: bool, steps: usize },
}

/// A request.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    pub(crate) id: u8,
    pub(crate) run: u8,
    pub(crate) agent: usize,
    pub(crate) priority: Priority,
    /// From now on.
    pub(crate) not_before_ms: Option<i64>,
    /// From now on.
    pub(crate) deadline_ms: Option<i64>,
    pub(crate) timeout_ms: Option<u64>,
    pub(crate) retries: u32,
    pub(crate) delay_ms: u64,
    pub(crate) jitter: f64,
    pub(crate) key: Option<u8>,
    pub(crate) verify: bool,
    pub(crate) returns_to: Option<u8>,
    pub(crate) text: u8,
}

/// Which token a caller has.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Token {
    Right,
    Older,
    Absurd,
}

/// A command.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Verb {
    Claim,
    Understand,
    Misunderstand,
    Heartbeat(Option<u64>),
    Complete,
    Block,
    AskForReview,
    AskQuestions,
    Fail { permanent: bool, documented: bool, dice: f64 },
    Verified,
    Refuted(f64),
    Expire(f64),
    Resume,
    Approve,
    Reject,
    Answer,
    Question,
    VerifiedForReview,
    Release,
    Route,
    Cancel,
    Requeue,
}

/// Any step.
pub(crate) fn any() -> impl Strategy<Value = Step> {
    let moves_ms = prop_oneof![4 => 0_i64..20_000, 2 => Just(0), 1 => -60_000_i64..0, 1 => 0_i64..300_000];
    (moves_ms, ask()).prop_map(|(moves_ms, ask)| Step { moves_ms, ask })
}

fn ask() -> impl Strategy<Value = Ask> {
    let drafts = |most: usize| prop::collection::vec(draft(), 0..=most);
    let agent = || 0..AGENTS.len();
    prop_oneof![
        4 => drafts(3).prop_map(Ask::Accept),
        1 => (any_byte(), prop::option::of(0_u8..24))
            .prop_map(|(which, other_id)| Ask::AcceptAgain { which, other_id }),
        6 => (agent(), 0_u64..60_000, 0_u32..4)
            .prop_map(|(agent, lease_ms, count)| Ask::Claim { agent, lease_ms, count }),
        14 => act().prop_map(Ask::Apply),
        5 => parts().prop_map(Ask::CarryOut),
        1 => (0_u8..24).prop_map(|id| Ask::ApplyToNobody { id }),
        3 => (0_u32..4, dice()).prop_map(|(limit, dice)| Ask::Rescue { limit, dice }),
        1 => (agent(), prop::bool::weighted(0.3), prop::option::of(0_u32..4))
            .prop_map(|(agent, paused, concurrency)| Ask::SetQueue { agent, paused, concurrency }),
        1 => (0_u8..5, -10_000_i64..60_000).prop_map(|(run, age_ms)| Ask::RemoveRun { run, age_ms }),
    ]
}

fn act() -> impl Strategy<Value = Act> {
    let parts = (any_byte(), token(), 0_u8..3, verb());
    parts.prop_map(|(which, token, text, command)| Act { which, token, text, command })
}

/// Whatever comes, or what a run does: something new is accepted and lives through some of its life.
fn parts() -> impl Strategy<Value = Vec<Part>> {
    let part = prop_oneof![draft().prop_map(Part::Accept), act().prop_map(Part::Apply)];
    let chain = (act(), prop::bool::ANY, draft(), 0_usize..=4).prop_map(|(act, alone, draft, steps)| {
        let live = Part::Live { id: draft.id, verified: draft.verify, steps };
        let first = (!alone).then_some(Part::Apply(act));
        first.into_iter().chain([Part::Accept(draft), live]).collect()
    });
    prop_oneof![prop::collection::vec(part, 0..4), chain]
}

fn any_byte() -> impl Strategy<Value = u8> {
    0_u8..=255
}

fn dice() -> impl Strategy<Value = f64> {
    prop_oneof![0.0_f64..1.0, Just(0.0), Just(1.0)]
}

fn token() -> impl Strategy<Value = Token> {
    prop_oneof![10 => Just(Token::Right), 2 => Just(Token::Older), 1 => Just(Token::Absurd)]
}

fn draft() -> impl Strategy<Value = Draft> {
    let priority =
        prop_oneof![Just(Priority::Low), Just(Priority::Normal), Just(Priority::High), Just(Priority::Critical)];
    let names = (0_u8..24, 0_u8..5, 0..AGENTS.len(), priority, prop::option::weighted(0.2, 0_u8..4), 0_u8..3);
    let times = (
        prop::option::weighted(0.2, -10_000_i64..60_000),
        prop::option::weighted(0.2, -5_000_i64..200_000),
        prop::option::weighted(0.3, 0_u64..60_000),
    );
    let retry = (0_u32..3, prop_oneof![Just(0_u64), 0_u64..30_000], prop_oneof![Just(0.0), 0.0_f64..1.0]);
    let flow = (prop::bool::weighted(0.3), prop::option::weighted(0.4, 0_u8..24));
    (names, times, retry, flow).prop_map(|(names, times, retry, flow)| {
        let (id, run, agent, priority, key, text) = names;
        let (not_before_ms, deadline_ms, timeout_ms) = times;
        let (retries, delay_ms, jitter) = retry;
        let (verify, returns_to) = flow;
        Draft {
            id,
            run,
            agent,
            priority,
            not_before_ms,
            deadline_ms,
            timeout_ms,
            retries,
            delay_ms,
            jitter,
            key,
            verify,
            returns_to,
            text,
        }
    })
}

fn verb() -> impl Strategy<Value = Verb> {
    let fail = (prop::bool::weighted(0.2), prop::bool::ANY, dice())
        .prop_map(|(permanent, documented, dice)| Verb::Fail { permanent, documented, dice });
    prop_oneof![
        2 => Just(Verb::Claim),
        1 => Just(Verb::Understand),
        1 => Just(Verb::Misunderstand),
        2 => prop::option::of(0_u64..60_000).prop_map(Verb::Heartbeat),
        5 => Just(Verb::Complete),
        3 => Just(Verb::Block),
        2 => Just(Verb::AskForReview),
        2 => Just(Verb::AskQuestions),
        3 => fail,
        3 => Just(Verb::Verified),
        1 => dice().prop_map(Verb::Refuted),
        1 => dice().prop_map(Verb::Expire),
        1 => Just(Verb::Resume),
        2 => Just(Verb::Approve),
        1 => Just(Verb::Reject),
        2 => Just(Verb::Answer),
        1 => Just(Verb::Question),
        1 => Just(Verb::VerifiedForReview),
        3 => Just(Verb::Release),
        2 => Just(Verb::Route),
        2 => Just(Verb::Cancel),
        2 => Just(Verb::Requeue),
    ]
}
