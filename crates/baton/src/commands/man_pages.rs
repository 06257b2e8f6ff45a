//! `baton man-pages`: writes a manual page for each command, for packages of the program.

use std::path::PathBuf;

use clap::{Args, CommandFactory};

use crate::cli::Cli;
use crate::command_error::{CommandError, Exit};
use crate::output::Output;

/// Write a man page for each command into a folder
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  baton man-pages ~/.local/share/man/man1 && man baton-run")]
pub(crate) struct Options {
    /// The folder; it is created if it does not exist
    folder: PathBuf,
}

pub(crate) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    let folder = &options.folder;
    let written = std::fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(Cli::command(), folder));
    written.map_err(|error| {
        CommandError::usage(format!("man pages cannot be written to {}: {error}", folder.display()))
            .hint("name a folder that you may write to")
    })?;
    output.note(&format!("man pages: {}", folder.display()));
    Ok(Exit::Done)
}
