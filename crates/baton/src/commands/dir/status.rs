//! `baton dir status`: tells what is in the folders.

use baton_agents::directory::{Folder, FolderRow, Status};
use baton_protocol::printable;
use clap::Args;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Folders, refusal};
use crate::clock;
use crate::command_error::{CommandError, Exit};
use crate::output::Output;
use crate::render::columns::columns;

/// Show what is in the folders
///
/// Lists what waits, what is in progress and what failed, and counts everything.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  baton dir status work")]
pub(super) struct Options {
    #[command(flatten)]
    folders: Folders,
    /// List what is completed too
    #[arg(long)]
    all: bool,
}

pub(super) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    let open = [Folder::Pending, Folder::InProgress, Folder::Failed];
    let folders: &[Folder] = if options.all { &Folder::ALL } else { &open };
    let status = options.folders.open()?.status(folders).map_err(refusal)?;
    let now = clock::machine_time();
    if options.folders.json {
        output.json(&to_json(&status, now))?;
    } else {
        output.data(&table(&status, now))?;
        for problem in &status.problems {
            let line = format!("{}: {}", problem.path.display(), problem.fault);
            output.note(&format!("warning: {}", printable(&line)));
        }
    }
    Ok(Exit::Done)
}

fn table(status: &Status, now: Timestamp) -> String {
    let mut rows = vec![["ID", "FROM", "TO", "STATUS", "ATTEMPT", "AGE"].map(str::to_owned)];
    rows.extend(status.rows.iter().map(|row| cells(row, now)));
    let mut text = if status.rows.is_empty() { String::new() } else { columns(&rows) };
    let counts = Folder::ALL.iter().zip(status.counts).map(|(folder, count)| format!("{count} {}", folder.as_str()));
    text.push_str(&format!("{}\n", counts.collect::<Vec<_>>().join(", ")));
    text
}

fn cells(row: &FolderRow, now: Timestamp) -> [String; 6] {
    let waiting = row.not_before.filter(|time| row.folder == Folder::Pending && *time > now);
    let state = match waiting {
        Some(time) => format!("{} in {}", row.folder.as_str(), age(time, now)),
        None => row.folder.as_str().to_owned(),
    };
    let created = row.created_at.map_or("?".to_owned(), |created| age(now, created));
    [row.id.clone(), row.from.clone(), row.to.clone(), state, row.attempt.to_string(), created]
}

/// Returns how much later a time is, in one unit.
fn age(late: Timestamp, early: Timestamp) -> String {
    match late.duration_since(early).as_secs().max(0) {
        seconds @ 0..120 => format!("{seconds}s"),
        seconds @ 120..7200 => format!("{}m", seconds / 60),
        seconds @ 7200..172_800 => format!("{}h", seconds / 3600),
        seconds => format!("{}d", seconds / 86_400),
    }
}

fn to_json(status: &Status, now: Timestamp) -> Value {
    let counts: Value = Folder::ALL.iter().zip(status.counts).map(|(folder, count)| (folder.as_str(), count)).collect();
    let row = |row: &FolderRow| {
        json!({
            "id": row.id, "from": row.from, "to": row.to, "status": row.folder.status(), "attempt": row.attempt,
            "priority": row.priority, "created_at": row.created_at.map(|time| time.to_string()),
            "age_seconds": row.created_at.map(|time| now.duration_since(time).as_secs()),
            "not_before": row.not_before.map(|time| time.to_string()), "error": row.error,
        })
    };
    let problems: Vec<Value> = status
        .problems
        .iter()
        .map(|problem| json!({ "path": problem.path.display().to_string(), "message": problem.fault }))
        .collect();
    json!({
        "version": 1, "counts": counts, "handoffs": status.rows.iter().map(row).collect::<Vec<_>>(), "problems": problems,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_have_one_unit() {
        let later = |seconds| Timestamp::from_second(seconds).expect("a time");
        let shown = [5, 119, 120, 7199, 7200, 172_800].map(|seconds| age(later(seconds), Timestamp::UNIX_EPOCH));
        assert_eq!(shown, ["5s", "119s", "2m", "119m", "2h", "2d"]);
        assert_eq!(age(Timestamp::UNIX_EPOCH, later(9)), "0s");
    }
}
