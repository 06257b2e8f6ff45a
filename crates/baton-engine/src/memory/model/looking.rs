//! What can be seen of what is kept.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::{Entry, StoreModel};
use crate::handoff::{Digest, Handoff, State, Terms, WrittenDocument};
use crate::id::{HandoffId, RunId};
use crate::journal::{Event, Fact, Head};
use crate::lifecycle::Accept;
use crate::memory::MetCells;
use crate::queue::Queue;
use crate::store::{Count, Filter, StoreError};

impl StoreModel {
    /// Finds a handoff.
    pub fn find(&self, id: &HandoffId) -> Option<Handoff> {
        self.handoffs.get(id).map(|entry| entry.handoff.clone())
    }

    /// Returns all handoffs, in the order of their ids.
    pub fn all(&self) -> impl Iterator<Item = &Handoff> {
        self.handoffs.values().map(|entry| &entry.handoff)
    }

    /// Returns the ids that begin like this.
    pub fn ids_beginning_with(&self, prefix: &str, limit: u32) -> Vec<HandoffId> {
        let begins = |id: &&HandoffId| id.as_str().starts_with(prefix);
        self.handoffs.keys().filter(begins).take(limit as usize).cloned().collect()
    }

    /// Returns the request that a handoff was made of.
    pub fn request(&self, id: &HandoffId) -> Option<WrittenDocument> {
        self.handoffs.get(id).map(|entry| (*entry.request).clone())
    }

    /// Lists handoffs, the newest first.
    pub fn list(&self, filter: &Filter) -> Result<Vec<Handoff>, StoreError> {
        let place = |id: &HandoffId| self.handoffs.get(id).ok_or_else(|| StoreError::NotFound(id.clone()));
        let behind = filter.after.as_ref().map(place).transpose()?.map(|entry| entry.number);
        let fits = |handoff: &&Handoff| {
            filter.agent.as_ref().is_none_or(|agent| handoff.terms.is_for(agent))
                && (filter.states.is_empty() || filter.states.contains(&handoff.state.name()))
        };
        let is_behind = |entry: &&Entry| behind.is_none_or(|behind| entry.number < behind);
        let mut entries: Vec<&Entry> = self.handoffs.values().filter(is_behind).collect();
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.number));
        Ok(entries.into_iter().map(|entry| &entry.handoff).filter(fits).take(filter.limit as usize).cloned().collect())
    }

    /// Counts the handoffs of each agent in each state.
    pub fn census(&self) -> Vec<Count> {
        let mut counts = BTreeMap::new();
        for handoff in self.all() {
            *counts.entry((handoff.terms.queue().to_owned(), handoff.state.name())).or_insert(0) += 1;
        }
        counts.into_iter().map(|((agent, state), handoffs)| Count { agent, state, handoffs }).collect()
    }

    /// Returns the events of a run after a number.
    pub fn history(&self, run: &RunId, after: u64, limit: u32) -> Vec<Event> {
        // Events are numbered from 1 without gaps.
        let after = usize::try_from(after).unwrap_or(usize::MAX);
        let events = self.journal.get(run).and_then(|events| events.get(after..)).unwrap_or_default();
        events.iter().take(limit as usize).cloned().collect()
    }

    /// Returns the events about a handoff.
    pub fn history_of(&self, id: &HandoffId) -> Vec<Event> {
        let run = self.handoffs.get(id).and_then(|entry| self.journal.get(&entry.handoff.run));
        run.into_iter().flatten().filter(|event| event.handoff == *id).cloned().collect()
    }

    /// Returns the runs after one, in their order.
    pub fn runs(&self, after: Option<&RunId>, limit: u32) -> Vec<RunId> {
        self.journal.keys().filter(|run| Some(*run) > after).take(limit as usize).cloned().collect()
    }

    /// Returns the handoffs of a run in the order of their acceptance.
    pub fn handoffs_of(&self, run: &RunId) -> Vec<(Handoff, Head)> {
        let mut entries: Vec<&Entry> = self.of_run(run).collect();
        entries.sort_by_key(|entry| entry.number);
        entries.into_iter().map(|entry| (entry.handoff.clone(), entry.head)).collect()
    }

    /// Returns the settings of a queue.
    pub fn queue(&self, agent: &str) -> Queue {
        self.queues.get(agent).cloned().unwrap_or_else(|| Queue::open(agent))
    }

    /// Returns the settings of all queues that somebody has set.
    pub fn queues(&self) -> Vec<Queue> {
        let mut queues: Vec<Queue> = self.queues.values().cloned().collect();
        queues.sort_by(|one, other| one.agent.cmp(&other.agent));
        queues
    }

    /// Returns when something is ready or due.
    pub fn next_due(&self, agent: Option<&str>) -> Option<Timestamp> {
        let ready = self.unfinished().filter(|handoff| Some(handoff.terms.queue()) == agent).filter_map(ready_at);
        ready.chain(self.unfinished().filter_map(Handoff::wakes_at)).min()
    }

    /// Returns the runs that were finished before a time.
    pub fn finished_runs(&self, before: Timestamp, limit: u32) -> Vec<RunId> {
        let finished = |run: &&RunId| self.is_finished_before(run, before);
        self.journal.keys().filter(finished).take(limit as usize).cloned().collect()
    }

    /// Returns the time of the last change.
    pub fn latest(&self) -> Option<Timestamp> {
        self.latest
    }

    /// Returns the kinds of everything that has happened.
    pub fn kinds(&self) -> impl Iterator<Item = String> {
        self.journal.values().flatten().map(|event| event.kind.clone())
    }

    /// Returns the request that a handoff was made of.
    pub fn accepted(&self, id: &HandoffId) -> Accept {
        let entry = &self.handoffs[id];
        let first = self.journal[&entry.handoff.run].iter().find(|event| event.handoff == *id).expect("it has begun");
        match first.fact().expect("we wrote it") {
            Fact::Accepted(accept) => *accept,
            fact => panic!("{id} began with {}", fact.kind()),
        }
    }

    /// Returns what identifies what a person is shown, or something that nobody was shown.
    pub fn shown(&self, id: &HandoffId) -> Digest {
        self.handoffs[id].handoff.shown().unwrap_or(Digest::of(b"never reported"))
    }

    pub(super) fn first_terms(&self, id: &HandoffId) -> Terms {
        self.accepted(id).terms
    }

    /// Returns everything that is not finished, in the order of the ids.
    pub fn unfinished(&self) -> impl Iterator<Item = &Handoff> {
        self.open.iter().map(|id| &self.handoffs[id].handoff)
    }

    /// Returns how often each command was tried in each state.
    pub fn met(&self) -> &MetCells {
        &self.met
    }

    pub(super) fn open_of(&self, agent: &str) -> impl Iterator<Item = &Handoff> {
        self.unfinished().filter(move |handoff| handoff.terms.queue() == agent)
    }

    pub(super) fn of_run(&self, run: &RunId) -> impl Iterator<Item = &Entry> {
        self.handoffs.values().filter(move |entry| entry.handoff.run == *run)
    }

    pub(super) fn with_key(&self, key: &str) -> Option<&Entry> {
        self.handoffs.values().find(|entry| entry.handoff.terms.key.as_deref() == Some(key))
    }

    pub(super) fn is_finished_before(&self, run: &RunId, before: Timestamp) -> bool {
        self.of_run(run).all(|entry| entry.handoff.state.finished_at().is_some_and(|at| at < before))
    }
}

fn ready_at(handoff: &Handoff) -> Option<Timestamp> {
    match handoff.state {
        State::Pending { ready_at } => Some(ready_at),
        _ => None,
    }
}
