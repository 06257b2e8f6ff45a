//! Bringing a store to where it belongs: out of the project's own folder, or along with a project that was moved.

use std::fs;
use std::path::{Path, PathBuf};

use baton_engine::StateFolder;
use baton_engine::store::StoreError;
use baton_store::Location;
use baton_store::sqlite::relocate;

use super::place::old_store;
use crate::command_error::CommandError;
use crate::state::{self, Entry, STORE};

/// Moves the store in the `.baton` folder of a project to the state folder; returns where it is now.
pub(crate) fn from_old_folder(project: &Path) -> Result<PathBuf, CommandError> {
    let to = state::make(&state::folder()?, project)?.join(STORE);
    moved(&old_store(project), &to)?;
    Ok(to)
}

/// Gives the store of a project that was somewhere else before to the project as it is now, and so for the workspaces in
/// it; returns where it is now.
pub(crate) fn from_project(before: &Path, now: &Path) -> Result<PathBuf, CommandError> {
    let state = state::folder()?;
    let (old, new) = (state.of(before), state::make(&state, now)?);
    moved(&old.join(STORE), &new.join(STORE))?;
    follow(&state, (before, now), (&old.join(STORE), &new.join(STORE)))?;
    // What is left are measures of attempts in a folder that is gone.
    let _ = fs::remove_dir_all(&old);
    Ok(new.join(STORE))
}

fn moved(from: &Path, to: &Path) -> Result<(), CommandError> {
    relocate(from, to).map_err(|error| untouched("the store was not moved", error))
}

/// The error when a store stays as it was, because somebody uses it or the disk fails.
pub(crate) fn untouched(what: &str, error: StoreError) -> CommandError {
    let in_use = matches!(error, StoreError::Unreachable(_));
    let mut error = CommandError::from(error);
    error.message = format!("{what}: {}", error.message);
    if in_use {
        error.hints = vec!["end every `baton` that uses it, such as workers and runs, and try again".to_owned()];
    }
    error
}

/// Lets workspaces that were in the project, and all whose runs are in its store, know where both are now.
fn follow(state: &StateFolder, (before, now): (&Path, &Path), (old, new): (&Path, &Path)) -> Result<(), CommandError> {
    let is_kept_there = |entry: &Entry| entry.store() == Some(Location::Sqlite(old.to_owned()));
    for (folder, entry) in state::entries(state).into_iter().filter(|(_, entry)| is_kept_there(entry)) {
        let then = entry.place();
        let place = then.strip_prefix(before).map(|below| now.join(below)).unwrap_or_else(|_| then.clone());
        if place.is_dir() {
            state::remember_workspace(state, &place, &Location::Sqlite(new.to_owned()))?;
        }
        // A workspace that is gone needs nothing any more.
        if !then.is_dir() && !folder.join(STORE).exists() {
            let _ = fs::remove_dir_all(&folder);
        }
    }
    Ok(())
}
