//! Lists for people: the runs of workflows, and how full queues are.

use std::collections::BTreeMap;

use super::{Engine, Problem};
use crate::handoff::{Handoff, StateName, Terms};
use crate::id::{HandoffId, RunId};
use crate::queue::{Queue, QueueHolds};
use crate::run::Run;
use crate::step::ORCHESTRATOR;
use crate::store::{Count, Filter};

/// How many rows are looked at together.
const PAGE: u32 = 500;

impl Engine {
    /// Returns the handoffs that stand for runs, the newest first, behind one.
    pub async fn run_roots(&self, mut after: Option<HandoffId>, limit: u32) -> Result<Vec<Handoff>, Problem> {
        let mut roots = Vec::new();
        loop {
            let filter = Filter { agent: Some(ORCHESTRATOR.to_owned()), states: Vec::new(), after, limit: PAGE };
            let page = self.store.list(&filter).await?;
            let is_last = page.len() < PAGE as usize;
            after = page.last().map(|last| last.id.clone());
            // Groups and checks of runs are the orchestrator's as well.
            roots.extend(page.into_iter().filter(Handoff::is_run));
            if is_last || roots.len() >= limit as usize {
                roots.truncate(limit as usize);
                return Ok(roots);
            }
        }
    }

    /// Returns the queues that hand out nothing now.
    pub async fn queue_holds(&self) -> Result<QueueHolds, Problem> {
        let mut queues = self.store.queues().await?;
        queues.retain(|queue| queue.paused || queue.concurrency.is_some());
        // Most stores have none, and nothing is counted there.
        let census = if queues.is_empty() { Vec::new() } else { self.store.census().await? };
        let claimed = |queue: &Queue| {
            let is_claimed = |count: &&Count| count.agent == queue.agent && count.state == StateName::Claimed;
            census.iter().filter(is_claimed).map(|count| count.handoffs).sum()
        };
        let hold = |queue: Queue| Some((queue.agent.clone(), queue.hold(claimed(&queue))?));
        Ok(queues.into_iter().filter_map(hold).collect())
    }

    /// Returns the name of the workflow of a run; empty if that cannot be read.
    pub async fn workflow_name(&self, run: &RunId) -> Result<String, Problem> {
        let first = self.store.history(run, 0, 1).await?;
        Ok(Run::of_journal(&first).map(|run| run.definition.name().to_owned()).unwrap_or_default())
    }

    /// Returns the queues that have or had something, that somebody has set, or that are known otherwise, with how many handoffs
    /// are in each state; each under the name by which people know it.
    pub async fn queue_counts(&self, known: Vec<String>) -> Result<Vec<(Queue, BTreeMap<StateName, u64>)>, Problem> {
        let readable = |queue: &str| Terms::readable_queue(queue).to_owned();
        let mut counts: BTreeMap<String, BTreeMap<StateName, u64>> =
            known.iter().map(|queue| (readable(queue), BTreeMap::new())).collect();
        for count in self.store.census().await? {
            *counts.entry(readable(&count.agent)).or_default().entry(count.state).or_default() += count.handoffs;
        }
        let mut set: BTreeMap<String, Queue> = BTreeMap::new();
        for queue in self.store.queues().await? {
            // One that was opened again and never got anything says nothing.
            if queue.paused || queue.concurrency.is_some() {
                counts.entry(queue.agent.clone()).or_default();
            }
            set.insert(queue.agent.clone(), queue);
        }
        let with_settings = |(agent, counts)| (set.remove(&agent).unwrap_or_else(|| Queue::open(agent)), counts);
        Ok(counts.into_iter().map(with_settings).collect())
    }
}
