//! `baton approve`: a person says that what was reported counts.

use baton_engine::lifecycle::Decision;
use clap::Args;

use crate::command_error::{CommandError, Exit};
use crate::deciding::{self, DeciderOptions};
use crate::output::Output;

/// Approve a handoff that waits for a person
///
/// Shows the report and asks. Where nobody can be asked, nothing is approved, unless --yes and the digest of the report
/// that was looked at are given.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  baton approve HO-2026-031\n  baton approve HO-2026-031 --yes --shown 9f86d081884c…"
)]
pub(crate) struct Options {
    #[command(flatten)]
    decider: DeciderOptions,
}

pub(crate) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    deciding::decide(&options.decider, "Approve this?", Decision::Approve, output)
}
