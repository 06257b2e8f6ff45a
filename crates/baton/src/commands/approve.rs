//! `baton approve`: a person says that what was reported counts.

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use crate::command_error::{CommandError, Exit};
use crate::deciding::{self, DeciderOptions, Wanted};
use crate::output::Output;

/// Approve a handoff that waits for a person
///
/// Shows the report and the evidence, and asks. Without a terminal nothing is approved, except with --yes and the
/// digest of what was looked at (--shown). An agent's question is answered, never approved: see `baton answer`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  baton approve HO-2026-031\n  \
baton approve HO-2026-031 --note 'start with the importer'\n  baton approve HO-2026-031 --yes --shown 9f86d081884c…")]
pub(crate) struct Options {
    #[command(flatten)]
    decider: DeciderOptions,
    /// A note for the record and the next agent
    #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    note: Option<String>,
}

pub(crate) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    deciding::decide(&options.decider, &Wanted::Approve, options.note.as_deref(), output)
}
