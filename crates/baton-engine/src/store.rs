//! The store, as a port: keeps handoffs and their journal. What it has accepted survives a crash one instruction later.
//!
//! Every verb that changes something is one transaction: the state, its event and whatever follows from it. Decisions
//! are made by [`crate::lifecycle`], inside that transaction; a store only looks up, writes and guards.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;

use crate::Fence;
use crate::evidence::Content;
use crate::handoff::{Digest, Handoff, StateName, Terms, WrittenDocument};
use crate::id::{HandoffId, RunId};
use crate::journal::{Event, Hash, Head};
use crate::known::CommandAuthor;
use crate::ledger::LedgerEntry;
use crate::lifecycle::{Accept, Claim, Command, Refusal};
use crate::queue::Queue;
use crate::token::AccessToken;

/// Keeps handoffs and their journal.
///
/// ```
/// use baton_engine::lifecycle::{Command, Ending, HandIn};
/// use baton_engine::memory::{self, MemoryStore};
/// use baton_engine::store::{ClaimRequest, Order, Store};
/// # use baton_engine::handoff::WrittenDocument;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let now = jiff::Timestamp::UNIX_EPOCH;
///
/// let store = MemoryStore::new();
/// store.accept(vec![memory::request("csv-07", "finder")], now).await?;
/// let (agent, claimant) = ("finder".to_owned(), "worker-1".to_owned());
/// let wanted = ClaimRequest { agent, claimant, lease_ms: 60_000, count: 1, times_itself: false, author: None };
/// let claimed = store.claim(&wanted, now).await?.remove(0).handoff;
///
/// let report = Command::Report(HandIn {
///     fence: claimed.fence,
///     ending: Ending::Complete,
///     document: WrittenDocument::new(baton_protocol::Dialect::Native, "{}"),
///     spent: None, skills: None,
///     changed: Vec::new(),
///     transcript: None,
///     examined: Vec::new(),
///     author: None,
/// });
/// let done = store.apply(Order::new(claimed.id, report), now).await?;
/// assert!(done.state.name().is_finished());
/// assert_eq!(store.history(&done.run, 0, 10).await?.len(), 3);
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait Store: Send + Sync {
    /// Makes handoffs of requests: all of them or none.
    ///
    /// A request whose key or id is known already, with the same terms and text, gives the handoff that is there.
    async fn accept(&self, requests: Vec<Accept>, at: Timestamp) -> Result<Vec<AcceptedHandoff>, StoreError>;

    /// Claims what is ready for an agent, the most urgent first, then the one that has been ready longest.
    ///
    /// An empty answer does not mean that nothing is there: somebody else may be about to take or leave something.
    async fn claim(&self, wish: &ClaimRequest, at: Timestamp) -> Result<Vec<ClaimedHandoff>, StoreError>;

    /// Applies a command, with everything that follows from it.
    ///
    /// A late report, failure or acknowledgment is journalled before it is refused.
    async fn apply(&self, order: Order, at: Timestamp) -> Result<Handoff, StoreError>;

    /// Carries out several steps in one transaction: all of them, or none if one is refused.
    ///
    /// Returns the handoff of each step as the step left it. Nothing of a refused step is journalled.
    /// A request whose key or id is known already, with the same terms and text, gives the handoff that is there.
    async fn carry_out(&self, steps: Vec<TransactionStep>, at: Timestamp) -> Result<Vec<Handoff>, StoreError>;

    /// Does the same, and also returns the events that were written, where the store has them at hand; whoever needs them
    /// and gets none reads them in the journal.
    async fn carry_out_and_tell(
        &self,
        steps: Vec<TransactionStep>,
        at: Timestamp,
    ) -> Result<(Vec<Handoff>, Vec<Event>), StoreError> {
        Ok((self.carry_out(steps, at).await?, Vec::new()))
    }

    /// Expires what is due: leases, timeouts and deadlines. Everybody may do this at any time.
    async fn rescue(&self, limit: u32, dice: f64, at: Timestamp) -> Result<Vec<Handoff>, StoreError>;

    /// Finds a handoff.
    async fn find(&self, id: &HandoffId) -> Result<Option<Handoff>, StoreError>;

    /// Finds several handoffs at once, in any order; those that are not there are left out.
    async fn find_all(&self, ids: &[HandoffId]) -> Result<Vec<Handoff>, StoreError> {
        let mut found = Vec::with_capacity(ids.len());
        for id in ids {
            found.extend(self.find(id).await?);
        }
        Ok(found)
    }

    /// Returns the ids that begin like this, in their order.
    async fn ids_beginning_with(&self, prefix: &str, limit: u32) -> Result<Vec<HandoffId>, StoreError>;

    /// Returns what is asked in a handoff; its row knows where that stands in the journal.
    async fn request(&self, id: &HandoffId) -> Result<Option<WrittenDocument>, StoreError>;

    /// Lists handoffs, the newest first.
    ///
    /// A page begins behind the last handoff of the page before it. If that was removed meanwhile it is not found.
    async fn list(&self, filter: &Filter) -> Result<Vec<Handoff>, StoreError>;

    /// Counts the handoffs of each agent in each state.
    async fn census(&self) -> Result<Vec<Count>, StoreError>;

    /// Returns the events of a run after a number, in their order.
    async fn history(&self, run: &RunId, after: u64, limit: u32) -> Result<Vec<Event>, StoreError>;

    /// Returns the events about a handoff, in their order. It reads that part of its run's journal in which they stand.
    async fn history_of(&self, id: &HandoffId) -> Result<Vec<Event>, StoreError>;

    /// Returns what was recorded in the whole store behind a position, in the order of positions.
    ///
    /// With several writers a lower position may become visible after a higher one: whoever must not miss an event looks
    /// again from where none was missing.
    async fn events_after(&self, position: u64, limit: u32) -> Result<Vec<PositionedEvent>, StoreError>;

    /// Returns the position of the latest event of the whole store; 0 if there is none.
    async fn last_position(&self) -> Result<u64, StoreError>;

    /// Returns the runs after one, in the order of their ids.
    async fn runs(&self, after: Option<&RunId>, limit: u32) -> Result<Vec<RunId>, StoreError>;

    /// Returns the handoffs of a run in the order of their acceptance, each with the last event that its row knows of.
    async fn handoffs_of(&self, run: &RunId) -> Result<Vec<(Handoff, Head)>, StoreError>;

    /// Returns the settings of an agent's queue.
    async fn queue(&self, agent: &str) -> Result<Queue, StoreError>;

    /// Returns the settings of all queues that somebody has set something for.
    async fn queues(&self) -> Result<Vec<Queue>, StoreError>;

    /// Changes the settings of an agent's queue.
    async fn set_queue(&self, queue: &Queue) -> Result<(), StoreError>;

    /// Returns when something will be ready for the agent, or due for anybody, if nothing else happens.
    async fn next_due(&self, agent: Option<&str>) -> Result<Option<Timestamp>, StoreError>;

    /// Returns the runs whose handoffs were all finished before a time, in any order.
    async fn finished_runs(&self, before: Timestamp, limit: u32) -> Result<Vec<RunId>, StoreError>;

    /// Removes a run with its journal, if all of its handoffs were finished before that time. Returns how many handoffs.
    ///
    /// The ledger gets an entry that says so, in the same transaction.
    async fn remove_run(&self, run: &RunId, before: Timestamp, at: Timestamp) -> Result<u64, StoreError>;

    /// Enters in the ledger how far the journals of these runs have come. Returns the new entries.
    ///
    /// A run whose last entry says so already, or that has no journal, gets none.
    async fn enter(&self, runs: &[RunId], at: Timestamp) -> Result<Vec<LedgerEntry>, StoreError>;

    /// Returns the entries of the ledger after a number, in their order.
    async fn ledger(&self, after: u64, limit: u32) -> Result<Vec<LedgerEntry>, StoreError>;

    /// Returns the entries of the ledger about a run, in their order.
    async fn ledger_of(&self, run: &RunId) -> Result<Vec<LedgerEntry>, StoreError>;

    /// Returns the last entry of the ledger that was delivered to a place, if any was.
    async fn anchored(&self, place: &str) -> Result<Option<AnchoredEntry>, StoreError>;

    /// Remembers that all entries up to this one were delivered to a place.
    async fn set_anchored(&self, place: &str, anchored: AnchoredEntry) -> Result<(), StoreError>;

    /// Keeps files that were looked at, for as long as their run is kept. What would be more than so many bytes in the
    /// whole run is left out.
    async fn keep_contents(
        &self,
        run: &RunId,
        contents: Vec<Content>,
        bytes_max: u64,
    ) -> Result<KeptContents, StoreError>;

    /// Finds a file that was kept for a run, by what identifies it.
    async fn content(&self, run: &RunId, digest: &Digest) -> Result<Option<Vec<u8>>, StoreError>;

    /// Keeps a new token. Its id and its digest must be new, too.
    async fn add_token(&self, token: &AccessToken) -> Result<(), StoreError>;

    /// Returns all tokens, the oldest first.
    async fn tokens(&self) -> Result<Vec<AccessToken>, StoreError>;

    /// Finds the token with this digest, whether or not it is still valid.
    async fn token_with(&self, digest: &Hash) -> Result<Option<AccessToken>, StoreError>;

    /// Finds the token with this id, whether or not it is still valid.
    async fn token(&self, id: &str) -> Result<Option<AccessToken>, StoreError>;

    /// Takes a token back. Returns whether there is one with this id; taken back once, the first time counts.
    async fn revoke_token(&self, id: &str, at: Timestamp) -> Result<bool, StoreError>;

    /// Removes the sessions of browsers that were taken back, or have ended by then. Returns how many. Tokens stay: people look
    /// up who somebody was.
    async fn remove_ended_sessions(&self, now: Timestamp) -> Result<u64, StoreError>;

    /// Returns a number that grows when something may have changed, by whomever.
    fn changes(&self) -> u64;

    /// Waits until something may have changed since that number, or until the time is over.
    async fn changed(&self, since: u64, limit: Duration);

    /// Returns the time that the store knows of: its server's, or that of its last change.
    async fn time(&self) -> Result<Option<Timestamp>, StoreError>;

    /// Returns the time of a server, which everybody who uses the store shares, as its answers have told it.
    ///
    /// Nothing if there is no server: then the clock of the machine counts.
    fn server_time(&self) -> Option<Timestamp> {
        None
    }

    /// Looks whether the store is sound.
    async fn checkup(&self) -> Result<Checkup, StoreError>;
}

