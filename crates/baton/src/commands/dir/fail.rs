//! `baton dir fail`: gives up an attempt.

use baton_engine::failure::{Code, Failure, Transience};
use clap::Args;

use super::{Folders, find, refusal, show};
use crate::clock;
use crate::command_error::{CommandError, Exit};
use crate::output::Output;

/// Give up an attempt
///
/// The handoff goes back to `pending` and can be claimed again after a while, or to `failed` if no attempt is left or
/// trying again makes no sense.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  baton dir fail work hoff-7 --code DEPENDENCY_MISSING --message 'no design yet'")]
pub(super) struct Options {
    #[command(flatten)]
    folders: Folders,
    /// The id, or the beginning of it
    #[arg(value_name = "ID")]
    id: String,
    /// Which kind of failure: SCHEMA_VALIDATION_FAILED, PROCESSING_ERROR, TIMEOUT, DEPENDENCY_MISSING,
    /// VALIDATION_FAILED, or your own
    #[arg(long, value_name = "CODE", default_value = "PROCESSING_ERROR", value_parser = Code::parse)]
    code: Code,
    /// What happened
    #[arg(long, value_name = "TEXT")]
    message: String,
    /// Never try again
    #[arg(long)]
    permanent: bool,
    /// The attempt that failed, as printed by `claim`; a late one is refused [default: the current one]
    #[arg(long, value_name = "NUMBER")]
    attempt: Option<u32>,
}

pub(super) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    let directory = options.folders.open()?;
    let id = find(&directory, &options.id)?;
    let mut failure = Failure::new(options.code.clone(), options.message.as_str());
    if options.permanent {
        failure.chance = Transience::Permanent;
    }
    let failed = directory.fail(&id, options.attempt, &failure, clock::machine_time()).map_err(refusal)?;
    let line = match failed.again_at {
        Some(time) => format!("{id} waits for attempt {}, not before {time:.0}", failed.handoff.attempt()),
        None => format!("failed {id}"),
    };
    show(output, &options.folders, &failed.handoff, &line)?;
    Ok(Exit::Done)
}
