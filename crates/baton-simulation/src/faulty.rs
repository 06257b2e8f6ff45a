//! A store as one party meets it: calls are refused, answers are lost, and sometimes it cannot be reached at all.

use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use baton_engine::evidence::Content;
use baton_engine::handoff::{Digest, WrittenDocument};
use baton_engine::journal::{Event, Hash, Head};
use baton_engine::ledger::LedgerEntry;
use baton_engine::lifecycle::Accept;
use baton_engine::queue::Queue;
use baton_engine::store::{
    AcceptedHandoff, AnchoredEntry, Checkup, ClaimRequest, ClaimedHandoff, Count, Filter, KeptContents, Order,
    PositionedEvent, StoreError, TransactionStep,
};
use baton_engine::token::AccessToken;
use baton_engine::{Handoff, HandoffId, RunId, Store};
use jiff::Timestamp;
use tokio::time::Instant;

use crate::chance::Tally;
use crate::fault::{Bell, Call, Fault, Plan};
use crate::puppet::Strings;

/// How long a call waits for a store that cannot be reached.
const GIVES_UP_AFTER: Duration = Duration::from_secs(2);

/// A store as one party meets it. Each party has its own, so that one can be cut off and another not.
pub struct Faulty {
    store: Arc<dyn Store>,
    plan: Arc<dyn Plan>,
    strings: Arc<Strings>,
    tally: Tally,
    calls: AtomicU64,
    /// When a call last came through.
    reached: Mutex<Instant>,
    cut_until: Mutex<Option<Instant>>,
    /// Since when the calls of a minute are counted, and how many there were.
    minute: Mutex<(Instant, u64)>,
}

/// More calls within a minute than anybody has a reason to make.
const CALLS_A_MINUTE_MAX: u64 = 3_000;

/// Counts parties that ask the store without end.
pub const WITHOUT_END: &str = "party asks without end";

impl Faulty {
    /// Puts faults between a party and its store.
    pub fn new(store: Arc<dyn Store>, plan: Arc<dyn Plan>, strings: Arc<Strings>, tally: Tally) -> Faulty {
        let (calls, now) = (AtomicU64::new(0), Instant::now());
        let (reached, cut_until, minute) = (Mutex::new(now), Mutex::new(None), Mutex::new((now, 0)));
        Faulty { store, plan, strings, tally, calls, reached, cut_until, minute }
    }

    /// Cuts the party off for a while.
    pub fn cut(&self, time: Duration) {
        *self.cut_until.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now() + time);
    }

    /// Ends the partition.
    pub fn mend(&self) {
        *self.cut_until.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Returns how often the store was called.
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// Returns for how long no call has come through.
    pub fn away_for(&self) -> Duration {
        self.reached.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }

    fn cut_for(&self) -> Option<Duration> {
        let until = *self.cut_until.lock().unwrap_or_else(PoisonError::into_inner);
        until.map(|until| until.saturating_duration_since(Instant::now())).filter(|rest| !rest.is_zero())
    }

    async fn through<T: Send>(
        &self,
        call: Call,
        work: impl Future<Output = Result<T, StoreError>> + Send,
    ) -> Result<T, StoreError> {
        let number = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        if self.asks_without_end() {
            self.tally.count(WITHOUT_END);
            self.strings.kill();
            return std::future::pending().await;
        }
        if let Some(rest) = self.cut_for() {
            self.tally.count("party cut off");
            tokio::time::sleep(rest.min(GIVES_UP_AFTER)).await;
            return Err(unreachable());
        }
        let Some(fault) = self.plan.call(number, call) else {
            *self.reached.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
            return work.await;
        };
        self.tally.count(fault.name());
        match fault {
            Fault::Refused => Err(unreachable()),
            Fault::AnswerLost => work.await.and(Err(unreachable())),
            Fault::Slow(time) => {
                tokio::time::sleep(time).await;
                work.await
            }
            Fault::SlowAnswer(time) => {
                let answer = work.await;
                tokio::time::sleep(time).await;
                answer
            }
            Fault::KilledBefore => {
                self.strings.kill();
                std::future::pending().await
            }
            Fault::KilledAfter => {
                let _ = work.await;
                self.strings.kill();
                std::future::pending().await
            }
            Fault::PausedBefore(time) => {
                self.pause(time).await;
                work.await
            }
            Fault::PausedAfter(time) => {
                let answer = work.await;
                self.pause(time).await;
                answer
            }
        }
    }

    fn asks_without_end(&self) -> bool {
        let mut minute = self.minute.lock().unwrap_or_else(PoisonError::into_inner);
        if minute.0.elapsed() > Duration::from_secs(60) {
            *minute = (Instant::now(), 0);
        }
        minute.1 += 1;
        minute.1 > CALLS_A_MINUTE_MAX
    }

    async fn pause(&self, time: Duration) {
        self.strings.pause(time);
        tokio::task::yield_now().await;
    }
}