/// An event, and its position among all events of the store.
#[derive(Debug, Clone, PartialEq)]
pub struct PositionedEvent {
    /// The position; later ones are higher, with gaps.
    pub position: u64,
    /// The event.
    pub event: Event,
}

/// What was kept of files that were looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptContents {
    /// What identifies those that are kept now, also if they were before.
    pub digests: Vec<Digest>,
    /// How many bytes there is still room for in their run.
    pub room: u64,
}

/// The last entry of the ledger that was delivered to a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnchoredEntry {
    /// Its number.
    pub number: u64,
    /// Its digest, by which a ledger is known again that was rewritten since.
    pub digest: Hash,
}

/// A request that has become a handoff.
#[derive(Debug, Clone, PartialEq)]
pub struct AcceptedHandoff {
    /// The handoff.
    pub handoff: Handoff,
    /// Whether it was there before.
    pub existing: bool,
}

/// What somebody wants to claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimRequest {
    /// For which agent.
    pub agent: String,
    /// Who will work.
    pub claimant: String,
    /// How long without a heartbeat.
    pub lease_ms: u64,
    /// How many at most.
    pub count: u32,
    /// Whether the claimant ends an attempt that takes too long itself.
    pub times_itself: bool,
    /// Who asks, where a door knows; the engine fills it in.
    pub author: Option<Arc<CommandAuthor>>,
}

