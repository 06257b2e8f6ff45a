//! The snapshot from before an attempt: held in memory, and kept in a file out of the agent's reach for the case that
//! this process dies.
//!
//! What identifies it is in the journal, so a file that was changed since is as good as none.

use std::any::Any;
use std::collections::VecDeque;
use std::fs::{self, DirBuilder, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use baton_engine::StateFolder;
use baton_engine::evidence::Moment;
use baton_engine::handoff::Digest;
use baton_host::OwnOutput;

use super::snapshot::{Earlier, Snapshot};

/// The name of the file in the folder of what an attempt is measured with, as older versions wrote it. Today its digest is part
/// of the name: whoever looks again, and then may not begin the attempt, replaces nothing.
const FILE: &str = "baseline.json";
/// How the names of these files begin and end.
const NAME: (&str, &str) = ("baseline", ".json");
/// The snapshots of so many workspaces are kept in memory, to read only what changed since.
const RECENT: usize = 8;

/// A snapshot, with the text that it is kept as.
#[derive(Debug)]
struct Held {
    snapshot: Arc<Snapshot>,
    text: Vec<u8>,
}

/// Makes a moment of a snapshot that is not kept.
pub(super) fn after(snapshot: Arc<Snapshot>) -> Moment {
    Moment { digest: None, seen: Arc::new(Held { snapshot, text: Vec::new() }) }
}

/// Returns the snapshot of a moment.
pub(super) fn snapshot(moment: &Moment) -> Option<Arc<Snapshot>> {
    let seen: &(dyn Any + Send + Sync) = moment.seen.as_ref();
    seen.downcast_ref::<Held>().map(|held| Arc::clone(&held.snapshot))
}

/// The file system has not told its time.
struct UnknownTime;

/// The last snapshot of each workspace, and the folder where snapshots from before attempts are kept.
#[derive(Debug)]
pub(super) struct Memory {
    recent: Mutex<VecDeque<(PathBuf, Earlier)>>,
    /// Moments from before what may still be running, by their workspaces.
    open: Mutex<Vec<(PathBuf, Weak<Held>)>>,
    state: StateFolder,
    /// Files that Baton's own output goes to, as they were before any agent worked.
    pub(super) own_output: Vec<OwnOutput>,
}

impl Memory {
    /// Remembers in a folder that agents cannot reach.
    pub(super) fn in_folder(state: StateFolder) -> Self {
        Memory { recent: Mutex::default(), open: Mutex::default(), state, own_output: OwnOutput::files() }
    }

    /// Makes the moment from before an attempt, which lasts as long as something of the attempt may be running.
    pub(super) fn before(&self, root: &Path) -> Option<Moment> {
        let snapshot = self.take(root, None);
        let text = serde_json::to_vec(snapshot.as_ref()).ok()?;
        let digest = Some(Digest::of(&text));
        Some(Moment { digest, seen: self.open(root, Held { snapshot, text }) })
    }

    /// Makes the moment from before a command, with which it is compared at once. It is never kept.
    pub(super) fn before_command(&self, root: &Path) -> Moment {
        Moment { digest: None, seen: self.open(root, Held { snapshot: self.take(root, None), text: Vec::new() }) }
    }

    fn open(&self, root: &Path, held: Held) -> Arc<Held> {
        let held = Arc::new(held);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|(_, moment)| moment.strong_count() > 0);
        open.push((root.to_owned(), Arc::downgrade(&held)));
        held
    }

    /// Returns since when something may be running that writes in a workspace. It is an error if nobody can tell.
    fn busy_since(&self, root: &Path) -> Result<Option<i64>, UnknownTime> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let moments = open.iter().filter(|(workspace, _)| workspace == root).filter_map(|(_, moment)| moment.upgrade());
        let times: Result<Vec<i64>, UnknownTime> = moments.map(|held| held.snapshot.taken.ok_or(UnknownTime)).collect();
        Ok(times?.into_iter().min())
    }

    /// Keeps the snapshot of a moment from before an attempt.
    pub(super) fn write(&self, workspace: &Path, attempt: &Path, moment: &Moment) {
        let seen: &(dyn Any + Send + Sync) = moment.seen.as_ref();
        let Some(held) = seen.downcast_ref::<Held>() else { return };
        let Some(digest) = &moment.digest else { return };
        // Without it, what has changed is unknown after a crash, and that is what is said then.
        let kept: io::Result<()> = keep(&self.state.measures(workspace, attempt), &file_of(digest), &held.text);
        drop(kept);
    }

    /// Reads the snapshot from before an attempt, if it is the one that the journal knows.
    pub(super) fn read(&self, workspace: &Path, attempt: &Path, digest: &Digest) -> Option<Snapshot> {
        let folder = self.state.measures(workspace, attempt);
        let text = fs::read(folder.join(file_of(digest))).or_else(|_| fs::read(folder.join(FILE))).ok()?;
        if Digest::of(&text) == *digest { serde_json::from_slice(&text).ok() } else { None }
    }

    /// Reads the snapshot from before an attempt, whoever may have changed it. Nothing is decided by it.
    pub(super) fn read_unproven(&self, workspace: &Path, attempt: &Path) -> Option<Snapshot> {
        read(&self.state.measures(workspace, attempt))
    }

    fn find(&self, root: &Path) -> Option<Earlier> {
        let recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        recent.iter().find(|(workspace, _)| workspace == root).map(|(_, earlier)| earlier.clone())
    }

    fn keep(&self, root: &Path, earlier: Earlier) {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        recent.retain(|(workspace, _)| workspace != root);
        recent.push_front((root.to_owned(), earlier));
        recent.truncate(RECENT);
    }

    /// Takes a snapshot; if it is to be compared with one from before, by the rules of that one.
    pub(super) fn take(&self, root: &Path, before: Option<&Snapshot>) -> Arc<Snapshot> {
        let (busy_since, clock, earlier) = (self.busy_since(root), tick(root), self.find(root));
        let snapshot = match before {
            Some(before) => Snapshot::take_after(before, root, clock.as_ref(), earlier.as_ref()),
            None => Snapshot::take(root, clock.as_ref(), earlier.as_ref()),
        };
        let snapshot = Arc::new(snapshot);
        if let (Ok(busy_since), Some(taken)) = (busy_since, snapshot.taken) {
            let settled = busy_since.map_or(taken, |since| since.min(taken));
            self.keep(root, Earlier { snapshot: Arc::clone(&snapshot), settled });
        }
        snapshot
    }
}

