//! Acknowledge: the claimant says that it understood the request, or asks a person for what is missing.

use std::sync::Arc;

use jiff::Timestamp;

use super::claim::held;
use super::{Action, Refusal};
use crate::Fence;
use crate::handoff::{Ask, Handoff, State, WrittenDocument, later};
use crate::known::CommandAuthor;

/// Say whether the request was understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Acknowledge {
    /// The fence of the claim.
    pub fence: Fence,
    /// Whether the work can begin; otherwise the blockers need a person.
    pub understood: bool,
    /// The acknowledgment.
    pub document: WrittenDocument,
    /// Who sent it, where a door knows.
    pub author: Option<Arc<CommandAuthor>>,
}

impl Acknowledge {
    pub(super) fn apply(&self, handoff: &mut Handoff, at: Timestamp) -> Result<Vec<Action>, Refusal> {
        let repeated = handoff.last_report.as_ref() == Some(&self.document.digest());
        if repeated && handoff.fence == self.fence && handoff.lease().is_none() {
            return Err(Refusal::Repeated);
        }
        let lease = held(handoff, self.fence, at)?;
        if self.understood {
            lease.acknowledged = true;
            lease.until = lease.until.max(later(at, lease.length_ms));
            return Ok(Vec::new());
        }
        let ask = Ask::Clarification;
        handoff.state = State::AwaitingPerson { ask };
        handoff.last_report = Some(self.document.digest());
        Ok(vec![Action::AskPerson { ask }])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handoff::StateName;
    use crate::lifecycle::table::sample;
    use crate::lifecycle::{Command, apply};

    #[test]
    fn understood_request_goes_on() {
        let claimed = sample::handoff(StateName::Claimed);
        let next = apply(&claimed, sample::acknowledge(claimed.fence, true), sample::time(30)).expect("held").handoff;
        assert!(next.lease().expect("still claimed").acknowledged);
    }

    #[test]
    fn partial_understanding_asks_a_person() {
        let claimed = sample::handoff(StateName::Claimed);
        let partial = sample::acknowledge(claimed.fence, false);
        let transition = apply(&claimed, partial.clone(), sample::time(30)).expect("held");
        assert_eq!(transition.handoff.state, State::AwaitingPerson { ask: Ask::Clarification });
        assert_eq!(apply(&transition.handoff, partial, sample::time(31)), Err(Refusal::Repeated));
        let Command::Acknowledge(_) = sample::acknowledge(Fence(0), true) else { panic!("an acknowledgment") };
    }
}
