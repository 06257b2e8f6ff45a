//! Sabotage: bugs that tests plant to see whether anybody finds them. Without the feature `sabotage` there are none.

/// A bug that can be planted: one line somewhere in the engine does the wrong thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bug {
    /// What a person has approved is not looked at again.
    ApprovedFilesNotSeenAgain,
    /// A retry does not wait.
    BackoffIgnored,
    /// A run that ends leaves its last open handoff as it is.
    CallOffForgetsOne,
    /// Checks do not count against the limit of handoffs.
    CounterNotCounted,
    /// Whoever waits for a delegation is not told that it has ended.
    DelegationDoesNotReturn,
    /// A blocked agent is routed to a person, and nobody is asked.
    EscalationForgotten,
    /// An older token is as good as the latest.
    FenceNotCompared,
    /// Only the first claim has a token of its own.
    FenceNotRaised,
    /// What is completed can be decided about again.
    GateDecidedTwice,
    /// A group ends when its last lane has begun.
    GroupEndsWithOpenLane,
    /// A heartbeat extends the run and nothing in it.
    HeartbeatForgetsOne,
    /// What took longer than agreed counts.
    LateReportCounts,
    /// A transaction of a driver does not look whether the run is still its own.
    LeaseGuardLeftOut,
    /// What a person lets through at a limit lets every lane through.
    LimitWaivedForAll,
    /// A driver gives up when the store does not answer once.
    OutageEndsDriver,
    /// A driver decides without having read what it has just written, if the store does not tell it.
    OwnEventsNotRead,
    /// A driver ends its own leases after a pause.
    OwnLeaseExpires,
    /// The route is recorded, but the next phase does not begin.
    PhaseNotEntered,
    /// A report that was refuted counts.
    RefutedCounts,
    /// A result is forgotten if the store is away when it comes.
    ResultLostInOutage,
    /// A handoff may be tried again for ever.
    RetriesNotCounted,
    /// Work that a person must see is not shown.
    ReviewSkipped,
    /// What follows from a result is written in a transaction of its own.
    RouteInSecondTransaction,
    /// Whoever takes over a run leaves the attempts of the dead driver as they are.
    TakeOverForgetsAttempts,
    /// Every other driver counts as dead.
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
    pub const BUGS: [Bug; 25] = [
        Bug::ApprovedFilesNotSeenAgain,
        Bug::BackoffIgnored,
        Bug::CallOffForgetsOne,
        Bug::CounterNotCounted,
        Bug::DelegationDoesNotReturn,
        Bug::EscalationForgotten,
        Bug::FenceNotCompared,
        Bug::FenceNotRaised,
        Bug::GateDecidedTwice,
        Bug::GroupEndsWithOpenLane,
        Bug::HeartbeatForgetsOne,
        Bug::LateReportCounts,
        Bug::LeaseGuardLeftOut,
        Bug::LimitWaivedForAll,
        Bug::OutageEndsDriver,
        Bug::OwnEventsNotRead,
        Bug::OwnLeaseExpires,
        Bug::PhaseNotEntered,
        Bug::RefutedCounts,
        Bug::ResultLostInOutage,
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
