//! PostgreSQL: many machines, no leader. Every node may claim, rescue and sweep; the server keeps them apart.
//!
//! Decisions are made by `baton_engine::lifecycle`; a statement here looks, or writes what was decided if nothing has
//! changed meanwhile. When the connection is lost, verbs look whether their work has arrived and go on for a while.

mod accept;
mod address;
mod apply;
mod careful;
mod checkup;
mod claim;
mod contents;
mod desk;
mod fault;
mod ledger;
mod listing;
mod look;
mod memory;
mod migrate;
mod prune;
mod queue;
mod rescue;
mod session;
mod table;
mod tls;
mod tokens;
mod wake;
mod writing;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use baton_engine::evidence::Content;
use baton_engine::handoff::{Digest, Handoff, WrittenDocument};
use baton_engine::journal::{Event, Hash, Head};
use baton_engine::ledger::LedgerEntry;
use baton_engine::lifecycle::Accept;
use baton_engine::queue::Queue;
use baton_engine::store::{
    AcceptedHandoff, AnchoredEntry, Checkup, ClaimRequest, ClaimedHandoff, Count, Filter, KeptContents, Order,
    PositionedEvent, Store, StoreError, TransactionStep,
};
use baton_engine::token::AccessToken;
use baton_engine::{HandoffId, RunId};
use deadpool_postgres::{Hook, HookError, Manager, ManagerConfig, Pool, RecyclingMethod, Runtime, Timeouts};
use jiff::Timestamp;

use crate::server_clock::ServerClock;
use address::Address;
use desk::Desk;
use fault::{Fault, Patience};
use session::Session;
use wake::Wake;

use crate::claim_cache::ClaimCache;

/// How many connections one process opens at most, beside the one that listens.
const CONNECTIONS_MAX: usize = 16;

/// How long to wait for a connection, in whatever way.
const WAIT: Duration = Duration::from_secs(10);

/// Plans must not depend on how much the server knew about the tables when it made them: a queue that was empty a
/// moment ago would be read from one end to the other for as long as the plan is kept.
///
/// And they are made once: for a statement with many parameters the server would weigh a new plan each time.
///
/// Nobody waits for a lock for long, because others wait in the same transaction. And a process that stands still in
/// the middle of one, with its machine, does not keep its locks: our transactions are never idle for more than a moment.
const SESSION_SETTINGS: &str = "SET enable_seqscan = off; SET jit = off; SET plan_cache_mode = force_generic_plan;
    SET lock_timeout = '2s'; SET idle_in_transaction_session_timeout = '20s'";

/// A store in a PostgreSQL database.
pub struct Postgres(Arc<Node>);

/// What a process has of a store; also the transactions that it shares hold on to it.
struct Node {
    pool: Pool,
    address: Arc<Address>,
    wake: Wake,
    own: ClaimCache,
    clock: Arc<ServerClock>,
    accepting: Desk<accept::NewRequest>,
    claiming: Desk<claim::NewWish>,
    applying: Desk<apply::NewOrder>,
    carrying_out: Desk<apply::NewSteps>,
}

impl Postgres {
    /// Connects to a server and brings the database up to date.
    pub async fn connect(url: &str) -> Result<Postgres, StoreError> {
        let address = Arc::new(Address::parse(url)?);
        let connector = address.protection.connector()?;
        let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let manager = Manager::from_config(address.config.clone(), connector.clone(), recycling);
        let settle = Hook::async_fn(|client: &mut deadpool_postgres::ClientWrapper, _| {
            Box::pin(async move { client.batch_execute(SESSION_SETTINGS).await.map_err(HookError::Backend) })
        });
        let pool = Pool::builder(manager)
            .max_size(CONNECTIONS_MAX)
            .runtime(Runtime::Tokio1)
            .timeouts(Timeouts { wait: Some(WAIT), create: Some(WAIT), recycle: Some(WAIT) })
            .post_create(settle)
            .build()
            .map_err(|error| StoreError::Failed(error.to_string()))?;
        let clock = Arc::<ServerClock>::default();
        let name = prepare(&pool, &clock).await.map_err(|error| with_hosts(error, &address))?;
        let wake = Wake::new(name, Arc::clone(&address), connector);
        Ok(Postgres(Arc::new(Node {
            pool,
            address,
            wake,
            own: ClaimCache::default(),
            clock,
            accepting: Desk::default(),
            claiming: Desk::default(),
            applying: Desk::default(),
            carrying_out: Desk::default(),
        })))
    }
}

impl Node {
    /// Takes a connection.
    async fn session(&self) -> Result<Session, Fault> {
        Ok(Session::new(self.pool.get().await?, Arc::clone(&self.clock)))
    }

