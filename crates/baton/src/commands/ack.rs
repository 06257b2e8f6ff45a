//! `baton ack`: acknowledges a request, or lists what is unclear.

use std::path::PathBuf;

use baton_engine::Fence;
use baton_engine::handoff::StateName;
use baton_protocol::{Dialect, Kind};
use clap::Args;

use super::check::parse_dialect;
use crate::briefer;
use crate::command_error::{CommandError, Exit};
use crate::guard;
use crate::intake::Intake;
use crate::output::Output;
use crate::store::{Access, Session, StoreOptions};

/// Acknowledge a claimed request, or say what is unclear
///
/// Takes an acknowledgment document; without one, it means that the request was understood and the work begins.
///
/// An acknowledgment gives the handoff to a person, and exits with 3, if it has blockers or questions (also beside
/// `starting: true`), understands only a part, asks for clarification, or says `received: false` or `starting: false`.
/// The person's answer brings the handoff back to the same agent.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  baton ack HO-2026-031 --fence 1\n  baton ack HO-2026-031 --fence 1 questions.yaml"
)]
pub(crate) struct Options {
    /// The handoff: its id, or a unique beginning of it
    #[arg(value_name = "ID")]
    id: String,
    /// The acknowledgment, or `-` for standard input
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// The fence of the claim
    #[arg(long, value_name = "N")]
    fence: Fence,
    /// Read the document as this dialect instead of recognising it
    #[arg(long, value_name = "DIALECT", value_parser = parse_dialect)]
    dialect: Option<Dialect>,
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
        let given = match &options.file {
            Some(file) => {
                let briefer = briefer::of(&session);
                let definition = briefer.definition(&handoff.run).await?;
                let yardstick = briefer.yardstick(&handoff, None, definition.as_ref()).await?.for_acknowledgments();
                let intake = Intake::by_name(&yardstick, options.dialect);
                let taken = intake.take(std::slice::from_ref(file), Kind::Acknowledgment, options.json, output)?;
                let Some(taken) = taken.and_then(|taken| taken.into_iter().next()) else { return Ok(Exit::No) };
                Some(taken.valid)
            }
            None => None,
        };
        let applied = session.engine.acknowledge(&handoff, options.fence, given, &guard::anybody()).await?;
        session.tell(&applied, options.json, output)?;
        match applied.handoff.state.name() {
            StateName::AwaitingPerson => Ok(Exit::Waiting),
            _ => Ok(Exit::Done),
        }
    })
}
