//! The snapshot from before an attempt, kept out of the agent's reach so that it survives the agent and a crash.

use std::collections::VecDeque;
use std::fs::{self, DirBuilder, File, Metadata};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::snapshot::Snapshot;

/// The name of the file in the folder of what an attempt is measured with.
const FILE: &str = "baseline.json";
/// The snapshots of so many workspaces are kept in memory, to read only what changed since.
const RECENT: usize = 8;

/// The last snapshot of each workspace.
#[derive(Debug, Default)]
pub(super) struct Recent(Mutex<VecDeque<(PathBuf, Arc<Snapshot>)>>);

impl Recent {
    fn find(&self, root: &Path) -> Option<Arc<Snapshot>> {
        let recent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        recent.iter().find(|(workspace, _)| workspace == root).map(|(_, snapshot)| Arc::clone(snapshot))
    }

    fn keep(&self, root: &Path, snapshot: &Arc<Snapshot>) {
        let mut recent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        recent.retain(|(workspace, _)| workspace != root);
        recent.push_front((root.to_owned(), Arc::clone(snapshot)));
        recent.truncate(RECENT);
    }

    /// Takes a snapshot, with the time that a file in `folder` is given now.
    pub(super) fn take(&self, root: &Path, folder: &Path) -> Arc<Snapshot> {
        let clock = tick(folder);
        let snapshot = Arc::new(Snapshot::take(root, clock.as_ref(), self.find(root).as_deref()));
        self.keep(root, &snapshot);
        snapshot
    }
}

/// Asks the file system for its time: it is what files are stamped with.
fn tick(folder: &Path) -> Option<Metadata> {
    File::create(folder.join("clock")).and_then(|file| file.metadata()).ok()
}

/// Keeps a snapshot. Without it, claims about changes cannot be verified.
pub(super) fn write(folder: &Path, snapshot: &Snapshot) {
    let _kept: io::Result<()> = keep(folder, snapshot, &mut File::sync_all);
}

fn keep(folder: &Path, snapshot: &Snapshot, sync: &mut impl FnMut(&File) -> io::Result<()>) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let mut file = File::create(folder.join(FILE))?;
    file.write_all(&serde_json::to_vec(snapshot)?)?;
    // The agent begins afterwards: what it changed must not be on the disk before what was there.
    sync(&file)?;
    sync(&File::open(folder)?)
}

/// Returns the snapshot from before an attempt.
pub(super) fn read(folder: &Path) -> Option<Snapshot> {
    serde_json::from_slice(&fs::read(folder.join(FILE)).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snapshot_is_on_the_disk_with_its_name_before_anybody_works() {
        let folder = std::env::temp_dir().join(format!("baton-baseline-{}", std::process::id()));
        fs::create_dir(&folder).expect("a new folder");
        let mut synced = Vec::new();
        let mut sync = |file: &File| {
            let kind = if file.metadata()?.is_dir() { "folder" } else { "file" };
            // Whatever is synced is complete by then.
            synced.push((kind, read(&folder).is_some()));
            Ok(())
        };
        keep(&folder, &Snapshot::take(&folder, None, None), &mut sync).expect("written");
        assert_eq!(synced, [("file", true), ("folder", true)]);
        fs::remove_dir_all(folder).expect("removed");
    }
}
