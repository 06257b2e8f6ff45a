//! Files that spare the next process work. Nobody relies on them: each may be old, missing or wrong.

use std::path::Path;

use baton_host::SharedFolder;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A longer hint does not help.
const BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Reads a hint; `None` if there is none that can be read.
pub(super) fn read<T: DeserializeOwned>(folder: &Path, name: &str) -> Option<T> {
    let found = SharedFolder::open(folder, folder).and_then(|folder| folder.read(name.as_ref(), BYTES_MAX));
    serde_json::from_slice(&found.ok()??).ok()
}

/// Writes a hint. If that is not possible, the next process does the work itself.
pub(super) fn write(folder: &Path, name: &str, hint: &impl Serialize) {
    let bytes = serde_json::to_vec(hint).unwrap_or_default();
    // Never synced: after a crash the work is done anew.
    let _ = SharedFolder::open(folder, folder).and_then(|folder| folder.write(name.as_ref(), &bytes));
}
