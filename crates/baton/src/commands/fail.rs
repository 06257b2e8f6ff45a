//! `baton fail`: says that an attempt failed.

use std::path::PathBuf;

use baton_engine::Fence;
use baton_engine::failure::{Code, Failure, Transience};
use baton_protocol::{Dialect, Kind};
use clap::Args;

use super::check::parse_dialect;
use crate::command_error::{CommandError, Exit};
use crate::intake::Intake;
use crate::output::Output;
use crate::store::{Access, Session, StoreOptions};
use crate::{briefer, briefing, guard};

/// Report that the attempt at a claimed handoff failed
///
/// The code and the policy of the handoff decide whether another attempt follows, and when; --permanent and --transient
/// overrule the code. Known codes: SCHEMA_VALIDATION_FAILED (permanent), PROCESSING_ERROR, TIMEOUT, DEPENDENCY_MISSING,
/// VALIDATION_FAILED (transient).
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  baton fail HO-2026-031 --fence 1 --code DEPENDENCY_MISSING --message 'no scanner'")]
pub(crate) struct Options {
    /// The handoff: its id, or a unique beginning of it
    #[arg(value_name = "ID")]
    id: String,
    /// A report about the failure, or `-` for standard input
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// The fence of the claim
    #[arg(long, value_name = "N")]
    fence: Fence,
    /// Which kind of failure: a known code, or capital letters of your own
    #[arg(long, value_name = "CODE", value_parser = Code::parse)]
    code: Code,
    /// What happened
    #[arg(long, value_name = "TEXT")]
    message: String,
    /// Do not try again
    #[arg(long, conflicts_with = "transient")]
    permanent: bool,
    /// Trying again may help
    #[arg(long)]
    transient: bool,
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
    let files: Vec<PathBuf> = options.file.iter().cloned().collect();
    let mut failure = Failure::new(options.code.clone(), options.message.clone());
    failure.chance = match (options.permanent, options.transient) {
        (true, _) => Transience::Permanent,
        (_, true) => Transience::Transient,
        (false, false) => failure.chance,
    };
    session.run(async {
        let handoff = session.engine.resolve(&options.id).await?;
        let briefer = briefer::of(&session);
        let definition = briefer.definition(&handoff.run).await?;
        let yardstick = briefer.yardstick(&handoff, None, definition.as_ref()).await?;
        let intake = Intake::by_name(&yardstick, options.dialect);
        let Some(taken) = intake.take(&files, Kind::Report, options.json, output)? else { return Ok(Exit::No) };
        let document = taken.into_iter().next().map(|taken| taken.valid.written);
        let changed = briefing::changed_since_claimed(&handoff, definition.as_ref(), session.state.as_ref()).await;
        let (fence, caller) = (options.fence, guard::anybody());
        let applied = session.engine.fail(&handoff, fence, failure, document, changed, &caller).await?;
        session.tell(&applied, options.json, output)?;
        Ok(Exit::Done)
    })
}
