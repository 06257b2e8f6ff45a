//! What no process that Baton starts may reach: the store, how Baton is configured, and the anchor of the journal.

use std::path::{Path, PathBuf};

use baton_agents::Launcher;
use baton_store::Location;

use crate::store::Session;

/// Returns the launcher for processes that work for the runs of a store.
pub(crate) fn launcher(session: &Session) -> Launcher {
    let mut hidden = match &session.location {
        Location::Sqlite(path) => files_of(path),
        Location::Postgres(_) => Vec::new(),
    };
    if let Some(anchor) = &session.anchor {
        // Only what is there can be hidden. That it cannot be made is told when something is delivered to it.
        let _ = anchor.prepare();
        hidden.extend(anchor.file().map(Path::to_owned));
    }
    hidden.extend(session.state.iter().map(|state| state.root().to_owned()));
    Launcher { hidden, configuration: session.config_file.iter().cloned().collect() }
}

/// Returns the files of a SQLite store. Those beside the first are there while it is open.
fn files_of(store: &Path) -> Vec<PathBuf> {
    let name = store.file_name().unwrap_or_default();
    let beside = |ending: &str| {
        let mut name = name.to_owned();
        name.push(ending);
        store.with_file_name(name)
    };
    ["", "-wal", "-shm"].map(beside).to_vec()
}
