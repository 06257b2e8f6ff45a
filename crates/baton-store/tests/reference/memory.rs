//! The model as a store: what the conformance suite demands is thereby known to be possible.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use baton_engine::handoff::Written;
use baton_engine::journal::{Event, Head};
use baton_engine::lifecycle::Accept;
use baton_engine::queue::Queue;
use baton_engine::store::{Accepted, Checkup, Claimed, Count, Error, Filter, Order, Step, Wish};
use baton_engine::{Handoff, HandoffId, RunId, Store};
use jiff::Timestamp;
use tokio::sync::watch;

use super::model::Model;

/// A store in memory; clones share what they keep, like two connections to one database.
#[derive(Debug, Clone)]
pub(crate) struct Memory {
    model: Arc<Mutex<Model>>,
    changes: watch::Sender<u64>,
}

impl Memory {
    pub(crate) fn new() -> Memory {
        Memory { model: Arc::default(), changes: watch::Sender::new(0) }
    }

    fn look<T>(&self, look: impl FnOnce(&Model) -> T) -> T {
        look(&self.model.lock().unwrap())
    }

    fn change<T>(&self, change: impl FnOnce(&mut Model) -> T) -> T {
        let answer = change(&mut self.model.lock().unwrap());
        self.changes.send_modify(|count| *count += 1);
        answer
    }
}

#[async_trait]
impl Store for Memory {
    async fn accept(&self, requests: Vec<Accept>, at: Timestamp) -> Result<Vec<Accepted>, Error> {
        self.change(|model| model.accept(requests, at))
    }

    async fn claim(&self, wish: &Wish, at: Timestamp) -> Result<Vec<Claimed>, Error> {
        self.change(|model| model.claim(wish, at))
    }

    async fn apply(&self, order: Order, at: Timestamp) -> Result<Handoff, Error> {
        self.change(|model| model.apply(order, at))
    }

    async fn carry_out(&self, steps: Vec<Step>, at: Timestamp) -> Result<Vec<Handoff>, Error> {
        self.change(|model| model.carry_out(steps, at))
    }

    async fn rescue(&self, limit: u32, dice: f64, at: Timestamp) -> Result<Vec<Handoff>, Error> {
        self.change(|model| model.rescue(limit, dice, at))
    }

    async fn find(&self, id: &HandoffId) -> Result<Option<Handoff>, Error> {
        Ok(self.look(|model| model.find(id)))
    }

    async fn ids_beginning_with(&self, prefix: &str, limit: u32) -> Result<Vec<HandoffId>, Error> {
        Ok(self.look(|model| model.ids_beginning_with(prefix, limit)))
    }

    async fn request(&self, id: &HandoffId) -> Result<Option<Written>, Error> {
        Ok(self.look(|model| model.request(id)))
    }

    async fn list(&self, filter: &Filter) -> Result<Vec<Handoff>, Error> {
        self.look(|model| model.list(filter))
    }

    async fn census(&self) -> Result<Vec<Count>, Error> {
        Ok(self.look(Model::census))
    }

    async fn history(&self, run: &RunId, after: u64, limit: u32) -> Result<Vec<Event>, Error> {
        Ok(self.look(|model| model.history(run, after, limit)))
    }

    async fn history_of(&self, id: &HandoffId) -> Result<Vec<Event>, Error> {
        Ok(self.look(|model| model.history_of(id)))
    }

    async fn runs(&self, after: Option<&RunId>, limit: u32) -> Result<Vec<RunId>, Error> {
        Ok(self.look(|model| model.runs(after, limit)))
    }

    async fn handoffs_of(&self, run: &RunId) -> Result<Vec<(Handoff, Head)>, Error> {
        Ok(self.look(|model| model.handoffs_of(run)))
    }

    async fn queue(&self, agent: &str) -> Result<Queue, Error> {
        Ok(self.look(|model| model.queue(agent)))
    }

    async fn queues(&self) -> Result<Vec<Queue>, Error> {
        Ok(self.look(|model| model.queues()))
    }

    async fn set_queue(&self, queue: &Queue) -> Result<(), Error> {
        self.change(|model| model.set_queue(queue))
    }

    async fn next_due(&self, agent: Option<&str>) -> Result<Option<Timestamp>, Error> {
        Ok(self.look(|model| model.next_due(agent)))
    }

    async fn finished_runs(&self, before: Timestamp, limit: u32) -> Result<Vec<RunId>, Error> {
        Ok(self.look(|model| model.finished_runs(before, limit)))
    }

    async fn remove_run(&self, run: &RunId, before: Timestamp) -> Result<u64, Error> {
        Ok(self.change(|model| model.remove_run(run, before)))
    }

    fn changes(&self) -> u64 {
        *self.changes.borrow()
    }

    async fn changed(&self, since: u64, limit: Duration) {
        let mut changes = self.changes.subscribe();
        // Whoever waits too long looks for himself.
        let _ = tokio::time::timeout(limit, changes.wait_for(|count| *count != since)).await;
    }

    async fn time(&self) -> Result<Option<Timestamp>, Error> {
        Ok(self.look(Model::latest))
    }

    async fn checkup(&self) -> Result<Checkup, Error> {
        let place = "memory".to_owned();
        Ok(Checkup { place, migration: 1, migration_known: 1, faults: Vec::new() })
    }
}
