//! Claiming, and what a claimant says while it works.

use std::time::Duration;

use super::{AppliedCommand, Caller, Engine, Problem};
use crate::Fence;
use crate::handoff::{Handoff, StateName, WrittenDocument};
use crate::lifecycle::{Command, Fail, Heartbeat};
use crate::store::{ClaimRequest, ClaimedHandoff, Filter};
use crate::{Failure, retry};

/// Among so much of what waits other queues are looked for.
const OTHERS_MAX: u32 = 100;

impl Engine {
    /// Claims what is ready, as much as is wanted at most; for waiting there is [`Engine::wait_for`].
    pub async fn claim(&self, wanted: &ClaimRequest, caller: &Caller) -> Result<Vec<ClaimedHandoff>, Problem> {
        let wanted = ClaimRequest { author: caller.author(), ..wanted.clone() };
        Ok(self.store.claim(&wanted, self.now()).await?)
    }

    /// Extends the lease of a claim.
    pub async fn heartbeat(
        &self,
        handoff: &Handoff,
        fence: Fence,
        lease: Option<Duration>,
        caller: &Caller,
    ) -> Result<AppliedCommand, Problem> {
        let heartbeat = Heartbeat { lease_ms: lease.map(retry::milliseconds), ..Heartbeat::new(fence) };
        self.apply(handoff, Command::Heartbeat(heartbeat), Vec::new(), caller).await
    }

    /// Returns why a claim does not hold a handoff any more; whoever prepares something for it looks first.
    pub fn held(&self, handoff: &Handoff, fence: Fence) -> Result<(), Problem> {
        self.foresee(handoff, Command::Heartbeat(Heartbeat::new(fence))).map_or(Ok(()), Err)
    }

    /// Reports that an attempt has failed. Its code and the terms of the handoff decide whether another one follows.
    pub async fn fail(
        &self,
        handoff: &Handoff,
        fence: Fence,
        failure: Failure,
        document: Option<WrittenDocument>,
        changed: Vec<String>,
        caller: &Caller,
    ) -> Result<AppliedCommand, Problem> {
        let fail = Fail { document, changed, ..Fail::new(fence, failure, self.random.number()) };
        self.apply(handoff, Command::Fail(fail), Vec::new(), caller).await
    }

    /// Returns the queues of workflows in which work waits for an agent of this name, if the plain queue has none.
    pub async fn other_queues(&self, agent: &str) -> Result<Vec<String>, Problem> {
        let states = vec![StateName::Pending];
        let filter = Filter { agent: Some(agent.to_owned()), states, after: None, limit: OTHERS_MAX };
        let waiting = self.store.list(&filter).await?;
        let mut others: Vec<String> = waiting.iter().map(|handoff| handoff.terms.queue().to_owned()).collect();
        others.sort_unstable();
        others.dedup();
        if others.iter().any(|queue| queue == agent) {
            return Ok(Vec::new());
        }
        others.retain(|queue| !queue.starts_with('@'));
        Ok(others)
    }
}
