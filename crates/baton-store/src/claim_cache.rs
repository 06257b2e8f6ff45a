//! What this process has claimed, as it was then: whoever reports need not look it up again.
//!
//! It may be out of date. The version guards every change, so a change that starts from here either starts from the
//! truth or has no effect, and then the row is looked at.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use baton_engine::journal::Head;
use baton_engine::{Handoff, HandoffId, State};

/// How many claims are remembered; the others are looked up.
const CLAIMS_MAX: usize = 1024;

/// The claims of this process.
#[derive(Debug, Default)]
pub(crate) struct ClaimCache(Mutex<HashMap<HandoffId, (Handoff, Head)>>);

impl ClaimCache {
    /// Remembers a handoff and the last event of its run, for as long as somebody works on it or verifies what came out.
    pub(crate) fn remember(&self, handoff: &Handoff, head: Head) {
        if handoff.lease().is_none() && handoff.state != State::Verifying {
            return;
        }
        let mut claims = self.claims();
        if claims.len() >= CLAIMS_MAX
            && let Some(any) = claims.keys().next().cloned()
        {
            claims.remove(&any);
        }
        claims.insert(handoff.id.clone(), (handoff.clone(), head));
    }

    /// Returns what is remembered of these, and forgets it.
    pub(crate) fn take_all<'i>(&self, ids: impl Iterator<Item = &'i HandoffId>) -> HashMap<HandoffId, (Handoff, Head)> {
        let mut claims = self.claims();
        ids.filter_map(|id| claims.remove_entry(id)).collect()
    }

    /// Returns the handoff as it was, with its last event, and forgets it.
    pub(crate) fn take(&self, id: &HandoffId) -> Option<(Handoff, Head)> {
        self.claims().remove(id)
    }

    fn claims(&self) -> MutexGuard<'_, HashMap<HandoffId, (Handoff, Head)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
