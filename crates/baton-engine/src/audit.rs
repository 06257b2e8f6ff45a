//! The audit: verifies that a run's journal is intact, and that its rows follow from it.
//!
//! Pure: events come in the order of the store, rows at the end; every fault comes out as data that names its place.
//! A journal that was rewritten from some event to its end, together with the rows, is sound in itself; only a head that
//! was kept elsewhere shows that: an entry of the [`ledger`](crate::ledger), or what somebody wrote down.

mod kept_files;
mod ledger;

pub use ledger::{AnchorAudit, AnchorAuditor, JournalAt, LedgerAuditor, LedgerFault, LedgerFinding};

use std::collections::{BTreeMap, VecDeque};
use std::fmt;

use jiff::Timestamp;

use self::kept_files::KeptFiles;
use crate::approval;
use crate::handoff::{Digest, Handoff};
use crate::id::{HandoffId, RunId};
use crate::journal::{Event, Fact, Hash, Head};
use crate::ledger::{LedgerEntry, Occasion};
use crate::lifecycle::{self, Command, Refusal};

/// What the audit of a run showed.
#[derive(Debug, Clone, PartialEq)]
pub struct Audit {
    /// The run.
    pub run: RunId,
    /// How many events there are.
    pub events: u64,
    /// How many handoffs there are.
    pub handoffs: u64,
    /// The last event. Kept elsewhere, it can later prove that nothing before it was changed.
    pub head: Head,
    /// Everything that is wrong, in the order of the journal, the rows last.
    pub findings: Vec<AuditFinding>,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditFinding {
    /// The event, by its number.
    pub seq: Option<u64>,
    /// The handoff.
    pub handoff: Option<HandoffId>,
    /// What the event says that happened.
    pub kind: Option<String>,
    /// What is wrong.
    pub fault: AuditFault,
}

/// What can be wrong.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum AuditFault {
    /// The event or its hash is not what was written.
    #[error("it was changed: its hash is {found}, but its content gives {expected}")]
    Changed {
        /// The stored hash.
        found: Hash,
        /// The hash of what it says.
        expected: Hash,
    },
    /// Events before this one are not there.
    #[error("{}", removed(*.first, *.last))]
    Removed {
        /// The first that is missing.
        first: u64,
        /// The last that is missing.
        last: u64,
    },
    /// The last events of the journal are not there.
    #[error("the journal was truncated: the handoff refers to event {known}, but the last one is {last}")]
    CutOff {
        /// The last event that the row knows of.
        known: u64,
        /// The last event that is there.
        last: u64,
    },
    /// An event stands where another one belongs.
    #[error("unexpected event: event {expected} comes next")]
    OutOfOrder {
        /// The number that comes next.
        expected: u64,
    },
    /// An event of another run stands in this journal.
    #[error("it belongs to the run {0}")]
    OtherRun(RunId),
    /// The particulars cannot be read.
    #[error("{0}")]
    Unreadable(String),
    /// The lifecycle says that this cannot have happened.
    #[error("impossible: {0}")]
    Impossible(String),
    /// The journal has a decision that was not allowed: its signature does not fit, or somebody else had to decide.
    #[error("not permitted: {0}")]
    NotPermitted(Refusal),
    /// The events about a handoff are not numbered without gaps.
    #[error("it is event number {found} about its handoff, but number {expected} comes next")]
    Version {
        /// The stored number.
        found: u64,
        /// The number that comes next.
        expected: u64,
    },
    /// The event is older than the one before it.
    #[error("time runs backwards: the event before it happened at {before}, this one at {at}")]
    Backwards {
        /// The time of the event before it.
        before: Timestamp,
        /// Its own time.
        at: Timestamp,
    },
    /// The row is bound to another event than the last one about its handoff.
    #[error("the row ends with event {row}, but the last event about it is {journal}")]
    OtherHead {
        /// What the row says.
        row: u64,
        /// What the journal says.
        journal: u64,
    },
    /// The hash in the row is not that of its event.
    #[error("the row is bound to event {seq} with another hash: {row}, but the event has {journal}")]
    OtherHash {
        /// The event.
        seq: u64,
        /// The hash in the row.
        row: Hash,
        /// The hash of the event.
        journal: Hash,
    },
    /// The row says something else than its events.
    #[error("the row disagrees with the journal about {}", .0.join(", "))]
    OtherRow(Vec<&'static str>),
    /// There are events, but no row.
    #[error("it is in the journal, but has no row")]
    NoRow,
    /// There is a row, but no events.
    #[error("it has a row, but is not in the journal")]
    NoEvents,
    /// The journal does not end, or never stood, where somebody remembers it.
    #[error("no event has the expected head {0}")]
    HeadUnknown(Hash),
    /// The event is another one than the ledger knows.
    #[error("it was rewritten: it has the hash {found}, but ledger entry {entry} has {entered}")]
    Rewritten {
        /// The number of the entry.
        entry: u64,
        /// The hash in the ledger.
        entered: Hash,
        /// The hash of the event.
        found: Hash,
    },
    /// The journal has fewer events than the ledger knows.
    #[error("the journal was truncated: ledger entry {entry} refers to event {events}, but the last one is {last}")]
    Shortened {
        /// The number of the entry.
        entry: u64,
        /// How many events there were.
        events: u64,
        /// The last event that is there.
        last: u64,
    },
    /// A file that was kept is not in the store.
    #[error("{file} was kept with it (sha256 {}), and is not in the store", .digest.0)]
    FileMissing {
        /// Its path, where the journal names it.
        file: String,
        /// What identifies it.
        digest: Digest,
    },
    /// A file that was kept is another one.
    #[error("{file} was kept with it (sha256 {}), and the store has another file in its place", .digest.0)]
    FileChanged {
        /// Its path, where the journal names it.
        file: String,
        /// What identifies it.
        digest: Digest,
    },
    /// The store could not give what it has.
    #[error("{0}")]
    Damaged(String),
}

impl AuditFault {
    /// Returns a word for programs.
    pub fn code(&self) -> &'static str {
        match self {
            AuditFault::Changed { .. } => "changed",
            AuditFault::Removed { .. } => "removed",
            AuditFault::CutOff { .. } => "cut-off",
            AuditFault::OutOfOrder { .. } => "out-of-order",
            AuditFault::OtherRun(_) => "other-run",
            AuditFault::Unreadable(_) => "unreadable",
            AuditFault::Impossible(_) => "impossible",
            AuditFault::NotPermitted(_) => "not-permitted",
            AuditFault::Version { .. } => "version",
            AuditFault::Backwards { .. } => "backwards",
            AuditFault::OtherHead { .. } => "other-head",
            AuditFault::OtherHash { .. } => "other-hash",
            AuditFault::OtherRow(_) => "other-row",
            AuditFault::NoRow => "no-row",
            AuditFault::NoEvents => "no-events",
            AuditFault::HeadUnknown(_) => "head-unknown",
            AuditFault::Rewritten { .. } => "rewritten",
            AuditFault::Shortened { .. } => "shortened",
            AuditFault::FileMissing { .. } => "file-missing",
            AuditFault::FileChanged { .. } => "file-changed",
            AuditFault::Damaged(_) => "damaged",
        }
    }
}

