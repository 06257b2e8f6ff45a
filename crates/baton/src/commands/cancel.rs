//! `baton cancel`: calls a handoff off.

use baton_engine::lifecycle::{self, Command};
use clap::Args;

use crate::command_error::{CommandError, Exit};
use crate::output::Output;
use crate::store::{Access, Session, StoreOptions};
use crate::user;

/// Call a handoff off
///
/// Whoever works on it learns so with the next heartbeat or report, which is refused.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  baton cancel HO-2026-031 --reason 'the endpoint was dropped'")]
pub(crate) struct Options {
    /// The handoff: its id, or a unique beginning of it
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
    let session = Session::open(&options.store, Access::Look)?;
    session.run(async {
        let handoff = session.resolve(&options.id).await?;
        let cancel = lifecycle::Cancel { by: user::name(), reason: options.reason.clone() };
        let applied = session.apply(&handoff, Command::Cancel(cancel), Vec::new()).await?;
        session.tell(&applied, options.json, output)?;
        Ok(Exit::Done)
    })
}