    /// Tries until it works, or until trying makes no sense any more.
    async fn patiently<T, F>(&self, mut attempt: impl FnMut() -> F) -> Result<T, StoreError>
    where
        F: Future<Output = Result<T, Fault>>,
    {
        let mut patience = Patience::new();
        loop {
            match attempt().await {
                Ok(value) => return Ok(value),
                Err(fault) => patience.after(fault).await.map_err(|error| with_hosts(error, &self.address))?,
            }
        }
    }

    fn named<T>(&self, result: Result<T, StoreError>) -> Result<T, StoreError> {
        result.map_err(|error| with_hosts(error, &self.address))
    }
}

/// Brings the database up to date, and returns a name for this store that no other has.
///
/// Somebody who has mistyped the address should not wait; a server that is just starting is waited for.
async fn prepare(pool: &Pool, clock: &Arc<ServerClock>) -> Result<String, StoreError> {
    let mut patience = Patience::new();
    loop {
        let attempt = async {
            let session = Session::new(pool.get().await?, Arc::clone(clock));
            migrate::migrate(&session).await?;
            session.hear_time().await;
            let row = session.client().query_one("SELECT gen_random_uuid()::text", &[]).await?;
            Ok::<String, Fault>(row.try_get(0)?)
        };
        match attempt.await {
            Ok(name) => return Ok(name),
            Err(Fault::Lost(why)) if why.contains("refused") || why.contains("lookup") => {
                return Err(StoreError::Unreachable(why));
            }
            Err(fault) => patience.after(fault).await?,
        }
    }
}

/// Adds to an error which server does not answer.
fn with_hosts(error: StoreError, address: &Address) -> StoreError {
    match error {
        StoreError::Unreachable(why) => StoreError::Unreachable(format!("{}: {why}", address.hosts())),
        other => other,
    }
}

#[async_trait]
impl Store for Postgres {
    async fn accept(&self, requests: Vec<Accept>, at: Timestamp) -> Result<Vec<AcceptedHandoff>, StoreError> {
        self.0.named(accept::accept(&self.0, requests, at).await)
    }

    async fn claim(&self, wish: &ClaimRequest, at: Timestamp) -> Result<Vec<ClaimedHandoff>, StoreError> {
        self.0.named(claim::claim(&self.0, wish, at).await)
    }

    async fn apply(&self, order: Order, at: Timestamp) -> Result<Handoff, StoreError> {
        self.0.named(apply::apply(&self.0, order, at).await)
    }

    async fn carry_out(&self, steps: Vec<TransactionStep>, at: Timestamp) -> Result<Vec<Handoff>, StoreError> {
        self.0.named(apply::carry_out(&self.0, steps, at).await)
    }

    async fn rescue(&self, limit: u32, dice: f64, at: Timestamp) -> Result<Vec<Handoff>, StoreError> {
        self.0.named(rescue::rescue(&self.0, limit, dice, at).await)
    }

    async fn find(&self, id: &HandoffId) -> Result<Option<Handoff>, StoreError> {
        self.0.patiently(|| look::find(&self.0, id)).await
    }

    async fn find_all(&self, ids: &[HandoffId]) -> Result<Vec<Handoff>, StoreError> {
        self.0.patiently(|| look::find_all(&self.0, ids)).await
    }

    async fn ids_beginning_with(&self, prefix: &str, limit: u32) -> Result<Vec<HandoffId>, StoreError> {
        self.0.patiently(|| look::ids_beginning_with(&self.0, prefix, limit)).await
    }

    async fn request(&self, id: &HandoffId) -> Result<Option<WrittenDocument>, StoreError> {
        self.0.patiently(|| look::request(&self.0, id)).await
    }

    async fn list(&self, filter: &Filter) -> Result<Vec<Handoff>, StoreError> {
        self.0.patiently(|| listing::list(&self.0, filter)).await
    }

    async fn census(&self) -> Result<Vec<Count>, StoreError> {
        self.0.patiently(|| listing::census(&self.0)).await
    }

    async fn history(&self, run: &RunId, after: u64, limit: u32) -> Result<Vec<Event>, StoreError> {
        self.0.patiently(|| look::history(&self.0, run, after, limit)).await
    }

    async fn history_of(&self, id: &HandoffId) -> Result<Vec<Event>, StoreError> {
        self.0.patiently(|| look::history_of(&self.0, id)).await
    }

    async fn runs(&self, after: Option<&RunId>, limit: u32) -> Result<Vec<RunId>, StoreError> {
        self.0.patiently(|| look::runs(&self.0, after, limit)).await
    }

    async fn handoffs_of(&self, run: &RunId) -> Result<Vec<(Handoff, Head)>, StoreError> {
        self.0.patiently(|| look::handoffs_of(&self.0, run)).await
    }