impl ClaimRequest {
    /// What is asked of each handoff that is ready.
    pub fn claim(&self) -> Claim {
        let author = self.author.clone();
        Claim { times_itself: self.times_itself, author, ..Claim::by(&self.claimant, self.lease_ms) }
    }
}

/// A handoff that was claimed, with its request.
#[derive(Debug, Clone, PartialEq)]
pub struct ClaimedHandoff {
    /// The handoff.
    pub handoff: Handoff,
    /// What is asked.
    pub request: WrittenDocument,
}

/// A command for a handoff.
#[derive(Debug, Clone, PartialEq)]
pub struct Order {
    /// Which handoff.
    pub id: HandoffId,
    /// What to do.
    pub command: Command,
}

impl Order {
    /// Takes a command for a handoff.
    pub fn new(id: HandoffId, command: Command) -> Order {
        Order { id, command }
    }
}

/// One step of a transaction.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "most steps are commands, and none lives longer than its transaction")]
pub enum TransactionStep {
    /// Make a handoff of a request.
    Accept(Box<Accept>),
    /// Apply a command to a handoff, which may have been accepted a step before.
    Apply(HandoffId, Command),
    /// Go on only if this claim still holds the handoff. It is looked at inside the transaction and leaves no event. Two
    /// drivers would otherwise begin the same phase:
    ///
    /// ```text
    /// driver A reads the run, and stands still until its lease has ended
    ///                                          driver B claims the run, and begins the phase
    /// driver A begins the phase  ──▶  refused: its claim is not the latest
    /// ```
    Held {
        /// The handoff: the run that somebody drives.
        id: HandoffId,
        /// The fence of the claim.
        fence: Fence,
    },
}

