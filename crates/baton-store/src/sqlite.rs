//! SQLite: the embedded default. One file, nothing to install, several processes at once.
//!
//! All writing goes through `writer`, which commits what many callers want together: one fsync for all of them.
//! Readers have their own connections and never wait for it.

mod accept;
mod apply;
mod change;
mod claim;
mod contents;
mod fault;
mod file;
mod holder;
mod ledger;
mod listing;
mod lock;
mod look;
mod migrate;
mod prune;
mod queue;
mod relocate;
mod rescue;
mod table;
mod tokens;
mod wake;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
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
use baton_host::folders::make_folders;
use jiff::Timestamp;
use rusqlite::Connection;
use rusqlite::config::DbConfig;

use fault::translate;
use file::DatabaseFile;
pub use relocate::{relocate, remove};
use wake::Wake;
use writer::{Batch, Writer};

use crate::claim_cache::ClaimCache;

/// A store in one SQLite file.
pub struct Sqlite {
    path: PathBuf,
    file: Arc<DatabaseFile>,
    writer: Writer,
    readers: Arc<Mutex<Vec<Connection>>>,
    wake: Arc<Wake>,
    own: ClaimCache,
}

impl Sqlite {
    /// Opens a store, and makes it with the folders above it if it is not there.
    pub fn open(path: &Path) -> Result<Sqlite, StoreError> {
        if path.extension().is_some_and(|end| end == "wake" || end == "lock") {
            let why = "this name is reserved for a file that belongs to a store; choose another name";
            return Err(StoreError::Unwritable(format!("{}: {why}", path.display())));
        }
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            make_folders(folder).map_err(|error| StoreError::Unwritable(format!("{}: {error}", folder.display())))?;
        }
        let wake = Arc::new(Wake::new(path)?);
        let writer = Writer::start(path, Arc::clone(&wake), lock::PATIENCE).map_err(|error| fault::at(path, error))?;
        let (path, file) = (path.to_owned(), writer.file());
        Ok(Sqlite { path, file, writer, readers: Arc::default(), wake, own: ClaimCache::default() })
    }

    /// Reads on a connection of its own, beside whatever is written meanwhile.
    async fn read<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (path, file, readers) = (self.path.clone(), Arc::clone(&self.file), Arc::clone(&self.readers));
        let looked = tokio::task::spawn_blocking(move || {
            let idle = readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let connection = file.still_there().and_then(|()| idle.map_or_else(|| connect(&path), Ok))?;
            let found = look(&connection);
            readers.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
            found
        });
        let looked = looked.await.unwrap_or_else(|error| Err(StoreError::Failed(error.to_string())));
        looked.map_err(|error| fault::at(&self.path, error))
    }

    /// Looks at a few rows at once: waking another thread takes longer than finding them.
    fn look<T>(&self, look: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let idle = self.readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = self.file.still_there().and_then(|()| idle.map_or_else(|| connect(&self.path), Ok));
        let found = connection.and_then(|connection| {
            let found = look(&connection);
            self.readers.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
            found
        });
        found.map_err(|error| fault::at(&self.path, error))
    }

    /// Writes in a transaction, and returns when it is on the disk.
    async fn write<T: Send + 'static>(
        &self,
        what: impl FnMut(&Batch<'_>) -> Result<Result<T, StoreError>, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.writer.run(what).await.map_err(|error| fault::at(&self.path, error))
    }
}

/// Opens a connection with the settings that durability needs.
fn connect(path: &Path) -> Result<Connection, StoreError> {
    let connection = open(path)?;
    set_up(path, &connection)?;
    Ok(connection)
}

/// Opens a connection; nothing is read or written yet.
fn open(path: &Path) -> Result<Connection, StoreError> {
    let connection = Connection::open(path).map_err(|error| fault::opening(path, &error))?;
    connection.busy_timeout(lock::PATIENCE).map_err(|error| fault::opening(path, &error))?;
    Ok(connection)
}

/// Makes the settings of a connection, to a database that is ours.
fn set_up(path: &Path, connection: &Connection) -> Result<(), StoreError> {
    // Before anything is set: the mode of the journal is written into the file.
    migrate::refuse_strangers(connection).map_err(|error| fault::at(path, error))?;
    let set = || {
        connection.pragma_update(None, "journal_mode", "WAL")?;
        // With FULL a commit is on the disk when it returns; NORMAL would lose the last ones with the power.
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "foreign_keys", true)?;
        connection.pragma_update(None, "trusted_schema", false)?;
        // A page that was changed outside of SQLite is found when it is read, not believed.
        connection.pragma_update(None, "cell_size_check", true)?;
        // Plans must not depend on the values: without this SQLite prepares statements again for each new value.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        connection.set_prepared_statement_cache_capacity(64);
        Ok(())
    };
    set().map_err(|error| fault::opening(path, &error))
}

