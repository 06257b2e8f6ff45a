//! The audit of a ledger: its chain, and the lines of it that were kept elsewhere.
//!
//! Pure: entries come in the order of their numbers, lines in the order of their file; every fault comes out as data.
//! Whether a run still exists is known to the caller.

use std::collections::BTreeSet;
use std::fmt;

use crate::id::RunId;
use crate::journal::Hash;
use crate::ledger::{LedgerEnd, LedgerEntry, LedgerLineFault, Occasion};

/// One thing that is wrong with a ledger, or with what was kept of it elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerFinding {
    /// The entry, by its number.
    pub entry: Option<u64>,
    /// The line of the anchor file.
    pub line: Option<u64>,
    /// The run that it is about.
    pub run: Option<RunId>,
    /// What is wrong.
    pub fault: LedgerFault,
}

/// What can be wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LedgerFault {
    /// The entry or its digest is not what was written.
    #[error("it was changed: its digest is {found}, but its content gives {expected}")]
    EntryChanged {
        /// The stored digest.
        found: Hash,
        /// The digest of what it says.
        expected: Hash,
    },
    /// Entries before this one are not there.
    #[error("{} before it {} removed", entries(*.first, *.last), were(*.first, *.last))]
    EntriesRemoved {
        /// The first that is missing.
        first: u64,
        /// The last that is missing.
        last: u64,
    },
    /// The run is not in the store, and no entry says that it was removed.
    #[error("the run was removed: it had {events} {}", plural(*.events))]
    RunRemoved {
        /// How many events it had.
        events: u64,
    },
    /// The journal has fewer events than it had.
    #[error("the journal of the run was truncated: it had {events} {}", plural(*.events))]
    RunCutOff {
        /// How many events it had.
        events: u64,
    },
    /// The event has another hash than it had.
    #[error("the run was rewritten: event {event} had the hash {anchored}, and now has {found}")]
    RunRewritten {
        /// The event.
        event: u64,
        /// What was kept elsewhere.
        anchored: Hash,
        /// What the journal has.
        found: Hash,
    },
    /// The ledger says something else than what was kept of it.
    #[error("the ledger was rewritten from this entry on: the anchor has the digest {anchored}, the ledger {found}")]
    LedgerRewritten {
        /// What was kept elsewhere.
        anchored: Hash,
        /// What the ledger has.
        found: Hash,
    },
    /// The entry says something else than what was kept of it, under the same digest.
    #[error("the entry was changed: the anchor has `{0}`")]
    EntryRewritten(Box<LedgerEntry>),
    /// The ledger does not have the entry, but later ones.
    #[error("the entry was removed from the ledger: the anchor has `{0}`")]
    EntryMissing(Box<LedgerEntry>),
    /// The anchor file is not there, or cannot be read.
    #[error("the anchor file cannot be read: {0}")]
    AnchorUnreadable(String),
    /// The ledger does not have what was kept of it.
    #[error("the ledger was truncated: the anchor has this entry, the ledger ends with entry {last}")]
    LedgerCutOff {
        /// The last entry of the ledger.
        last: u64,
    },
    /// The line of an anchor file cannot be read.
    #[error("the line cannot be read: {0}")]
    LineUnreadable(LedgerLineFault),
    /// The line of an anchor file is not what was written.
    #[error("the line was changed: the ledger has `{0}`")]
    LineChanged(Box<LedgerEntry>),
    /// Lines of the anchor file are not there.
    #[error("the anchor lacks {}, which {} delivered to it", entries(*.first, *.last), were(*.first, *.last))]
    LinesMissing {
        /// The first entry that is missing.
        first: u64,
        /// The last entry that is missing.
        last: u64,
    },
    /// The ledger says that a run was removed, but nothing outside of the store says so.
    #[error("the run was removed, and the anchor has no record of it; if you pruned it, run `baton audit anchor`")]
    RemovalNotAnchored,
    /// The store could not give what it has.
    #[error("{0}")]
    Damaged(String),
}

impl LedgerFault {
    /// Returns a word for programs.
    pub fn code(&self) -> &'static str {
        match self {
            LedgerFault::EntryChanged { .. } => "entry-changed",
            LedgerFault::EntriesRemoved { .. } => "entries-removed",
            LedgerFault::RunRemoved { .. } => "run-removed",
            LedgerFault::RunCutOff { .. } => "run-cut-off",
            LedgerFault::RunRewritten { .. } => "run-rewritten",
            LedgerFault::LedgerRewritten { .. } => "ledger-rewritten",
            LedgerFault::EntryRewritten(_) => "entry-rewritten",
            LedgerFault::EntryMissing(_) => "entry-missing",
            LedgerFault::AnchorUnreadable(_) => "anchor-unreadable",
            LedgerFault::LedgerCutOff { .. } => "ledger-cut-off",
            LedgerFault::LineUnreadable(_) => "line-unreadable",
            LedgerFault::LineChanged(_) => "line-changed",
            LedgerFault::LinesMissing { .. } => "lines-missing",
            LedgerFault::RemovalNotAnchored => "removal-not-anchored",
            LedgerFault::Damaged(_) => "damaged",
        }
    }
}

