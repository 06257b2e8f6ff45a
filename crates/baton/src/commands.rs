//! One file per command.

pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod dir;
pub(crate) mod explain;
mod help_markdown;
pub(crate) mod schema;

use crate::cli::Command;
use crate::command_error::{CommandError, Exit};
use crate::output::Output;

/// Runs a command.
pub(crate) fn run(command: Command, output: &Output) -> Result<Exit, CommandError> {
    match command {
        Command::Check(options) => check::run(&options, output),
        Command::Explain(options) => explain::run(&options, output),
        Command::Convert(options) => convert::run(&options, output),
        Command::Schema(options) => schema::run(&options, output),
        Command::Dir(options) => dir::run(&options, output),
        Command::Completions(options) => completions::run(&options, output),
        Command::HelpMarkdown => help_markdown::run(output),
    }
}