    async fn queue(&self, agent: &str) -> Result<Queue, StoreError> {
        self.0.patiently(|| queue::queue(&self.0, agent)).await
    }

    async fn queues(&self) -> Result<Vec<Queue>, StoreError> {
        self.0.patiently(|| queue::queues(&self.0)).await
    }

    async fn set_queue(&self, queue: &Queue) -> Result<(), StoreError> {
        self.0.patiently(|| queue::set_queue(&self.0, queue)).await
    }

    async fn next_due(&self, agent: Option<&str>) -> Result<Option<Timestamp>, StoreError> {
        self.0.patiently(|| look::next_due(&self.0, agent)).await
    }

    async fn finished_runs(&self, before: Timestamp, limit: u32) -> Result<Vec<RunId>, StoreError> {
        self.0.patiently(|| prune::finished_runs(&self.0, before, limit)).await
    }

    async fn remove_run(&self, run: &RunId, before: Timestamp, at: Timestamp) -> Result<u64, StoreError> {
        self.0.patiently(|| prune::remove_run(&self.0, run, before, at)).await
    }

    async fn enter(&self, runs: &[RunId], at: Timestamp) -> Result<Vec<LedgerEntry>, StoreError> {
        self.0.patiently(|| ledger::enter(&self.0, runs, at)).await
    }

    async fn ledger(&self, after: u64, limit: u32) -> Result<Vec<LedgerEntry>, StoreError> {
        self.0.patiently(|| ledger::ledger(&self.0, after, limit)).await
    }

    async fn ledger_of(&self, run: &RunId) -> Result<Vec<LedgerEntry>, StoreError> {
        self.0.patiently(|| ledger::ledger_of(&self.0, run)).await
    }

    async fn anchored(&self, place: &str) -> Result<Option<AnchoredEntry>, StoreError> {
        self.0.patiently(|| ledger::anchored(&self.0, place)).await
    }

    async fn set_anchored(&self, place: &str, anchored: AnchoredEntry) -> Result<(), StoreError> {
        self.0.patiently(|| ledger::set_anchored(&self.0, place, anchored)).await
    }

    async fn keep_contents(
        &self,
        run: &RunId,
        contents: Vec<Content>,
        bytes_max: u64,
    ) -> Result<KeptContents, StoreError> {
        self.0.patiently(|| contents::keep(&self.0, run, &contents, bytes_max)).await
    }

    async fn content(&self, run: &RunId, digest: &Digest) -> Result<Option<Vec<u8>>, StoreError> {
        self.0.patiently(|| contents::find(&self.0, run, digest)).await
    }

    async fn events_after(&self, position: u64, limit: u32) -> Result<Vec<PositionedEvent>, StoreError> {
        self.0.patiently(|| look::events_after(&self.0, position, limit)).await
    }

    async fn last_position(&self) -> Result<u64, StoreError> {
        self.0.patiently(|| look::last_position(&self.0)).await
    }

    async fn add_token(&self, token: &AccessToken) -> Result<(), StoreError> {
        self.0.patiently(|| tokens::add(&self.0, token)).await
    }

    async fn tokens(&self) -> Result<Vec<AccessToken>, StoreError> {
        self.0.patiently(|| tokens::all(&self.0)).await
    }

    async fn token_with(&self, digest: &Hash) -> Result<Option<AccessToken>, StoreError> {
        self.0.patiently(|| tokens::with(&self.0, digest)).await
    }

    async fn token(&self, id: &str) -> Result<Option<AccessToken>, StoreError> {
        self.0.patiently(|| tokens::named(&self.0, id)).await
    }

    async fn revoke_token(&self, id: &str, at: Timestamp) -> Result<bool, StoreError> {
        self.0.patiently(|| tokens::revoke(&self.0, id, at)).await
    }

    async fn remove_ended_sessions(&self, now: Timestamp) -> Result<u64, StoreError> {
        self.0.patiently(|| tokens::remove_ended_sessions(&self.0, now)).await
    }

    fn changes(&self) -> u64 {
        self.0.wake.changes()
    }

    async fn changed(&self, since: u64, limit: Duration) {
        self.0.wake.changed(since, limit).await;
    }

    async fn time(&self) -> Result<Option<Timestamp>, StoreError> {
        self.0.patiently(|| look::time(&self.0)).await
    }

    fn server_time(&self) -> Option<Timestamp> {
        self.0.clock.now()
    }

    async fn checkup(&self) -> Result<Checkup, StoreError> {
        self.0.patiently(|| checkup::checkup(&self.0)).await
    }
}

impl std::fmt::Debug for Postgres {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Postgres").field("place", &self.0.address.place).finish_non_exhaustive()
    }
}
