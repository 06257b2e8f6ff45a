//! `baton ask`: a person wants to know something before they decide.

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use crate::command_error::{CommandError, Exit};
use crate::deciding::{self, DeciderOptions, Wanted};
use crate::output::Output;

/// Ask the agent something about a handoff that waits for a person
///
/// The question goes to the agent, and what it reports then comes back for review: asking approves nothing. At a
/// terminal you are asked for the question if it is not given.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  baton ask HO-2026-031 'Why is the scanner not part of the path?'")]
pub(crate) struct Options {
    #[command(flatten)]
    decider: DeciderOptions,
    /// The question
    #[arg(value_name = "QUESTION", value_parser = NonEmptyStringValueParser::new())]
    question: Option<String>,
}

pub(crate) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    deciding::decide(&options.decider, &Wanted::Ask(options.question.clone()), None, output)
}
