//! Notices that something changed in a folder. Events are hints: whoever waits looks again after each, and every second
//! without one, because network file systems send none.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use notify::event::{AccessKind, AccessMode, EventKind};
use notify::{RecommendedWatcher, RecursiveMode, Watcher};

use super::{Directory, Folder};

/// How long to wait for an event before looking without one.
pub const POLL: Duration = Duration::from_secs(1);

/// How often to look where there are no events at all.
const POLL_WITHOUT_EVENTS: Duration = Duration::from_millis(200);

/// Notices changes in folders.
#[derive(Debug)]
pub struct Watch {
    // Dropping it ends the events.
    watcher: Option<RecommendedWatcher>,
    changes: Receiver<()>,
}

impl Watch {
    /// Waits for a change, but not longer than until the next look is due.
    pub fn wait(&self, longest: Duration) {
        let poll = if self.watcher.is_some() { POLL } else { POLL_WITHOUT_EVENTS };
        let (began, wait) = (Instant::now(), longest.min(poll));
        if self.changes.recv_timeout(wait) == Err(RecvTimeoutError::Disconnected) {
            std::thread::sleep(wait.saturating_sub(began.elapsed()));
        }
        // One look answers all events so far.
        while self.changes.try_recv().is_ok() {}
    }
}

impl Directory {
    /// Begins to notice changes in some of the folders. Look once after this, then after every wait.
    pub fn watch(&self, folders: &[Folder]) -> Watch {
        let (sender, changes) = channel();
        let tell = move |event: notify::Result<notify::Event>| {
            if event.as_ref().is_ok_and(|event| !is_change(event.kind) || is_private(&event.paths)) {
                return;
            }
            // Nobody listens any more once the wait is over.
            let _ = sender.send(());
        };
        let watcher = notify::recommended_watcher(tell).ok().and_then(|mut watcher| {
            for folder in folders {
                watcher.watch(&self.folder(*folder), RecursiveMode::NonRecursive).ok()?;
            }
            Some(watcher)
        });
        Watch { watcher, changes }
    }
}

/// Our own looking opens files too; only what was written counts.
fn is_change(kind: EventKind) -> bool {
    match kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => true,
        EventKind::Access(_) => false,
        _ => true,
    }
}

/// What is written beside its place is nobody's business until it is renamed.
fn is_private(paths: &[PathBuf]) -> bool {
    let hidden = |path: &PathBuf| path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
    !paths.is_empty() && paths.iter().all(hidden)
}
