//! `baton reject`: a person sends work back, with the reason.

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use crate::command_error::{CommandError, Exit};
use crate::deciding::{self, DeciderOptions, Wanted};
use crate::output::Output;

/// Reject a handoff that waits for a person, and send it back
///
/// The reason goes to the agent that claims it next. A request that was sent to a person fails. At a terminal you are
/// asked for the reason if it is missing.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  baton reject HO-2026-031\n  \
baton reject HO-2026-031 --note 'rank 4 has no measure'")]
pub(crate) struct Options {
    /// What must be done differently
    #[arg(long, visible_alias = "feedback", value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    note: Option<String>,
    #[command(flatten)]
    decider: DeciderOptions,
}

pub(crate) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    deciding::decide(&options.decider, &Wanted::Reject(options.note.clone()), None, output)
}
