//! `baton reject`: a person sends work back, with the reason.

use baton_engine::lifecycle::Decision;
use clap::Args;

use crate::command_error::{CommandError, Exit};
use crate::deciding::{self, DeciderOptions};
use crate::output::Output;

/// Reject a handoff that waits for a person, and send it back
///
/// The note goes to whoever claims it next.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  baton reject HO-2026-031 --note 'rank 4 has no measure'")]
pub(crate) struct Options {
    /// What must be done differently
    #[arg(long, value_name = "TEXT", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    note: String,
    #[command(flatten)]
    decider: DeciderOptions,
}

pub(crate) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    let decision = Decision::Reject { feedback: options.note.clone() };
    deciding::decide(&options.decider, "Reject this?", decision, output)
}
