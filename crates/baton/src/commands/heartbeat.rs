//! `baton heartbeat`: says that the work goes on.

use std::time::Duration;

use baton_engine::Fence;
use baton_engine::engine::parse_lease;
use clap::Args;

use crate::command_error::{CommandError, Exit};
use crate::guard;
use crate::output::Output;
use crate::store::{Access, Session, StoreOptions};

/// Extend the lease of a claimed handoff
///
/// Exits with 1 if the claim has ended: then stop working on it.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  baton heartbeat HO-2026-031 --fence 1 --lease 5m")]
pub(crate) struct Options {
    /// The handoff: its id, or a unique beginning of it
    #[arg(value_name = "ID")]
    id: String,
    /// The fence of the claim
    #[arg(long, value_name = "N")]
    fence: Fence,
    /// How long without another heartbeat [default: as before]
    #[arg(long, value_name = "DURATION", value_parser = parse_lease, allow_hyphen_values = true)]
    lease: Option<Duration>,
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
        let applied = session.engine.heartbeat(&handoff, options.fence, options.lease, &guard::anybody()).await?;
        session.tell(&applied, options.json, output)?;
        Ok(Exit::Done)
    })
}
