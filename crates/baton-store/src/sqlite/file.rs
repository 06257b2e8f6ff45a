//! Which file a store is in. SQLite goes on with a file that was removed or replaced as if it were there: what is written then is
//! nowhere once the last process has ended. So the name is looked at again before anything is read or written.
//!
//! Contents that are copied over the file leave it the same file; SQLite itself may notice that, and nothing here does.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use baton_engine::store::StoreError;

/// The file of a store, as it was when it was opened.
#[derive(Debug)]
pub(super) struct DatabaseFile {
    path: PathBuf,
    device: u64,
    inode: u64,
}

impl DatabaseFile {
    /// Remembers a file that was just opened.
    pub(super) fn at(path: &Path) -> Result<DatabaseFile, StoreError> {
        // Wherever the process goes, it is this file.
        let path = std::path::absolute(path).map_err(|error| gone(&error))?;
        let found = fs::metadata(&path).map_err(|error| gone(&error))?;
        Ok(DatabaseFile { device: found.dev(), inode: found.ino(), path })
    }

    /// Lets only pass whoever would still find the same file under its name.
    pub(super) fn still_there(&self) -> Result<(), StoreError> {
        let found = fs::metadata(&self.path).map_err(|error| gone(&error))?;
        if (found.dev(), found.ino()) == (self.device, self.inode) {
            return Ok(());
        }
        Err(StoreError::Gone("another file has taken its place since it was opened".to_owned()))
    }
}

fn gone(error: &io::Error) -> StoreError {
    match error.kind() {
        io::ErrorKind::NotFound => StoreError::Gone("the file was removed or renamed after it was opened".to_owned()),
        _ => StoreError::Unwritable(error.to_string()),
    }
}
