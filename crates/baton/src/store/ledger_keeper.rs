//! A store whose ledger is kept: whatever ends a journal, hands it to a person or records a decision is entered.
//!
//! Nothing waits for that. Runs are noted, and entered a moment later in a task of their own, many at once; the process
//! does not end before. A process that is killed in between leaves the run to whoever enters it next.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use baton_engine::handoff::Written;
use baton_engine::journal::{Event, Head};
use baton_engine::ledger::LedgerEntry;
use baton_engine::lifecycle::{Accept, Command};
use baton_engine::queue::Queue;
use baton_engine::step::Role;
use baton_engine::store::{Accepted, Anchored, Checkup, Claimed, Count, Error, Filter, Order, Step, Store, Wish};
use baton_engine::{Clock as _, Handoff, HandoffId, RunId};
use jiff::Timestamp;

use super::anchor::Anchor;
use crate::clock::SteadyClock;

/// What to do about heads that are not where they should be.
const LATER: &str = "this is tried again with the next entry, or by `baton audit anchor`";

/// A store whose ledger is kept.
pub(crate) struct LedgerKeeper(Arc<Keeping>);

struct Keeping {
    store: Arc<dyn Store>,
    clock: Arc<SteadyClock>,
    anchor: Option<Anchor>,
    /// Runs that are to be entered.
    noted: Mutex<BTreeSet<RunId>>,
    /// Whether a task is about to enter them.
    is_scheduled: AtomicBool,
    /// Held while entries are made and delivered.
    at_work: tokio::sync::Mutex<()>,
    /// Why the last time did not work.
    trouble: Mutex<Option<String>>,
}

impl LedgerKeeper {
    /// Keeps the ledger of a store.
    pub(crate) fn new(store: Arc<dyn Store>, clock: Arc<SteadyClock>, anchor: Option<Anchor>) -> LedgerKeeper {
        LedgerKeeper(Arc::new(Keeping {
            store,
            clock,
            anchor,
            noted: Mutex::default(),
            is_scheduled: AtomicBool::new(false),
            at_work: tokio::sync::Mutex::default(),
            trouble: Mutex::default(),
        }))
    }

    /// Waits until everything that was noted is entered and delivered.
    pub(crate) async fn settle(&self) {
        self.0.settle().await;
    }

    /// Returns what went wrong since the last time, for people.
    pub(crate) fn take_trouble(&self) -> Option<String> {
        self.0.trouble.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn heard(&self, command: Option<&Command>, handoff: &Handoff) {
        if is_to_be_entered(command, handoff) {
            self.note(&handoff.run);
        }
    }

    fn note(&self, run: &RunId) {
        self.0.noted.lock().unwrap_or_else(PoisonError::into_inner).insert(run.clone());
        if !self.0.is_scheduled.swap(true, Ordering::SeqCst) {
            let keeping = Arc::clone(&self.0);
            tokio::spawn(async move { keeping.settle().await });
        }
    }
}

/// Says whether the head of a run should be entered after something happened to one of its handoffs.
fn is_to_be_entered(command: Option<&Command>, handoff: &Handoff) -> bool {
    let is_finished = handoff.state.finished_at().is_some();
    match &handoff.terms.step {
        _ if matches!(command, Some(Command::Decide(_))) => true,
        Some(step) if step.role == Role::Run => is_finished || matches!(command, Some(Command::Release(_))),
        Some(_) => false,
        None => is_finished,
    }
}

impl Keeping {
    async fn settle(&self) {
        let _at_work = self.at_work.lock().await;
        // Whoever notes something from here on needs another task.
        self.is_scheduled.store(false, Ordering::SeqCst);
        let runs = std::mem::take(&mut *self.noted.lock().unwrap_or_else(PoisonError::into_inner));
        if runs.is_empty() {
            return;
        }
        let runs: Vec<RunId> = runs.into_iter().collect();
        let trouble = match self.store.enter(&runs, self.clock.now()).await {
            Ok(_) => self.deliver().await,
            Err(error) => {
                self.noted.lock().unwrap_or_else(PoisonError::into_inner).extend(runs);
                Some(format!("heads are not entered in the ledger: {error}; {LATER}"))
            }
        };
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = trouble;
    }

    /// Delivers what the anchor does not have yet; returns what went wrong.
    async fn deliver(&self) -> Option<String> {
        let delivered = self.anchor.as_ref()?.catch_up(self.store.as_ref()).await;
        delivered.err().map(|why| format!("heads are not anchored: {why}; {LATER}"))
    }
}

#[async_trait]
impl Store for LedgerKeeper {
    async fn accept(&self, requests: Vec<Accept>, at: Timestamp) -> Result<Vec<Accepted>, Error> {
        self.0.store.accept(requests, at).await
    }

    async fn claim(&self, wish: &Wish, at: Timestamp) -> Result<Vec<Claimed>, Error> {
        self.0.store.claim(wish, at).await
    }