impl TransactionStep {
    /// Returns the handoff that must be there before.
    pub fn applies_to(&self) -> Option<&HandoffId> {
        match self {
            TransactionStep::Accept(_) => None,
            TransactionStep::Apply(id, _) | TransactionStep::Held { id, .. } => Some(id),
        }
    }
}

/// Which handoffs to list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    /// Of agents of this name, or in this queue, only.
    pub agent: Option<String>,
    /// In one of these states only; empty for all.
    pub states: Vec<StateName>,
    /// Behind this one only: those that were accepted before it.
    pub after: Option<HandoffId>,
    /// How many at most.
    pub limit: u32,
}

/// How many handoffs an agent has in a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Count {
    /// The agent.
    pub agent: String,
    /// The state.
    pub state: StateName,
    /// How many.
    pub handoffs: u64,
}

/// What a look at the store showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkup {
    /// What kind of store it is, and where.
    pub place: String,
    /// The last migration of the database.
    pub migration: u32,
    /// The last migration that this program knows.
    pub migration_known: u32,
    /// What is wrong, if anything is.
    pub faults: Vec<String>,
}

/// A store could not do what was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The lifecycle does not allow it.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Unknown handoff.
    #[error("there is no handoff `{0}`")]
    NotFound(HandoffId),
    /// What is asked for is not within the limits.
    #[error("{0}")]
    Invalid(String),
    /// The id or the key belongs to another request.
    #[error("the {what} `{}` belongs to another request: {existing}", Terms::readable_key(value))]
    Taken {
        /// `id` or `key`.
        what: &'static str,
        /// The id or the key.
        value: String,
        /// Whose it is.
        existing: HandoffId,
    },
    /// The database was made by a newer program.
    #[error("the database is at migration {found}, but this program knows only {known}")]
    TooNew {
        /// The migration of the database.
        found: u32,
        /// The last one that we know.
        known: u32,
    },
    /// Something in the database was written by a newer program, in a form that we do not know.
    #[error("{0}")]
    Newer(String),
    /// The store does not answer at the moment; trying again may help.
    #[error("the store cannot be reached: {0}")]
    Unreachable(String),
    /// Nothing can be written: the disk is full, or we may not.
    #[error("the store cannot be written: {0}")]
    Unwritable(String),
    /// The store is not there any more, or another one is in its place. Trying again does not help.
    #[error("the store is gone: {0}")]
    Gone(String),
    /// What is stored is not what was written.
    #[error("the store is damaged: {0}")]
    Damaged(String),
    /// The store refuses our own statement.
    #[error("the store failed: {0}")]
    Failed(String),
    /// The server that keeps the store does not let the caller do this.
    #[error("{message}")]
    Declined {
        /// Names the reason for programs, as the server does.
        code: String,
        /// Why.
        message: String,
        /// What to do.
        hint: Option<String>,
    },
}

impl StoreError {
    /// Returns whether it may pass by itself, or when somebody has made room: whoever has results keeps them and asks again.
    pub fn may_pass(&self) -> bool {
        matches!(self, StoreError::Unreachable(_) | StoreError::Unwritable(_))
    }

    /// The error when something is not within the limits.
    pub fn invalid(why: impl fmt::Display) -> StoreError {
        StoreError::Invalid(why.to_string())
    }

    /// The error when something is not what was written.
    pub fn damaged(why: impl fmt::Display) -> StoreError {
        StoreError::Damaged(why.to_string())
    }
}
