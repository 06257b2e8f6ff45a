//! The queue of an agent: whether it is paused, and how many may work at the same time.

use std::collections::BTreeMap;

use crate::lifecycle::accept::{self, NameFault};

/// The settings of an agent's queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queue {
    /// The agent.
    pub agent: String,
    /// Nothing is handed out while it is paused; sending goes on.
    pub paused: bool,
    /// How many handoffs may be claimed at the same time; `None` for no limit.
    pub concurrency: Option<u32>,
}

/// Why a queue hands out nothing, although something waits in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueHold {
    /// Somebody has paused it.
    Paused,
    /// As many as may be claimed at the same time are claimed.
    Full(u32),
}

/// The queues that hand out nothing now, by name.
pub type QueueHolds = BTreeMap<String, QueueHold>;

impl Queue {
    /// The queue of an agent with default settings.
    pub fn open(agent: impl Into<String>) -> Queue {
        Queue { agent: agent.into(), paused: false, concurrency: None }
    }

    /// Looks whether the settings keep within the limits; the error says what does not.
    pub fn check(&self) -> Result<(), NameFault> {
        accept::name("agent", &self.agent)
    }

    /// Returns why nothing is handed out while so many handoffs are claimed; `None` if something can be.
    pub fn hold(&self, claimed: u64) -> Option<QueueHold> {
        match (self.paused, self.concurrency) {
            (true, _) => Some(QueueHold::Paused),
            (false, Some(limit)) if claimed >= u64::from(limit) => Some(QueueHold::Full(limit)),
            (false, Some(_) | None) => None,
        }
    }

    /// Returns how many of `wanted` handoffs may be handed out while `claimed` are.
    pub fn room(&self, wanted: u32, claimed: u32) -> u32 {
        match (self.paused, self.concurrency) {
            (true, _) => 0,
            (false, None) => wanted,
            (false, Some(limit)) => wanted.min(limit.saturating_sub(claimed)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paused_queue_hands_out_nothing() {
        assert_eq!(Queue { paused: true, ..Queue::open("a") }.room(5, 0), 0);
    }

    #[test]
    fn limit_counts_what_is_claimed() {
        let queue = Queue { concurrency: Some(3), ..Queue::open("a") };
        assert_eq!([queue.room(5, 0), queue.room(5, 2), queue.room(5, 3), queue.room(1, 9)], [3, 1, 0, 0]);
        assert_eq!(Queue::open("a").room(5, 100), 5);
    }
}
