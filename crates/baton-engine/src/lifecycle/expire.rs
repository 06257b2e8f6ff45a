//! Expire: a lease, a timeout or a deadline has ended, or nobody claimed or acknowledged it in time; nobody else will
//! say so.

use jiff::Timestamp;

use super::claim::readable_claimant;
use super::fail::{give_up, try_again};
use super::{Action, Refusal};
use crate::Fence;
use crate::failure::{Code, Failure, Transience};
use crate::handoff::{Handoff, Lease, State, whole};

/// Notice that a lease, a timeout, a deadline or the time to claim or acknowledge it has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Expire {
    /// A random number between 0 and 1, for the jitter of the policy.
    pub dice: f64,
    /// Whether another attempt makes no sense.
    pub for_good: bool,
    /// The fence of the claim that was looked at; nothing of a later one ends.
    ///
    /// ```text
    /// driver                                   others
    /// reads x: claim 1 was not heard of, as
    /// before, so that it ends for good
    ///                                          notice that claim 1 has ended; claim 2 takes too long
    /// ends x for good: that would be claim 2,
    /// whose failure is the first of its kind
    /// ```
    pub fence: Option<Fence>,
}

/// Returns whether something about it has ended that anybody may notice.
pub(super) fn is_due(handoff: &Handoff, at: Timestamp) -> bool {
    handoff.state.finished_at().is_some()
        || handoff.ends_at().is_some_and(|end| end <= whole(at).max(handoff.changed_at))
}

impl Expire {
    pub(super) fn apply(&self, handoff: &mut Handoff, at: Timestamp) -> Result<Vec<Action>, Refusal> {
        if let Some(given) = self.fence.filter(|fence| *fence != handoff.fence) {
            return Err(Refusal::Stale { given, current: handoff.fence });
        }
        let overdue = handoff.deadline.is_some_and(|deadline| deadline <= at);
        match &handoff.state {
            State::Claimed { lease } if overdue => {
                let stop = stop(lease, handoff.fence);
                Ok(std::iter::once(stop).chain(overdue_now(handoff, at)).collect())
            }
            State::Claimed { lease } => {
                let failure = self.judged(ended(handoff, lease, at).ok_or(Refusal::NotExpired)?);
                let stop = stop(lease, handoff.fence);
                Ok(std::iter::once(stop).chain(try_again(handoff, failure, self.dice, at)).collect())
            }
            State::Pending { .. } | State::Verifying | State::Blocked { .. } | State::AwaitingPerson { .. }
                if overdue =>
            {
                Ok(overdue_now(handoff, at))
            }
            State::Pending { .. } if handoff.pick_up_by().is_some_and(|end| end <= at) => {
                let limit = seconds(handoff.terms.pick_up_within_ms.unwrap_or_default());
                // Waiting in vain counts as an attempt: otherwise it would be tried again for ever.
                handoff.attempts += 1;
                let failure = Failure::new(Code::timeout(), format!("nobody picked it up within {limit} s"));
                let failure = self.judged(failure);
                Ok(try_again(handoff, failure, self.dice, at))
            }
            State::Pending { .. } | State::Verifying | State::Blocked { .. } | State::AwaitingPerson { .. } => {
                Err(Refusal::NotExpired)
            }
            State::Completed { .. } | State::Failed { .. } | State::Cancelled { .. } => {
                Err(Refusal::WrongState { state: handoff.state.name(), participle: "expired" })
            }
        }
    }
}

impl Expire {
    fn judged(&self, failure: Failure) -> Failure {
        if self.for_good { Failure { chance: Transience::Permanent, ..failure } } else { failure }
    }
}

fn stop(lease: &Lease, fence: Fence) -> Action {
    Action::StopAttempt { claimant: lease.claimant.clone(), fence }
}

/// Returns why the attempt has ended; `None` if it has not.
fn ended(handoff: &Handoff, lease: &Lease, at: Timestamp) -> Option<Failure> {
    let over = |end: Option<Timestamp>| end.is_some_and(|end| end <= at);
    let (claimant, terms) = (readable_claimant(&lease.claimant), &handoff.terms);
    // In a run the driver has claimed it; who takes too long is the agent.
    let worker = if terms.step.is_some() { terms.to.as_str() } else { claimant };
    let (code, message) = if over(handoff.times_out_at()) {
        let limit = seconds(terms.timeout_ms.unwrap_or_default());
        (Code::timeout(), format!("{worker} did not finish within {limit} s"))
    } else if over(handoff.acknowledge_by()) {
        let limit = seconds(terms.acknowledge_within_ms.unwrap_or_default());
        (Code::not_acknowledged(), format!("{worker} did not say within {limit} s that it understood"))
    } else if lease.until <= at {
        (Code::timeout(), format!("no heartbeat from {claimant} for {} s", seconds(lease.length_ms)))
    } else {
        return None;
    };
    Some(Failure::new(code, message))
}

fn seconds(milliseconds: u64) -> f64 {
    milliseconds as f64 / 1000.0
}

