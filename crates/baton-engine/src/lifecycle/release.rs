//! Release: the claimant gives the handoff back. Nothing failed; another one may claim it at once.

use jiff::Timestamp;

use super::claim::held_by;
use super::{Action, Refusal};
use crate::Fence;
use crate::handoff::{Handoff, State};

/// Let go of a handoff without having failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    /// The fence of the claim.
    pub fence: Fence,
    /// Why.
    pub why: String,
}

impl Release {
    pub(super) fn apply(&self, handoff: &mut Handoff, at: Timestamp) -> Result<Vec<Action>, Refusal> {
        held_by(handoff, self.fence)?;
        handoff.attempts = handoff.attempts.saturating_sub(1);
        handoff.state = State::Pending { ready_at: at };
        Ok(vec![Action::announce(handoff, at)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handoff::StateName;
    use crate::lifecycle::table::sample;
    use crate::lifecycle::{Command, apply};

    #[test]
    fn released_handoff_can_be_claimed_at_once_and_the_attempt_does_not_count() {
        let claimed = sample::handoff(StateName::Claimed);
        let release = Command::Release(Release { fence: claimed.fence, why: "waits for a person".to_owned() });
        let pending = apply(&claimed, release, sample::time(30)).expect("held").handoff;
        assert_eq!(pending.attempts, claimed.attempts - 1);
        let again = apply(&pending, sample::claim(), sample::time(30)).expect("ready").handoff;
        assert_eq!(again.fence, claimed.fence.next());
    }
}
