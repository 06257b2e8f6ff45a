//! Sabotage: bugs that tests plant to see whether anybody finds them. Without the feature `sabotage` there are none.

/// A bug that can be planted: one line somewhere in the engine does the wrong thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "each says where it is planted")]
#[cfg_attr(not(feature = "sabotage"), expect(dead_code, reason = "nobody can plant them"))]
pub enum Bug {
    BackoffIgnored,
    CallOffForgetsOne,
    CounterNotCounted,
    DelegationDoesNotReturn,
    EscalationForgotten,
    ExpiresTooEarly,
    FenceNotCompared,
    FenceNotRaised,
    GateDecidedTwice,
    GroupEndsWithOpenLane,
    HeartbeatForgetsOne,
    LateReportCounts,
    LeaseGuardLeftOut,
    LimitWaivedForAll,
    OutageEndsDriver,
    OwnLeaseExpires,
    PhaseNotEntered,
    RaceIsNotReadAgain,
    RefutedCounts,
    ResultLostInOutage,
    ResultOfOlderClaim,
    RetriesNotCounted,
    ReviewSkipped,
    RouteInSecondTransaction,
    TakeOverForgetsAttempts,
    TakesFromTheLiving,
}

#[cfg(feature = "sabotage")]
mod planted {
    use std::cell::Cell;

    use super::Bug;

    thread_local! {
        static PLANTED: Cell<Option<Bug>> = const { Cell::new(None) };
    }

    /// Every bug that can be planted.
    pub const BUGS: [Bug; 26] = [
        Bug::BackoffIgnored,
        Bug::CallOffForgetsOne,
        Bug::CounterNotCounted,
        Bug::DelegationDoesNotReturn,
        Bug::EscalationForgotten,
        Bug::ExpiresTooEarly,
        Bug::FenceNotCompared,
        Bug::FenceNotRaised,
        Bug::GateDecidedTwice,
        Bug::GroupEndsWithOpenLane,
        Bug::HeartbeatForgetsOne,
        Bug::LateReportCounts,
        Bug::LeaseGuardLeftOut,
        Bug::LimitWaivedForAll,
        Bug::OutageEndsDriver,
        Bug::OwnLeaseExpires,
        Bug::PhaseNotEntered,
        Bug::RaceIsNotReadAgain,
        Bug::RefutedCounts,
        Bug::ResultLostInOutage,
        Bug::ResultOfOlderClaim,
        Bug::RetriesNotCounted,
        Bug::ReviewSkipped,
        Bug::RouteInSecondTransaction,
        Bug::TakeOverForgetsAttempts,
        Bug::TakesFromTheLiving,
    ];

    /// Plants a bug in everything that this thread does, or takes it out.
    pub fn plant(bug: Option<Bug>) {
        PLANTED.set(bug);
    }

    pub(crate) fn planted(bug: Bug) -> bool {
        PLANTED.get() == Some(bug)
    }
}

#[cfg(feature = "sabotage")]
pub(crate) use planted::planted;
#[cfg(feature = "sabotage")]
pub use planted::{BUGS, plant};

/// Without the feature nothing is ever planted.
#[cfg(not(feature = "sabotage"))]
pub(crate) const fn planted(_: Bug) -> bool {
    false
}
