//! How a handoff is stored, for both databases: what must be looked up in columns, the rest in the body that the engine
//! writes.

use baton_engine::Fence;
use baton_engine::id::UnsafeId;
use baton_engine::journal::{Hash, Head};
use baton_engine::ledger::{LedgerEntry, Occasion};
use baton_engine::store::StoreError;
use baton_engine::stored::body::{self, BesideBody};
use baton_engine::token::{AccessRole, AccessToken};
use baton_engine::{Handoff, HandoffId, Priority, RunId, State};
use jiff::Timestamp;

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
    pub(crate) fn entry(self) -> Result<LedgerEntry, StoreError> {
        let unknown = || StoreError::Damaged(format!("ledger entry {}: `{}` is unknown", self.number, self.occasion));
        Ok(LedgerEntry {
            number: unsigned(self.number)?,
            at: time(self.at)?,
            occasion: Occasion::parse(&self.occasion).ok_or_else(unknown)?,
            run: RunId::parse(self.run).map_err(StoreError::damaged)?,
            head: Head { seq: unsigned(self.events)?, hash: hash(&self.head)? },
            digest: hash(&self.digest)?,
        })
    }
}

/// The row of a token of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TokenRow {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) role: String,
    pub(crate) agent: Option<String>,
    pub(crate) digest: Vec<u8>,
    pub(crate) created_at: i64,
    pub(crate) expires_at: Option<i64>,
    pub(crate) revoked_at: Option<i64>,
}

impl TokenRow {
    /// Returns the row of a token.
    pub(crate) fn of(token: &AccessToken) -> TokenRow {
        TokenRow {
            id: token.id.clone(),
            name: token.name.clone(),
            role: token.role.as_str().to_owned(),
            agent: token.agent.clone(),
            digest: token.digest.0.to_vec(),
            created_at: token.created_at.as_microsecond(),
            expires_at: token.expires_at.map(Timestamp::as_microsecond),
            revoked_at: token.revoked_at.map(Timestamp::as_microsecond),
        }
    }

    /// Reads the token.
    pub(crate) fn token(self) -> Result<AccessToken, StoreError> {
        let role = AccessRole::parse(&self.role)
            .ok_or_else(|| StoreError::Damaged(format!("token {}: unknown role `{}`", self.id, self.role)))?;
        Ok(AccessToken {
            role,
            digest: hash(&self.digest)?,
            created_at: time(self.created_at)?,
            expires_at: self.expires_at.map(time).transpose()?,
            revoked_at: self.revoked_at.map(time).transpose()?,
            id: self.id,
            name: self.name,
            agent: self.agent,
        })
    }

    /// The error when its id or its digest is not new.
    pub(crate) fn taken() -> StoreError {
        StoreError::Invalid("there is such a token already".to_owned())
    }
}

/// What follows from the handoff and is kept in columns to be looked up or guarded.
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

impl<'h> Columns<'h> {
    /// Returns what is kept in columns.
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
    pub(crate) fn agree_with(&self, handoff: &Handoff) -> Result<(), StoreError> {
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
                Err(StoreError::Damaged(format!("the row of handoff `{}`: its `{column}` was changed", handoff.id)))
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

impl Row {
    /// Reads the handoff; a row that cannot be read is an error, never a guess.
    pub(crate) fn handoff(&self) -> Result<Handoff, StoreError> {
        let place = || format!("the row of handoff `{}`", self.id);
        let damaged = |why: UnsafeId| StoreError::Damaged(format!("{}: {why}", place()));
        let beside = BesideBody {
            id: HandoffId::parse(self.id.as_str()).map_err(damaged)?,
            run: RunId::parse(self.run.as_str()).map_err(damaged)?,
            version: unsigned(self.version)?,
            fence: Fence(unsigned(self.fence)?),
        };
        body::read(&self.body, beside).map_err(|why| why.at(&place()))
    }

    /// Returns the last event that the row knows of.
    pub(crate) fn head(&self) -> Result<Head, StoreError> {
        Ok(Head { seq: unsigned(self.last_seq)?, hash: hash(&self.head)? })
    }
}

/// Reads a number that is never negative.
pub(crate) fn unsigned(number: i64) -> Result<u64, StoreError> {
    u64::try_from(number).map_err(|_| StoreError::Damaged(format!("{number} is negative")))
}

/// Returns a number as databases store it.
pub(crate) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Reads a time.
pub(crate) fn time(microseconds: i64) -> Result<Timestamp, StoreError> {
    Timestamp::from_microsecond(microseconds).map_err(|error| StoreError::Damaged(error.to_string()))
}

/// Reads a hash.
pub(crate) fn hash(bytes: &[u8]) -> Result<Hash, StoreError> {
    bytes.try_into().map(Hash).map_err(|_| StoreError::Damaged(format!("a hash has {} bytes", bytes.len())))
}
