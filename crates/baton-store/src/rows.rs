//! How a handoff is stored, for both databases: what must be looked up in columns, the rest in a versioned body.

use std::borrow::Cow;
use std::sync::Arc;

use baton_engine::approval::Vote;
use baton_engine::failure::Failure;
use baton_engine::handoff::{Ask, Digest, Lease, Note};
use baton_engine::journal::{Hash, Head};
use baton_engine::ledger::{LedgerEntry, Occasion};
use baton_engine::store::Error;
use baton_engine::{Handoff, HandoffId, Priority, RunId, State, Terms};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The row of a handoff.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    pub(crate) id: String,
    pub(crate) run: String,
    pub(crate) version: i64,
    pub(crate) fence: i64,
    /// The event with the request.
    pub(crate) accepted_seq: i64,
    /// The last event about this handoff, and its hash.
    pub(crate) last_seq: i64,
    pub(crate) head: Vec<u8>,
    pub(crate) body: String,
}

/// The row of an entry of the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LedgerRow {
    pub(crate) number: i64,
    pub(crate) at: i64,
    pub(crate) occasion: String,
    pub(crate) run: String,
    pub(crate) events: i64,
    pub(crate) head: Vec<u8>,
    pub(crate) digest: Vec<u8>,
}

impl LedgerRow {
    /// Reads the entry.
    pub(crate) fn entry(self) -> Result<LedgerEntry, Error> {
        let unknown = || Error::Damaged(format!("ledger entry {}: `{}` is unknown", self.number, self.occasion));
        Ok(LedgerEntry {
            number: unsigned(self.number)?,
            at: time(self.at)?,
            occasion: Occasion::parse(&self.occasion).ok_or_else(unknown)?,
            run: RunId::parse(self.run).map_err(Error::Damaged)?,
            head: Head { seq: unsigned(self.events)?, hash: hash(&self.head)? },
            digest: hash(&self.digest)?,
        })
    }
}

/// What follows from the handoff and stands in columns to be looked up or guarded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Columns<'h> {
    pub(crate) agent: &'h str,
    pub(crate) priority: i16,
    pub(crate) state: &'static str,
    pub(crate) ready_at: Option<i64>,
    pub(crate) wake_at: Option<i64>,
    pub(crate) finished_at: Option<i64>,
    pub(crate) key: Option<&'h str>,
}

/// The stored form of what needs no column. A promise: what is written today must be readable for ever.
#[derive(Debug, Serialize, Deserialize)]
struct Body<'h> {
    v: u32,
    terms: Cow<'h, Terms>,
    request: Cow<'h, Digest>,
    accepted_at: Timestamp,
    changed_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    deadline: Option<Timestamp>,
    attempts: u32,
    state: StoredState<'h>,
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    notes: Cow<'h, [Note]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last_report: Option<Cow<'h, Digest>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    evidence: Option<Cow<'h, Digest>>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    has_files: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    approved: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last_failure: Option<Cow<'h, Failure>>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    returned_early: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    routed: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    review_owed: bool,
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    approvals: Cow<'h, [Vote]>,
}

/// The stored form of a state.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredState<'h> {
    Pending {
        ready_at: Timestamp,
    },
    Claimed {
        claimant: Cow<'h, str>,
        since: Timestamp,
        until: Timestamp,
        length_ms: u64,
        acknowledged: bool,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        driven: bool,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        times_itself: bool,
    },
    Verifying,
    Blocked {
        reason: Cow<'h, str>,
    },
    AwaitingPerson {
        ask: Ask,
    },
    Completed {
        at: Timestamp,
    },
    Failed {
        at: Timestamp,
    },
    Cancelled {
        at: Timestamp,
    },
}

/// The version of the stored body.
const BODY_VERSION: u32 = 1;