fn unreachable() -> StoreError {
    StoreError::Unreachable("the connection was lost".to_owned())
}

#[async_trait]
impl Store for Faulty {
    async fn accept(&self, requests: Vec<Accept>, at: Timestamp) -> Result<Vec<AcceptedHandoff>, StoreError> {
        self.through(Call::Writes, self.store.accept(requests, at)).await
    }

    async fn claim(&self, wish: &ClaimRequest, at: Timestamp) -> Result<Vec<ClaimedHandoff>, StoreError> {
        self.through(Call::Writes, self.store.claim(wish, at)).await
    }

    async fn apply(&self, order: Order, at: Timestamp) -> Result<Handoff, StoreError> {
        self.through(Call::Writes, self.store.apply(order, at)).await
    }

    async fn carry_out(&self, steps: Vec<TransactionStep>, at: Timestamp) -> Result<Vec<Handoff>, StoreError> {
        self.through(Call::Writes, self.store.carry_out(steps, at)).await
    }

    async fn carry_out_and_tell(
        &self,
        steps: Vec<TransactionStep>,
        at: Timestamp,
    ) -> Result<(Vec<Handoff>, Vec<Event>), StoreError> {
        let (handoffs, events) = self.through(Call::Writes, self.store.carry_out_and_tell(steps, at)).await?;
        let told = if self.plan.tells() { events } else { Vec::new() };
        Ok((handoffs, told))
    }

    async fn rescue(&self, limit: u32, dice: f64, at: Timestamp) -> Result<Vec<Handoff>, StoreError> {
        self.through(Call::Writes, self.store.rescue(limit, dice, at)).await
    }

    async fn find(&self, id: &HandoffId) -> Result<Option<Handoff>, StoreError> {
        self.through(Call::Reads, self.store.find(id)).await
    }

    async fn ids_beginning_with(&self, prefix: &str, limit: u32) -> Result<Vec<HandoffId>, StoreError> {
        self.through(Call::Reads, self.store.ids_beginning_with(prefix, limit)).await
    }

    async fn request(&self, id: &HandoffId) -> Result<Option<WrittenDocument>, StoreError> {
        self.through(Call::Reads, self.store.request(id)).await
    }

    async fn list(&self, filter: &Filter) -> Result<Vec<Handoff>, StoreError> {
        self.through(Call::Reads, self.store.list(filter)).await
    }

    async fn census(&self) -> Result<Vec<Count>, StoreError> {
        self.through(Call::Reads, self.store.census()).await
    }

    async fn history(&self, run: &RunId, after: u64, limit: u32) -> Result<Vec<Event>, StoreError> {
        self.through(Call::Reads, self.store.history(run, after, limit)).await
    }

    async fn history_of(&self, id: &HandoffId) -> Result<Vec<Event>, StoreError> {
        self.through(Call::Reads, self.store.history_of(id)).await
    }

    async fn runs(&self, after: Option<&RunId>, limit: u32) -> Result<Vec<RunId>, StoreError> {
        self.through(Call::Reads, self.store.runs(after, limit)).await
    }

    async fn handoffs_of(&self, run: &RunId) -> Result<Vec<(Handoff, Head)>, StoreError> {
        self.through(Call::Reads, self.store.handoffs_of(run)).await
    }

    async fn queue(&self, agent: &str) -> Result<Queue, StoreError> {
        self.through(Call::Reads, self.store.queue(agent)).await
    }

    async fn queues(&self) -> Result<Vec<Queue>, StoreError> {
        self.through(Call::Reads, self.store.queues()).await
    }

    async fn set_queue(&self, queue: &Queue) -> Result<(), StoreError> {
        self.through(Call::Writes, self.store.set_queue(queue)).await
    }

