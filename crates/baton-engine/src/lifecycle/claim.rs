//! Claim: one claimant gets a lease and a fencing token that is higher than every one before it.

use std::sync::Arc;

use jiff::Timestamp;

use super::{Action, LEASE_MS_MAX, Refusal};
use crate::Fence;
use crate::handoff::{Digest, Handoff, Lease, State, later};
use crate::known::CommandAuthor;
use crate::protection::Protection;
use crate::sabotage::{Bug, planted};
use crate::session::SessionTurn;

/// Take a handoff and work on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// Who takes it.
    pub claimant: String,
    /// How long without a heartbeat.
    pub lease_ms: u64,
    /// How many tokens the claimant is told, where somebody has counted.
    pub prompt_tokens: Option<u64>,
    /// Whether the driver of the run claims it.
    pub driver: bool,
    /// Whether the claimant ends an attempt that takes too long itself, as every driver does: then what was said before
    /// counts whenever it can be written.
    pub times_itself: bool,
    /// What did not fit into the prompt, and the files that have it instead.
    pub moved: Vec<String>,
    /// What identifies how the workspace was before the attempt: its changes are measured from there.
    pub baseline: Option<Digest>,
    /// What keeps the processes of the attempt away from what is not theirs, where the driver starts them.
    pub protection: Option<Protection>,
    /// Which turn of which session the attempt is, where its program keeps sessions.
    pub session: Option<SessionTurn>,
    /// Who sent it, where a door knows.
    pub author: Option<Arc<CommandAuthor>>,
}

impl Claim {
    /// A claim by anybody but a driver.
    pub fn by(claimant: impl Into<String>, lease_ms: u64) -> Claim {
        let claimant = claimant.into();
        Claim {
            claimant,
            lease_ms,
            prompt_tokens: None,
            driver: false,
            times_itself: false,
            moved: Vec::new(),
            baseline: None,
            protection: None,
            session: None,
            author: None,
        }
    }

    pub(super) fn apply(&self, handoff: &mut Handoff, at: Timestamp) -> Result<Vec<Action>, Refusal> {
        // Whoever asks for work gets nothing that is the driver's own.
        if handoff.terms.is_drivers() && !self.driver {
            return Err(Refusal::PartOfRun);
        }
        match handoff.state {
            State::Pending { ready_at } if ready_at > at => Err(Refusal::NotReady { at: ready_at }),
            State::Pending { .. } if handoff.deadline.is_some_and(|deadline| deadline <= at) => Err(Refusal::Overdue),
            State::Pending { .. } => {
                let length_ms = self.lease_ms.min(LEASE_MS_MAX);
                let until = later(at, length_ms);
                let claimant = self.claimant.clone();
                if handoff.fence == Fence::NONE || !planted(Bug::FenceNotRaised) {
                    handoff.fence = handoff.fence.next();
                }
                handoff.returned_early = false;
                handoff.attempts += 1;
                let (driven, times_itself) = (self.driver, self.driver || self.times_itself);
                handoff.state = State::Claimed {
                    lease: Lease { claimant, since: at, until, length_ms, acknowledged: false, driven, times_itself },
                };
                Ok(Vec::new())
            }
            State::Claimed { .. }
            | State::Verifying
            | State::Blocked { .. }
            | State::AwaitingPerson { .. }
            | State::Completed { .. }
            | State::Failed { .. }
            | State::Cancelled { .. } => {
                Err(Refusal::WrongState { state: handoff.state.name(), participle: "claimed" })
            }
        }
    }
}

/// Returns the lease if the token is that of the claim that holds it now, and the attempt has not taken too long.
///
/// A lease that has ended but that nobody has taken over is still held: the work is there, and nobody else does it. What
/// took longer than agreed is not, whether somebody has noticed or not.
pub(super) fn held(handoff: &mut Handoff, fence: Fence, at: Timestamp) -> Result<&mut Lease, Refusal> {
    // Drivers and workers end their agents themselves when the time is up. What was said before counts whenever it can be
    // written.
    let times_out_at = handoff.times_out_at().filter(|_| handoff.lease().is_some_and(|lease| !lease.times_itself));
    let ends = [times_out_at, handoff.deadline];
    let too_long = ends.into_iter().flatten().min().filter(|end| *end <= at && !planted(Bug::LateReportCounts));
    let lease = held_by(handoff, fence)?;
    match too_long {
        Some(ended_at) => Err(Refusal::TooLong { given: fence, ended_at }),
        None => Ok(lease),
    }
}

