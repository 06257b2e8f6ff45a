//! Claims through a server. A claim counts although its answer was lost: nobody else gets the handoff until the lease ends. So
//! whoever claims again first looks for what was claimed without hearing of it.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use baton_engine::handoff::StateName;
use baton_engine::store::{ClaimRequest, ClaimedHandoff, Filter, Store as _, StoreError};
use baton_engine::stored::exchange::ClaimRecord;
use baton_engine::{Fence, HandoffId};
use jiff::Timestamp;

use super::connection::NoReply;
use super::{RemoteStore, verbs};

/// By how much our idea of the server's time may be ahead of it.
const CLOCK_SLACK: Duration = Duration::from_secs(2);

/// How many of an agent's claims are looked through for one whose answer was lost.
const HELD_MAX: u32 = 1_000;

/// What was claimed through this store.
#[derive(Default)]
pub(super) struct HeldClaims(Mutex<Claims>);

#[derive(Default)]
struct Claims {
    /// What is held, as far as this process knows.
    held: BTreeMap<HandoffId, Fence>,
    /// Since when the answer to a claim is missing, by agent and claimant.
    unanswered: BTreeMap<(String, String), Timestamp>,
}

impl HeldClaims {
    /// Takes note that a claim has come to its end.
    pub(super) fn ended(&self, id: &HandoffId) {
        self.claims().held.remove(id);
    }

    fn claims(&self) -> MutexGuard<'_, Claims> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the time from which on the server may have done what was asked of it at a time.
pub(super) fn a_little_before(at: Timestamp) -> Timestamp {
    at.checked_sub(CLOCK_SLACK).unwrap_or(at)
}

impl RemoteStore {
    /// Claims what is ready. If the answer is lost, what was claimed is looked for, and if that is nothing it is asked once more.
    pub(super) async fn claim_heard(
        &self,
        wish: &ClaimRequest,
        at: Timestamp,
    ) -> Result<Vec<ClaimedHandoff>, StoreError> {
        match self.claim_once(wish, at).await {
            Err(NoReply::Lost(StoreError::Unreachable(_))) => Ok(self.claim_once(wish, at).await?),
            claimed => Ok(claimed?),
        }
    }

    /// Claims what is ready, or returns what was claimed before without an answer.
    async fn claim_once(&self, wish: &ClaimRequest, at: Timestamp) -> Result<Vec<ClaimedHandoff>, NoReply> {
        let who = (wish.agent.clone(), wish.claimant.clone());
        let unanswered = self.claims.claims().unanswered.get(&who).copied();
        let mut claimed = match unanswered {
            Some(since) => self.unheard(wish, since).await.map_err(NoReply::Unsent)?,
            None => Vec::new(),
        };
        self.claims.claims().unanswered.remove(&who);
        if claimed.is_empty() {
            let answer: Result<Vec<ClaimRecord>, NoReply> =
                self.talk.ask("/api/v1/claims", &verbs::claimed(wish)).await;
            if let Err(NoReply::Lost(_)) = &answer {
                self.claims.claims().unanswered.insert(who, a_little_before(at));
            }
            claimed =
                answer?.into_iter().map(ClaimRecord::claimed).collect::<Result<_, _>>().map_err(NoReply::Unsent)?;
        }
        let held = claimed.iter().map(|claimed| (claimed.handoff.id.clone(), claimed.handoff.fence));
        self.claims.claims().held.extend(held);
        Ok(claimed)
    }

    /// Returns what was claimed by a request whose answer was lost.
    async fn unheard(&self, wish: &ClaimRequest, since: Timestamp) -> Result<Vec<ClaimedHandoff>, StoreError> {
        let states = vec![StateName::Claimed];
        let filter = Filter { agent: Some(wish.agent.clone()), states, after: None, limit: HELD_MAX };
        let mut unheard = Vec::new();
        for handoff in self.list(&filter).await? {
            let is_ours = handoff.lease().is_some_and(|lease| lease.claimant == wish.claimant && lease.since >= since);
            let is_known = self.claims.claims().held.get(&handoff.id) == Some(&handoff.fence);
            if is_ours && !is_known && handoff.terms.queue() == wish.agent {
                unheard.extend(self.request(&handoff.id).await?.map(|request| ClaimedHandoff { handoff, request }));
            }
        }
        Ok(unheard)
    }
}
