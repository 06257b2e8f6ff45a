//! The lock that processes queue up at before they write. The system wakes the next one at once; for SQLite's own lock
//! one can only ask again and again, so that stays as the guard against programs that are not ours.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, SystemTime};

use baton_engine::store::StoreError;

use super::holder;

/// How long others may hold a lock and do nothing. It is well below a lease: whoever gives up has time to try again.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// The lock beside a database.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
    place: Place,
}

/// Where a lock is, and what it is for.
#[derive(Debug, Clone)]
pub(super) struct Place {
    database: PathBuf,
    path: PathBuf,
}

/// Releases the lock when it is dropped.
#[derive(Debug)]
pub(super) struct Held<'l>(&'l File);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        // It fails only for something that is not a file, and closing the file releases it as well.
        let _ = self.0.unlock();
    }
}

impl Lock {
    /// Opens the lock beside a database.
    pub(super) fn beside(database: &Path) -> Result<Lock, StoreError> {
        let place = Place { database: database.to_owned(), path: database.with_extension("lock") };
        let file = OpenOptions::new().create(true).append(true).open(&place.path);
        let file = file.map_err(|error| place.unusable(&error))?;
        Ok(Lock { file, place })
    }

    /// Returns where it is.
    pub(super) fn place(&self) -> &Place {
        &self.place
    }

    /// Takes the lock if nobody has it.
    pub(super) fn try_acquire(&self) -> Option<Held<'_>> {
        self.file.try_lock().ok().map(|()| Held(&self.file))
    }

    /// Waits for the lock, however long that takes.
    pub(super) fn acquire(&self) -> Result<Held<'_>, StoreError> {
        self.file.lock().map_err(|error| self.place.unusable(&error))?;
        Ok(Held(&self.file))
    }

    /// Waits for the lock, and gives up after a while. The system knows no deadline, so another thread does the waiting;
    /// if the lock comes too late it is released when that thread ends, and this is dropped.
    pub(super) fn acquire_within(&self, patience: Duration) -> Result<Held<'_>, StoreError> {
        if let Some(held) = self.try_acquire() {
            return Ok(held);
        }
        let file = self.file.try_clone().map_err(|error| self.place.unusable(&error))?;
        let (sender, locked) = mpsc::channel();
        thread::spawn(move || sender.send(file.lock()));
        match locked.recv_timeout(patience) {
            Ok(locked) => locked.map(|()| Held(&self.file)).map_err(|error| self.place.unusable(&error)),
            Err(_) => Err(self.place.held(patience)),
        }
    }
}

impl Place {
    /// Returns what changes when anybody writes to the log of the database, or brings the log into it.
    pub(super) fn last_write(&self) -> [Option<(u64, SystemTime)>; 2] {
        ["-wal", ""].map(|end| {
            let file = fs::metadata(self.beside(end)).ok()?;
            Some((file.len(), file.modified().ok()?))
        })
    }

    /// Names the process that writes to the database, whether it has taken the lock or not.
    pub(super) fn writer(&self) -> String {
        // Here SQLite keeps the locks of a database with a write-ahead log.
        holder::of(&self.beside("-shm"))
    }

    /// The error when somebody holds the lock and does nothing.
    pub(super) fn held(&self, patience: Duration) -> StoreError {
        let (holder, lock, seconds) = (holder::of(&self.path), self.path.display(), patience.as_secs());
        StoreError::Unreachable(format!("{holder} holds {lock} and has written nothing for {seconds} s"))
    }

    fn unusable(&self, error: &io::Error) -> StoreError {
        StoreError::Unwritable(format!("{}: {error}", self.path.display()))
    }

    fn beside(&self, end: &str) -> PathBuf {
        let mut path = self.database.clone().into_os_string();
        path.push(end);
        path.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use baton_testbed::Scratch;

    #[test]
    fn lock_that_comes_after_its_caller_gave_up_is_not_kept() {
        let scratch = Scratch::new();
        let other = File::create(scratch.path("store.lock")).expect("a new file");
        other.lock().expect("nobody has it");
        let lock = Lock::beside(&scratch.path("store.db")).expect("a lock");
        assert!(lock.try_acquire().is_none());
        let Err(StoreError::Unreachable(why)) = lock.acquire_within(Duration::from_millis(1)) else {
            panic!("it is held")
        };
        assert!(why.contains(&format!("process {} (", std::process::id())), "{why}");
        drop(lock);
        other.unlock().expect("it is ours");
        // Would wait for ever if the lock were kept for the caller who gave up.
        other.lock().expect("it is free again");
    }
}
