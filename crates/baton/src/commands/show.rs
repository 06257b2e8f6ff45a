//! `baton show`: shows one handoff: where it is, what the next attempt must know, and what happened.

use clap::Args;
use serde_json::json;

use crate::command_error::{CommandError, Exit};
use crate::output::{Output, printable};
use crate::render;
use crate::store::{Access, Session, StoreOptions, accepted_request, shown_document};

/// Show a handoff and its history
///
/// With --documents also the request and the last report, as they were written; --json has everything.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  baton show HO-2026-031\n  baton show HO-2026-031 --documents\n  \
baton show HO-2026-031 --json")]
pub(crate) struct Options {
    /// The handoff: its id, or a unique beginning of it
    #[arg(value_name = "ID")]
    id: String,
    /// Print the request and the last report, too
    #[arg(long)]
    documents: bool,
    /// Write JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreOptions,
}

pub(crate) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    let session = Session::open(&options.store, Access::Look)?;
    let (handoff, events) = session.run(async {
        let handoff = session.resolve(&options.id).await?;
        let events = session.events_of(&handoff).await?;
        Ok::<_, CommandError>((handoff, events))
    })?;
    let request = accepted_request(&events)?;
    let report = shown_document(&events, handoff.last_report.as_ref());
    if options.json {
        output.json(&json!({
            "version": 1,
            "handoff": render::handoff::json(&handoff),
            "request": render::handoff::document(&request),
            "report": report.as_ref().map(render::handoff::document),
            "events": events.iter().map(render::timeline::json).collect::<Vec<_>>(),
        }))?;
        return Ok(Exit::Done);
    }
    let mut text = render::handoff::lines(&handoff, session.now());
    text.push_str(&format!("\n{}", render::timeline::lines(&events)));
    if options.documents {
        text.push_str(&format!("\nrequest ({}):\n{}\n", request.dialect, printable(request.text.trim_end())));
        if let Some(report) = report {
            text.push_str(&format!("\nreport ({}):\n{}\n", report.dialect, printable(report.text.trim_end())));
        }
    }
    output.data(&text)?;
    Ok(Exit::Done)
}
