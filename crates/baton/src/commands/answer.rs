//! `baton answer`: a person answers what an agent asked, or chooses from what is offered.

use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use crate::command_error::{CommandError, Exit};
use crate::deciding::{self, DeciderOptions, Wanted};
use crate::discover::Input;
use crate::output::Output;

/// Answer a handoff that waits for a person
///
/// The agent that asked gets it again, with the question and the answer. At a gate of a workflow, a limit or a failure
/// the answer is one of the choices; if an agent offers choices, any other text is an answer, too. At a terminal the
/// questions are asked one by one if no answer is given, and choices are picked by number or name.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  baton answer HO-2026-031\n  \
baton answer HO-2026-031 'Yes, the scanner is part of the path'\n  baton answer run-7.limit --choice revise\n  \
baton answer HO-2026-031 --file answers.md --yes --shown 9f86d081884c…")]
pub(crate) struct Options {
    #[command(flatten)]
    decider: DeciderOptions,
    /// The answer
    #[arg(value_name = "TEXT", conflicts_with_all = ["file", "choice", "text_option"])]
    text: Option<String>,
    /// One of the choices; what an agent offers can be named by its number
    #[arg(long, value_name = "CHOICE", conflicts_with = "file", value_parser = NonEmptyStringValueParser::new())]
    choice: Option<String>,
    /// A file with the answers; `-` for standard input
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// The answer
    #[arg(long = "text", value_name = "TEXT", hide = true, conflicts_with_all = ["file", "choice"])]
    text_option: Option<String>,
    /// A note for the record and the next agent
    #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    note: Option<String>,
}

pub(crate) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    let text = options.text.clone().or_else(|| options.text_option.clone());
    let answer = match &options.file {
        Some(file) => Some(read(file)?),
        None => text,
    };
    let wanted = match &options.choice {
        Some(choice) => Wanted::Choose(choice.clone()),
        None => Wanted::Answer(answer),
    };
    deciding::decide(&options.decider, &wanted, options.note.as_deref(), output)
}

fn read(file: &Path) -> Result<String, CommandError> {
    let input = if file.as_os_str() == "-" { Input::Stdin } else { Input::File(file.to_owned()) };
    let name = input.name();
    let bytes = input.read().map_err(|not_read| CommandError::usage(not_read.describe(&name)))?;
    String::from_utf8(bytes).map_err(|_| CommandError::usage(format!("{name}: not UTF-8 text")))
}
