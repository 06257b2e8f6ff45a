//! One run at a time works in a workspace: evidence could not tell whose work is whose.

use std::fs::{File, TryLockError};
use std::path::Path;

use crate::command_error::CommandError;
use crate::own_folder;

/// Keeps other runs out of a workspace for as long as it lives; the kernel lets go of it however the process ends.
#[derive(Debug)]
pub(crate) struct WorkspaceLock {
    _file: File,
}

impl WorkspaceLock {
    /// Takes a workspace, if no other run works in it.
    pub(crate) fn take(workspace: &Path) -> Result<WorkspaceLock, CommandError> {
        let path = workspace.join(own_folder::NAME).join("workspace.lock");
        let failed = |error: std::io::Error| CommandError::usage(format!("cannot use {}: {error}", path.display()));
        own_folder::make(workspace).map_err(failed)?;
        let file = File::create(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => Ok(WorkspaceLock { _file: file }),
            Err(TryLockError::WouldBlock) => {
                Err(CommandError::no(format!("another run works in {}", workspace.display()))
                    .hint("`baton runs` shows it; wait until it has ended, or give this one its own --workspace"))
            }
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }
}
