//! The order in which handoffs are claimed: by priority, then by age, then by name.
//!
//! Each file is read once; after that its name and number stand for what it said. That is a hint, never the truth: a
//! claim reads the file again, and before anybody hears that nothing waits, every file is compared with its time.
//! Where many wait, the listing is used for a while: what another process created within the last milliseconds may then
//! be claimed after something less urgent. What this process created is known at once. A process that claims only once
//! takes what came first from the listing of another process, under the same condition.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::io;
use std::os::unix::fs::{DirEntryExt, MetadataExt};
use std::path::Path;
use std::sync::{MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use baton_engine::HandoffId;
use baton_protocol::model::terms::Priority;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use super::handoff;
use super::{Directory, DirectoryError, Folder, FolderHandoff, files, id_of, index};

/// A listing that took less is made anew for every claim; a longer one is used for a multiple of its time.
const CHEAP: Duration = Duration::from_micros(200);

/// How many times longer than it took to make it a listing is used.
pub(super) const USED: u32 = 4;

/// How many candidates are offered at once. Usually the first is free; the others serve when somebody is faster.
const CANDIDATES: usize = 64;

/// What was seen in `pending`.
#[derive(Debug, Default)]
pub(super) struct Queue {
    seen: HashMap<String, SeenFile>,
    order: BTreeSet<Key>,
    listed: Option<(Instant, Duration)>,
    /// Whether the head that another process wrote down was read.
    headed: bool,
    round: u64,
}

/// The most urgent first, then the oldest.
pub(super) type Key = (Reverse<Priority>, Timestamp, String);

/// When a file was written, and how large it is: what changes when it is written again.
pub(super) type Modified = (i64, i64, u64);

/// What a file said when it was read.
#[derive(Debug)]
pub(super) struct SeenFile {
    pub(super) number: u64,
    pub(super) modified: Modified,
    pub(super) key: Key,
    pub(super) agent: Option<String>,
    pub(super) not_before: Option<Timestamp>,
    pub(super) round: u64,
}

/// The members that decide about the order; the others are skipped while reading.
#[derive(Deserialize)]
struct Glance {
    timestamp: Option<Value>,
    priority: Option<Value>,
    target: Option<Value>,
    not_before: Option<Value>,
}

impl Directory {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes what this process put into `pending`.
    pub(super) fn note_waiting(&self, id: &HandoffId, handoff: &FolderHandoff) {
        let name = format!("{id}.json");
        let Ok(found) = fs::symlink_metadata(self.path(Folder::Pending, id)) else { return };
        let mut queue = self.queue();
        // Whoever only creates need not remember it all.
        if queue.listed.is_some() || queue.order.len() < CANDIDATES {
            let time = |member| handoff.time(member);
            let seen = SeenFile {
                number: found.ino(),
                modified: modified(&found),
                key: (
                    Reverse(handoff::priority_of(handoff.members.get("priority"))),
                    time("timestamp").unwrap_or(Timestamp::UNIX_EPOCH),
                    name.clone(),
                ),
                agent: handoff.to().map(str::to_owned),
                not_before: time("not_before"),
                round: queue.round,
            };
            queue.insert(name, seen);
        }
    }

    /// Returns what an agent could claim now and has not tried, in order; `thorough` looks at every file again.
    pub(super) fn waiting_for(
        &self,
        agent: &str,
        now: Timestamp,
        tried: &HashSet<HandoffId>,
        thorough: bool,
    ) -> Result<Vec<HandoffId>, DirectoryError> {
        let folder = self.folder(Folder::Pending);
        let mut queue = self.queue();
        queue.refresh(&folder, thorough)?;
        let first = queue.first(agent, now, tried);
        if !first.is_empty() || queue.listed.is_some() {
            return Ok(first);
        }
        // The head was of no use.
        queue.refresh(&folder, thorough)?;
        Ok(queue.first(agent, now, tried))
    }

    /// Forgets a file that turned out to be gone or different.
    pub(super) fn forget(&self, id: &HandoffId) {
        self.queue().forget(&format!("{id}.json"));
    }

    /// Returns when the next handoff of an agent that waits for its time may be claimed.
    pub(super) fn next_due(&self, agent: &str) -> Option<Timestamp> {
        let of_agent = |seen: &&SeenFile| seen.agent.as_deref().is_some_and(|to| handoff::same_agent(to, agent));
        self.queue().seen.values().filter(of_agent).filter_map(|seen| seen.not_before).min()
    }
}

impl Queue {
    fn refresh(&mut self, folder: &Path, thorough: bool) -> Result<(), DirectoryError> {
        let current = |(at, took): (Instant, Duration)| took >= CHEAP && at.elapsed() < took * USED;
        if !thorough && !self.order.is_empty() && self.listed.is_some_and(current) {
            return Ok(());
        }
        let began = Instant::now();
        let is_first = self.listed.is_none();
        if is_first {
            if !thorough && !self.headed {
                self.headed = true;
                let head = index::read_head(folder);
                if !head.is_empty() {
                    head.into_iter().for_each(|(name, seen)| self.insert(name, seen));
                    return Ok(());
                }
            }
            for (name, seen) in index::read(folder) {
                // What this process created it knows better.
                if !self.seen.contains_key(&name) {
                    self.insert(name, seen);
                }
            }
        }
        self.list(folder, thorough).map_err(|error| DirectoryError::io("list", folder, error))?;
        let took = began.elapsed();
        self.listed = Some((Instant::now(), took));
        if is_first && took >= CHEAP && self.order.len() > index::WORTHWHILE {
            index::write_head(folder, self.head(), took);
        }
        Ok(())
    }

    /// Returns what an agent could claim, in order.
    fn first(&self, agent: &str, now: Timestamp, tried: &HashSet<HandoffId>) -> Vec<HandoffId> {
        let ready = |seen: &&SeenFile| {
            seen.not_before.is_none_or(|time| time <= now)
                && seen.agent.as_deref().is_some_and(|to| handoff::same_agent(to, agent))
        };
        let in_order = self.order.iter().filter_map(|key| self.seen.get(&key.2)).filter(ready);
        let ids = in_order.filter_map(|seen| id_of(&seen.key.2)).filter(|id| !tried.contains(id));
        ids.take(CANDIDATES).collect()
    }

    /// Returns what comes first for each agent, in order.
    fn head(&self) -> impl Iterator<Item = &SeenFile> {
        let mut counts: HashMap<&str, usize> = HashMap::new();
        self.order.iter().filter_map(|key| self.seen.get(&key.2)).filter(move |seen| {
            let Some(agent) = seen.agent.as_deref() else { return false };
            let count = counts.entry(agent).or_default();
            *count += 1;
            *count <= CANDIDATES
        })
    }

    fn list(&mut self, folder: &Path, thorough: bool) -> io::Result<()> {
        self.round += 1;
        let mut read = 0;
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            if name.starts_with('.') || !name.ends_with(".json") {
                continue;
            }
            let number = entry.ino();
            if let Some(seen) = self.seen.get_mut(&name).filter(|seen| seen.number == number)
                && (!thorough || entry.metadata().is_ok_and(|found| modified(&found) == seen.modified))
            {
                seen.round = self.round;
                continue;
            }
            self.forget(&name);
            if let Some(seen) = glance(&entry.path(), &name, self.round) {
                self.insert(name, seen);
                read += 1;
            }
        }
        let round = self.round;
        let order = &mut self.order;
        self.seen.retain(|_, seen| seen.round == round || !order.remove(&seen.key));
        if read > index::WORTHWHILE {
            index::write(folder, &self.seen);
        }
        Ok(())
    }

    fn insert(&mut self, name: String, seen: SeenFile) {
        self.forget(&name);
        self.order.insert(seen.key.clone());
        self.seen.insert(name, seen);
    }

    fn forget(&mut self, name: &str) {
        if let Some(seen) = self.seen.remove(name) {
            self.order.remove(&seen.key);
        }
    }
}

fn modified(found: &fs::Metadata) -> Modified {
    (found.mtime(), found.mtime_nsec(), found.size())
}

/// Reads what decides the order; `None` if that is not possible (yet), or if the name is not an id.
fn glance(path: &Path, name: &str, round: u64) -> Option<SeenFile> {
    id_of(name)?;
    let file = files::open(path).ok()??;
    let found = file.metadata().ok()?;
    let glance: Glance = serde_json::from_slice(&files::read(&file, path).ok()?).ok()?;
    let time = |member: &Option<Value>| member.as_ref().and_then(Value::as_str).and_then(handoff::parse_time);
    let written = Timestamp::new(found.mtime(), i32::try_from(found.mtime_nsec()).unwrap_or(0)).ok();
    let created = time(&glance.timestamp).or(written).unwrap_or(Timestamp::UNIX_EPOCH);
    Some(SeenFile {
        number: found.ino(),
        modified: modified(&found),
        key: (Reverse(handoff::priority_of(glance.priority.as_ref())), created, name.to_owned()),
        agent: glance.target.as_ref().and_then(|to| to.get("agent_id")?.as_str()).map(str::to_owned),
        not_before: time(&glance.not_before),
        round,
    })
}