fn removed(first: u64, last: u64) -> String {
    match first == last {
        true => format!("event {first} before it was removed"),
        false => format!("events {first} to {last} before it were removed"),
    }
}

/// Audits a run that is in memory: its events in the order of the store, and its rows.
pub fn verify(run: &RunId, events: &[Event], rows: &[(Handoff, Head)]) -> Audit {
    let mut auditor = Auditor::new(run.clone());
    events.iter().for_each(|event| auditor.event(event));
    auditor.finish(rows)
}

/// Takes the events of a run one after the other; what it keeps grows with the handoffs, not with the events.
#[derive(Debug)]
pub struct Auditor {
    audit: Audit,
    /// The hashes that the next event may follow from: more than one where the last event is in doubt.
    before: Vec<Hash>,
    tracks: BTreeMap<HandoffId, Track>,
    /// A hash that somebody kept elsewhere, until an event has it.
    kept: Option<Hash>,
    /// What the ledger knows of this journal, in the order of the events.
    entered: VecDeque<LedgerEntry>,
    files: KeptFiles,
}

/// How many hashes are remembered for one place.
const DOUBTS_MAX: usize = 8;

/// What the events about one handoff have given so far.
#[derive(Debug)]
struct Track {
    /// `None` after an event that could not be replayed.
    handoff: Option<Handoff>,
    head: Head,
    at: Timestamp,
    version: u64,
}

impl Auditor {
    /// Begins with an empty journal.
    pub fn new(run: RunId) -> Auditor {
        let audit = Audit { run, events: 0, handoffs: 0, head: Head::START, findings: Vec::new() };
        let before = vec![Head::START.hash];
        let (tracks, entered, files) = (BTreeMap::new(), VecDeque::new(), KeptFiles::default());
        Auditor { audit, before, tracks, kept: None, entered, files }
    }

