//! `baton dir claim`: takes on work.

use std::time::Duration;

use baton_agents::directory::Folder;
use clap::Args;

use super::{Folders, refusal, show, warn};
use crate::clock;
use crate::command_error::{CommandError, Exit};
use crate::output::Output;
use baton_engine::engine::parse_duration;

/// Claim the most urgent work of an agent
///
/// Moves a request to `in-progress` and prints its id. Exactly one claimant gets it. Ends with 1 if nothing waits.
/// Work is ordered by priority, then by age.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  baton dir claim work --agent @writer --wait 60 --json > request.json")]
pub(super) struct Options {
    #[command(flatten)]
    folders: Folders,
    /// Whose work, with or without the `@`
    #[arg(long, value_name = "AGENT")]
    agent: String,
    /// Wait for work, at most this long [default: forever]
    #[arg(long, value_name = "DURATION", num_args = 0..=1, value_parser = parse_duration)]
    wait: Option<Option<Duration>>,
}

pub(super) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    let directory = options.folders.open()?;
    let noted = match options.wait {
        Some(longest) => directory.claim_within(&options.agent, longest, &clock::machine_time),
        None => directory.claim(&options.agent, clock::machine_time()),
    };
    let noted = noted.map_err(refusal)?;
    warn(output, &noted.warnings);
    let Some(claim) = noted.result else {
        output.note(&format!("nothing waits for {}", baton_protocol::printable(&options.agent)));
        return Ok(Exit::No);
    };
    if !options.folders.json {
        let (most, path) =
            (claim.handoff.policy().max_retries.saturating_add(1), directory.path(Folder::InProgress, &claim.id));
        let seconds = claim.handoff.timeout().as_secs_f64();
        output.note(&format!(
            "attempt {} of {most}, {seconds} s; the request is {}",
            claim.attempt,
            baton_protocol::printable(&path.display().to_string())
        ));
    }
    show(output, &options.folders, &claim.handoff, claim.id.as_str())?;
    Ok(Exit::Done)
}