impl<'h> Columns<'h> {
    /// Returns what stands in columns.
    pub(crate) fn of(handoff: &'h Handoff) -> Columns<'h> {
        Columns {
            agent: handoff.terms.queue(),
            priority: rank(handoff.terms.priority),
            state: handoff.state.name().as_str(),
            ready_at: match handoff.state {
                State::Pending { ready_at } => Some(ready_at.as_microsecond()),
                State::Claimed { .. }
                | State::Verifying
                | State::Blocked { .. }
                | State::AwaitingPerson { .. }
                | State::Completed { .. }
                | State::Failed { .. }
                | State::Cancelled { .. } => None,
            },
            wake_at: handoff.wakes_at().map(Timestamp::as_microsecond),
            finished_at: handoff.state.finished_at().map(Timestamp::as_microsecond),
            key: handoff.terms.key.as_deref(),
        }
    }
}

/// The columns as they are stored, to be compared with what they follow from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoredColumns {
    pub(crate) agent: String,
    pub(crate) priority: i16,
    pub(crate) state: String,
    pub(crate) ready_at: Option<i64>,
    pub(crate) wake_at: Option<i64>,
    pub(crate) finished_at: Option<i64>,
    pub(crate) key: Option<String>,
}

impl StoredColumns {
    /// Looks whether the columns say what the handoff says; queues and pruning go by the columns.
    pub(crate) fn agree_with(&self, handoff: &Handoff) -> Result<(), Error> {
        let meant = Columns::of(handoff);
        let pairs = [
            ("agent", self.agent == meant.agent),
            ("priority", self.priority == meant.priority),
            ("state", self.state == meant.state),
            ("ready_at", self.ready_at == meant.ready_at),
            ("wake_at", self.wake_at == meant.wake_at),
            ("finished_at", self.finished_at == meant.finished_at),
            ("key", self.key.as_deref() == meant.key),
        ];
        match pairs.iter().find(|(_, same)| !same) {
            None => Ok(()),
            Some((column, _)) => {
                Err(Error::Damaged(format!("the row of handoff `{}`: its `{column}` was changed", handoff.id)))
            }
        }
    }
}

/// Priorities as numbers: the more urgent, the higher.
pub(crate) fn rank(priority: Priority) -> i16 {
    match priority {
        Priority::Low => 0,
        Priority::Normal => 1,
        Priority::High => 2,
        Priority::Critical => 3,
    }
}

/// Returns the stored body of a handoff.
pub(crate) fn body(handoff: &Handoff) -> String {
    let body = Body {
        v: BODY_VERSION,
        terms: Cow::Borrowed(&handoff.terms),
        request: Cow::Borrowed(&handoff.request),
        accepted_at: handoff.accepted_at,
        changed_at: handoff.changed_at,
        deadline: handoff.deadline,
        attempts: handoff.attempts,
        state: StoredState::from(&handoff.state),
        notes: Cow::Borrowed(&handoff.notes),
        last_report: handoff.last_report.as_ref().map(Cow::Borrowed),
        evidence: handoff.evidence.as_ref().map(Cow::Borrowed),
        has_files: handoff.has_files,
        approved: handoff.approved,
        last_failure: handoff.last_failure.as_ref().map(Cow::Borrowed),
        returned_early: handoff.returned_early,
        routed: handoff.routed,
        review_owed: handoff.review_owed,
        approvals: Cow::Borrowed(&handoff.approvals),
    };
    serde_json::to_string(&body).expect("a body has text keys and finite numbers only")
}

