//! `baton answer`: a person answers what an agent asked.

use std::path::PathBuf;

use baton_engine::lifecycle::Decision;
use clap::Args;

use crate::command_error::{CommandError, Exit};
use crate::deciding::{self, DeciderOptions};
use crate::discover::Input;
use crate::output::Output;

/// Answer the questions of a handoff that waits for a person
///
/// The same agent gets it again, with the answers.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  baton answer HO-2026-031 --text 'Yes, the scanner is part of the path'\n  \
baton answer HO-2026-031 answers.md --yes --shown 9f86d081884c…")]
pub(crate) struct Options {
    #[command(flatten)]
    decider: DeciderOptions,
    /// A file with the answers
    #[arg(value_name = "FILE", required_unless_present = "text", conflicts_with = "text")]
    file: Option<PathBuf>,
    /// The answers
    #[arg(long, value_name = "TEXT", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    text: Option<String>,
}

pub(crate) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    let answers = match (&options.text, &options.file) {
        (Some(text), _) => text.clone(),
        (None, Some(file)) => read(file)?,
        (None, None) => String::new(),
    };
    if answers.trim().is_empty() {
        return Err(CommandError::usage("the answer is empty"));
    }
    deciding::decide(&options.decider, "Answer this?", Decision::Answer { answers }, output)
}

fn read(file: &std::path::Path) -> Result<String, CommandError> {
    let input = if file.as_os_str() == "-" { Input::Stdin } else { Input::File(file.to_owned()) };
    let name = input.name();
    let bytes = input.read().map_err(|not_read| CommandError::usage(not_read.describe(&name)))?;
    String::from_utf8(bytes).map_err(|_| CommandError::usage(format!("{name}: this is no UTF-8 text")))
}