#[async_trait]
impl Store for Sqlite {
    async fn accept(&self, requests: Vec<Accept>, at: Timestamp) -> Result<Vec<AcceptedHandoff>, StoreError> {
        let prepared = accept::prepare(&requests, at);
        self.write(move |batch| accept::accept(batch, &requests, prepared.as_ref(), at).map(Ok)).await
    }

    async fn claim(&self, wish: &ClaimRequest, at: Timestamp) -> Result<Vec<ClaimedHandoff>, StoreError> {
        let wish = wish.clone();
        let claimed = self.write(move |batch| claim::claim(batch, &wish, at).map(Ok)).await?;
        claimed.iter().for_each(|(claimed, head)| self.own.remember(&claimed.handoff, *head));
        Ok(claimed.into_iter().map(|(claimed, _)| claimed).collect())
    }

    async fn apply(&self, order: Order, at: Timestamp) -> Result<Handoff, StoreError> {
        let prepared = apply::prepare(&self.own, &order, at);
        let applied = self.write(move |batch| match &prepared {
            Some(prepared) if apply::write(batch, prepared)? => Ok(Ok(prepared.change.after())),
            Some(_) | None => apply::apply(batch, &order, at),
        });
        let (handoff, head) = applied.await?;
        self.own.remember(&handoff, head);
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
        let remembered = self.own.take_all(steps.iter().filter_map(TransactionStep::applies_to));
        let (handoffs, written) =
            self.write(move |batch| apply::carry_out(batch, &steps, &remembered, at).map(Ok)).await?;
        written.left.iter().for_each(|(handoff, head)| self.own.remember(handoff, *head));
        Ok((handoffs, written.events))
    }

    async fn rescue(&self, limit: u32, dice: f64, at: Timestamp) -> Result<Vec<Handoff>, StoreError> {
        // Looking costs no write: mostly nothing is due.
        if !self.look(|connection| rescue::is_due(connection, at))? {
            return Ok(Vec::new());
        }
        self.write(move |batch| rescue::rescue(batch, limit, dice, at).map(Ok)).await
    }

    async fn find(&self, id: &HandoffId) -> Result<Option<Handoff>, StoreError> {
        self.look(|connection| table::find(connection, id)?.map(|row| row.handoff()).transpose())
    }

    async fn find_all(&self, ids: &[HandoffId]) -> Result<Vec<Handoff>, StoreError> {
        let ids = ids.to_vec();
        self.read(move |connection| {
            // One look at the database for all of them.
            let _same = connection.unchecked_transaction().map_err(translate)?;
            let found = ids.iter().filter_map(|id| table::find(connection, id).transpose());
            found.map(|row| row?.handoff()).collect()
        })
        .await
    }

    async fn ids_beginning_with(&self, prefix: &str, limit: u32) -> Result<Vec<HandoffId>, StoreError> {
        self.look(|connection| look::ids_beginning_with(connection, prefix, limit))
    }

    async fn request(&self, id: &HandoffId) -> Result<Option<WrittenDocument>, StoreError> {
        self.look(|connection| look::request(connection, id))
    }

    async fn list(&self, filter: &Filter) -> Result<Vec<Handoff>, StoreError> {
        let filter = filter.clone();
        self.read(move |connection| listing::list(connection, &filter)).await
    }

    async fn census(&self) -> Result<Vec<Count>, StoreError> {
        self.read(listing::census).await
    }

    async fn history(&self, run: &RunId, after: u64, limit: u32) -> Result<Vec<Event>, StoreError> {
        self.look(|connection| look::history(connection, run, after, limit))
    }

    async fn history_of(&self, id: &HandoffId) -> Result<Vec<Event>, StoreError> {
        let id = id.clone();
        self.read(move |connection| look::history_of(connection, &id)).await
    }

    async fn runs(&self, after: Option<&RunId>, limit: u32) -> Result<Vec<RunId>, StoreError> {
        let after = after.cloned();
        self.read(move |connection| look::runs(connection, after.as_ref(), limit)).await
    }

    async fn handoffs_of(&self, run: &RunId) -> Result<Vec<(Handoff, Head)>, StoreError> {
        let run = run.clone();
        self.read(move |connection| look::handoffs_of(connection, &run)).await
    }

    async fn queue(&self, agent: &str) -> Result<Queue, StoreError> {
        self.look(|connection| table::queue(connection, agent))
    }

