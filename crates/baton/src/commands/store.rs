//! `baton store`: where stores are, and bringing one to where it belongs.

mod list;
mod move_here;
mod remove;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use crate::command_error::{CommandError, Exit};
use crate::output::Output;

/// List the stores of your projects, move one to where it belongs, or remove one
///
/// The store of a project lies in your state folder, where its agents cannot reach it and `git clean` cannot delete it:
/// $XDG_STATE_HOME/baton, or ~/.local/state/baton. `baton doctor` prints the place.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  baton store list\n  baton store move\n  baton store move /home/ana/old-name\n  \
baton store remove --yes")]
pub(crate) struct Options {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    List(list::Options),
    Move(move_here::Options),
    Remove(remove::Options),
}

pub(crate) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    match &options.action {
        Action::List(options) => list::run(options, output),
        Action::Move(options) => move_here::run(options, output),
        Action::Remove(options) => remove::run(options, output),
    }
}

/// Returns a path as the state folder knows it; what it leads to need not be there any more.
fn without_links(given: &Path) -> Result<PathBuf, CommandError> {
    if let Ok(there) = fs::canonicalize(given) {
        return Ok(there);
    }
    let path = std::path::absolute(given)
        .map_err(|error| CommandError::usage(format!("cannot find {}: {error}", given.display())))?;
    // The folder above it may be reached through a link.
    let above = path.parent().and_then(|above| fs::canonicalize(above).ok());
    Ok(above.zip(path.file_name()).map(|(above, name)| above.join(name)).unwrap_or(path))
}

fn nowhere(error: io::Error) -> CommandError {
    CommandError::usage(format!("cannot find the current folder: {error}"))
}
