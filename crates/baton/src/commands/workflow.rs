//! `baton workflow`: what is about workflow files and not about runs.

mod check;

use clap::{Args, Subcommand};

use crate::command_error::{CommandError, Exit};
use crate::output::Output;

/// Work on workflow files
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  baton workflow check workflow.yaml")]
pub(crate) struct Options {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(check::Options),
}

pub(crate) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    match &options.command {
        Command::Check(options) => check::run(options, output),
    }
}