/// The result is no longer wanted, so there is no other attempt, whatever the policy says.
fn overdue_now(handoff: &mut Handoff, at: Timestamp) -> Vec<Action> {
    let was = handoff.state.name();
    let mut failure = Failure::new(Code::timeout(), format!("the deadline passed while it was {was}"));
    failure.chance = Transience::Permanent;
    give_up(handoff, failure, at)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::handoff::StateName;
    use crate::lifecycle::table::sample;
    use crate::lifecycle::{Command, apply};

    const EXPIRE: Command = Command::Expire(Expire { dice: 0.0, for_good: false, fence: None });

    #[test]
    fn whoever_looked_at_an_earlier_claim_ends_nothing() {
        let claimed = sample::handoff(StateName::Claimed);
        let looked_at = |fence| Command::Expire(Expire { dice: 0.0, for_good: false, fence: Some(fence) });
        let stale = Refusal::Stale { given: Fence(claimed.fence.0 - 1), current: claimed.fence };
        assert_eq!(apply(&claimed, looked_at(Fence(claimed.fence.0 - 1)), sample::time(500)), Err(stale));
        assert!(apply(&claimed, looked_at(claimed.fence), sample::time(500)).is_ok());
    }

    #[test]
    fn expired_lease_returns_to_pending_and_the_old_token_is_stale_after_the_next_claim() {
        let claimed = sample::handoff(StateName::Claimed);
        assert_eq!(apply(&claimed, EXPIRE, sample::time(30)), Err(Refusal::NotExpired));
        let pending = apply(&claimed, EXPIRE, sample::time(500)).expect("expired").handoff;
        let State::Pending { ready_at } = pending.state else { panic!("pending") };
        let taken = apply(&pending, sample::claim(), ready_at).expect("ready").handoff;
        let refusal = apply(&taken, sample::report(claimed.fence), ready_at).expect_err("stale");
        assert_eq!(refusal, Refusal::Stale { given: claimed.fence, current: claimed.fence.next() });
    }

    #[test]
    fn heartbeats_do_not_save_an_attempt_that_takes_too_long() {
        let mut claimed = sample::handoff(StateName::Claimed);
        Arc::make_mut(&mut claimed.terms).timeout_ms = Some(50_000);
        let alive = apply(&claimed, sample::heartbeat(claimed.fence), sample::time(69)).expect("held").handoff;
        let next = apply(&alive, EXPIRE, sample::time(70)).expect("timed out").handoff;
        assert_eq!(next.last_failure.expect("said").code, Code::timeout());
    }

    #[test]
    fn deadline_ends_every_open_state() {
        for name in StateName::ALL.into_iter().filter(|name| !name.is_finished()) {
            let mut handoff = sample::handoff(name);
            handoff.deadline = Some(sample::time(100));
            assert_eq!(apply(&handoff, EXPIRE, sample::time(99)).is_err(), name != StateName::Claimed, "{name}");
            let next = apply(&handoff, EXPIRE, sample::time(100)).expect("overdue").handoff;
            assert_eq!(next.state, State::Failed { at: sample::time(100) }, "{name}");
        }
    }

    #[test]
    fn claim_that_is_not_acknowledged_in_time_goes_back() {
        let mut claimed = sample::handoff(StateName::Claimed);
        Arc::make_mut(&mut claimed.terms).acknowledge_within_ms = Some(5_000);
        assert_eq!(claimed.wakes_at(), Some(sample::time(25)));
        assert_eq!(apply(&claimed, EXPIRE, sample::time(24)), Err(Refusal::NotExpired));
        let next = apply(&claimed, EXPIRE, sample::time(25)).expect("too late").handoff;
        assert_eq!(
            (next.state.name(), next.last_failure.expect("said").code),
            (StateName::Pending, Code::not_acknowledged())
        );
        let told = apply(&claimed, sample::acknowledge(claimed.fence, true), sample::time(24)).expect("held").handoff;
        assert_eq!(apply(&told, EXPIRE, sample::time(25)), Err(Refusal::NotExpired));
        assert_eq!(told.wakes_at(), told.lease().map(|lease| lease.until));
    }

    #[test]
    fn handoff_that_nobody_picks_up_fails_when_the_policy_is_spent() {
        let mut pending = sample::handoff(StateName::Pending);
        Arc::make_mut(&mut pending.terms).pick_up_within_ms = Some(5_000);
        pending.attempts = 0;
        let mut waits = 0;
        while let State::Pending { ready_at } = pending.state {
            let end = pending.wakes_at().expect("somebody must come");
            assert_eq!(end.duration_since(ready_at).as_secs(), 5);
            let early = end - std::time::Duration::from_millis(1);
            assert_eq!(apply(&pending, EXPIRE, early), Err(Refusal::NotExpired));
            assert!(
                apply(&pending, sample::claim(), end).is_ok(),
                "whoever comes late but before it is noticed has it"
            );
            pending = apply(&pending, EXPIRE, end).expect("nobody came").handoff;
            waits += 1;
        }
        assert_eq!((waits, pending.state.name()), (4, StateName::Failed));
        assert_eq!(pending.last_failure.expect("said").to_string(), "TIMEOUT: nobody picked it up within 5 s");
    }
}