    async fn next_due(&self, agent: Option<&str>) -> Result<Option<Timestamp>, StoreError> {
        self.through(Call::Reads, self.store.next_due(agent)).await
    }

    async fn finished_runs(&self, before: Timestamp, limit: u32) -> Result<Vec<RunId>, StoreError> {
        self.through(Call::Reads, self.store.finished_runs(before, limit)).await
    }

    async fn remove_run(&self, run: &RunId, before: Timestamp, at: Timestamp) -> Result<u64, StoreError> {
        self.through(Call::Writes, self.store.remove_run(run, before, at)).await
    }

    async fn enter(&self, runs: &[RunId], at: Timestamp) -> Result<Vec<LedgerEntry>, StoreError> {
        self.through(Call::Writes, self.store.enter(runs, at)).await
    }

    async fn ledger(&self, after: u64, limit: u32) -> Result<Vec<LedgerEntry>, StoreError> {
        self.through(Call::Reads, self.store.ledger(after, limit)).await
    }

    async fn ledger_of(&self, run: &RunId) -> Result<Vec<LedgerEntry>, StoreError> {
        self.through(Call::Reads, self.store.ledger_of(run)).await
    }

    async fn anchored(&self, place: &str) -> Result<Option<AnchoredEntry>, StoreError> {
        self.through(Call::Reads, self.store.anchored(place)).await
    }

    async fn set_anchored(&self, place: &str, anchored: AnchoredEntry) -> Result<(), StoreError> {
        self.through(Call::Writes, self.store.set_anchored(place, anchored)).await
    }

    async fn keep_contents(
        &self,
        run: &RunId,
        contents: Vec<Content>,
        bytes_max: u64,
    ) -> Result<KeptContents, StoreError> {
        self.through(Call::Writes, self.store.keep_contents(run, contents, bytes_max)).await
    }

    async fn content(&self, run: &RunId, digest: &Digest) -> Result<Option<Vec<u8>>, StoreError> {
        self.through(Call::Reads, self.store.content(run, digest)).await
    }

    async fn events_after(&self, position: u64, limit: u32) -> Result<Vec<PositionedEvent>, StoreError> {
        self.through(Call::Reads, self.store.events_after(position, limit)).await
    }

    async fn last_position(&self) -> Result<u64, StoreError> {
        self.through(Call::Reads, self.store.last_position()).await
    }

    async fn add_token(&self, token: &AccessToken) -> Result<(), StoreError> {
        self.through(Call::Writes, self.store.add_token(token)).await
    }

    async fn tokens(&self) -> Result<Vec<AccessToken>, StoreError> {
        self.through(Call::Reads, self.store.tokens()).await
    }

    async fn token_with(&self, digest: &Hash) -> Result<Option<AccessToken>, StoreError> {
        self.through(Call::Reads, self.store.token_with(digest)).await
    }

    async fn token(&self, id: &str) -> Result<Option<AccessToken>, StoreError> {
        self.through(Call::Reads, self.store.token(id)).await
    }

    async fn revoke_token(&self, id: &str, at: Timestamp) -> Result<bool, StoreError> {
        self.through(Call::Writes, self.store.revoke_token(id, at)).await
    }

    async fn remove_ended_sessions(&self, now: Timestamp) -> Result<u64, StoreError> {
        self.through(Call::Writes, self.store.remove_ended_sessions(now)).await
    }

    fn changes(&self) -> u64 {
        self.store.changes()
    }

    async fn changed(&self, since: u64, limit: Duration) {
        if self.cut_for().is_some() {
            return tokio::time::sleep(limit).await;
        }
        match self.plan.wait() {
            Bell::Rings => self.store.changed(since, limit).await,
            Bell::Silent => {
                self.tally.count("wake-up lost");
                tokio::time::sleep(limit).await;
            }
            Bell::RingsTwice => {
                self.tally.count("wake-up doubled");
                tokio::time::sleep(limit.min(Duration::from_millis(1))).await;
            }
            Bell::Cut(time) => {
                self.tally.count("connection lost while waiting");
                tokio::time::sleep(limit.min(Duration::from_secs(1))).await;
                self.cut(time);
            }
        }
    }

    async fn time(&self) -> Result<Option<Timestamp>, StoreError> {
        self.through(Call::Reads, self.store.time()).await
    }

    async fn checkup(&self) -> Result<Checkup, StoreError> {
        self.through(Call::Reads, self.store.checkup()).await
    }
}
