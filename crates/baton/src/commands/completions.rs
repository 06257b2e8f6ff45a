//! `baton completions`: prints a completion script for a shell.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::cli::Cli;
use crate::command_error::{CommandError, Exit};
use crate::output::Output;

/// Print a completion script for a shell
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  baton completions bash > ~/.local/share/bash-completion/completions/baton")]
pub(crate) struct Options {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut Cli::command(), "baton", &mut script);
    output.data(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}