    async fn queues(&self) -> Result<Vec<Queue>, StoreError> {
        self.read(look::queues).await
    }

    async fn set_queue(&self, queue: &Queue) -> Result<(), StoreError> {
        let queue = queue.clone();
        self.write(move |batch| change::set_queue(batch, &queue).map(Ok)).await
    }

    async fn next_due(&self, agent: Option<&str>) -> Result<Option<Timestamp>, StoreError> {
        self.look(|connection| look::next_due(connection, agent))
    }

    async fn finished_runs(&self, before: Timestamp, limit: u32) -> Result<Vec<RunId>, StoreError> {
        self.read(move |connection| prune::finished_runs(connection, before, limit)).await
    }

    async fn remove_run(&self, run: &RunId, before: Timestamp, at: Timestamp) -> Result<u64, StoreError> {
        let run = run.clone();
        self.write(move |batch| prune::remove_run(batch, &run, before, at).map(Ok)).await
    }

    async fn enter(&self, runs: &[RunId], at: Timestamp) -> Result<Vec<LedgerEntry>, StoreError> {
        let runs = runs.to_vec();
        self.write(move |batch| ledger::enter(batch, &runs, at).map(Ok)).await
    }

    async fn ledger(&self, after: u64, limit: u32) -> Result<Vec<LedgerEntry>, StoreError> {
        self.read(move |connection| ledger::ledger(connection, after, limit)).await
    }

    async fn ledger_of(&self, run: &RunId) -> Result<Vec<LedgerEntry>, StoreError> {
        self.look(|connection| ledger::ledger_of(connection, run))
    }

    async fn anchored(&self, place: &str) -> Result<Option<AnchoredEntry>, StoreError> {
        self.look(|connection| ledger::anchored(connection, place))
    }

    async fn set_anchored(&self, place: &str, anchored: AnchoredEntry) -> Result<(), StoreError> {
        let place = place.to_owned();
        self.write(move |batch| ledger::set_anchored(batch, &place, anchored).map(Ok)).await
    }

    async fn keep_contents(
        &self,
        run: &RunId,
        contents: Vec<Content>,
        bytes_max: u64,
    ) -> Result<KeptContents, StoreError> {
        let run = run.clone();
        self.write(move |batch| contents::keep(batch, &run, &contents, bytes_max).map(Ok)).await
    }

    async fn content(&self, run: &RunId, digest: &Digest) -> Result<Option<Vec<u8>>, StoreError> {
        let (run, digest) = (run.clone(), digest.clone());
        self.read(move |connection| contents::find(connection, &run, &digest)).await
    }

    async fn events_after(&self, position: u64, limit: u32) -> Result<Vec<PositionedEvent>, StoreError> {
        self.read(move |connection| look::events_after(connection, position, limit)).await
    }

    async fn last_position(&self) -> Result<u64, StoreError> {
        self.look(look::last_position)
    }

    async fn add_token(&self, token: &AccessToken) -> Result<(), StoreError> {
        let token = token.clone();
        self.write(move |batch| Ok(tokens::add(batch, &token))).await
    }

    async fn tokens(&self) -> Result<Vec<AccessToken>, StoreError> {
        self.look(tokens::all)
    }

    async fn token_with(&self, digest: &Hash) -> Result<Option<AccessToken>, StoreError> {
        self.look(|connection| tokens::with(connection, digest))
    }

    async fn token(&self, id: &str) -> Result<Option<AccessToken>, StoreError> {
        self.look(|connection| tokens::named(connection, id))
    }

    async fn revoke_token(&self, id: &str, at: Timestamp) -> Result<bool, StoreError> {
        let id = id.to_owned();
        self.write(move |batch| tokens::revoke(batch, &id, at).map(Ok)).await
    }

    async fn remove_ended_sessions(&self, now: Timestamp) -> Result<u64, StoreError> {
        self.write(move |batch| tokens::remove_ended_sessions(batch, now).map(Ok)).await
    }

    fn changes(&self) -> u64 {
        self.wake.changes()
    }

    async fn changed(&self, since: u64, limit: Duration) {
        self.wake.changed(since, limit).await;
    }

    async fn time(&self) -> Result<Option<Timestamp>, StoreError> {
        self.look(look::time)
    }

    async fn checkup(&self) -> Result<Checkup, StoreError> {
        let place = self.path.display().to_string();
        self.read(move |connection| look::checkup(connection, place)).await
    }
}

impl std::fmt::Debug for Sqlite {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Sqlite").field("path", &self.path).finish_non_exhaustive()
    }
}
