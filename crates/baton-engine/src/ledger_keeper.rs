//! A store whose ledger is kept: whatever ends a journal, hands it to a person or records a decision is entered.
//!
//! Nothing waits for that. Runs are noted, and entered a moment later in a task of their own, many at once; the process
//! does not end before. If a process is killed in between, the next process that enters the run catches up.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;

use crate::evidence::Content;
use crate::handoff::{Digest, WrittenDocument};
use crate::journal::{Event, Hash, Head};
use crate::ledger::LedgerEntry;
use crate::lifecycle::{Accept, Command};
use crate::queue::Queue;
use crate::step::Role;
use crate::store::{
    AcceptedHandoff, AnchoredEntry, Checkup, ClaimRequest, ClaimedHandoff, Count, Filter, KeptContents, Order,
    PositionedEvent, Store, StoreError, TransactionStep,
};
use crate::token::AccessToken;
use crate::{Clock, Handoff, HandoffId, RunId};

/// A place outside of the store that gets a line for each entry of its ledger.
#[async_trait]
pub trait LedgerAnchor: Send + Sync {
    /// Delivers the entries that were not delivered yet, the oldest first. Returns how many there were.
    async fn catch_up(&self, store: &dyn Store) -> Result<u64, AnchorFault>;
}

/// Why an anchor did not take an entry, in words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct AnchorFault(pub String);

/// Why heads are not where they should be. Both are tried again with the next entry.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LedgerTrouble {
    /// The store did not take them.
    #[error("heads are not entered in the ledger: {0}")]
    NotEntered(StoreError),
    /// The anchor did not take them.
    #[error("heads are not anchored: {0}")]
    NotAnchored(AnchorFault),
}

/// Wraps a store and keeps its ledger. Every engine uses its store through one of these.
pub struct LedgerKeeper(Arc<Keeping>);

struct Keeping {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    anchor: Option<Arc<dyn LedgerAnchor>>,
    /// Runs that are to be entered.
    noted: Mutex<BTreeSet<RunId>>,
    /// Whether a task is about to enter them.
    is_scheduled: AtomicBool,
    /// Held while entries are made and delivered.
    at_work: tokio::sync::Mutex<()>,
    trouble: Mutex<ToldTrouble>,
    /// Hears of trouble at once.
    listener: OnceLock<Listener>,
}

type Listener = Box<dyn Fn(&LedgerTrouble) + Send + Sync>;

/// Why entries could not be made or delivered.
#[derive(Default)]
struct ToldTrouble {
    /// What must still be reported.
    waiting: Option<LedgerTrouble>,
    /// What was reported last; it is not repeated.
    told: Option<LedgerTrouble>,
}

impl LedgerKeeper {
    /// Keeps the ledger of a store.
    pub fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>, anchor: Option<Arc<dyn LedgerAnchor>>) -> LedgerKeeper {
        LedgerKeeper(Arc::new(Keeping {
            store,
            clock,
            anchor,
            noted: Mutex::default(),
            is_scheduled: AtomicBool::new(false),
            at_work: tokio::sync::Mutex::default(),
            trouble: Mutex::default(),
            listener: OnceLock::new(),
        }))
    }

    /// Reports trouble to a listener at once; otherwise [`settle`](LedgerKeeper::settle) returns it.
    pub fn tells_at_once(&self, listener: impl Fn(&LedgerTrouble) + Send + Sync + 'static) {
        // Whoever was told first hears all of it.
        let _ = self.0.listener.set(Box::new(listener));
    }

    /// Waits until everything that was noted is entered and delivered. Returns what went wrong and was not reported
    /// yet.
    pub async fn settle(&self) -> Option<LedgerTrouble> {
        self.0.settle().await;
        self.0.untold()
    }

    fn heard(&self, happened: Happened, handoff: &Handoff) {
        if is_to_be_entered(happened, handoff) {
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

/// What happened to a handoff, as far as the ledger is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Happened {
    /// Somebody decided.
    Decided,
    /// Its claimant released it.
    Released,
    /// Anything else.
    Otherwise,
}

impl Happened {
    fn by(command: &Command) -> Happened {
        match command {
            Command::Decide(_) => Happened::Decided,
            Command::Release(_) => Happened::Released,
            _ => Happened::Otherwise,
        }
    }

    fn in_step(step: &TransactionStep) -> Happened {
        match step {
            TransactionStep::Apply(_, command) => Happened::by(command),
            TransactionStep::Accept(_) | TransactionStep::Held { .. } => Happened::Otherwise,
        }
    }
}

/// Returns whether the head of a run should be entered after something happened to one of its handoffs.
fn is_to_be_entered(happened: Happened, handoff: &Handoff) -> bool {
    let is_finished = handoff.state.finished_at().is_some();
    match &handoff.terms.step {
        _ if happened == Happened::Decided => true,
        Some(step) if step.role == Role::Run => is_finished || happened == Happened::Released,
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
                Some(LedgerTrouble::NotEntered(error))
            }
        };
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).waiting = trouble;
        if let Some(listener) = self.listener.get()
            && let Some(trouble) = self.untold()
        {
            listener(&trouble);
        }
    }

    /// Returns what went wrong, once.
    fn untold(&self) -> Option<LedgerTrouble> {
        let mut trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = trouble.waiting.take()?;
        let is_new = trouble.told.as_ref() != Some(&waiting);
        trouble.told = Some(waiting.clone());
        is_new.then_some(waiting)
    }

    /// Delivers what the anchor does not have yet; returns what went wrong.
    async fn deliver(&self) -> Option<LedgerTrouble> {
        let delivered = self.anchor.as_ref()?.catch_up(self.store.as_ref()).await;
        delivered.err().map(LedgerTrouble::NotAnchored)
    }
}

