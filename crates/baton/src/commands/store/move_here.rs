//! `baton store move`: brings the store of this project to where it belongs.

use std::env;
use std::path::{Path, PathBuf};

use baton_protocol::printable;
use baton_store::Location;
use clap::Args;

use crate::command_error::{CommandError, Exit};
use crate::config;
use crate::guard;
use crate::output::Output;
use crate::state;
use crate::store::place::{self, Place, Source};
use crate::store::{from_old_folder, from_project};

/// Move the store of this project to your state folder, or take it along after the project was moved or renamed
///
/// With the former folder of the project, attaches its store to the project in the current folder. Without a folder,
/// recognises a project that was renamed in place, and moves a store that is in the project itself, in
/// `.baton/baton.db`. No other process may use the store meanwhile.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  baton store move\n  baton store move /home/ana/old-name")]
pub(super) struct Options {
    /// The folder in which the project was before
    #[arg(value_name = "FOLDER")]
    from: Option<PathBuf>,
}

pub(super) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    guard::person(None)?;
    let here =
        env::current_dir().map_err(|error| CommandError::usage(format!("cannot find the current folder: {error}")))?;
    let place = place::find(None, &config::read(None)?)?;
    if let Some(unused) = &place.unused {
        return Err(CommandError::usage(format!(
            "{} has two stores: {} and {}",
            here.display(),
            place.location,
            unused.display()
        ))
        .hint(format!(
            "the first is used; look into the other with `baton runs --store {}`, and delete it",
            unused.display()
        )));
    }
    let moved = match (&options.from, &place.source) {
        (_, Source::Named(by)) => {
            let message = format!("the store of this project is {}, as {by} says", place.location);
            return Err(CommandError::usage(message).hint("move the file yourself, and name its new place there"));
        }
        (None, Source::Old(project)) => from_old_folder(project)?,
        (Some(before), _) => from_project(&gone(before)?, &without_store(&here, &place)?)?,
        (None, Source::Project(project)) if !exists(&place.location) => {
            let state = state::folder()?;
            let before = state::moved_from(&state, project).ok_or_else(|| {
                CommandError::usage(format!("no store to move for {}", project.display()))
                    .hint("name the folder in which the project was before; `baton store list` shows all")
            })?;
            from_project(&before, project)?
        }
        (None, Source::Project(_) | Source::Workspace(_)) => {
            output.note(&printable(&format!("nothing to move: the store is {}", place.location)));
            return Ok(Exit::Done);
        }
    };
    output.note(&printable(&format!("moved to {}", moved.display())));
    Ok(Exit::Done)
}

/// Returns the folder of a project that is not there any more, and whose store can be given away.
fn gone(before: &Path) -> Result<PathBuf, CommandError> {
    let path = super::without_links(before)?;
    if path.exists() {
        return Err(CommandError::usage(format!("{} is still there, so its store belongs to it", path.display()))
            .hint("name that store with --store or BATON_STORE, if two folders are to share it"));
    }
    match state::store_of(&state::folder()?, &path)? {
        Some(_) => Ok(path),
        None => Err(CommandError::usage(format!("there is no store of {}", path.display()))
            .hint("`baton store list` shows all")),
    }
}

/// Returns the project that a store can be given to.
fn without_store(here: &Path, place: &Place) -> Result<PathBuf, CommandError> {
    match &place.source {
        Source::Project(project) if !exists(&place.location) => Ok(project.clone()),
        Source::Workspace(_) => Ok(place::project(here)),
        _ => Err(CommandError::usage(format!("this project has a store already: {}", place.location))
            .hint("name the other one with --store to look into it")),
    }
}

fn exists(location: &Location) -> bool {
    matches!(location, Location::Sqlite(path) if path.exists())
}
