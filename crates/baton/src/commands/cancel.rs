//! `baton cancel`: calls a handoff off.

use clap::Args;

use crate::command_error::{CommandError, Exit};
use crate::guard;
use crate::output::Output;
use crate::store::{Access, Session, StoreOptions};

/// Cancel a handoff, or a run with everything in it
///
/// A worker learns of it with its next heartbeat or report, which is refused. The driver of a run stops its agents; a
/// run without a driver can be cancelled as well.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  baton cancel HO-2026-031 --reason 'the endpoint was dropped'")]
pub(crate) struct Options {
    /// The handoff or the run: its id, or a unique beginning of it
    #[arg(value_name = "ID")]
    id: String,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Write JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreOptions,
}

pub(crate) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    let session = Session::open(&options.store, Access::Look, output)?;
    session.run(async {
        let handoff = session.engine.resolve(&options.id).await?;
        let caller = if handoff.terms.step.is_some() { guard::person(None)?.caller() } else { guard::anybody() };
        let applied = session.engine.cancel(&handoff, options.reason.clone(), &caller).await?;
        session.tell(&applied, options.json, output)?;
        Ok(Exit::Done)
    })
}
