//! `baton audit anchor`: enters the heads of all runs in the ledger, and delivers what the anchor does not have.

use baton_views::words::counted;
use clap::Args;
use serde_json::json;

use super::{Runs, Which};
use crate::command_error::{CommandError, Exit};
use crate::output::Output;
use crate::store::Session;

/// Add the heads of all runs to the ledger, and deliver them to the anchor
///
/// Runs, handoffs and decisions are added automatically when they end. This command adds what was recorded before there
/// was a ledger, or by a process that was killed, and delivers the lines that the anchor of baton.toml does not have
/// yet.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  baton audit anchor && baton audit verify --all")]
pub(super) struct Options {
    /// Write the result as JSON
    #[arg(long)]
    json: bool,
}

/// How many runs are entered in one transaction.
const TOGETHER: usize = 500;

pub(super) async fn run(options: &Options, session: &Session, output: &Output) -> Result<Exit, CommandError> {
    let mut runs = Runs::of(&Which { runs: Vec::new(), all: true }, session).await?;
    let mut entered = 0_u64;
    loop {
        let page = runs.several(TOGETHER).await?;
        if page.is_empty() {
            break;
        }
        entered += session.store.enter(&page, session.now()).await?.len() as u64;
    }
    let delivered = match &session.anchor {
        Some(anchor) => Some(anchor.deliver_to(session.store.as_ref()).await.map_err(|why| {
            CommandError::no(format!("heads are not anchored: {why}")).hint("see [anchor] in baton.toml")
        })?),
        None => None,
    };
    if options.json {
        output.json(&json!({ "version": 1, "entered": entered, "delivered": delivered }))?;
        return Ok(Exit::Done);
    }
    let entries = if entered == 1 { "entry" } else { "entries" };
    output.data(&match delivered {
        Some(lines) => format!("{entered} new {entries}, {} delivered to the anchor\n", counted(lines, "line")),
        None => format!("{entered} new {entries}; baton.toml names no anchor\n"),
    })?;
    Ok(Exit::Done)
}
