//! Bringing back handoffs that failed, were cancelled or are blocked.

use super::{Caller, Engine, Problem};
use crate::handoff::{Handoff, StateName};
use crate::lifecycle::{Command, Requeue};
use crate::store::Filter;

/// How many dead letters are looked up at a time.
const PAGE: u32 = 1_000;

impl Engine {
    /// Brings a handoff back; the note is for its next claimant.
    pub async fn requeue(&self, handoff: &Handoff, note: Option<&str>, caller: &Caller) -> Result<Handoff, Problem> {
        let requeue = Requeue { by: caller.decider.name.clone(), note: note.map(str::to_owned), ..Requeue::default() };
        Ok(self.apply(handoff, Command::Requeue(requeue), Vec::new(), caller).await?.handoff)
    }

    /// Brings back every failed handoff of an agent.
    pub async fn requeue_all(&self, agent: &str, note: Option<&str>, caller: &Caller) -> Result<Vec<Handoff>, Problem> {
        let states = vec![StateName::Failed];
        let filter = Filter { agent: Some(agent.to_owned()), states, after: None, limit: PAGE };
        let mut brought = Vec::new();
        loop {
            let failed = self.store.list(&filter).await?;
            for handoff in &failed {
                brought.push(self.requeue(handoff, note, caller).await?);
            }
            if failed.len() < PAGE as usize {
                return Ok(brought);
            }
        }
    }
}
