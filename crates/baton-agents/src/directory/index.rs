//! What a process read in `pending`, written down for the next one, so that a program that runs once per claim need
//! neither read thousands of files each time nor list them. Nobody relies on it: it may be old, missing or wrong.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use baton_protocol::model::terms::Priority;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::hint;
use super::queue::{Modified, SeenFile, USED};

/// After reading so many new files it pays to write it down.
pub(super) const WORTHWHILE: usize = 256;

/// Everything that waits; in `pending`.
const NAME: &str = ".order";

/// What comes first; beside `pending`, where writing it wakes nobody.
const HEAD_NAME: &str = ".head";

/// A head is not used for longer, however long the listing took.
const HEAD_AGE_MAX: Duration = Duration::from_secs(1);

/// What came first, of each agent, when `pending` was listed.
#[derive(Serialize, Deserialize)]
struct Head {
    /// How long the listing took, in microseconds.
    took: u64,
    lines: Vec<Line>,
}

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

impl Line {
    fn new(name: &str, seen: &SeenFile) -> Line {
        Line {
            name: name.to_owned(),
            number: seen.number,
            modified: seen.modified,
            priority: seen.key.0.0.as_str().to_owned(),
            created: seen.key.1.as_microsecond(),
            agent: seen.agent.clone(),
            not_before: seen.not_before.map(Timestamp::as_microsecond),
        }
    }

    fn seen(self) -> Option<(String, SeenFile)> {
        let seen = SeenFile {
            number: self.number,
            modified: self.modified,
            key: (
                Reverse(Priority::parse(&self.priority)?),
                Timestamp::from_microsecond(self.created).ok()?,
                self.name.clone(),
            ),
            agent: self.agent,
            not_before: self.not_before.and_then(|time| Timestamp::from_microsecond(time).ok()),
            round: 0,
        };
        Some((self.name, seen))
    }
}

/// Reads what is written down.
pub(super) fn read(pending: &Path) -> Vec<(String, SeenFile)> {
    let lines: Vec<Line> = hint::read(pending, NAME).unwrap_or_default();
    lines.into_iter().filter_map(Line::seen).collect()
}

/// Writes down what was seen.
pub(super) fn write(pending: &Path, seen: &HashMap<String, SeenFile>) {
    let lines: Vec<Line> = seen.iter().map(|(name, seen)| Line::new(name, seen)).collect();
    hint::write(pending, NAME, &lines);
}

/// Reads what came first a moment ago; nothing if that was longer ago than a listing is used.
pub(super) fn read_head(pending: &Path) -> Vec<(String, SeenFile)> {
    let beside = pending.parent().unwrap_or(pending);
    let written = fs::metadata(beside.join(HEAD_NAME)).and_then(|found| found.modified());
    let Some(age) = written.ok().and_then(|written| written.elapsed().ok()).filter(|age| *age < HEAD_AGE_MAX) else {
        return Vec::new();
    };
    let head = hint::read(beside, HEAD_NAME).filter(|head: &Head| age < Duration::from_micros(head.took) * USED);
    head.into_iter().flat_map(|head| head.lines).filter_map(Line::seen).collect()
}

/// Writes down what comes first, after a listing that took so long.
pub(super) fn write_head<'s>(pending: &Path, first: impl Iterator<Item = &'s SeenFile>, took: Duration) {
    let lines = first.map(|seen| Line::new(&seen.key.2, seen)).collect();
    let took = took.min(HEAD_AGE_MAX).as_micros();
    let head = Head { took: u64::try_from(took).unwrap_or(0), lines };
    hint::write(pending.parent().unwrap_or(pending), HEAD_NAME, &head);
}
