//! Waking those who wait, also in other processes: whoever has changed something writes a byte to a file that they watch.
//!
//! The byte is a hint. Where no watching works (some network file systems) those who wait look again every second.

use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use baton_engine::store::Error;
use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::watch;

/// How long to believe that nothing has happened.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// Rings for those who wait, and waits.
pub(super) struct Wake {
    path: PathBuf,
    file: File,
    count: watch::Sender<u64>,
    /// Watches the file; made when somebody waits for the first time.
    watcher: Mutex<Option<RecommendedWatcher>>,
}

impl Wake {
    pub(super) fn new(database: &Path) -> Result<Wake, Error> {
        let path = database.with_extension("wake");
        let file = OpenOptions::new().create(true).write(true).truncate(false).open(&path);
        let file = file.map_err(|error| Error::Unwritable(format!("{}: {error}", path.display())))?;
        let (count, _) = watch::channel(0);
        Ok(Wake { path, file, count, watcher: Mutex::default() })
    }

    /// Tells everybody that something has changed.
    pub(super) fn ring(&self) {
        self.count.send_modify(|count| *count += 1);
        // Always the same byte: a file that grew would make the next commit wait for its new size, too. A hint that
        // cannot be given is no failure: those who wait look again by themselves.
        let _ = (&self.file).seek(SeekFrom::Start(0)).and_then(|_| (&self.file).write_all(b"\n"));
    }

    /// Returns how often something may have changed.
    pub(super) fn changes(&self) -> u64 {
        *self.count.borrow()
    }

    /// Waits until something may have changed since then.
    pub(super) async fn changed(&self, since: u64, limit: Duration) {
        if self.starts_to_watch() {
            // What happened before we watched is not known.
            return;
        }
        let mut seen = self.count.subscribe();
        let changed = seen.wait_for(|count| *count != since);
        // A time that is over, and a change, are the same to the caller: look again.
        let _ = tokio::time::timeout(limit.min(LOOK_AGAIN), changed).await;
    }

    /// Begins to watch, the first time. Says whether it did.
    fn starts_to_watch(&self) -> bool {
        let mut watcher = self.watcher.lock().unwrap_or_else(PoisonError::into_inner);
        if watcher.is_some() {
            return false;
        }
        let count = self.count.clone();
        let started = notify::recommended_watcher(move |_: notify::Result<notify::Event>| {
            count.send_modify(|count| *count += 1);
        });
        let started = started.and_then(|mut started| {
            started.watch(&self.path, RecursiveMode::NonRecursive)?;
            Ok(started)
        });
        // Without a watcher the waiting goes on by looking again.
        let watches = started.is_ok();
        *watcher = started.ok();
        watches
    }
}
