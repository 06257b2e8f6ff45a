//! A store in memory, with a clock and a chance that never change: the ground for tests of everything above the store.
//!
//! It does what the [`StoreModel`] says, so what the conformance suite demands of databases is known to be possible. It is
//! there with the feature `test-support` only, and no program that somebody uses has that.

mod cells;
mod model;
mod nobody;
mod still;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use tokio::sync::Notify;

pub use cells::MetCells;
pub use model::{RowChange, StoreModel};
pub use nobody::{Nobody, begun, definition, driver, request};
pub use still::{CountingRandom, StillClock, engine};

use crate::evidence::Content;
use crate::handoff::{Digest, Handoff, WrittenDocument};
use crate::id::{HandoffId, RunId};
use crate::journal::{Event, Hash, Head};
use crate::ledger::LedgerEntry;
use crate::lifecycle::Accept;
use crate::queue::Queue;
use crate::store::{
    AcceptedHandoff, AnchoredEntry, Checkup, ClaimRequest, ClaimedHandoff, Count, Filter, KeptContents, Order,
    PositionedEvent, Store, StoreError, TransactionStep,
};
use crate::token::AccessToken;

/// A store in memory; clones share what they keep, like two connections to one database.
#[derive(Clone)]
pub struct MemoryStore {
    model: Arc<Mutex<StoreModel>>,
    changes: Arc<AtomicU64>,
    /// Wakes those who wait in the order in which they came; other bells of tokio throw dice of their own.
    bell: Arc<Notify>,
    writer: Arc<str>,
    watcher: Option<Arc<dyn TransactionWatcher>>,
}

/// Sees every transaction.
pub trait TransactionWatcher: Send + Sync {
    /// Sees a transaction that was written.
    fn saw(&self, transaction: &MemoryTransaction<'_>);
}

/// What somebody has written at once.
pub struct MemoryTransaction<'a> {
    /// Who.
    pub writer: &'a str,
    /// By which verb of the port.
    pub verb: &'static str,
    /// What was written, in its order.
    pub changes: &'a [RowChange],
    /// Everything as it is now.
    pub model: &'a StoreModel,
}

impl Default for MemoryStore {
    fn default() -> MemoryStore {
        MemoryStore::new()
    }
}

impl MemoryStore {
    /// Makes an empty store.
    pub fn new() -> MemoryStore {
        MemoryStore {
            model: Arc::default(),
            changes: Arc::default(),
            bell: Arc::default(),
            writer: Arc::from("somebody"),
            watcher: None,
        }
    }

    /// Shows every transaction to a watcher.
    #[must_use]
    pub fn watched_by(mut self, watcher: Arc<dyn TransactionWatcher>) -> MemoryStore {
        self.watcher = Some(watcher);
        self
    }

    /// Returns the same store, as this party uses it.
    #[must_use]
    pub fn used_by(&self, writer: &str) -> MemoryStore {
        MemoryStore { writer: Arc::from(writer), ..self.clone() }
    }

