//! What the processes have said: from then on it must be true for ever.

use std::collections::{BTreeMap, BTreeSet};

use baton_engine::Fence;

/// What the processes have said.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    /// The ids that somebody was told are accepted.
    pub(crate) accepted: BTreeSet<String>,
    /// The token with which each handoff was reported effectively, as its worker was told.
    pub(crate) done: BTreeMap<String, Fence>,
    /// Reports and failures that were refused because they came too late.
    pub(crate) late: Vec<(String, Fence)>,
    /// Attempts that failed, as their worker was told.
    pub(crate) failed: Vec<(String, Fence)>,
    /// How many bundles were there already when they were sent again.
    pub(crate) resent: u64,
    /// How many attempts were rescued from a lost worker.
    pub(crate) rescued: u64,
    /// How often a process found the store away, and what it was told last.
    pub(crate) away: (u64, String),
    /// How many calm workers found nothing left.
    pub(crate) drained: u64,
    /// What must never happen, and did.
    pub(crate) broken: Vec<String>,
    /// How many processes and servers were killed or stopped, by their kind.
    pub(crate) kills: BTreeMap<&'static str, u64>,
}

impl Ledger {
    /// Takes note of a line. Returns the number of the bundle if it says that one was sent.
    pub(crate) fn hear(&mut self, line: &str) -> Option<u64> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let parts: Vec<&str> = rest.split_whitespace().collect();
        match (word, &parts[..]) {
            ("sent" | "resent", [number, ids @ ..]) => {
                self.accepted.extend(ids.iter().map(|id| (*id).to_owned()));
                self.resent += u64::from(word == "resent");
                return Some(parse(number));
            }
            ("done", [id, fence, next @ ..]) => {
                self.accepted.extend(next.iter().map(|id| (*id).to_owned()));
                if let Some(before) = self.done.insert((*id).to_owned(), Fence(parse(fence))) {
                    self.broken.push(format!("{id} was done twice: with {before} and with {fence}"));
                }
            }
            ("late", [id, fence]) => self.late.push(((*id).to_owned(), Fence(parse(fence)))),
            ("failed", [id, fence]) => self.failed.push(((*id).to_owned(), Fence(parse(fence)))),
            ("rescued", [count]) => self.rescued += parse(count),
            ("drained", []) => self.drained += 1,
            ("away", _) => self.away = (self.away.0 + 1, rest.to_owned()),
            ("broken", _) => self.broken.push(rest.to_owned()),
            // The frame around a test writes lines of its own.
            _ => {}
        }
        None
    }

    /// Takes note of a kill.
    pub(crate) fn kill(&mut self, kind: &'static str) {
        *self.kills.entry(kind).or_default() += 1;
    }

    /// Estimates how many handoffs are not done.
    pub(crate) fn open(&self) -> usize {
        self.accepted.len().saturating_sub(self.done.len())
    }

    /// Returns how often something of this kind was killed.
    pub(crate) fn killed(&self, kind: &'static str) -> u64 {
        self.kills.get(kind).copied().unwrap_or(0)
    }
}

fn parse(text: &str) -> u64 {
    text.parse().unwrap_or_else(|_| panic!("`{text}` is no number"))
}