    async fn apply(&self, order: Order, at: Timestamp) -> Result<Handoff, Error> {
        let command = order.command.clone();
        let handoff = self.0.store.apply(order, at).await?;
        self.heard(Some(&command), &handoff);
        Ok(handoff)
    }

    async fn carry_out(&self, steps: Vec<Step>, at: Timestamp) -> Result<Vec<Handoff>, Error> {
        self.carry_out_and_tell(steps, at).await.map(|(handoffs, _)| handoffs)
    }

    async fn carry_out_and_tell(&self, steps: Vec<Step>, at: Timestamp) -> Result<(Vec<Handoff>, Vec<Event>), Error> {
        let decides = |step: &Step| match step {
            Step::Apply(_, command @ (Command::Decide(_) | Command::Release(_))) => Some(command.clone()),
            Step::Apply(..) | Step::Accept(_) | Step::Held { .. } => None,
        };
        let commands: Vec<Option<Command>> = steps.iter().map(decides).collect();
        let (handoffs, events) = self.0.store.carry_out_and_tell(steps, at).await?;
        for (command, handoff) in commands.iter().zip(&handoffs) {
            self.heard(command.as_ref(), handoff);
        }
        Ok((handoffs, events))
    }

    async fn rescue(&self, limit: u32, dice: f64, at: Timestamp) -> Result<Vec<Handoff>, Error> {
        let rescued = self.0.store.rescue(limit, dice, at).await?;
        rescued.iter().for_each(|handoff| self.heard(None, handoff));
        Ok(rescued)
    }

    async fn remove_run(&self, run: &RunId, before: Timestamp, at: Timestamp) -> Result<u64, Error> {
        let removed = self.0.store.remove_run(run, before, at).await?;
        if removed > 0 {
            self.note(run);
        }
        Ok(removed)
    }

    async fn find(&self, id: &HandoffId) -> Result<Option<Handoff>, Error> {
        self.0.store.find(id).await
    }

    async fn ids_beginning_with(&self, prefix: &str, limit: u32) -> Result<Vec<HandoffId>, Error> {
        self.0.store.ids_beginning_with(prefix, limit).await
    }

    async fn request(&self, id: &HandoffId) -> Result<Option<Written>, Error> {
        self.0.store.request(id).await
    }

    async fn list(&self, filter: &Filter) -> Result<Vec<Handoff>, Error> {
        self.0.store.list(filter).await
    }

    async fn census(&self) -> Result<Vec<Count>, Error> {
        self.0.store.census().await
    }

    async fn history(&self, run: &RunId, after: u64, limit: u32) -> Result<Vec<Event>, Error> {
        self.0.store.history(run, after, limit).await
    }

    async fn history_of(&self, id: &HandoffId) -> Result<Vec<Event>, Error> {
        self.0.store.history_of(id).await
    }

    async fn runs(&self, after: Option<&RunId>, limit: u32) -> Result<Vec<RunId>, Error> {
        self.0.store.runs(after, limit).await
    }

    async fn handoffs_of(&self, run: &RunId) -> Result<Vec<(Handoff, Head)>, Error> {
        self.0.store.handoffs_of(run).await
    }

    async fn queue(&self, agent: &str) -> Result<Queue, Error> {
        self.0.store.queue(agent).await
    }

    async fn queues(&self) -> Result<Vec<Queue>, Error> {
        self.0.store.queues().await
    }

    async fn set_queue(&self, queue: &Queue) -> Result<(), Error> {
        self.0.store.set_queue(queue).await
    }

    async fn next_due(&self, agent: Option<&str>) -> Result<Option<Timestamp>, Error> {
        self.0.store.next_due(agent).await
    }

    async fn finished_runs(&self, before: Timestamp, limit: u32) -> Result<Vec<RunId>, Error> {
        self.0.store.finished_runs(before, limit).await
    }

    async fn enter(&self, runs: &[RunId], at: Timestamp) -> Result<Vec<LedgerEntry>, Error> {
        self.0.store.enter(runs, at).await
    }

    async fn ledger(&self, after: u64, limit: u32) -> Result<Vec<LedgerEntry>, Error> {
        self.0.store.ledger(after, limit).await
    }

    async fn ledger_of(&self, run: &RunId) -> Result<Vec<LedgerEntry>, Error> {
        self.0.store.ledger_of(run).await
    }

    async fn anchored(&self, place: &str) -> Result<Option<Anchored>, Error> {
        self.0.store.anchored(place).await
    }

    async fn set_anchored(&self, place: &str, anchored: Anchored) -> Result<(), Error> {
        self.0.store.set_anchored(place, anchored).await
    }

    fn changes(&self) -> u64 {
        self.0.store.changes()
    }

    async fn changed(&self, since: u64, limit: Duration) {
        self.0.store.changed(since, limit).await;
    }

    async fn time(&self) -> Result<Option<Timestamp>, Error> {
        self.0.store.time().await
    }

    fn server_time(&self) -> Option<Timestamp> {
        self.0.store.server_time()
    }

    async fn checkup(&self) -> Result<Checkup, Error> {
        self.0.store.checkup().await
    }
}
