//! `baton store remove`: the store of a project that nobody needs any more.

use std::env;
use std::fs;
use std::path::PathBuf;

use baton_store::Location;
use clap::Args;

use crate::command_error::{CommandError, Exit};
use crate::output::{Output, printable};
use crate::state::{self, STORE};
use crate::store::{place, untouched};

/// Remove the store of a project from your state folder, with all of its history
///
/// Nobody may use the store meanwhile. Files in the project and in its workspaces stay.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  baton store remove --yes\n  baton store remove /home/ana/deleted --yes")]
pub(super) struct Options {
    /// The project [default: the one in which you are]
    #[arg(value_name = "FOLDER")]
    project: Option<PathBuf>,
    /// Remove it: what was recorded is gone for good
    #[arg(long)]
    yes: bool,
}

pub(super) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    let state = state::folder()?;
    let project = match &options.project {
        Some(project) => super::without_links(project)?,
        None => place::project(&env::current_dir().map_err(super::nowhere)?),
    };
    let store = state.of(&project).join(STORE);
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
