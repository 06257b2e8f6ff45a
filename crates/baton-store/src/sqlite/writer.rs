//! All writing of a process: what many callers want at the same time is one transaction, with one fsync for all of them.
//!
//! A caller is answered after the commit, never before. While nobody else writes, a caller does its work itself;
//! otherwise it queues up for the writer's thread. Work that fails in the middle takes nobody with it: the batch is
//! undone and each piece is done again in a transaction of its own.

use std::cell::Cell;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;

use baton_engine::store::Error;
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::lock::{Lock, PATIENCE};
use super::wake::Wake;
use super::{migrate, open, set_up, translate};

/// How many callers share a commit at most.
const BATCH_MAX: usize = 256;

/// Writes for everybody in this process.
pub(super) struct Writer {
    desk: Arc<Mutex<Desk>>,
    queue: mpsc::Sender<Box<dyn Work>>,
    /// How many pieces are in the queue.
    waiting: Arc<AtomicUsize>,
}

/// What writing needs; only one can have it.
struct Desk {
    connection: Connection,
    lock: Lock,
    wake: Arc<Wake>,
    /// Whether somebody who waits should look.
    news: Cell<bool>,
}

/// The transaction that is being written.
pub(super) struct Batch<'c> {
    /// The connection, inside the transaction.
    pub(super) connection: &'c Connection,
    /// Whether somebody who waits should look.
    news: Cell<bool>,
}

impl Batch<'_> {
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
        let lock = Lock::beside(path)?;
        let connection = up_to_date(path, &lock)?;
        let desk = Arc::new(Mutex::new(Desk { connection, lock, wake, news: Cell::new(false) }));
        let waiting = Arc::new(AtomicUsize::new(0));
        let (queue, received) = mpsc::channel();
        let (shared_desk, count) = (Arc::clone(&desk), Arc::clone(&waiting));
        let thread = thread::Builder::new().name("baton-sqlite-writer".to_owned()).spawn(move || {
            while let Ok(first) = received.recv() {
                let desk = shared_desk.lock().unwrap_or_else(PoisonError::into_inner);
                let batch: Vec<_> = std::iter::once(first).chain(received.try_iter().take(BATCH_MAX - 1)).collect();
                count.fetch_sub(batch.len(), Ordering::Relaxed);
                desk.write(batch);
            }
        });
        thread.map_err(|error| Error::Failed(format!("the writer cannot be started: {error}")))?;
        Ok(Writer { desk, queue, waiting })
    }

    /// Does a piece of work in a transaction and returns when it is on the disk. It may be run more than once.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        mut what: impl FnMut(&Batch<'_>) -> Result<Result<T, Error>, Error> + Send + 'static,
    ) -> Result<T, Error> {
        if let Some(done) = self.run_alone(&mut what) {
            return done;
        }
        let (answer, answered) = oneshot::channel();
        let gone = || Error::Failed("the writer has stopped".to_owned());
        self.waiting.fetch_add(1, Ordering::Relaxed);
        self.queue.send(Box::new(Piece { what, result: None, answer })).map_err(|_| gone())?;
        answered.await.unwrap_or_else(|_| Err(gone()))
    }

    /// Does the work at once if nobody else wants to write. Waking another thread and being woken by it takes nearly as
    /// long as the commit itself.
    fn run_alone<T>(
        &self,
        what: &mut impl FnMut(&Batch<'_>) -> Result<Result<T, Error>, Error>,
    ) -> Option<Result<T, Error>> {
        if self.waiting.load(Ordering::Relaxed) > 0 {
            return None;
        }
        let desk = self.desk.try_lock().ok()?;
        let held = desk.lock.try_acquire().ok()??;
        let mut result = None;
        let written = desk.transaction(|batch| {
            result = Some(what(batch)?);
            Ok(())
        });
        drop(held);
        desk.ring();
        let lost = || Err(Error::Failed("the work was never done".to_owned()));
        Some(written.and_then(|()| result.unwrap_or_else(lost)))
    }
}

impl Desk {
    /// Does all the work when the processes before us are done, and answers.
    ///
    /// Ours queue up at the lock, where the system wakes the next one at once; for SQLite's own one can only ask again
    /// and again.
    fn write(&self, mut batch: Vec<Box<dyn Work>>) {
        let written = match self.lock.acquire(PATIENCE) {
            Ok(_held) => self.carry_out(&mut batch),
            Err(error) => batch.iter().map(|_| Err(error.clone())).collect(),
        };
        self.ring();
        batch.into_iter().zip(written).for_each(|(work, written)| work.answer(written));
    }

    /// Does all the work in one transaction, or else each piece in its own. Returns what became of each.
    fn carry_out(&self, batch: &mut [Box<dyn Work>]) -> Vec<Result<(), Error>> {
        let together = self.transaction(|context| batch.iter_mut().try_for_each(|work| work.run(context)));
        match together {
            // Somebody else has the database: then each would wait as long again.
            Err(Error::Unreachable(_)) => batch.iter().map(|_| together.clone()).collect(),
            Err(_) if batch.len() > 1 => {
                batch.iter_mut().map(|work| self.transaction(|context| work.run(context))).collect()
            }
            together => batch.iter().map(|_| together.clone()).collect(),
        }
    }

    /// Runs a transaction under the lock: all of it is on the disk afterwards, or nothing.
    fn transaction(&self, run: impl FnOnce(&Batch<'_>) -> Result<(), Error>) -> Result<(), Error> {
        let batch = Batch { connection: &self.connection, news: Cell::new(false) };
        self.begin()?;
        let written = run(&batch).and_then(|()| self.execute("COMMIT"));
        // After some errors SQLite has rolled back by itself.
        if written.is_err() && !self.connection.is_autocommit() {
            self.execute("ROLLBACK")?;
        }
        if written.is_ok() && batch.news.get() {
            self.news.set(true);
        }
        written
    }

    /// Begins to write, as soon as no program that is not ours does.
    fn begin(&self) -> Result<(), Error> {
        self.execute("BEGIN IMMEDIATE").map_err(|error| match error {
            Error::Unreachable(why) => Error::Unreachable(format!("{}: {why}", self.lock.holder_of_database())),
            error => error,
        })
    }

    /// Tells everybody what was written, after the lock was released: whoever looks may want to write.
    fn ring(&self) {
        if self.news.take() {
            self.wake.ring();
        }
    }

    fn execute(&self, sql: &str) -> Result<(), Error> {
        let mut statement = self.connection.prepare_cached(sql).map_err(translate)?;
        statement.execute([]).map_err(translate)?;
        Ok(())
    }
}

/// Opens the database and brings it up to date. Whoever finds it so takes no lock: nobody who only reads waits for those
/// who write.
fn up_to_date(path: &Path, lock: &Lock) -> Result<Connection, Error> {
    let mut connection = open(path)?;
    let held = match migrate::current(&connection)? == migrate::known() {
        true => None,
        false => Some(lock.acquire(PATIENCE)?),
    };
    set_up(path, &connection)?;
    migrate::migrate(&mut connection)?;
    drop(held);
    Ok(connection)
}
