//! The lock that processes queue up at before they write. Nobody waits for it for ever, and whoever gives up is told who
//! holds it.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use baton_engine::store::Error;

use super::holder;

/// How long to wait for another process. It is well below a lease: whoever gives up has time to try again.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// The lock beside a database. One thread at a time may want it.
#[derive(Debug)]
pub(super) struct Lock {
    database: PathBuf,
    path: PathBuf,
    file: File,
    turn: Arc<Turn>,
}

/// Releases the lock when it is dropped.
#[derive(Debug)]
pub(super) struct Held<'l>(&'l File);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        // It fails only for what is no file, and closing the file releases it as well.
        let _ = self.0.unlock();
    }
}

/// Where the lock is on its way to whoever wants it. The system has no deadline for a lock that it hands out, so another
/// thread waits for it and passes it on.
#[derive(Debug, Default)]
struct Turn {
    state: Mutex<State>,
    passed_on: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Whether a thread waits for the lock.
    queued: bool,
    /// Whether somebody still wants it.
    wanted: bool,
    /// Whether it was passed on, or why not.
    passed_on: Option<Result<(), String>>,
}

impl Lock {
    /// Opens the lock beside a database.
    pub(super) fn beside(database: &Path) -> Result<Lock, Error> {
        let path = database.with_extension("lock");
        let file = OpenOptions::new().create(true).append(true).open(&path);
        let file = file.map_err(|error| Error::Unwritable(format!("{}: {error}", path.display())))?;
        Ok(Lock { database: database.to_owned(), path, file, turn: Arc::default() })
    }

    /// Takes the lock if nobody has it or waits for it here.
    pub(super) fn try_acquire(&self) -> Result<Option<Held<'_>>, Error> {
        if self.turn.state.lock().unwrap_or_else(PoisonError::into_inner).queued {
            return Ok(None);
        }
        match self.file.try_lock() {
            Ok(()) => Ok(Some(Held(&self.file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(self.unusable(&error.to_string())),
        }
    }

    /// Waits for the lock until it is ours or the patience is over.
    pub(super) fn acquire(&self, patience: Duration) -> Result<Held<'_>, Error> {
        if let Some(held) = self.try_acquire()? {
            return Ok(held);
        }
        let mut state = self.turn.state.lock().unwrap_or_else(PoisonError::into_inner);
        if !state.queued {
            self.queue_up()?;
            state.queued = true;
        }
        state.wanted = true;
        let (mut state, _) = self
            .turn
            .passed_on
            .wait_timeout_while(state, patience, |state| state.passed_on.is_none())
            .unwrap_or_else(PoisonError::into_inner);
        state.wanted = false;
        match state.passed_on.take() {
            Some(Ok(())) => Ok(Held(&self.file)),
            Some(Err(why)) => Err(self.unusable(&why)),
            None => Err(self.held_by_another(patience)),
        }
    }

    /// Lets a thread wait. Whoever wanted the lock may have given up by the time it comes; then it is released at once:
    /// nobody would ever do so, and this process would keep all others from writing.
    fn queue_up(&self) -> Result<(), Error> {
        let file = self.file.try_clone().map_err(|error| self.unusable(&error.to_string()))?;
        let turn = Arc::clone(&self.turn);
        let wait = move || {
            let locked = file.lock().map_err(|error| error.to_string());
            let mut state = turn.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.queued = false;
            if state.wanted {
                state.passed_on = Some(locked);
                turn.passed_on.notify_one();
            } else {
                drop(Held(&file));
            }
        };
        let started = thread::Builder::new().name("baton-sqlite-lock".to_owned()).spawn(wait);
        started.map(drop).map_err(|error| Error::Failed(format!("cannot wait for {}: {error}", self.path.display())))
    }

    /// Names the process that writes to the database without having taken this lock.
    pub(super) fn holder_of_database(&self) -> String {
        let mut shared = self.database.clone().into_os_string();
        // Here SQLite keeps the locks of a database with a write-ahead log.
        shared.push("-shm");
        holder::of(Path::new(&shared))
    }

    fn held_by_another(&self, patience: Duration) -> Error {
        let (holder, file) = (holder::of(&self.path), self.path.display());
        Error::Unreachable(format!("{holder} holds {file}; gave up after {} s", patience.as_secs()))
    }

    fn unusable(&self, why: &str) -> Error {
        Error::Unwritable(format!("{}: {why}", self.path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use baton_testbed::Scratch;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn whoever_gives_up_is_told_who_holds_the_lock_and_gets_it_later() {
        let scratch = Scratch::new();
        let lock = Lock::beside(&scratch.path("store.db")).expect("a lock");
        let other = File::open(scratch.path("store.lock")).expect("it is there");
        other.lock().expect("nobody has it");
        assert!(lock.try_acquire().expect("it can be used").is_none());
        for _ in 0..2 {
            let Err(Error::Unreachable(why)) = lock.acquire(Duration::from_millis(1)) else { panic!("it is held") };
            assert!(why.contains(&format!("process {} (", std::process::id())), "{why}");
        }
        other.unlock().expect("it is ours");
        drop(lock.acquire(LONG).expect("it is free"));
        drop(lock.acquire(LONG).expect("it was released"));
    }

    #[test]
    fn lock_that_comes_after_its_caller_gave_up_is_not_kept() {
        let scratch = Scratch::new();
        let lock = Lock::beside(&scratch.path("store.db")).expect("a lock");
        let other = File::open(scratch.path("store.lock")).expect("it is there");
        other.lock().expect("nobody has it");
        assert!(lock.acquire(Duration::from_millis(1)).is_err());
        other.unlock().expect("it is ours");
        // Would wait for ever if the lock were kept for the one who gave up.
        other.lock().expect("it is free again");
    }
}
