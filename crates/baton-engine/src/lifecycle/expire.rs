//! Expire: a lease, a time-out or a deadline has ended, and nobody else will say so.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::fail::{finite, give_up, try_again};
use super::{Action, Refusal};
use crate::failure::{Chance, Code, Failure};
use crate::handoff::{Handoff, Lease, State};

/// Notice that a lease, a time-out or a deadline has ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Expire {
    /// A random number between 0 and 1, for the jitter of the policy.
    #[serde(serialize_with = "finite")]
    pub dice: f64,
}

impl Expire {
    pub(super) fn apply(&self, handoff: &mut Handoff, at: Timestamp) -> Result<Vec<Action>, Refusal> {
        let overdue = handoff.deadline.is_some_and(|deadline| deadline <= at);
        let timed_out = handoff.times_out_at().is_some_and(|end| end <= at);
        match &handoff.state {
            State::Claimed { lease } if overdue => {
                let stop = stop(lease, handoff.fence);
                Ok(std::iter::once(stop).chain(overdue_now(handoff, at)).collect())
            }
            State::Claimed { lease } if timed_out || lease.until <= at => {
                let stop = stop(lease, handoff.fence);
                let failure = Failure::new(Code::timeout(), why(handoff, lease, timed_out));
                Ok(std::iter::once(stop).chain(try_again(handoff, failure, self.dice, at)).collect())
            }
            State::Pending { .. } | State::Verifying | State::Blocked { .. } | State::AwaitingPerson { .. }
                if overdue =>
            {
                Ok(overdue_now(handoff, at))
            }
            State::Pending { .. }
            | State::Claimed { .. }
            | State::Verifying
            | State::Blocked { .. }
            | State::AwaitingPerson { .. } => Err(Refusal::NotExpired),
            State::Completed { .. } | State::Failed { .. } | State::Cancelled { .. } => {
                Err(Refusal::WrongState { state: handoff.state.name(), participle: "expired" })
            }
        }
    }
}

fn stop(lease: &Lease, fence: u64) -> Action {
    Action::StopAttempt { claimant: lease.claimant.clone(), fence }
}

fn why(handoff: &Handoff, lease: &Lease, timed_out: bool) -> String {
    match handoff.terms.timeout_ms {
        Some(limit) if timed_out => format!("{} did not finish within {} s", lease.claimant, limit as f64 / 1000.0),
        _ => format!("{} was not heard of for {} s", lease.claimant, lease.length_ms as f64 / 1000.0),
    }
}

/// Nobody wants the result any more, so there is no other attempt, whatever the policy says.
fn overdue_now(handoff: &mut Handoff, at: Timestamp) -> Vec<Action> {
    let was = handoff.state.name();
    let mut failure = Failure::new(Code::timeout(), format!("the deadline passed while it was {was}"));
    failure.chance = Chance::Permanent;
    give_up(handoff, failure, at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handoff::StateName;
    use crate::lifecycle::table::sample;
    use crate::lifecycle::{Command, apply};

    const EXPIRE: Command = Command::Expire(Expire { dice: 0.0 });

    #[test]
    fn expired_lease_returns_to_pending_and_the_old_token_is_stale_after_the_next_claim() {
        let claimed = sample::handoff(StateName::Claimed);
        assert_eq!(apply(&claimed, EXPIRE, sample::time(30)), Err(Refusal::NotExpired));
        let pending = apply(&claimed, EXPIRE, sample::time(500)).expect("expired").handoff;
        let State::Pending { ready_at } = pending.state else { panic!("pending") };
        let taken = apply(&pending, sample::claim(), ready_at).expect("ready").handoff;
        let refusal = apply(&taken, sample::report(claimed.fence), ready_at).expect_err("stale");
        assert_eq!(refusal, Refusal::Stale { given: claimed.fence, current: claimed.fence + 1 });
    }

    #[test]
    fn heartbeats_do_not_save_an_attempt_that_takes_too_long() {
        let mut claimed = sample::handoff(StateName::Claimed);
        claimed.terms.timeout_ms = Some(50_000);
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
}
