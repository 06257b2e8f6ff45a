//! `baton store`: where stores are, and bringing one to where it belongs.

mod list;
mod move_here;

use clap::{Args, Subcommand};

use crate::command_error::{CommandError, Exit};
use crate::output::Output;

/// List the stores of your projects, or move one to where it belongs
///
/// The store of a project lies in your state folder, where its agents cannot reach it and `git clean` cannot delete it:
/// $XDG_STATE_HOME/baton, or ~/.local/state/baton. `baton doctor` prints the place.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  baton store list\n  baton store move\n  baton store move /home/ana/old-name")]
pub(crate) struct Options {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    List(list::Options),
    Move(move_here::Options),
}

pub(crate) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    match &options.action {
        Action::List(options) => list::run(options, output),
        Action::Move(options) => move_here::run(options, output),
    }
}
