//! The user's state folder on this machine: found in the environment, with a folder for each project and workspace.
//!
//! What is in it belongs to the user alone. Nothing is made by looking.

mod entry;

pub(crate) use entry::Entry;

use std::env;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use baton_engine::StateFolder;
use baton_host::folders::make_private_folders;
use baton_store::Location;

use crate::command_error::CommandError;

/// The file of a store in the folder of its project.
pub(crate) const STORE: &str = "baton.db";

/// Finds the user's state folder, as the XDG Base Directory Specification has it.
pub(crate) fn folder() -> Result<StateFolder, CommandError> {
    // The specification wants paths that are not absolute to be ignored.
    let named = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = named("XDG_STATE_HOME").or_else(|| Some(named("HOME")?.join(".local/state")));
    state.map(|state| StateFolder::at(state.join("baton"))).ok_or_else(unknown)
}

/// The error when the environment does not say where the state folder is.
pub(crate) fn unknown() -> CommandError {
    CommandError::usage("cannot find your state folder: neither XDG_STATE_HOME nor HOME is an absolute path")
        .hint("set XDG_STATE_HOME to a folder that only you can write to")
}

/// Finds the store that a project or workspace uses; `None` if there is nothing in the state folder.
pub(crate) fn store_of(state: &StateFolder, place: &Path) -> Result<Option<Location>, CommandError> {
    let folder = state.of(place);
    let (entry, own) = (Entry::read(&folder)?, folder.join(STORE));
    if let Some(other) = entry.as_ref().map(Entry::place).filter(|other| other != place) {
        let message = format!("{} belongs to {}, not to {}", folder.display(), other.display(), place.display());
        return Err(CommandError::usage(message).hint("name the store with --store, or move that folder away"));
    }
    if own.exists() {
        return Ok(Some(Location::Sqlite(own)));
    }
    let elsewhere = entry.and_then(|entry| entry.store());
    Ok(elsewhere.filter(|store| !matches!(store, Location::Sqlite(path) if !path.exists())))
}

/// Makes the folder of a project or workspace, which only the user can look into, and notes to whom it belongs.
pub(crate) fn make(state: &StateFolder, place: &Path) -> Result<PathBuf, CommandError> {
    let folder = state.of(place);
    let made = make_private_folders(&folder).and_then(|()| match Entry::read(&folder) {
        Ok(Some(entry)) if entry.place() == place => Ok(()),
        _ => Entry::of(place).write(&folder),
    });
    made.map(|()| folder.clone()).map_err(|error| unwritable(&folder, &error))
}

/// Notes where the runs of a workspace are kept, so that they are found from there.
pub(crate) fn remember_workspace(state: &StateFolder, workspace: &Path, store: &Location) -> Result<(), CommandError> {
    let folder = state.of(workspace);
    make_private_folders(&folder).map_err(|error| unwritable(&folder, &error))?;
    let is_own = *store == Location::Sqlite(folder.join(STORE));
    let mut entry = Entry::of(workspace);
    entry.kept_in = (!is_own).then(|| entry::KeptIn::of(store));
    match Entry::read(&folder)? {
        Some(there) if there == entry => Ok(()),
        _ => entry.write(&folder).map_err(|error| unwritable(&folder, &error)),
    }
}

/// Lists everything in the state folder, sorted by the place that it belongs to.
pub(crate) fn entries(state: &StateFolder) -> Vec<(PathBuf, Entry)> {
    let folders = fs::read_dir(state.root()).into_iter().flatten().filter_map(Result::ok).map(|found| found.path());
    let read = |folder: PathBuf| Some((Entry::read(&folder).ok()??, folder));
    let mut entries: Vec<(PathBuf, Entry)> = folders.filter_map(read).map(|(entry, folder)| (folder, entry)).collect();
    entries.sort_by_key(|(_, entry)| entry.place());
    entries
}

/// Finds out under which path a project made its store, if it is the same folder and has another path now.
pub(crate) fn moved_from(state: &StateFolder, project: &Path) -> Option<PathBuf> {
    let identity = entry::identity(project)?;
    let is_it = |(folder, entry): &(PathBuf, Entry)| {
        entry.identity.as_ref() == Some(&identity)
            && folder.join(STORE).exists()
            && entry::identity(&entry.place()).as_ref() != Some(&identity)
    };
    entries(state).into_iter().find(is_it).map(|(_, entry)| entry.place())
}

/// Returns whether others than the user may look into a folder.
pub(crate) fn is_open_to_others(folder: &Path) -> bool {
    fs::metadata(folder).is_ok_and(|found| found.mode() & 0o077 != 0)
}

fn unwritable(folder: &Path, error: &io::Error) -> CommandError {
    CommandError::usage(format!("cannot write to your state folder: {}: {error}", folder.display()))
        .hint("let your user write there, or set XDG_STATE_HOME to a folder that you can write to")
}