#[async_trait]
impl Store for LedgerKeeper {
    async fn accept(&self, requests: Vec<Accept>, at: Timestamp) -> Result<Vec<AcceptedHandoff>, StoreError> {
        self.0.store.accept(requests, at).await
    }

    async fn claim(&self, wish: &ClaimRequest, at: Timestamp) -> Result<Vec<ClaimedHandoff>, StoreError> {
        self.0.store.claim(wish, at).await
    }

    async fn apply(&self, order: Order, at: Timestamp) -> Result<Handoff, StoreError> {
        let happened = Happened::by(&order.command);
        let handoff = self.0.store.apply(order, at).await?;
        self.heard(happened, &handoff);
        Ok(handoff)
    }

    async fn carry_out(&self, steps: Vec<TransactionStep>, at: Timestamp) -> Result<Vec<Handoff>, StoreError> {
        self.carry_out_and_tell(steps, at).await.map(|(handoffs, _)| handoffs)
    }

    async fn carry_out_and_tell(
        &self,
        steps: Vec<TransactionStep>,
        at: Timestamp,
    ) -> Result<(Vec<Handoff>, Vec<Event>), StoreError> {
        let happened: Vec<Happened> = steps.iter().map(Happened::in_step).collect();
        let (handoffs, events) = self.0.store.carry_out_and_tell(steps, at).await?;
        happened.into_iter().zip(&handoffs).for_each(|(happened, handoff)| self.heard(happened, handoff));
        Ok((handoffs, events))
    }

    async fn rescue(&self, limit: u32, dice: f64, at: Timestamp) -> Result<Vec<Handoff>, StoreError> {
        let rescued = self.0.store.rescue(limit, dice, at).await?;
        rescued.iter().for_each(|handoff| self.heard(Happened::Otherwise, handoff));
        Ok(rescued)
    }

    async fn remove_run(&self, run: &RunId, before: Timestamp, at: Timestamp) -> Result<u64, StoreError> {
        let removed = self.0.store.remove_run(run, before, at).await?;
        if removed > 0 {
            self.note(run);
        }
        Ok(removed)
    }

    async fn find(&self, id: &HandoffId) -> Result<Option<Handoff>, StoreError> {
        self.0.store.find(id).await
    }

    async fn find_all(&self, ids: &[HandoffId]) -> Result<Vec<Handoff>, StoreError> {
        self.0.store.find_all(ids).await
    }

    async fn ids_beginning_with(&self, prefix: &str, limit: u32) -> Result<Vec<HandoffId>, StoreError> {
        self.0.store.ids_beginning_with(prefix, limit).await
    }

    async fn request(&self, id: &HandoffId) -> Result<Option<WrittenDocument>, StoreError> {
        self.0.store.request(id).await
    }

    async fn list(&self, filter: &Filter) -> Result<Vec<Handoff>, StoreError> {
        self.0.store.list(filter).await
    }

