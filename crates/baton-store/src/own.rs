//! What this process has claimed, as it was then: whoever reports need not look it up again.
//!
//! It may be out of date. The version guards every change, so a change that starts from here either starts from the
//! truth or has no effect, and then the row is looked at.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use baton_engine::journal::Head;
use baton_engine::{Handoff, HandoffId};

/// How many claims are remembered; the others are looked up.
const CLAIMS_MAX: usize = 1024;

/// The claims of this process.
#[derive(Debug, Default)]
pub(crate) struct Own(Mutex<HashMap<HandoffId, (Handoff, Head)>>);

impl Own {
    /// Remembers a handoff and its last event, for as long as somebody works on it.
    pub(crate) fn remember(&self, handoff: &Handoff, head: Head) {
        let mut claims = self.claims();
        if handoff.lease().is_some() && claims.len() < CLAIMS_MAX {
            claims.insert(handoff.id.clone(), (handoff.clone(), head));
        }
    }

    /// Returns the handoff as it was, with its last event, and forgets it.
    pub(crate) fn take(&self, id: &HandoffId) -> Option<(Handoff, Head)> {
        self.claims().remove(id)
    }

    fn claims(&self) -> MutexGuard<'_, HashMap<HandoffId, (Handoff, Head)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