fn entries(first: u64, last: u64) -> String {
    if first == last { format!("entry {first}") } else { format!("entries {first} to {last}") }
}

fn were(first: u64, last: u64) -> &'static str {
    if first == last { "was" } else { "were" }
}

fn plural(events: u64) -> &'static str {
    if events == 1 { "event" } else { "events" }
}

/// What the store has where an entry or a line says that a journal had come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JournalAt {
    /// The event has this hash.
    Event(Hash),
    /// The run is there, but not this event.
    Shorter,
    /// The run is not there.
    Nothing,
}

/// Takes the entries of a ledger one after the other.
#[derive(Debug)]
pub struct LedgerAuditor {
    end: LedgerEnd,
    findings: Vec<LedgerFinding>,
    missing: BTreeSet<RunId>,
}

impl Default for LedgerAuditor {
    fn default() -> Self {
        LedgerAuditor { end: LedgerEnd::START, findings: Vec::new(), missing: BTreeSet::new() }
    }
}

impl LedgerAuditor {
    /// Takes the next entry. What the journal has is asked for where nothing says that the run was removed later.
    pub fn entry(&mut self, entry: &LedgerEntry, journal: Option<JournalAt>) {
        let mut find = |run, fault| {
            self.findings.push(LedgerFinding { entry: Some(entry.number), line: None, run, fault });
        };
        let is_torn = entry.number != self.end.number + 1;
        if is_torn {
            let (first, last) = (self.end.number + 1, entry.number.saturating_sub(1));
            find(None, LedgerFault::EntriesRemoved { first, last });
        }
        let expected = entry.digest_after(&self.end.digest);
        if !is_torn && expected != entry.digest {
            find(Some(entry.run.clone()), LedgerFault::EntryChanged { found: entry.digest, expected });
        }
        // The journals of runs that are there are compared with their entries when they are audited themselves.
        if journal == Some(JournalAt::Nothing) && self.missing.insert(entry.run.clone()) {
            find(Some(entry.run.clone()), LedgerFault::RunRemoved { events: entry.head.seq });
        }
        self.end = entry.end();
    }

    /// Takes a fault that the store reported.
    pub fn damage(&mut self, message: String) {
        let fault = LedgerFault::Damaged(message);
        self.findings.push(LedgerFinding { entry: None, line: None, run: None, fault });
    }

    /// Returns the last entry, and what was found.
    pub fn finish(self) -> (LedgerEnd, Vec<LedgerFinding>) {
        (self.end, self.findings)
    }
}

/// Takes the lines of an anchor file one after the other, and compares them with the ledger.
#[derive(Debug)]
pub struct AnchorAuditor {
    /// The last entry of the ledger.
    ledger_end: u64,
    /// The entry of the line before this one.
    before: Option<(u64, Hash)>,
    /// The highest entry that a line was for.
    highest: u64,
    lines: u64,
    is_rewritten: bool,
    findings: Vec<LedgerFinding>,
}

impl AnchorAuditor {
    /// Begins with a ledger that ends with this entry.
    pub fn new(ledger_end: u64) -> AnchorAuditor {
        AnchorAuditor { ledger_end, before: None, highest: 0, lines: 0, is_rewritten: false, findings: Vec::new() }
    }