    /// Looks at what is kept.
    pub fn look<T>(&self, look: impl FnOnce(&StoreModel) -> T) -> T {
        look(&self.model.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn change<T>(&self, verb: &'static str, change: impl FnOnce(&mut StoreModel) -> T) -> T {
        self.change_and_tell(verb, change).0
    }

    /// Changes something; also returns what was written.
    fn change_and_tell<T>(&self, verb: &'static str, change: impl FnOnce(&mut StoreModel) -> T) -> (T, Vec<RowChange>) {
        let mut model = self.model.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = change(&mut model);
        let changes = model.take_written();
        if let Some(watcher) = self.watcher.as_ref().filter(|_| !changes.is_empty()) {
            watcher.saw(&MemoryTransaction { writer: &self.writer, verb, changes: &changes, model: &model });
        }
        drop(model);
        // Whoever finds nothing to do wakes nobody.
        if !changes.is_empty() || matches!(verb, "set_queue" | "remove_run") {
            self.changes.fetch_add(1, Ordering::SeqCst);
            self.bell.notify_waiters();
        }
        (answer, changes)
    }
}

#[async_trait]
impl Store for MemoryStore {
    async fn accept(&self, requests: Vec<Accept>, at: Timestamp) -> Result<Vec<AcceptedHandoff>, StoreError> {
        self.change("accept", |model| model.accept(requests, at))
    }

    async fn claim(&self, wish: &ClaimRequest, at: Timestamp) -> Result<Vec<ClaimedHandoff>, StoreError> {
        self.change("claim", |model| model.claim(wish, at))
    }

    async fn apply(&self, order: Order, at: Timestamp) -> Result<Handoff, StoreError> {
        self.change("apply", |model| model.apply(order, at))
    }

    async fn carry_out(&self, steps: Vec<TransactionStep>, at: Timestamp) -> Result<Vec<Handoff>, StoreError> {
        self.change("carry_out", |model| model.carry_out(steps, at))
    }

    async fn carry_out_and_tell(
        &self,
        steps: Vec<TransactionStep>,
        at: Timestamp,
    ) -> Result<(Vec<Handoff>, Vec<Event>), StoreError> {
        let (answer, changes) = self.change_and_tell("carry_out", |model| model.carry_out(steps, at));
        Ok((answer?, changes.into_iter().map(|change| change.event).collect()))
    }

    async fn rescue(&self, limit: u32, dice: f64, at: Timestamp) -> Result<Vec<Handoff>, StoreError> {
        self.change("rescue", |model| model.rescue(limit, dice, at))
    }

    async fn find(&self, id: &HandoffId) -> Result<Option<Handoff>, StoreError> {
        Ok(self.look(|model| model.find(id)))
    }

    async fn ids_beginning_with(&self, prefix: &str, limit: u32) -> Result<Vec<HandoffId>, StoreError> {
        Ok(self.look(|model| model.ids_beginning_with(prefix, limit)))
    }

    async fn request(&self, id: &HandoffId) -> Result<Option<WrittenDocument>, StoreError> {
        Ok(self.look(|model| model.request(id)))
    }

    async fn list(&self, filter: &Filter) -> Result<Vec<Handoff>, StoreError> {
        self.look(|model| model.list(filter))
    }

    async fn census(&self) -> Result<Vec<Count>, StoreError> {
        Ok(self.look(StoreModel::census))
    }

    async fn history(&self, run: &RunId, after: u64, limit: u32) -> Result<Vec<Event>, StoreError> {
        Ok(self.look(|model| model.history(run, after, limit)))
    }

    async fn history_of(&self, id: &HandoffId) -> Result<Vec<Event>, StoreError> {
        Ok(self.look(|model| model.history_of(id)))
    }

    async fn runs(&self, after: Option<&RunId>, limit: u32) -> Result<Vec<RunId>, StoreError> {
        Ok(self.look(|model| model.runs(after, limit)))
    }

    async fn handoffs_of(&self, run: &RunId) -> Result<Vec<(Handoff, Head)>, StoreError> {
        Ok(self.look(|model| model.handoffs_of(run)))
    }

    async fn queue(&self, agent: &str) -> Result<Queue, StoreError> {
        Ok(self.look(|model| model.queue(agent)))
    }

    async fn queues(&self) -> Result<Vec<Queue>, StoreError> {
        Ok(self.look(|model| model.queues()))
    }

    async fn set_queue(&self, queue: &Queue) -> Result<(), StoreError> {
        self.change("set_queue", |model| model.set_queue(queue))
    }

    async fn next_due(&self, agent: Option<&str>) -> Result<Option<Timestamp>, StoreError> {
        Ok(self.look(|model| model.next_due(agent)))
    }

    async fn finished_runs(&self, before: Timestamp, limit: u32) -> Result<Vec<RunId>, StoreError> {
        Ok(self.look(|model| model.finished_runs(before, limit)))
    }

    async fn remove_run(&self, run: &RunId, before: Timestamp, at: Timestamp) -> Result<u64, StoreError> {
        Ok(self.change("remove_run", |model| model.remove_run(run, before, at)))
    }

    async fn enter(&self, runs: &[RunId], at: Timestamp) -> Result<Vec<LedgerEntry>, StoreError> {
        Ok(self.change("enter", |model| model.enter(runs, at)))
    }

    async fn ledger(&self, after: u64, limit: u32) -> Result<Vec<LedgerEntry>, StoreError> {
        Ok(self.look(|model| model.ledger(after, limit)))
    }

    async fn ledger_of(&self, run: &RunId) -> Result<Vec<LedgerEntry>, StoreError> {
        Ok(self.look(|model| model.ledger_of(run)))
    }

    async fn anchored(&self, place: &str) -> Result<Option<AnchoredEntry>, StoreError> {
        Ok(self.look(|model| model.anchored(place)))
    }

    async fn set_anchored(&self, place: &str, anchored: AnchoredEntry) -> Result<(), StoreError> {
        self.change("set_anchored", |model| model.set_anchored(place, anchored));
        Ok(())
    }

    async fn keep_contents(
        &self,
        run: &RunId,
        contents: Vec<Content>,
        bytes_max: u64,
    ) -> Result<KeptContents, StoreError> {
        Ok(self.change("keep_contents", |model| model.keep_contents(run, contents, bytes_max)))
    }

    async fn content(&self, run: &RunId, digest: &Digest) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.look(|model| model.content(run, digest)))
    }

    async fn events_after(&self, position: u64, limit: u32) -> Result<Vec<PositionedEvent>, StoreError> {
        Ok(self.look(|model| model.events_after(position, limit)))
    }

    async fn last_position(&self) -> Result<u64, StoreError> {
        Ok(self.look(|model| model.last_position()))
    }

    async fn add_token(&self, token: &AccessToken) -> Result<(), StoreError> {
        self.change("add_token", |model| model.add_token(token))
    }

    async fn tokens(&self) -> Result<Vec<AccessToken>, StoreError> {
        Ok(self.look(|model| model.tokens()))
    }

    async fn token_with(&self, digest: &Hash) -> Result<Option<AccessToken>, StoreError> {
        Ok(self.look(|model| model.token_with(digest)))
    }

    async fn token(&self, id: &str) -> Result<Option<AccessToken>, StoreError> {
        Ok(self.look(|model| model.token(id)))
    }

    async fn revoke_token(&self, id: &str, at: Timestamp) -> Result<bool, StoreError> {
        Ok(self.change("revoke_token", |model| model.revoke_token(id, at)))
    }

    async fn remove_ended_sessions(&self, now: Timestamp) -> Result<u64, StoreError> {
        Ok(self.change("remove_ended_sessions", |model| model.remove_ended_sessions(now)))
    }

    fn changes(&self) -> u64 {
        self.changes.load(Ordering::SeqCst)
    }

    async fn changed(&self, since: u64, limit: Duration) {
        let mut rings = std::pin::pin!(self.bell.notified());
        rings.as_mut().enable();
        if self.changes() == since {
            // Whoever waits too long looks for himself.
            let _ = tokio::time::timeout(limit, rings).await;
        }
    }

    async fn time(&self) -> Result<Option<Timestamp>, StoreError> {
        Ok(self.look(StoreModel::latest))
    }

    async fn checkup(&self) -> Result<Checkup, StoreError> {
        let place = "memory".to_owned();
        Ok(Checkup { place, migration: 1, migration_known: 1, faults: Vec::new() })
    }
}
