//! `baton prune`: removes what was finished long ago, after it was archived.

use std::path::PathBuf;
use std::time::Duration;

use baton_engine::RunId;
use baton_views::words::counted;
use clap::Args;
use jiff::Timestamp;
use serde_json::json;

use crate::archive::{Archive, TOGETHER};
use crate::command_error::{CommandError, Exit};
use crate::commands::audit;
use crate::guard;
use crate::output::Output;
use crate::store::{Access, Session, StoreOptions};
use baton_engine::engine::parse_duration;

/// Remove runs that were finished long ago, after archiving them
///
/// Removes a run with its journal if all of its handoffs finished before the given time, and only after its archive is
/// on disk (see `baton audit export`). A crash in between is harmless: the next call exports it again.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  baton prune --older-than 30d\n  baton prune --older-than 30d --dry-run --json")]
pub(crate) struct Options {
    /// How long ago the whole run must have been finished
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, allow_hyphen_values = true)]
    older_than: Duration,
    /// The folder of the project that gets the archive
    #[arg(long, value_name = "DIR", default_value = ".")]
    to: PathBuf,
    /// Only show what would be removed
    #[arg(long)]
    dry_run: bool,
    /// Remove without an archive: what is removed is lost
    #[arg(long, requires = "yes", conflicts_with = "to")]
    no_export: bool,
    /// Confirm an operation that cannot be undone
    #[arg(long)]
    yes: bool,
    /// Write the result as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreOptions,
}

/// How many runs are removed before the next are looked for.
const BATCH: u32 = 500;

/// How many runs a dry run counts.
const COUNTED_MAX: u32 = 1_000_000;

/// How many runs are named to people.
const NAMED_MAX: usize = 20;

/// What was done.
#[derive(Debug, Default)]
struct Pruned {
    runs: Vec<RunId>,
    handoffs: u64,
    exported: u64,
    /// Runs that stay because they cannot be archived.
    kept: u64,
}

pub(crate) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    guard::person(None)?;
    let session = Session::open_database(&options.store, Access::Look, output)?;
    if !options.no_export && !options.dry_run && !options.to.is_dir() {
        return Err(CommandError::usage(format!("there is no folder {}", options.to.display())));
    }
    let before = session.now().checked_sub(options.older_than).unwrap_or(Timestamp::MIN);
    let pruned = session.run(async {
        match options.dry_run {
            true => count(&session, before).await,
            false => prune(options, &session, before, output).await,
        }
    })?;
    tell(options, &pruned, output)?;
    Ok(if pruned.kept == 0 { Exit::Done } else { Exit::No })
}

async fn count(session: &Session, before: Timestamp) -> Result<Pruned, CommandError> {
    let runs = session.store.finished_runs(before, COUNTED_MAX).await?;
    let mut counted = Pruned::default();
    for run in &runs {
        counted.handoffs += session.store.handoffs_of(run).await?.len() as u64;
    }
    Ok(Pruned { runs, ..counted })
}

async fn prune(
    options: &Options,
    session: &Session,
    before: Timestamp,
    output: &Output,
) -> Result<Pruned, CommandError> {
    let archive = (!options.no_export).then(|| Archive::at(&options.to));
    let progress = output.tally("removed");
    let mut pruned = Pruned::default();
    loop {
        let batch = session.store.finished_runs(before, BATCH).await?;
        pruned.kept = 0;
        let mut removed_some = false;
        for runs in batch.chunks(TOGETHER) {
            for run in archived(archive.as_ref(), session, runs, &mut pruned, output).await? {
                removed_some |= remove(session, &run, before, &mut pruned).await?;
                progress.inc(1);
            }
        }
        // A run that somebody requeued meanwhile is not removed, and would be found for ever.
        if batch.is_empty() || !removed_some {
            break;
        }
    }
    if let Some(archive) = &archive {
        archive.write_current(session.store.as_ref()).await?;
    }
    progress.finish_and_clear();
    Ok(pruned)
}

/// Returns the runs whose journal is intact. One that was changed is evidence: it stays.
async fn sound(
    session: &Session,
    runs: &[RunId],
    pruned: &mut Pruned,
    output: &Output,
) -> Result<Vec<RunId>, CommandError> {
    let mut sound = Vec::new();
    for run in runs {
        if audit::is_sound(session, run).await? {
            sound.push(run.clone());
        } else {
            let message = format!("{run}: the journal is damaged, so the run is kept");
            output.error(&CommandError::no(message).hint(format!("baton audit verify {run} shows what is wrong")));
            pruned.kept += 1;
        }
    }
    Ok(sound)
}

/// Archives runs, if that is wanted; returns those that may be removed.
async fn archived(
    archive: Option<&Archive>,
    session: &Session,
    runs: &[RunId],
    pruned: &mut Pruned,
    output: &Output,
) -> Result<Vec<RunId>, CommandError> {
    let runs = sound(session, runs, pruned, output).await?;
    let Some(archive) = archive else { return Ok(runs) };
    let mut safe = Vec::new();
    for (run, outcome) in archive.write_runs(&session.store, runs).await {
        match outcome {
            Ok(archived) => {
                pruned.exported += archived.handoffs;
                safe.push(run);
            }
            // A run whose journal is broken is evidence: it stays, and the others go.
            Err(error) if error.exit_code() == Exit::No => {
                output.error(&error);
                pruned.kept += 1;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(safe)
}

async fn remove(session: &Session, run: &RunId, before: Timestamp, pruned: &mut Pruned) -> Result<bool, CommandError> {
    session.forget_run(run).await;
    let handoffs = session.store.remove_run(run, before, session.now()).await?;
    pruned.handoffs += handoffs;
    pruned.runs.extend((handoffs > 0).then(|| run.clone()));
    Ok(handoffs > 0)
}

fn tell(options: &Options, pruned: &Pruned, output: &Output) -> Result<(), CommandError> {
    let Pruned { runs, handoffs, exported, kept } = pruned;
    if options.json {
        return output.json(&json!({
            "version": 1, "dry_run": options.dry_run, "runs": runs.len(), "names": runs, "handoffs": handoffs,
            "exported": exported, "kept": kept,
        }));
    }
    let what = format!("{} of {}", counted(*handoffs, "handoff"), counted(runs.len() as u64, "run"));
    output.data(&match (options.dry_run, options.no_export) {
        (true, _) => format!("would remove {what}\n"),
        (false, true) => format!("removed {what} without an archive\n"),
        (false, false) => format!("removed {what}, archived in {}\n", options.to.display()),
    })?;
    let names: Vec<&str> = runs.iter().take(NAMED_MAX).map(RunId::as_str).collect();
    match runs.len().saturating_sub(NAMED_MAX) {
        0 if names.is_empty() => Ok(()),
        0 => output.data(&format!("{}\n", names.join(" "))),
        more => output.data(&format!("{} and {more} more; --json names all\n", names.join(" "))),
    }
}
