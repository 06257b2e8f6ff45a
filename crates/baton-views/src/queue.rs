//! The JSON form of an agent's queue.

use std::collections::BTreeMap;

use baton_engine::handoff::StateName;
use baton_engine::queue::Queue;
use serde_json::{Value, json};

/// Returns the JSON form of the settings of a queue.
pub fn settings(queue: &Queue) -> Value {
    json!({ "agent": queue.agent, "paused": queue.paused, "limit": queue.concurrency })
}

/// Returns the JSON form of a queue: its settings, and how many handoffs are in each state.
pub fn json(queue: &Queue, counts: &BTreeMap<StateName, u64>) -> Value {
    let mut value = settings(queue);
    let count = |state: StateName| (state.as_str().to_owned(), counts.get(&state).copied().unwrap_or(0).into());
    value["handoffs"] = StateName::ALL.into_iter().map(count).collect::<serde_json::Map<_, _>>().into();
    value
}
