//! All writing of a process: what many callers want at the same time is one transaction, with one fsync for all of them.
//!
//! A caller is answered after the commit, never before. While nobody else writes, a caller does its work itself;
//! otherwise it queues up for the writer's thread. Work that fails in the middle takes nobody with it: the batch is
//! undone and each piece is done again in a transaction of its own.

use std::cell::Cell;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use baton_engine::store::StoreError;
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::file::DatabaseFile;
use super::lock::Lock;
use super::queue::Queue;
use super::wake::Wake;
use super::{migrate, open, set_up, translate};

/// How many callers share a commit at most.
const BATCH_MAX: usize = 256;

/// Writes for everybody in this process.
pub(super) struct Writer {
    desk: Arc<Mutex<Desk>>,
    queue: Arc<Queue>,
    file: Arc<DatabaseFile>,
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue.close();
    }
}

/// What writing needs; only one can have it.
struct Desk {
    connection: Connection,
    file: Arc<DatabaseFile>,
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
pub(super) trait Work: Send {
    fn run(&mut self, batch: &Batch<'_>) -> Result<(), StoreError>;
    fn answer(self: Box<Self>, committed: Result<(), StoreError>);
}

struct Piece<T, F> {
    what: F,
    result: Option<Result<T, StoreError>>,
    answer: oneshot::Sender<Result<T, StoreError>>,
}

impl<T: Send, F: FnMut(&Batch<'_>) -> Result<Result<T, StoreError>, StoreError> + Send> Work for Piece<T, F> {
    fn run(&mut self, batch: &Batch<'_>) -> Result<(), StoreError> {
        self.result = Some((self.what)(batch)?);
        Ok(())
    }

    fn answer(self: Box<Self>, committed: Result<(), StoreError>) {
        let Piece { result, answer, .. } = *self;
        let lost = || Err(StoreError::Failed("the work was never done".to_owned()));
        // A caller who has gone away does not want the answer.
        drop(answer.send(committed.and_then(|()| result.unwrap_or_else(lost))));
    }
}

impl Writer {
    /// Opens the database, brings it up to date and starts the thread. Others may hold a lock and do nothing for as long
    /// as the patience lasts.
    pub(super) fn start(path: &Path, wake: Arc<Wake>, patience: Duration) -> Result<Writer, StoreError> {
        let lock = Lock::beside(path)?;
        let connection = up_to_date(path, &lock, patience)?;
        let file = Arc::new(DatabaseFile::at(path)?);
        let desk = Desk { connection, file: Arc::clone(&file), lock, wake, news: Cell::new(false) };
        let desk = Arc::new(Mutex::new(desk));
        let queue = Arc::new(Queue::new(patience));
        let (shared_desk, shared_queue) = (Arc::clone(&desk), Arc::clone(&queue));
        let thread = thread::Builder::new().name("baton-sqlite-writer".to_owned()).spawn(move || {
            while shared_queue.wait() {
                shared_desk.lock().unwrap_or_else(PoisonError::into_inner).serve(&shared_queue);
            }
        });
        thread.map_err(|error| StoreError::Failed(format!("the writer cannot be started: {error}")))?;
        Ok(Writer { desk, queue, file })
    }

    /// Returns the file that is written to.
    pub(super) fn file(&self) -> Arc<DatabaseFile> {
        Arc::clone(&self.file)
    }

    /// Does a piece of work in a transaction and returns when it is on the disk. It may be run more than once.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        mut what: impl FnMut(&Batch<'_>) -> Result<Result<T, StoreError>, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        if let Some(done) = self.run_alone(&mut what) {
            return done;
        }
        let (answer, answered) = oneshot::channel();
        let gone = || StoreError::Failed("the writer has stopped".to_owned());
        self.queue.add(Box::new(Piece { what, result: None, answer }));
        answered.await.unwrap_or_else(|_| Err(gone()))
    }

