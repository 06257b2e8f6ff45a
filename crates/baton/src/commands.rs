//! One file per command.

pub(crate) mod audit;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod doctor;
pub(crate) mod explain;
mod help_markdown;
mod lifecycle_markdown;
pub(crate) mod prune;
pub(crate) mod schema;
pub(crate) mod worker;

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
        Command::Worker(options) => worker::run(&options, output),
        Command::Audit(options) => audit::run(&options, output),
        Command::Prune(options) => prune::run(&options, output),
        Command::Doctor(options) => doctor::run(&options, output),
        Command::Completions(options) => completions::run(&options, output),
        Command::HelpMarkdown => help_markdown::run(output),
        Command::LifecycleMarkdown => lifecycle_markdown::run(output),
    }
}