/// Asks the file system for its time: it is what files are stamped with. The file is a new one each time, so that nobody
/// can have put something else in its place.
fn tick(root: &Path) -> Option<Metadata> {
    static TICKS: AtomicU64 = AtomicU64::new(0);
    let folder = root.join(".baton");
    if !fs::symlink_metadata(&folder).is_ok_and(|found| found.is_dir()) {
        fs::create_dir(&folder).ok()?;
    }
    let name = format!(".clock-{}-{}", std::process::id(), TICKS.fetch_add(1, Ordering::Relaxed));
    let path = folder.join(name);
    let file = OpenOptions::new().write(true).create_new(true).open(&path).ok()?;
    let metadata = file.metadata().ok();
    // What cannot be removed is not part of the work.
    let _ = fs::remove_file(path);
    metadata
}

/// Writes a snapshot. It outlives this process, but not a machine that loses its power: waiting for the disk would slow
/// every attempt down, and a file that is lost is told like one that was changed.
fn keep(folder: &Path, file: &str, text: &[u8]) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    fs::write(folder.join(file), text)
}

fn file_of(digest: &Digest) -> String {
    let (begin, end) = NAME;
    format!("{begin}-{}{end}", &digest.0[..16.min(digest.0.len())])
}

/// Reads the latest snapshot.
fn read(folder: &Path) -> Option<Snapshot> {
    let is_one = |name: &str| name.starts_with(NAME.0) && name.ends_with(NAME.1);
    let files = fs::read_dir(folder).ok()?.filter_map(Result::ok);
    let files = files.filter(|file| file.file_name().to_str().is_some_and(is_one));
    let latest = files.max_by_key(|file| file.metadata().and_then(|found| found.modified()).ok())?;
    serde_json::from_slice(&fs::read(latest.path()).ok()?).ok()
}
