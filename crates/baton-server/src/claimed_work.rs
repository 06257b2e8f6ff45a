//! What was claimed at this server and is not reported yet, as it was handed out: whoever reports then need not wait until it was
//! read again.
//!
//! It may be out of date, and that does no harm: what is looked at are the terms and the request, which never change, and the
//! store refuses a report whose fence is not the latest. Forgetting it costs time only.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use baton_engine::store::ClaimedHandoff;
use baton_engine::{Fence, HandoffId};
use jiff::Timestamp;

/// How many claims are remembered.
const CLAIMS_MAX: usize = 1_024;

/// Longer requests are read again.
const REQUEST_BYTES_MAX: usize = 16 * 1024;

/// The claims of this server.
#[derive(Debug, Default)]
pub(crate) struct ClaimedWork(Mutex<HashMap<HandoffId, ClaimedHandoff>>);

impl ClaimedWork {
    /// Remembers a claim.
    pub(crate) fn remember(&self, claimed: &ClaimedHandoff) {
        if claimed.request.text.len() > REQUEST_BYTES_MAX {
            return;
        }
        let mut claims = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if claims.len() >= CLAIMS_MAX
            && let Some(any) = claims.keys().next().cloned()
        {
            claims.remove(&any);
        }
        claims.insert(claimed.handoff.id.clone(), claimed.clone());
    }

    /// Returns the claim with this fence, and forgets it. When its lease, as it was given, is over, it is read again: by then it may
    /// even have been removed, and its id belong to something else.
    pub(crate) fn take(&self, id: &str, fence: Fence, now: Timestamp) -> Option<ClaimedHandoff> {
        let id = HandoffId::parse(id).ok()?;
        let claimed = self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&id)?;
        let is_held = claimed.handoff.lease().is_some_and(|lease| lease.until > now);
        (is_held && claimed.handoff.fence == fence).then_some(claimed)
    }
}