/// Returns the lease if the token is that of the claim that holds it now.
pub(super) fn held_by(handoff: &mut Handoff, fence: Fence) -> Result<&mut Lease, Refusal> {
    holds(handoff, fence)?;
    let state = handoff.state.name();
    match &mut handoff.state {
        State::Claimed { lease } => Ok(lease),
        _ => Err(Refusal::Over { given: fence, state }),
    }
}

/// Returns whether this claim holds the handoff now; the error says who does, or why nobody does.
pub fn holds(handoff: &Handoff, fence: Fence) -> Result<(), Refusal> {
    if fence > handoff.fence {
        return Err(Refusal::NeverGiven { given: fence });
    }
    if fence < handoff.fence && !planted(Bug::FenceNotCompared) {
        return Err(Refusal::Stale { given: fence, current: handoff.fence });
    }
    match handoff.lease() {
        Some(_) => Ok(()),
        None => Err(Refusal::Over { given: fence, state: handoff.state.name() }),
    }
}

/// Returns a claimant as people read it: without the mark in brackets behind the name, which tells processes apart.
pub fn readable_claimant(claimant: &str) -> &str {
    match claimant.rsplit_once(" [") {
        Some((name, mark)) if mark.ends_with(']') => name,
        _ => claimant,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handoff::StateName;
    use crate::lifecycle::table::sample;
    use crate::lifecycle::{Command, apply};
    use crate::step::Role;

    #[test]
    fn each_claim_has_a_higher_token() {
        let pending = sample::handoff(StateName::Pending);
        let first = apply(&pending, sample::claim(), sample::time(20)).expect("ready").handoff;
        assert_eq!((first.fence, first.attempts), (pending.fence.next(), pending.attempts + 1));
        assert_eq!(first.lease().expect("claimed").until, sample::time(80));
    }

    #[test]
    fn handoff_is_not_claimed_before_its_time() {
        let mut pending = sample::handoff(StateName::Pending);
        pending.state = State::Pending { ready_at: sample::time(100) };
        let refusal = apply(&pending, sample::claim(), sample::time(99)).expect_err("too early");
        assert_eq!(refusal, Refusal::NotReady { at: sample::time(100) });
    }

    #[test]
    fn handoff_that_nobody_wants_any_more_is_not_claimed() {
        let mut pending = sample::handoff(StateName::Pending);
        pending.deadline = Some(sample::time(30));
        assert_eq!(apply(&pending, sample::claim(), sample::time(30)), Err(Refusal::Overdue));
        assert!(apply(&pending, sample::claim(), sample::time(29)).is_ok());
    }

    #[test]
    fn token_that_was_never_given_is_told_from_an_old_one() {
        let claimed = sample::handoff(StateName::Claimed);
        let refusal = apply(&claimed, sample::report(claimed.fence.next()), sample::time(30)).expect_err("never given");
        assert_eq!(refusal, Refusal::NeverGiven { given: claimed.fence.next() });
        assert!(!refusal.is_late());
    }

    #[test]
    fn lease_has_a_limit() {
        let claim = Command::Claim(Claim::by("w", u64::MAX));
        let claimed = apply(&sample::handoff(StateName::Pending), claim, sample::time(20)).expect("ready").handoff;
        assert_eq!(claimed.lease().expect("claimed").length_ms, LEASE_MS_MAX);
    }

    #[test]
    fn only_the_driver_claims_what_its_own_agents_work_on() {
        let mut pending = sample::handoff(StateName::Pending);
        Arc::make_mut(&mut pending.terms).reserve("parser");
        assert_eq!(apply(&pending, sample::claim(), sample::time(30)), Err(Refusal::PartOfRun));
        let Command::Claim(claim) = sample::claim() else { panic!("a claim") };
        assert!(apply(&pending, Command::Claim(Claim { driver: true, ..claim }), sample::time(30)).is_ok());
    }

    #[test]
    fn only_the_driver_claims_runs_groups_and_checks() {
        for role in [Role::Run, Role::Group, Role::Check] {
            let mut pending = sample::handoff(StateName::Pending);
            Arc::make_mut(&mut pending.terms).step = Some(sample::step(role));
            assert_eq!(apply(&pending, sample::claim(), sample::time(30)), Err(Refusal::PartOfRun), "{role:?}");
            let driver = Claim { driver: true, ..Claim::by("w", 60_000) };
            assert!(apply(&pending, Command::Claim(driver), sample::time(30)).is_ok(), "{role:?}");
        }
    }
}
