//! Files that spare the next process work. Nobody relies on them: each may be old, missing or wrong.

use std::fs;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::files::TEMPORARY;

/// Reads a hint; `None` if there is none that can be read.
pub(super) fn read<T: DeserializeOwned>(folder: &Path, name: &str) -> Option<T> {
    serde_json::from_slice(&fs::read(folder.join(name)).ok()?).ok()
}

/// Writes a hint. If that is not possible, the next process does the work itself.
pub(super) fn write(folder: &Path, name: &str, hint: &impl Serialize) {
    let temporary = folder.join(format!("{name}.{}{TEMPORARY}", std::process::id()));
    let bytes = serde_json::to_vec(hint).unwrap_or_default();
    // Never synced: after a crash the work is done anew.
    let written = fs::write(&temporary, bytes).and_then(|()| fs::rename(&temporary, folder.join(name)));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
}
