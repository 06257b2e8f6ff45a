//! Heartbeat: the work goes on, so the lease does.

use std::sync::Arc;

use jiff::Timestamp;

use super::claim::held;
use super::{Action, LEASE_MS_MAX, Refusal};
use crate::Fence;
use crate::handoff::{Digest, Handoff, later};
use crate::known::CommandAuthor;
use crate::session::Spent;

/// Say that the work goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heartbeat {
    /// The fence of the claim.
    pub fence: Fence,
    /// How long without another heartbeat; as before if it is not said.
    pub lease_ms: Option<u64>,
    /// The digest of the workspace before the attempt, if it could only be taken after the claim.
    pub baseline: Option<Digest>,
    /// The session of the attempt, where its program tells it only now.
    pub session: Option<String>,
    /// What the attempt has spent so far, where its program tells.
    pub spent: Option<Spent>,
    /// Who sent it, where a door knows.
    pub author: Option<Arc<CommandAuthor>>,
}

impl Heartbeat {
    /// Makes a heartbeat that only says that the work goes on.
    pub fn new(fence: Fence) -> Heartbeat {
        Heartbeat { fence, lease_ms: None, baseline: None, session: None, spent: None, author: None }
    }

    pub(super) fn apply(&self, handoff: &mut Handoff, at: Timestamp) -> Result<Vec<Action>, Refusal> {
        let lease = held(handoff, self.fence, at)?;
        lease.length_ms = self.lease_ms.unwrap_or(lease.length_ms).min(LEASE_MS_MAX);
        lease.until = later(at, lease.length_ms);
        Ok(Vec::new())
    }
}

#[cfg(test)]
mod tests {
    use crate::Fence;
    use crate::handoff::StateName;
    use crate::lifecycle::table::sample;
    use crate::lifecycle::{Refusal, apply};

    #[test]
    fn heartbeat_extends_the_lease_from_now_on() {
        let claimed = sample::handoff(StateName::Claimed);
        let next = apply(&claimed, sample::heartbeat(claimed.fence), sample::time(50)).expect("held").handoff;
        assert_eq!(next.lease().expect("still claimed").until, sample::time(110));
    }

    #[test]
    fn heartbeat_of_an_old_claim_is_refused() {
        let claimed = sample::handoff(StateName::Claimed);
        let old = Fence(claimed.fence.0 - 1);
        let refusal = apply(&claimed, sample::heartbeat(old), sample::time(50)).expect_err("old");
        assert_eq!(refusal, Refusal::Stale { given: old, current: claimed.fence });
    }
}