    /// Demands that some event has this hash, because somebody kept it elsewhere.
    #[must_use]
    pub fn expecting(mut self, kept: Hash) -> Auditor {
        self.kept = Some(kept);
        self
    }

    /// Demands what the ledger knows of this run. Before the run was removed, its name belonged to another one.
    #[must_use]
    pub fn entered(mut self, mut entries: Vec<LedgerEntry>) -> Auditor {
        if let Some(removed) = entries.iter().rposition(|entry| entry.occasion == Occasion::Removed) {
            entries.drain(..=removed);
        }
        self.entered = entries.into();
        self
    }

    /// Takes the next event.
    pub fn event(&mut self, event: &Event) {
        self.audit.events += 1;
        if event.run != self.audit.run {
            self.find(event, AuditFault::OtherRun(event.run.clone()));
        }
        if self.kept == Some(event.hash) {
            self.kept = None;
        }
        let expected = self.audit.head.seq + 1;
        if event.seq < expected {
            self.find(event, AuditFault::OutOfOrder { expected });
            self.doubt(event);
            return;
        }
        let torn = event.seq > expected;
        if torn {
            self.find(event, AuditFault::Removed { first: expected, last: event.seq - 1 });
        }
        self.compare_with_ledger(event);
        self.bind(event, torn);
        self.replay(event);
        self.audit.head = event.head();
    }

    /// Looks whether the event is the one that the ledger knows.
    fn compare_with_ledger(&mut self, event: &Event) {
        while let Some(entry) = self.entered.pop_front_if(|entry| entry.head.seq <= event.seq) {
            // An event that is missing is told as such.
            if entry.head.seq == event.seq && entry.head.hash != event.hash {
                let (entered, found) = (entry.head.hash, event.hash);
                self.find(event, AuditFault::Rewritten { entry: entry.number, entered, found });
            }
        }
    }

    /// Takes a fault that the store reported.
    pub fn damage(&mut self, message: String) {
        self.audit.findings.push(AuditFinding {
            seq: None,
            handoff: None,
            kind: None,
            fault: AuditFault::Damaged(message),
        });
    }

    /// Compares the rows with what the events have given, and returns what was found.
    pub fn finish(self, rows: &[(Handoff, Head)]) -> Audit {
        let Auditor { mut audit, mut tracks, kept, entered, .. } = self;
        audit.handoffs = tracks.len() as u64;
        for (row, head) in rows {
            let track = tracks.remove(&row.id);
            let faults = compare(row, *head, track.as_ref(), audit.head.seq);
            let finding = |fault| AuditFinding { seq: None, handoff: Some(row.id.clone()), kind: None, fault };
            audit.findings.extend(faults.into_iter().map(finding));
        }
        for (id, track) in tracks {
            let seq = Some(track.head.seq);
            audit.findings.push(AuditFinding { seq, handoff: Some(id), kind: None, fault: AuditFault::NoRow });
        }
        if let Some(entry) = entered.back() {
            let fault = AuditFault::Shortened { entry: entry.number, events: entry.head.seq, last: audit.head.seq };
            audit.findings.push(AuditFinding { seq: None, handoff: None, kind: None, fault });
        }
        if let Some(hash) = kept {
            let fault = AuditFault::HeadUnknown(hash);
            audit.findings.push(AuditFinding { seq: None, handoff: None, kind: None, fault });
        }
        audit
    }

    fn find(&mut self, event: &Event, fault: AuditFault) {
        let finding = AuditFinding {
            seq: Some(event.seq),
            handoff: Some(event.handoff.clone()),
            kind: Some(event.kind.clone()),
            fault,
        };
        self.audit.findings.push(finding);
    }

    /// Looks whether the event is bound to the one before it; behind a gap that one is not known.
    fn bind(&mut self, event: &Event, torn: bool) {
        let expected = event.hash_after(&self.audit.head.hash);
        let follows = torn || self.before.iter().any(|hash| event.hash_after(hash) == event.hash);
        self.before = vec![event.hash];
        if !follows {
            // Where only the hash was changed, the next event still follows from what this one says.
            self.before.push(expected);
            self.find(event, AuditFault::Changed { found: event.hash, expected });
        }
    }

    /// Remembers that the event at the end may be this one instead.
    fn doubt(&mut self, event: &Event) {
        if event.seq == self.audit.head.seq && self.before.len() < DOUBTS_MAX {
            self.before.push(event.hash);
        }
    }