    /// Takes the next line, with the entry of the same number and the one before that. Returns whether the line and the
    /// ledger disagree about a journal, which [`AnchorAuditor::disputed`] then wants to see.
    pub fn line(
        &mut self,
        number: u64,
        line: &Result<LedgerEntry, LedgerLineFault>,
        entry: Option<&LedgerEntry>,
        before: Option<&LedgerEntry>,
    ) -> bool {
        self.lines += 1;
        let line = match line {
            Ok(line) => line,
            Err(why) => {
                self.find(number, None, None, LedgerFault::LineUnreadable(why.clone()));
                return false;
            }
        };
        if line.number > self.highest + 1 {
            let (first, last) = (self.highest + 1, line.number - 1);
            self.find(number, None, None, LedgerFault::LinesMissing { first, last });
        }
        self.highest = self.highest.max(line.number);
        let previous = self.before.replace((line.number, line.digest));
        if entry == Some(line) {
            return false;
        }
        let follows = |digest: &Hash| line.digest_after(digest) == line.digest;
        let is_genuine = line.number == 1 && follows(&LedgerEnd::START.digest)
            || previous.is_some_and(|(number, digest)| number + 1 == line.number && follows(&digest))
            || before.is_some_and(|before| follows(&before.digest));
        match entry {
            Some(entry) if !is_genuine => {
                // Behind a line that was changed nothing follows; then the ledger tells which of the two it was.
                self.find(number, Some(line), None, LedgerFault::LineChanged(Box::new(entry.clone())));
                false
            }
            Some(entry) => {
                if line.digest == entry.digest {
                    // The chain was not computed again, so the entries behind it are what they were.
                    self.find(number, Some(line), None, LedgerFault::EntryRewritten(Box::new(line.clone())));
                } else if !self.is_rewritten {
                    let fault = LedgerFault::LedgerRewritten { anchored: line.digest, found: entry.digest };
                    self.find(number, Some(line), None, fault);
                    self.is_rewritten = true;
                }
                // What only has another digest follows from an entry before it.
                (&line.run, line.head, line.occasion) != (&entry.run, entry.head, entry.occasion)
            }
            None => {
                if line.number < self.ledger_end {
                    self.find(number, Some(line), None, LedgerFault::EntryMissing(Box::new(line.clone())));
                } else if !self.is_rewritten {
                    self.find(number, Some(line), None, LedgerFault::LedgerCutOff { last: self.ledger_end });
                    self.is_rewritten = true;
                }
                true
            }
        }
    }

    /// Takes what the journal has where a line says that it had come, after the ledger disagreed.
    pub fn disputed(&mut self, number: u64, line: &LedgerEntry, journal: JournalAt) {
        let events = line.head.seq;
        let fault = match journal {
            _ if line.occasion == Occasion::Removed => return,
            JournalAt::Event(found) if found == line.head.hash => return,
            JournalAt::Event(found) => LedgerFault::RunRewritten { event: events, anchored: line.head.hash, found },
            JournalAt::Shorter => LedgerFault::RunCutOff { events },
            JournalAt::Nothing => LedgerFault::RunRemoved { events },
        };
        self.find(number, Some(line), Some(line.run.clone()), fault);
    }

    /// Returns the highest entry that a line was for.
    pub fn highest(&self) -> u64 {
        self.highest
    }

    /// Takes an entry without an anchored line. Somebody who removes a run could enter it as pruned.
    pub fn without_line(&mut self, entry: &LedgerEntry) {
        if entry.occasion == Occasion::Removed {
            let (number, run) = (Some(entry.number), Some(entry.run.clone()));
            let fault = LedgerFault::RemovalNotAnchored;
            self.findings.push(LedgerFinding { entry: number, line: None, run, fault });
        }
    }

    /// Takes that the file cannot be read.
    pub fn unreadable(&mut self, why: String) {
        let fault = LedgerFault::AnchorUnreadable(why);
        self.findings.push(LedgerFinding { entry: None, line: None, run: None, fault });
    }

    /// Returns what was found; `delivered` is the last entry that the store remembers to have delivered to this file.
    pub fn finish(mut self, delivered: Option<u64>) -> AnchorAudit {
        let delivered = delivered.unwrap_or(0);
        if delivered > self.highest {
            let fault = LedgerFault::LinesMissing { first: self.highest + 1, last: delivered };
            self.findings.push(LedgerFinding { entry: None, line: None, run: None, fault });
        }
        let waiting = self.ledger_end.saturating_sub(self.highest.max(delivered));
        AnchorAudit { lines: self.lines, waiting, findings: self.findings }
    }

    fn find(&mut self, number: u64, line: Option<&LedgerEntry>, run: Option<RunId>, fault: LedgerFault) {
        self.findings.push(LedgerFinding { entry: line.map(|line| line.number), line: Some(number), run, fault });
    }
}

/// What the audit of an anchor file showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnchorAudit {
    /// How many lines there are.
    pub lines: u64,
    /// How many entries of the ledger were not delivered yet.
    pub waiting: u64,
    /// Everything that is wrong.
    pub findings: Vec<LedgerFinding>,
}

impl fmt::Display for LedgerFinding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = self.line.map(|line| format!("line {line}"));
        let entry = self.entry.map(|entry| format!("entry {entry}"));
        let run = self.run.as_ref().map(|run| format!("run {run}"));
        let place: Vec<String> = [line, entry, run].into_iter().flatten().collect();
        if !place.is_empty() {
            write!(formatter, "{}: ", place.join(", "))?;
        }
        write!(formatter, "{}", self.fault)
    }
}