    /// Does the work at once if nobody else wants to write. Waking another thread and being woken by it takes nearly as
    /// long as the commit itself.
    fn run_alone<T>(
        &self,
        what: &mut impl FnMut(&Batch<'_>) -> Result<Result<T, StoreError>, StoreError>,
    ) -> Option<Result<T, StoreError>> {
        if !self.queue.is_empty() {
            return None;
        }
        let desk = self.desk.try_lock().ok()?;
        let held = desk.lock.try_acquire()?;
        let mut result = None;
        let written = desk.transaction(|batch| {
            result = Some(what(batch)?);
            Ok(())
        });
        drop(held);
        desk.ring();
        let lost = || Err(StoreError::Failed("the work was never done".to_owned()));
        Some(written.and_then(|()| result.unwrap_or_else(lost)))
    }
}

impl Desk {
    /// Does what waits when the processes before us are done, and answers.
    ///
    /// Everybody is answered at the end, because what one has written can still be undone for another:
    ///
    /// ```text
    /// caller A             writer                        caller B
    ///                      BEGIN
    /// accepts a     ──▶    a is there, but not on the disk
    ///                      b cannot be written     ◀──   accepts b
    ///                      ROLLBACK: a is gone, and A must not have heard that it was accepted
    ///                      a alone: COMMIT; b alone: refused
    /// ```
    fn serve(&self, queue: &Arc<Queue>) {
        let held = queue.acquire(&self.lock);
        // What came while we waited is written as well; what nobody waits for any more is gone.
        let mut batch = queue.take(BATCH_MAX);
        let written = match &held {
            Ok(_) => self.carry_out(&mut batch),
            Err(error) => batch.iter().map(|_| Err(error.clone())).collect(),
        };
        drop(held);
        self.ring();
        batch.into_iter().zip(written).for_each(|(work, written)| work.answer(written));
    }

    /// Does all the work in one transaction, or else each piece in its own. Returns what became of each.
    fn carry_out(&self, batch: &mut [Box<dyn Work>]) -> Vec<Result<(), StoreError>> {
        let together = self.transaction(|context| batch.iter_mut().try_for_each(|work| work.run(context)));
        match together {
            // Somebody else has the database: then each would wait as long again.
            Err(StoreError::Unreachable(_)) => batch.iter().map(|_| together.clone()).collect(),
            Err(_) if batch.len() > 1 => {
                batch.iter_mut().map(|work| self.transaction(|context| work.run(context))).collect()
            }
            together => batch.iter().map(|_| together.clone()).collect(),
        }
    }

    /// Runs a transaction under the lock: all of it is on the disk afterwards, or nothing.
    fn transaction(&self, run: impl FnOnce(&Batch<'_>) -> Result<(), StoreError>) -> Result<(), StoreError> {
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
    fn begin(&self) -> Result<(), StoreError> {
        self.file.still_there()?;
        self.execute("BEGIN IMMEDIATE").map_err(|error| match error {
            StoreError::Unreachable(why) => StoreError::Unreachable(format!("{}: {why}", self.lock.place().writer())),
            error => error,
        })
    }

    /// Wakes everybody after the lock was released: whoever looks may want to write.
    fn ring(&self) {
        if self.news.take() {
            self.wake.ring();
        }
    }

    fn execute(&self, sql: &str) -> Result<(), StoreError> {
        let mut statement = self.connection.prepare_cached(sql).map_err(translate)?;
        statement.execute([]).map_err(translate)?;
        Ok(())
    }
}

/// Opens the database and brings it up to date. Whoever finds it so takes no lock: nobody who only reads waits for those
/// who write.
fn up_to_date(path: &Path, lock: &Lock, patience: Duration) -> Result<Connection, StoreError> {
    let mut connection = open(path)?;
    let held =
        if migrate::current(&connection)? == migrate::known() { None } else { Some(lock.acquire_within(patience)?) };
    set_up(path, &connection)?;
    migrate::migrate(&mut connection)?;
    drop(held);
    Ok(connection)
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use baton_testbed::Scratch;

    use super::*;

    #[tokio::test]
    async fn whoever_waits_for_a_process_that_does_nothing_is_told_and_what_it_wanted_is_not_done_later() {
        let scratch = Scratch::new();
        let path = scratch.path("store.db");
        let wake = Arc::new(Wake::new(&path).expect("a bell"));
        let writer = Writer::start(&path, wake, Duration::from_millis(50)).expect("a writer");
        let set = |agent: &'static str| {
            let sql = "INSERT INTO queues (agent, paused) VALUES (?1, 0)";
            writer.run(move |batch| batch.connection.execute(sql, [agent]).map(Ok).map_err(translate))
        };
        let other = File::open(scratch.path("store.lock")).expect("it is there");
        other.lock().expect("nobody writes");
        for agent in ["first", "second"] {
            let Err(StoreError::Unreachable(why)) = set(agent).await else { panic!("somebody holds the lock") };
            assert!(why.contains(&format!("process {} (", std::process::id())), "{why}");
        }
        other.unlock().expect("it is ours");
        while let Err(error) = set("third").await {
            assert!(matches!(error, StoreError::Unreachable(_)), "{error}: nobody holds it any more");
            tokio::task::yield_now().await;
        }
        let names: Vec<String> = crate::sqlite::look::queues(&open(&path).expect("it opens"))
            .expect("it can be read")
            .into_iter()
            .map(|queue| queue.agent)
            .collect();
        assert_eq!(names, ["third"]);
        // Whoever waited in vain does not keep the lock.
        other.lock().expect("it is free");
    }
}
