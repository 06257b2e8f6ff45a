//! The only thread that writes: it commits what many callers want in one transaction, with one fsync for all of them.
//!
//! A caller is answered after the commit, never before. Work that fails in the middle takes nobody with it: the batch is
//! undone and each piece is done again in a transaction of its own.

use std::cell::Cell;
use std::fs::{File, OpenOptions};
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::thread;

use baton_engine::store::Error;
use jiff::Timestamp;
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::wake::Wake;
use super::{connect, migrate, translate};

/// How many callers share a commit at most.
const BATCH_MAX: usize = 256;

/// The sending end of the writer's thread.
pub(super) struct Writer {
    work: mpsc::Sender<Box<dyn Work>>,
}

/// The transaction that is being written.
pub(super) struct Batch<'c> {
    /// The connection, inside the transaction.
    pub(super) connection: &'c Connection,
    /// The latest time of a change.
    latest: Cell<Option<Timestamp>>,
    /// Whether somebody who waits should look.
    news: Cell<bool>,
}

impl Batch<'_> {
    /// Takes note of the time of a change.
    pub(super) fn changed_at(&self, at: Timestamp) {
        self.latest.set(self.latest.get().max(Some(at)));
    }

    /// Takes note that somebody who waits should look.
    pub(super) fn announce(&self) {
        self.news.set(true);
    }
}

/// A piece of work. An outer error undoes it; an inner one is an answer like any other, and what was written stays.
trait Work: Send {
    fn run(&mut self, batch: &Batch<'_>) -> Result<(), Error>;
    fn answer(self: Box<Self>, committed: Result<(), Error>);
}

struct Piece<T, F> {
    what: F,
    result: Option<Result<T, Error>>,
    answer: oneshot::Sender<Result<T, Error>>,
}

impl<T: Send, F: FnMut(&Batch<'_>) -> Result<Result<T, Error>, Error> + Send> Work for Piece<T, F> {
    fn run(&mut self, batch: &Batch<'_>) -> Result<(), Error> {
        self.result = Some((self.what)(batch)?);
        Ok(())
    }

    fn answer(self: Box<Self>, committed: Result<(), Error>) {
        let Piece { result, answer, .. } = *self;
        let lost = || Err(Error::Failed("the work was never done".to_owned()));
        // A caller who has gone away does not want the answer.
        drop(answer.send(committed.and_then(|()| result.unwrap_or_else(lost))));
    }
}

impl Writer {
    /// Opens the database, brings it up to date and starts the thread.
    pub(super) fn start(path: &Path, wake: Arc<Wake>) -> Result<Writer, Error> {
        let lock_path = path.with_extension("lock");
        let lock = OpenOptions::new().create(true).append(true).open(&lock_path);
        let lock = lock.map_err(|error| Error::Unwritable(format!("{}: {error}", lock_path.display())))?;
        let mut connection = locked(&lock, || {
            let mut connection = connect(path)?;
            migrate::migrate(&mut connection)?;
            Ok(connection)
        })?;
        let (work, queue) = mpsc::channel();
        let name = "baton-sqlite-writer".to_owned();
        let thread = thread::Builder::new().name(name).spawn(move || {
            while let Some(batch) = next_batch(&queue) {
                write(&mut connection, &lock, &wake, batch);
            }
        });
        thread.map_err(|error| Error::Failed(format!("the writer cannot be started: {error}")))?;
        Ok(Writer { work })
    }

    /// Does a piece of work in a transaction and returns when it is on the disk. It may be run more than once.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        what: impl FnMut(&Batch<'_>) -> Result<Result<T, Error>, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let (answer, answered) = oneshot::channel();
        let gone = || Error::Failed("the writer has stopped".to_owned());
        self.work.send(Box::new(Piece { what, result: None, answer })).map_err(|_| gone())?;
        answered.await.unwrap_or_else(|_| Err(gone()))
    }
}

/// Waits for work, and takes whatever else is waiting by then.
fn next_batch(queue: &mpsc::Receiver<Box<dyn Work>>) -> Option<Vec<Box<dyn Work>>> {
    let first = queue.recv().ok()?;
    Some(std::iter::once(first).chain(queue.try_iter().take(BATCH_MAX - 1)).collect())
}

fn write(connection: &mut Connection, lock: &File, wake: &Wake, batch: Vec<Box<dyn Work>>) {
    match together(connection, lock, wake, batch) {
        Ok(()) => {}
        Err(batch) => batch.into_iter().for_each(|work| alone(connection, lock, wake, work)),
    }
}

/// Does all the work in one transaction, or gives it back undone.
fn together(
    connection: &Connection,
    lock: &File,
    wake: &Wake,
    mut batch: Vec<Box<dyn Work>>,
) -> Result<(), Vec<Box<dyn Work>>> {
    let written =
        transaction(connection, lock, wake, |context| batch.iter_mut().try_for_each(|work| work.run(context)));
    match written {
        Ok(()) => batch.into_iter().for_each(|work| work.answer(Ok(()))),
        Err(error) if batch.len() == 1 => batch.into_iter().for_each(|work| work.answer(Err(error.clone()))),
        Err(_) => return Err(batch),
    }
    Ok(())
}

fn alone(connection: &Connection, lock: &File, wake: &Wake, mut work: Box<dyn Work>) {
    let written = transaction(connection, lock, wake, |context| work.run(context));
    work.answer(written);
}

/// Runs a transaction: all of it is on the disk afterwards, or nothing.
fn transaction(
    connection: &Connection,
    lock: &File,
    wake: &Wake,
    run: impl FnOnce(&Batch<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    let batch = Batch { connection, latest: Cell::new(None), news: Cell::new(false) };
    locked(lock, || {
        execute(connection, "BEGIN IMMEDIATE")?;
        let written = run(&batch).and_then(|()| keep_time(&batch)).and_then(|()| execute(connection, "COMMIT"));
        // After some errors SQLite has rolled back by itself.
        if written.is_err() && !connection.is_autocommit() {
            execute(connection, "ROLLBACK")?;
        }
        written
    })?;
    if batch.news.get() {
        wake.ring();
    }
    Ok(())
}

fn keep_time(batch: &Batch<'_>) -> Result<(), Error> {
    let Some(latest) = batch.latest.get() else { return Ok(()) };
    let mut statement =
        batch.connection.prepare_cached("UPDATE latest SET at = ?1 WHERE at < ?1").map_err(translate)?;
    statement.execute([latest.as_microsecond()]).map_err(translate)?;
    Ok(())
}

fn execute(connection: &Connection, sql: &str) -> Result<(), Error> {
    let mut statement = connection.prepare_cached(sql).map_err(translate)?;
    statement.execute([]).map_err(translate)?;
    Ok(())
}

/// Holds the lock between processes. Ours queue up here, where the system wakes the next one at once; SQLite's own
/// lock can only be asked for again and again.
fn locked<T>(lock: &File, run: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    lock.lock().map_err(|error| Error::Unwritable(format!("the lock of the database: {error}")))?;
    let result = run();
    let unlocked = lock.unlock().map_err(|error| Error::Failed(format!("the lock of the database: {error}")));
    result.and_then(|value| unlocked.map(|()| value))
}
