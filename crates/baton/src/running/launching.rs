//! What no process that Baton starts may reach: the store, how Baton is configured, and the anchor of the journal.

use std::fs;
use std::path::{Path, PathBuf};

use baton_agents::Launcher;
use baton_store::Location;

use crate::store::Session;

/// Returns the launcher for processes that work for the runs of a store.
pub(crate) fn launcher(session: &Session) -> Launcher {
    let mut hidden: Vec<PathBuf> = session.state.iter().map(|state| state.root().to_owned()).collect();
    if let Location::Sqlite(path) = &session.location
        && !hidden.iter().any(|folder| path.starts_with(folder))
    {
        hidden.extend(files_of(path));
    }
    if let Some(anchor) = &session.anchor {
        // Only what is there can be hidden. That it cannot be made is told when something is delivered to it.
        let _ = anchor.prepare();
        hidden.extend(anchor.file().map(Path::to_owned));
    }
    let configuration = session.config_file.iter().chain(&session.approvers.file).cloned().collect();
    Launcher { hidden, configuration }
}

/// Returns the files of a SQLite store. They are there while it is open, but for the journal of another mode: whoever made
/// one would have its pages written into the store by whoever opens that next. So there is one, and it is empty.
fn files_of(store: &Path) -> Vec<PathBuf> {
    let name = store.file_name().unwrap_or_default();
    let beside = |ending: &str| {
        let mut name = name.to_owned();
        name.push(ending);
        store.with_file_name(name)
    };
    // Where it cannot be made, those whom we start cannot make it either. The other files must not be opened here: SQLite
    // would lose its locks on them.
    let _ = fs::File::create_new(beside("-journal"));
    ["", "-wal", "-shm", "-journal"].map(beside).to_vec()
}
