//! What this process has claimed, as it was then: whoever reports need not look it up again.
//!
//! It may be out of date. The version guards every change, so a change that starts from here either starts from the
//! truth or has no effect, and then the row is looked at.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use baton_engine::{Handoff, HandoffId};

use super::table::{Change, End};

/// How many claims are remembered; the others are looked up.
const CLAIMS_MAX: usize = 1024;

/// The claims of this process.
#[derive(Debug, Default)]
pub(super) struct Own(Mutex<HashMap<HandoffId, (Handoff, End)>>);

impl Own {
    /// Remembers a handoff after a change, for as long as somebody works on it.
    pub(super) fn remember(&self, change: &Change) {
        let mut claims = self.claims();
        if change.handoff.lease().is_some() && claims.len() < CLAIMS_MAX {
            claims.insert(change.handoff.id.clone(), (change.handoff.clone(), change.end()));
        }
    }

    /// Returns the handoff as it was, with the end of its journal, and forgets it.
    pub(super) fn take(&self, id: &HandoffId) -> Option<(Handoff, End)> {
        self.claims().remove(id)
    }

    fn claims(&self) -> MutexGuard<'_, HashMap<HandoffId, (Handoff, End)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
