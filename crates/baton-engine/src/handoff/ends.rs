//! When something about a handoff ends by itself: a lease, a timeout, a deadline, the time to claim or acknowledge it.

use jiff::Timestamp;

use super::{Handoff, State, later};

/// How long what a driver held is left to the drivers of its run, before anybody may notice that it has ended.
const DRIVEN_REST_MS: u64 = 3_600_000;

/// How much time a claimant has who ends an attempt that took too long itself, before anybody else may.
const GRACE_MS: u64 = 10_000;

impl Handoff {
    /// Returns when the attempt that runs now has taken too long.
    pub fn times_out_at(&self) -> Option<Timestamp> {
        Some(later(self.lease()?.since, self.terms.timeout_ms?))
    }

    /// Returns until when the claimant must say that it understood, while it has not.
    pub fn acknowledge_by(&self) -> Option<Timestamp> {
        let lease = self.lease().filter(|lease| !lease.acknowledged)?;
        Some(later(lease.since, self.terms.acknowledge_within_ms?))
    }

    /// Returns until when somebody must claim it, while it waits for that.
    pub fn pick_up_by(&self) -> Option<Timestamp> {
        let State::Pending { ready_at } = self.state else { return None };
        Some(later(ready_at, self.terms.pick_up_within_ms?))
    }

    /// Returns when anybody may notice that something has ended: a lease, a timeout or a deadline, or nobody has claimed
    /// or acknowledged it in time.
    ///
    /// What the driver of a run holds is left to the drivers of that run for longer: nobody else could go on with it, and
    /// its own driver may only have slept.
    pub fn wakes_at(&self) -> Option<Timestamp> {
        let left_alone_ms = if self.lease().is_some_and(|lease| lease.driven) { DRIVEN_REST_MS } else { 0 };
        self.ends_at().map(|at| later(at, left_alone_ms))
    }

    /// Returns when something ends that whoever takes over may notice.
    pub fn ends_at(&self) -> Option<Timestamp> {
        let lease = self.lease().map(|lease| lease.until);
        lease.into_iter().chain(self.overdue_at()).min()
    }

    /// Returns when something ends, however alive the claimant is.
    pub fn overdue_at(&self) -> Option<Timestamp> {
        if self.state.finished_at().is_some() {
            return None;
        }
        // Whoever times it stops the agent when the time is up, and lets it tidy up; others only step in after that.
        let grace_ms = if self.lease().is_some_and(|lease| lease.times_itself) { GRACE_MS } else { 0 };
        let timed_out = self.times_out_at().map(|at| later(at, grace_ms));
        [timed_out, self.acknowledge_by(), self.pick_up_by(), self.deadline].into_iter().flatten().min()
    }
}