impl Row {
    /// Reads the handoff; a row that cannot be read is damage, never a guess.
    pub(crate) fn handoff(&self) -> Result<Handoff, Error> {
        let damaged = |why: String| Error::Damaged(format!("the row of handoff `{}`: {why}", self.id));
        let body: Body<'_> = serde_json::from_str(&self.body).map_err(|error| damaged(error.to_string()))?;
        if body.v != BODY_VERSION {
            return Err(damaged(format!("its body has version {}, but only {BODY_VERSION} is known", body.v)));
        }
        Ok(Handoff {
            id: HandoffId::parse(self.id.as_str()).map_err(damaged)?,
            run: RunId::parse(self.run.as_str()).map_err(damaged)?,
            terms: Arc::new(body.terms.into_owned()),
            request: body.request.into_owned(),
            accepted_at: body.accepted_at,
            changed_at: body.changed_at,
            deadline: body.deadline,
            version: unsigned(self.version)?,
            fence: unsigned(self.fence)?,
            attempts: body.attempts,
            state: State::from(body.state),
            notes: body.notes.into_owned(),
            last_report: body.last_report.map(Cow::into_owned),
            evidence: body.evidence.map(Cow::into_owned),
            has_files: body.has_files,
            approved: body.approved,
            last_failure: body.last_failure.map(Cow::into_owned),
            returned_early: body.returned_early,
            routed: body.routed,
            review_owed: body.review_owed,
            approvals: body.approvals.into_owned(),
        })
    }

    /// Returns the last event that the row knows of.
    pub(crate) fn head(&self) -> Result<Head, Error> {
        Ok(Head { seq: unsigned(self.last_seq)?, hash: hash(&self.head)? })
    }
}

impl<'h> From<&'h State> for StoredState<'h> {
    fn from(state: &'h State) -> Self {
        match state {
            State::Pending { ready_at } => StoredState::Pending { ready_at: *ready_at },
            State::Claimed { lease } => StoredState::Claimed {
                claimant: Cow::Borrowed(&lease.claimant),
                since: lease.since,
                until: lease.until,
                length_ms: lease.length_ms,
                acknowledged: lease.acknowledged,
                driven: lease.driven,
                times_itself: lease.times_itself,
            },
            State::Verifying => StoredState::Verifying,
            State::Blocked { reason } => StoredState::Blocked { reason: Cow::Borrowed(reason) },
            State::AwaitingPerson { ask } => StoredState::AwaitingPerson { ask: *ask },
            State::Completed { at } => StoredState::Completed { at: *at },
            State::Failed { at } => StoredState::Failed { at: *at },
            State::Cancelled { at } => StoredState::Cancelled { at: *at },
        }
    }
}

impl From<StoredState<'_>> for State {
    fn from(stored: StoredState<'_>) -> Self {
        match stored {
            StoredState::Pending { ready_at } => State::Pending { ready_at },
            StoredState::Claimed { claimant, since, until, length_ms, acknowledged, driven, times_itself } => {
                // Rows of drivers were once written without it.
                let (claimant, times_itself) = (claimant.into_owned(), driven || times_itself);
                State::Claimed {
                    lease: Lease { claimant, since, until, length_ms, acknowledged, driven, times_itself },
                }
            }
            StoredState::Verifying => State::Verifying,
            StoredState::Blocked { reason } => State::Blocked { reason: reason.into_owned() },
            StoredState::AwaitingPerson { ask } => State::AwaitingPerson { ask },
            StoredState::Completed { at } => State::Completed { at },
            StoredState::Failed { at } => State::Failed { at },
            StoredState::Cancelled { at } => State::Cancelled { at },
        }
    }
}

/// Reads a number that is never negative.
pub(crate) fn unsigned(number: i64) -> Result<u64, Error> {
    u64::try_from(number).map_err(|_| Error::Damaged(format!("{number} is negative")))
}

/// Returns a number as databases store it.
pub(crate) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Reads a time.
pub(crate) fn time(microseconds: i64) -> Result<Timestamp, Error> {
    Timestamp::from_microsecond(microseconds).map_err(|error| Error::Damaged(error.to_string()))
}

/// Reads a hash.
pub(crate) fn hash(bytes: &[u8]) -> Result<Hash, Error> {
    bytes.try_into().map(Hash).map_err(|_| Error::Damaged(format!("a hash has {} bytes", bytes.len())))
}