    /// Looks whether what the event tells was possible, and what it gives.
    fn replay(&mut self, event: &Event) {
        let track = self.tracks.remove(&event.handoff);
        let (before, version) = match &track {
            Some(track) => (Some(track.at), track.version + 1),
            None => (None, 1),
        };
        if let Some(before) = before.filter(|before| *before > event.at) {
            self.find(event, AuditFault::Backwards { before, at: event.at });
        }
        let broken = track.as_ref().is_some_and(|track| track.handoff.is_none());
        let known = track.and_then(|track| track.handoff);
        let handoff = if event.version != version {
            self.find(event, AuditFault::Version { found: event.version, expected: version });
            None
        } else {
            self.apply(known, broken, event)
        };
        let track = Track { handoff, head: event.head(), at: event.at, version: event.version };
        self.tracks.insert(event.handoff.clone(), track);
    }

    fn apply(&mut self, known: Option<Handoff>, broken: bool, event: &Event) -> Option<Handoff> {
        let fact = match event.fact() {
            Ok(fact) => fact,
            Err(why) => {
                self.find(event, AuditFault::Unreadable(why.to_string()));
                return None;
            }
        };
        if let Fact::Happened(Command::Verify(verify)) = &fact {
            self.files.take(event, verify);
        }
        if broken {
            // What follows from an event that could not be replayed is not known; it is named already.
            return None;
        }
        if let (Some(handoff), Fact::Happened(Command::Decide(decide))) = (&known, &fact)
            && let Err(refusal) = approval::permit(handoff, decide, event.at)
        {
            self.find(event, AuditFault::NotPermitted(refusal));
        }
        match lifecycle::replay(known, fact, event.at) {
            Ok(handoff) if handoff.id != event.handoff || handoff.run != event.run => {
                self.find(event, AuditFault::Impossible(format!("it accepts {} in {}", handoff.id, handoff.run)));
                None
            }
            Ok(handoff) => Some(handoff),
            Err(why) => {
                self.find(event, AuditFault::Impossible(why.to_string()));
                None
            }
        }
    }
}

/// Compares a row with what the events about its handoff have given.
fn compare(row: &Handoff, head: Head, track: Option<&Track>, last: u64) -> Vec<AuditFault> {
    let Some(track) = track else {
        return match head.seq > last {
            true => vec![AuditFault::CutOff { known: head.seq, last }],
            false => vec![AuditFault::NoEvents],
        };
    };
    let mut faults = Vec::new();
    if head.seq > last {
        return vec![AuditFault::CutOff { known: head.seq, last }];
    } else if head.seq != track.head.seq {
        faults.push(AuditFault::OtherHead { row: head.seq, journal: track.head.seq });
    } else if head.hash != track.head.hash {
        faults.push(AuditFault::OtherHash { seq: head.seq, row: head.hash, journal: track.head.hash });
    }
    let differences = track.handoff.as_ref().map(|replayed| differences(row, replayed)).unwrap_or_default();
    if !differences.is_empty() {
        faults.push(AuditFault::OtherRow(differences));
    }
    faults
}

fn differences(row: &Handoff, replayed: &Handoff) -> Vec<&'static str> {
    let same = [
        ("run", row.run == replayed.run),
        ("terms", row.terms == replayed.terms),
        ("request", row.request == replayed.request),
        ("accepted_at", row.accepted_at == replayed.accepted_at),
        ("changed_at", row.changed_at == replayed.changed_at),
        ("version", row.version == replayed.version),
        ("fence", row.fence == replayed.fence),
        ("attempts", row.attempts == replayed.attempts),
        ("state", row.state == replayed.state),
        ("notes", row.notes == replayed.notes),
        ("last_report", row.last_report == replayed.last_report),
        ("evidence", row.evidence == replayed.evidence),
        ("last_failure", row.last_failure == replayed.last_failure),
        ("approvals", row.approvals == replayed.approvals),
    ];
    same.into_iter().filter(|(_, same)| !same).map(|(name, _)| name).collect()
}

impl fmt::Display for AuditFinding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.seq, &self.kind, &self.handoff) {
            (Some(seq), Some(kind), Some(handoff)) => write!(formatter, "event {seq} ({kind}, {handoff}): ")?,
            (_, _, Some(handoff)) => write!(formatter, "handoff {handoff}: ")?,
            (Some(seq), _, None) => write!(formatter, "event {seq}: ")?,
            (None, _, None) => write!(formatter, "journal: ")?,
        }
        write!(formatter, "{}", self.fault)
    }
}

#[cfg(test)]
mod tests;
