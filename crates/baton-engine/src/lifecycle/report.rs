//! Report: what came out of an attempt. Only the claim that holds the lease is heard, and only once.

use std::sync::Arc;

use jiff::Timestamp;

use super::claim::held;
use super::resume::start_over;
use super::{Action, Refusal};
use crate::Fence;
use crate::evidence::{self, ExaminedClaim, Transcript};
use crate::handoff::{Ask, Digest, Handoff, State, WrittenDocument};
use crate::known::CommandAuthor;
use crate::sabotage::{Bug, planted};
use crate::session::Spent;

/// Hand in what came out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandIn {
    /// The fence of the claim.
    pub fence: Fence,
    /// How the attempt ended.
    pub ending: Ending,
    /// The report.
    pub document: WrittenDocument,
    /// What the attempt spent, where its program tells.
    pub spent: Option<Spent>,
    /// The skills that its program shows to have been used; `None` if it shows nothing of the kind.
    pub skills: Option<Vec<String>>,
    /// Files that had changed since the attempt began, as far as somebody looked.
    pub changed: Vec<String>,
    /// What shows which tools the agent really called, where its program tells.
    pub transcript: Option<Transcript>,
    /// What Baton saw of a command that it ran itself. What agents report is verified in a step of its own.
    pub examined: Vec<ExaminedClaim>,
    /// Who sent it, where a door knows.
    pub author: Option<Arc<CommandAuthor>>,
}

/// How an attempt ended that did not fail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// Finished.
    Complete,
    /// Cannot go on alone.
    Blocked {
        /// Why.
        reason: String,
    },
    /// Finished, but a person must approve.
    NeedsReview,
    /// A person must answer questions first.
    NeedsClarification,
}

impl HandIn {
    /// Hands in a report of which nothing else is known.
    pub fn new(fence: Fence, ending: Ending, document: WrittenDocument) -> HandIn {
        HandIn {
            fence,
            ending,
            document,
            spent: None,
            skills: None,
            changed: Vec::new(),
            transcript: None,
            examined: Vec::new(),
            author: None,
        }
    }

    pub(super) fn apply(&self, handoff: &mut Handoff, at: Timestamp) -> Result<Vec<Action>, Refusal> {
        let digest = self.document.digest();
        heard_once(handoff, self.fence, &digest)?;
        let acknowledged = held(handoff, self.fence, at)?.acknowledged;
        if handoff.terms.acknowledge && !acknowledged {
            return Err(Refusal::NotAcknowledged { given: self.fence });
        }
        handoff.last_report = Some(digest);
        handoff.evidence = evidence::digest(&self.examined);
        handoff.has_files = self.examined.iter().any(|examined| examined.path.is_some());
        let (state, actions) = match &self.ending {
            Ending::Complete if handoff.terms.verify => (State::Verifying, vec![Action::Verify]),
            Ending::Complete if handoff.review_owed => asked(Ask::Review),
            Ending::Complete => (State::Completed { at }, completed(handoff)),
            // What it waits for is there already.
            Ending::Blocked { .. } if handoff.returned_early => {
                handoff.returned_early = false;
                return Ok(start_over(handoff, at));
            }
            Ending::Blocked { reason } => {
                (State::Blocked { reason: reason.clone() }, vec![Action::Unblock { reason: reason.clone() }])
            }
            // A person need not look at what is not true.
            Ending::NeedsReview if handoff.terms.verify => {
                handoff.review_owed = true;
                (State::Verifying, vec![Action::Verify])
            }
            Ending::NeedsReview => asked(Ask::Review),
            Ending::NeedsClarification => asked(Ask::Clarification),
        };
        handoff.state = state;
        Ok(actions)
    }
}

/// Asks a person.
pub(super) fn asked(ask: Ask) -> (State, Vec<Action>) {
    (State::AwaitingPerson { ask }, vec![Action::AskPerson { ask }])
}

/// Refuses what the same claim has said before, so that a caller who lost the answer can safely ask again.
pub(super) fn heard_once(handoff: &Handoff, fence: Fence, digest: &Digest) -> Result<(), Refusal> {
    let repeated = handoff.fence == fence && handoff.lease().is_none() && handoff.last_report.as_ref() == Some(digest);
    if repeated { Err(Refusal::Repeated) } else { Ok(()) }
}

/// What must be done when a handoff is finished: handoffs that wait for it continue, however it ended.
pub(super) fn completed(handoff: &Handoff) -> Vec<Action> {
    let returned = handoff
        .terms
        .returns_to
        .clone()
        .filter(|_| !planted(Bug::DelegationDoesNotReturn))
        .map(|to| Action::Return { to });
    std::iter::once(Action::TellFinished).chain(returned).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::handoff::StateName;
    use crate::id::HandoffId;
    use crate::lifecycle::apply;
    use crate::lifecycle::table::sample;

    #[test]
    fn report_of_the_holder_completes() {
        let claimed = sample::handoff(StateName::Claimed);
        let transition = apply(&claimed, sample::report(claimed.fence), sample::time(30)).expect("held");
        assert_eq!(transition.handoff.state, State::Completed { at: sample::time(30) });
        assert_eq!(transition.actions, [Action::TellFinished]);
    }

    #[test]
    fn same_report_again_is_recognised_and_another_one_is_late() {
        let claimed = sample::handoff(StateName::Claimed);
        let report = sample::report(claimed.fence);
        let completed = apply(&claimed, report.clone(), sample::time(30)).expect("held").handoff;
        assert_eq!(apply(&completed, report, sample::time(31)), Err(Refusal::Repeated));

        let other = sample::report_saying(claimed.fence, "something else");
        let refusal = apply(&completed, other, sample::time(31)).expect_err("over");
        assert_eq!(refusal, Refusal::Over { given: claimed.fence, state: StateName::Completed });
        assert!(refusal.is_late());
    }

    #[test]
    fn report_that_took_longer_than_agreed_is_late() {
        let mut claimed = sample::handoff(StateName::Claimed);
        Arc::make_mut(&mut claimed.terms).timeout_ms = Some(50_000);
        let refusal = apply(&claimed, sample::report(claimed.fence), sample::time(70)).expect_err("too long");
        assert_eq!(refusal, Refusal::TooLong { given: claimed.fence, ended_at: sample::time(70) });
        assert!(refusal.is_late());
        assert!(apply(&claimed, sample::report(claimed.fence), sample::time(69)).is_ok());
    }

    #[test]
    fn expired_lease_that_nobody_took_over_is_still_heard() {
        let claimed = sample::handoff(StateName::Claimed);
        assert!(apply(&claimed, sample::report(claimed.fence), sample::time(100_000)).is_ok());
    }

    #[test]
    fn completed_delegation_returns() {
        let mut claimed = sample::handoff(StateName::Claimed);
        let caller = HandoffId::parse("caller").expect("safe");
        Arc::make_mut(&mut claimed.terms).returns_to = Some(caller.clone());
        let transition = apply(&claimed, sample::report(claimed.fence), sample::time(30)).expect("held");
        assert_eq!(transition.actions[1], Action::Return { to: caller });
    }

    #[test]
    fn report_that_must_be_verified_does_not_complete() {
        let mut claimed = sample::handoff(StateName::Claimed);
        Arc::make_mut(&mut claimed.terms).verify = true;
        let transition = apply(&claimed, sample::report(claimed.fence), sample::time(30)).expect("held");
        assert_eq!((transition.handoff.state, transition.actions), (State::Verifying, vec![Action::Verify]));
    }
}
