//! One run at a time works in a workspace: evidence could not tell whose work is whose.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use baton_engine::RunId;
use baton_engine::lifecycle::readable_claimant;
use baton_protocol::printable;

use crate::command_error::CommandError;
use crate::own_folder;

/// The longest that is read of who holds a workspace.
const HOLDER_BYTES_MAX: u64 = 1_000;

/// Keeps other runs out of a workspace for as long as it lives; the kernel lets go of it however the process ends.
#[derive(Debug)]
pub(crate) struct WorkspaceLock {
    _file: File,
}

impl WorkspaceLock {
    /// Takes a workspace for a run and its driver, if no other one works in it.
    pub(crate) fn take(workspace: &Path, run: &RunId, driver: &str) -> Result<WorkspaceLock, CommandError> {
        let path = workspace.join(own_folder::NAME).join("workspace.lock");
        let failed = |error: io::Error| CommandError::usage(format!("cannot use {}: {error}", path.display()));
        own_folder::make(workspace).map_err(failed)?;
        // What is in it belongs to whoever has the lock.
        let open = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = open.map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {
                file.set_len(0).and_then(|()| write!(file, "{run}\n{driver}\n")).map_err(failed)?;
                Ok(WorkspaceLock { _file: file })
            }
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                // Whoever cannot be named holds it all the same.
                let _ = file.take(HOLDER_BYTES_MAX).read_to_string(&mut holder);
                Err(held(workspace, run, &holder))
            }
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }
}

/// Tells who works in a workspace.
fn held(workspace: &Path, run: &RunId, holder: &str) -> CommandError {
    let mut lines = holder.lines();
    let (other, driver) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let (other, driver) = (printable(other), printable(readable_claimant(driver)));
    if other == run.as_str() {
        let hint = format!("wait until it has ended, or end that process; then baton resume {run}");
        return CommandError::try_again(format!("{run} is driven by {driver}, which works in {}", workspace.display()))
            .hint(hint);
    }
    let who = if other.is_empty() { "another run".to_owned() } else { format!("run {other}, driven by {driver},") };
    CommandError::no(format!("{who} works in {}", workspace.display()))
        .hint("`baton runs` shows it; wait until it has ended, or give this one its own --workspace")
}