    async fn census(&self) -> Result<Vec<Count>, StoreError> {
        self.0.store.census().await
    }

    async fn history(&self, run: &RunId, after: u64, limit: u32) -> Result<Vec<Event>, StoreError> {
        self.0.store.history(run, after, limit).await
    }

    async fn history_of(&self, id: &HandoffId) -> Result<Vec<Event>, StoreError> {
        self.0.store.history_of(id).await
    }

    async fn runs(&self, after: Option<&RunId>, limit: u32) -> Result<Vec<RunId>, StoreError> {
        self.0.store.runs(after, limit).await
    }

    async fn handoffs_of(&self, run: &RunId) -> Result<Vec<(Handoff, Head)>, StoreError> {
        self.0.store.handoffs_of(run).await
    }

    async fn queue(&self, agent: &str) -> Result<Queue, StoreError> {
        self.0.store.queue(agent).await
    }

    async fn queues(&self) -> Result<Vec<Queue>, StoreError> {
        self.0.store.queues().await
    }

    async fn set_queue(&self, queue: &Queue) -> Result<(), StoreError> {
        self.0.store.set_queue(queue).await
    }

    async fn next_due(&self, agent: Option<&str>) -> Result<Option<Timestamp>, StoreError> {
        self.0.store.next_due(agent).await
    }

    async fn finished_runs(&self, before: Timestamp, limit: u32) -> Result<Vec<RunId>, StoreError> {
        self.0.store.finished_runs(before, limit).await
    }

    async fn enter(&self, runs: &[RunId], at: Timestamp) -> Result<Vec<LedgerEntry>, StoreError> {
        self.0.store.enter(runs, at).await
    }

    async fn ledger(&self, after: u64, limit: u32) -> Result<Vec<LedgerEntry>, StoreError> {
        self.0.store.ledger(after, limit).await
    }

    async fn ledger_of(&self, run: &RunId) -> Result<Vec<LedgerEntry>, StoreError> {
        self.0.store.ledger_of(run).await
    }

    async fn anchored(&self, place: &str) -> Result<Option<AnchoredEntry>, StoreError> {
        self.0.store.anchored(place).await
    }

    async fn set_anchored(&self, place: &str, anchored: AnchoredEntry) -> Result<(), StoreError> {
        self.0.store.set_anchored(place, anchored).await
    }

    async fn keep_contents(
        &self,
        run: &RunId,
        contents: Vec<Content>,
        bytes_max: u64,
    ) -> Result<KeptContents, StoreError> {
        self.0.store.keep_contents(run, contents, bytes_max).await
    }

    async fn content(&self, run: &RunId, digest: &Digest) -> Result<Option<Vec<u8>>, StoreError> {
        self.0.store.content(run, digest).await
    }

    async fn events_after(&self, position: u64, limit: u32) -> Result<Vec<PositionedEvent>, StoreError> {
        self.0.store.events_after(position, limit).await
    }

    async fn last_position(&self) -> Result<u64, StoreError> {
        self.0.store.last_position().await
    }

    async fn add_token(&self, token: &AccessToken) -> Result<(), StoreError> {
        self.0.store.add_token(token).await
    }

    async fn tokens(&self) -> Result<Vec<AccessToken>, StoreError> {
        self.0.store.tokens().await
    }

    async fn token_with(&self, digest: &Hash) -> Result<Option<AccessToken>, StoreError> {
        self.0.store.token_with(digest).await
    }

    async fn token(&self, id: &str) -> Result<Option<AccessToken>, StoreError> {
        self.0.store.token(id).await
    }

    async fn revoke_token(&self, id: &str, at: Timestamp) -> Result<bool, StoreError> {
        self.0.store.revoke_token(id, at).await
    }

    async fn remove_ended_sessions(&self, now: Timestamp) -> Result<u64, StoreError> {
        self.0.store.remove_ended_sessions(now).await
    }

    fn changes(&self) -> u64 {
        self.0.store.changes()
    }

    async fn changed(&self, since: u64, limit: Duration) {
        self.0.store.changed(since, limit).await;
    }

    async fn time(&self) -> Result<Option<Timestamp>, StoreError> {
        self.0.store.time().await
    }

    fn server_time(&self) -> Option<Timestamp> {
        self.0.store.server_time()
    }

    async fn checkup(&self) -> Result<Checkup, StoreError> {
        self.0.store.checkup().await
    }
}
