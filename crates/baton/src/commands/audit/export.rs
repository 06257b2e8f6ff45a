//! `baton audit export`: writes the archive of a project from the journal.

use std::path::PathBuf;

use baton_protocol::printable;
use baton_views::words::counted;
use clap::Args;
use serde_json::json;

use super::{Runs, Which};
use crate::archive::{Archive, TOGETHER};
use crate::command_error::{CommandError, Exit};
use crate::output::Output;
use crate::store::Session;

/// Write handoffs and their journal into the folders of a project
///
/// Writes .project/07-audit/sessions/RUN/handoffs/ID.yaml (the request as a package), what the agent wrote as
/// handoffs/ID.report.yaml (a package) or in reports/ (anything else), RUN/journal/ID.yaml (answers, decisions, every
/// event with its hash, the files that were looked at), RUN/files/SHA256 (those files, as far as they were kept) and
/// state/current.json (the latest handoffs). What a package cannot say is named on standard error and kept in the
/// journal. Writing again replaces what is there.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  baton audit export --all\n  baton audit export hoff-0192 --to ../project")]
pub(super) struct Options {
    #[command(flatten)]
    which: Which,
    /// The folder of the project
    #[arg(long, value_name = "DIR", default_value = ".")]
    to: PathBuf,
    /// Write the result as JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(options: &Options, session: &Session, output: &Output) -> Result<Exit, CommandError> {
    if !options.to.is_dir() {
        return Err(CommandError::usage(format!("there is no folder {}", options.to.display())));
    }
    let archive = Archive::at(&options.to);
    let mut runs = Runs::of(&options.which, session).await?;
    let progress = output.tally("exported");
    let (mut written_runs, mut handoffs, mut losses) = (0_u64, 0_u64, 0_u64);
    loop {
        let batch = runs.several(TOGETHER).await?;
        if batch.is_empty() {
            break;
        }
        for (_, archived) in archive.write_runs(&session.store, batch).await {
            let archived = archived?;
            for (handoff, pointers) in &archived.losses {
                let said = format!("{handoff}: no place in a package for: {}", printable(&pointers.join(", ")));
                progress.suspend(|| output.note(&said));
            }
            progress.inc(1);
            written_runs += 1;
            handoffs += archived.handoffs;
            losses += archived.losses.len() as u64;
        }
    }
    archive.write_current(session.store.as_ref()).await?;
    progress.finish_and_clear();
    match options.json {
        true => output.json(&json!({ "version": 1, "runs": written_runs, "handoffs": handoffs, "lossy": losses }))?,
        false => {
            let what = format!("{} of {}", counted(handoffs, "handoff"), counted(written_runs, "run"));
            output.data(&format!("exported: {what} to {}\n", options.to.display()))?;
        }
    }
    Ok(Exit::Done)
}
