//! What a process read in `pending`, written down for the next one, so that a program that runs once per claim need not
//! read thousands of files each time. Nobody relies on it: it may be old, missing or wrong.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::files::TEMPORARY;
use super::handoff::Priority;
use super::queue::{Modified, Seen};

/// After reading so many new files it pays to write it down.
pub(super) const WORTHWHILE: usize = 256;

const NAME: &str = ".order.json";

/// What a file said when it was read.
#[derive(Serialize, Deserialize)]
struct Line {
    name: String,
    number: u64,
    modified: Modified,
    priority: String,
    created: i64,
    agent: Option<String>,
    not_before: Option<i64>,
}

/// Reads what is written down.
pub(super) fn read(folder: &Path) -> Vec<(String, Seen)> {
    let bytes = fs::read(folder.join(NAME)).unwrap_or_default();
    let lines: Vec<Line> = serde_json::from_slice(&bytes).unwrap_or_default();
    let seen = |line: Line| {
        let priority = Priority::parse(&line.priority)?;
        let created = Timestamp::from_microsecond(line.created).ok()?;
        let seen = Seen {
            number: line.number,
            modified: line.modified,
            key: (priority, created, line.name.clone()),
            agent: line.agent,
            not_before: line.not_before.and_then(|time| Timestamp::from_microsecond(time).ok()),
            round: 0,
        };
        Some((line.name, seen))
    };
    lines.into_iter().filter_map(seen).collect()
}

/// Writes down what was seen. If that is not possible, the next process reads the files itself.
pub(super) fn write(folder: &Path, seen: &HashMap<String, Seen>) {
    let line = |(name, seen): (&String, &Seen)| Line {
        name: name.clone(),
        number: seen.number,
        modified: seen.modified,
        priority: seen.key.0.as_str().to_owned(),
        created: seen.key.1.as_microsecond(),
        agent: seen.agent.clone(),
        not_before: seen.not_before.map(Timestamp::as_microsecond),
    };
    let lines: Vec<Line> = seen.iter().map(line).collect();
    let temporary = folder.join(format!("{NAME}.{}{TEMPORARY}", std::process::id()));
    let bytes = serde_json::to_vec(&lines).unwrap_or_default();
    // Never synced: after a crash it is read anew.
    let written = fs::write(&temporary, bytes).and_then(|()| fs::rename(&temporary, folder.join(NAME)));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
}
