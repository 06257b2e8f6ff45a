//! `baton store remove`: the store of a project that nobody needs any more.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use baton_engine::StateFolder;
use baton_protocol::printable;
use baton_store::Location;
use clap::Args;

use crate::command_error::{CommandError, Exit};
use crate::guard;
use crate::output::Output;
use crate::state::{self, Entry, STORE};
use crate::store::{place, untouched};

/// Remove the store of a project from your state folder, with all of its history
///
/// No other process may use the store meanwhile. Files in the project and in its workspaces stay.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  baton store remove --yes\n  baton store remove /home/ana/deleted --yes")]
pub(super) struct Options {
    /// The project [default: the one in which you are]
    #[arg(value_name = "FOLDER")]
    project: Option<PathBuf>,
    /// Confirm: the recorded history is lost for good
    #[arg(long)]
    yes: bool,
}

pub(super) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    guard::person(None)?;
    let state = state::folder()?;
    let project = match &options.project {
        Some(project) => super::without_links(project)?,
        None => place::project(&env::current_dir().map_err(super::nowhere)?),
    };
    let store = state.of(&project).join(STORE);
    if !store.exists() && is_left_over(&state, &project) {
        if !options.yes {
            let message = format!("{} has no store any more, only a row in `baton store list`", project.display());
            return Err(CommandError::usage(message).hint("--yes removes the row"));
        }
        let folder = state.of(&project);
        let failed = |error| CommandError::usage(format!("cannot remove {}: {error}", folder.display()));
        fs::remove_dir_all(&folder).map_err(failed)?;
        output.note(&printable(&format!("removed the row of {}", project.display())));
        return Ok(Exit::Done);
    }
    if !store.exists() {
        return Err(CommandError::usage(format!("there is no store of {}", project.display()))
            .hint("`baton store list` shows all"));
    }
    if !options.yes {
        return Err(CommandError::usage(format!(
            "{} holds the whole history of {}",
            store.display(),
            project.display()
        ))
        .hint("look at it with `baton runs`; --yes removes it for good"));
    }
    baton_store::sqlite::remove(&store).map_err(|error| untouched("the store was not removed", error))?;
    for (folder, entry) in state::entries(&state) {
        // Of workspaces whose runs were in it, only what their attempts were measured with is left.
        let was_kept_there = entry.store() == Some(Location::Sqlite(store.clone())) && !folder.join(STORE).exists();
        if was_kept_there || entry.place() == project {
            let removed = fs::remove_dir_all(&folder);
            removed.map_err(|error| CommandError::usage(format!("cannot remove {}: {error}", folder.display())))?;
        }
    }
    output.note(&printable(&format!("removed the store of {}", project.display())));
    Ok(Exit::Done)
}

/// Returns whether only a note is left of a project or workspace: neither it nor the store that it names is there.
fn is_left_over(state: &StateFolder, project: &Path) -> bool {
    let Ok(Some(entry)) = Entry::read(&state.of(project)) else { return false };
    let has_store = match entry.store() {
        Some(Location::Sqlite(path)) => path.exists(),
        Some(Location::Postgres(_) | Location::Server(_)) => project.exists(),
        None => false,
    };
    entry.place() == project && !has_store
}
