//! `baton dir wait`: waits for the answer to a request.

use std::time::Duration;

use baton_agents::directory::WaitEnd;
use clap::Args;

use super::{Folders, find, refusal, show};
use crate::clock;
use crate::command_error::{CommandError, Exit};
use crate::output::Output;
use baton_engine::engine::parse_duration;

/// Wait for the answer to a request
///
/// Ends with 0 when the handoff is completed, with 1 when it has failed or the time is up. While it waits, it takes
/// back attempts of this handoff whose time is up; it keeps waiting after a failure that will be tried again.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  baton dir wait work hoff-7 --timeout 600 --json > answer.json")]
pub(super) struct Options {
    #[command(flatten)]
    folders: Folders,
    /// The id, or the beginning of it
    #[arg(value_name = "ID")]
    id: String,
    /// How long to wait at most [default: forever]
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, allow_hyphen_values = true)]
    timeout: Option<Duration>,
}

pub(super) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    let directory = options.folders.open()?;
    let id = find(&directory, &options.id)?;
    match directory.wait(&id, options.timeout, &clock::machine_time).map_err(refusal)? {
        WaitEnd::Completed(handoff) => {
            let line = match handoff.text(&["output", "artifact_path"]) {
                Some(path) => format!("completed {id}: {path}"),
                None => format!("completed {id}"),
            };
            show(output, &options.folders, &handoff, &line)?;
            Ok(Exit::Done)
        }
        WaitEnd::Failed(handoff) => {
            let text = |name: &str| handoff.text(&["error", name]).unwrap_or("unknown").to_owned();
            let line = format!("failed {id}: {}: {}", text("code"), text("message"));
            show(output, &options.folders, &handoff, &line)?;
            Ok(Exit::No)
        }
        WaitEnd::TimedOut(folder) => {
            let seconds = options.timeout.unwrap_or_default().as_secs_f64();
            let error = CommandError::no(format!("handoff `{id}` was not finished within {seconds} s"));
            Err(error.hint(format!("it is {}; nothing was changed, wait again", folder.as_str())))
        }
    }
}
