//! One run at a time works in a workspace: evidence could not tell whose work is whose.

use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use baton_engine::RunId;
use baton_engine::driver::{WorkspaceLock, WorkspaceProblem};
use baton_engine::lifecycle::readable_claimant;
use baton_protocol::printable;

use crate::command_error::CommandError;
use crate::own_folder;

/// The file that is locked.
const LOCK: &str = "workspace.lock";

/// The longest that is read of who holds a workspace.
const HOLDER_BYTES_MAX: u64 = 1_000;

/// The workspaces that runs of this process work in, such as those of one server. The lock of a folder says nothing about the
/// folders inside it, and nobody can look at all of them.
static TAKEN: Mutex<Vec<TakenWorkspace>> = Mutex::new(Vec::new());

#[derive(Debug, Clone, PartialEq)]
struct TakenWorkspace {
    folder: PathBuf,
    run: RunId,
    driver: String,
}

/// A workspace until it is let go of.
struct HeldWorkspace {
    workspace: TakenWorkspace,
    /// Its lock goes when it is closed.
    _file: File,
}

impl Drop for HeldWorkspace {
    fn drop(&mut self) {
        taken().retain(|other| *other != self.workspace);
    }
}

fn taken() -> MutexGuard<'static, Vec<TakenWorkspace>> {
    TAKEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes a workspace for a run and its driver, if no other run works in it; in this process, around it or inside it neither.
pub(super) fn take(folder: &Path, run: &RunId, driver: &str) -> Result<WorkspaceLock, WorkspaceProblem> {
    let mut taken = taken();
    let overlaps = |other: &&TakenWorkspace| {
        other.folder != folder && (other.folder.starts_with(folder) || folder.starts_with(&other.folder))
    };
    if let Some(TakenWorkspace { folder, run, driver }) = taken.iter().find(overlaps).cloned() {
        return Err(WorkspaceProblem::Held { workspace: folder, run: run.to_string(), driver });
    }
    let file = lock_folder(folder, run, driver)?;
    let workspace = TakenWorkspace { folder: folder.to_owned(), run: run.clone(), driver: driver.to_owned() };
    taken.push(workspace.clone());
    Ok(WorkspaceLock::of(HeldWorkspace { workspace, _file: file }))
}

/// Locks a workspace for a run and its driver, if no other process works in it. The kernel lets go of it however the process
/// ends.
fn lock_folder(workspace: &Path, run: &RunId, driver: &str) -> Result<File, WorkspaceProblem> {
    if !workspace.is_dir() {
        return Err(WorkspaceProblem::Missing(workspace.to_owned()));
    }
    let path = workspace.join(own_folder::NAME).join(LOCK);
    let failed = |error: io::Error| WorkspaceProblem::Unusable(format!("cannot use {}: {error}", path.display()));
    // What is in it belongs to whoever has the lock.
    let open = own_folder::make(workspace).and_then(|folder| folder.open_or_create(LOCK.as_ref()));
    let mut file = open.map_err(failed)?;
    match file.try_lock() {
        Ok(()) => {
            file.set_len(0).and_then(|()| write!(file, "{run}\n{driver}\n")).map_err(failed)?;
            Ok(file)
        }
        Err(TryLockError::WouldBlock) => {
            let mut holder = String::new();
            // Whoever cannot be named holds it all the same.
            let _ = file.take(HOLDER_BYTES_MAX).read_to_string(&mut holder);
            let mut lines = holder.lines().map(str::to_owned);
            let (run, driver) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
            Err(WorkspaceProblem::Held { workspace: workspace.to_owned(), run, driver })
        }
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}

/// The error that names who works in the workspace of a run.
pub(crate) fn held(run: &RunId, workspace: &Path, other: &str, driver: &str) -> CommandError {
    let (other, driver) = (printable(other), printable(readable_claimant(driver)));
    if other == run.as_str() {
        let hint = format!("wait until it has ended, or end that process; then baton resume {run}");
        return CommandError::try_again(format!("{run} is driven by {driver}, which works in {}", workspace.display()))
            .hint(hint);
    }
    // Whoever has just locked it has not written yet who they are: it may be this very run.
    if other.is_empty() {
        return CommandError::try_again(format!("somebody has just begun to work in {}", workspace.display()))
            .hint(format!("wait a moment; then baton resume {run}"));
    }
    CommandError::try_again(format!("run {other}, driven by {driver}, works in {}", workspace.display()))
        .hint("`baton runs` shows it; wait until it has ended, or give this one its own --workspace")
}

#[cfg(test)]
mod tests {
    use crate::command_error::Exit;

    use super::*;

    #[test]
    fn whoever_is_not_known_yet_may_drive_the_same_run() {
        let (run, folder) = (RunId::parse("r").expect("safe"), Path::new("desk"));
        for (other, told) in [("", "somebody"), ("r", "r is driven"), ("s", "run s")] {
            let error = held(&run, folder, other, "");
            assert_eq!(error.exit_code(), Exit::TryAgain, "it ends some time: {other:?}");
            assert!(error.message.starts_with(told), "{}", error.message);
        }
    }
}
