//! Figures: what many worlds came to together.

use std::collections::BTreeMap;
use std::time::Duration;

use baton_engine::memory::MetCells;

use crate::world::WorldEnd;

/// What must have happened in enough worlds; a fault that is never tried proves nothing.
pub const KINDS: [&str; 39] = [
    "agent answers when time limit reached",
    "agent fails",
    "agent fails for good",
    "agent hangs",
    "agent lies",
    "agent says nothing that can be read",
    "approved files changed",
    "clock jumps",
    "clocks apart",
    "connection lost while waiting",
    "driver cut off",
    "driver killed",
    "driver killed after a commit",
    "driver killed before a commit",
    "driver lost its run",
    "driver paused",
    "driver paused after a commit",
    "driver paused before a commit",
    "driver told to stop",
    "driver waits for people",
    "run begins again",
    "party cut off",
    "person answers late",
    "person decides about what may have changed",
    "person decides twice",
    "person never answers",
    "report with an old token",
    "run accepted",
    "run called off",
    "run ended",
    "run waits for somebody",
    "store: answer lost",
    "store: refused",
    "store: slow",
    "store: slow answer",
    "wake-up doubled",
    "wake-up lost",
    "worker answers after its lease",
    "worker answers twice",
];

/// What many worlds came to together.
#[derive(Debug, Clone, Default)]
pub struct Figures {
    /// How many worlds.
    pub worlds: u64,
    /// How long they lasted together.
    pub lasted: Duration,
    /// How many events were written.
    pub events: u64,
    /// What happened, and how often.
    pub tally: BTreeMap<&'static str, u64>,
    /// Which commands were tried in which states.
    pub met: MetCells,
}

impl Figures {
    /// Adds a world.
    pub fn add(&mut self, ended: &WorldEnd) {
        self.worlds += 1;
        self.lasted += ended.lasted;
        self.events += ended.journals.len() as u64;
        for (name, times) in &ended.tally {
            *self.tally.entry(name).or_default() += times;
        }
        self.met.add(&ended.met);
    }

    /// Adds what others have seen.
    pub fn merge(&mut self, other: &Figures) {
        self.worlds += other.worlds;
        self.lasted += other.lasted;
        self.events += other.events;
        for (name, times) in &other.tally {
            *self.tally.entry(name).or_default() += times;
        }
        self.met.add(&other.met);
    }

    /// Returns how many hours were simulated.
    pub fn hours(&self) -> u64 {
        self.lasted.as_secs() / 3600
    }

    /// Returns how many drivers were killed.
    pub fn kills(&self) -> u64 {
        self.tally.get("driver killed").copied().unwrap_or_default()
    }

    /// Returns what has never happened and should have: kinds of faults, and cells of the lifecycle table.
    pub fn missing(&self) -> Vec<String> {
        let kinds = KINDS.iter().filter(|kind| !self.tally.contains_key(**kind)).map(|kind| (*kind).to_owned());
        kinds.chain(self.met.missing()).collect()
    }

    /// Writes everything down, a line each.
    pub fn table(&self) -> String {
        let head = format!(
            "{} worlds, {} hours, {} driver kills, {} events, {} cells of the lifecycle table\n",
            self.worlds,
            self.hours(),
            self.kills(),
            self.events,
            self.met.len()
        );
        let lines = self.tally.iter().map(|(name, times)| format!("{times:>12} {name}\n"));
        head + &lines.collect::<String>()
    }
}
