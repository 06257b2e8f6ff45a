//! What every door (interface) calls: the command line, the worker, and later ones.
//!
//! A door turns its input into one of these calls and the result into its own form, and does nothing else. An [`Engine`]
//! knows neither files nor words for people: the door has read the bytes, and makes a sentence of a [`Problem`].

mod acknowledge;
mod apply;
mod cancel;
mod claim;
mod decide;
mod file;
mod follow;
mod given;
mod inbox;
mod judge;
mod leniency;
mod listing;
mod look;
pub(crate) mod outage;
mod problem;
mod question;
mod recent_runs;
mod report;
mod requeue;
mod resolve;
mod send;
mod wait;

use std::sync::Arc;

use baton_protocol::Settings;

pub use acknowledge::{GivenAcknowledgment, plain_acknowledgment};
pub use apply::AppliedCommand;
pub use decide::GivenDecision;
pub use file::{FiledEnd, FiledWork, RefusedText};
pub use follow::Follower;
pub use given::{
    GivenFault, WantedTime, WordFault, agent_name, parse_duration, parse_lease, parse_moment, parse_priority,
    plain_key, plain_name,
};
pub use inbox::{InboxPage, InboxPlace, NotAPlace};
pub(crate) use judge::settings_of;
pub use judge::{IncomingDocument, JudgedDocument, SessionTask, ValidDocument, Yardstick, settings_of_phase};
pub use leniency::Leniency;
pub use look::{RunRecord, accepted_request, document_of, examined_of, reported_document, shown_document};
pub use outage::StoreNews;
pub use problem::{IdKind, Problem};
pub use question::EarlierQuestion;
pub use recent_runs::RecentRuns;
pub use report::{HandedIn, NoAnswer};
pub(crate) use send::means_the_newest_run;
pub use send::{NewHandoff, TermsFault, WantedTerms};
pub use wait::WaitFor;

use crate::clock::Clock;
pub use crate::door::Door;
use crate::id::HandoffId;
use crate::known::{CommandAuthor, Decider, HowKnown};
use crate::store::Store;
use crate::token::AccessRole;

/// The verbs of every door, over one store.
///
/// ```
/// use baton_engine::engine::{IncomingDocument, NewHandoff, Problem, WantedTerms, Yardstick};
/// # use baton_engine::memory::{self, StillClock};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let clock = std::sync::Arc::new(StillClock::at(jiff::Timestamp::UNIX_EPOCH));
///
/// let engine = memory::engine(&clock);
/// let text = br#"{"baton": 1, "document": "request", "id": "csv-07", "instructions": "Find the writer of rows."}"#;
/// let request = Yardstick::of_project(&engine.settings).judge(&IncomingDocument::of(text)).valid.expect("valid");
/// let terms = WantedTerms { to: Some("finder".to_owned()), ..WantedTerms::default() };
/// let new = NewHandoff { from: "ana".to_owned(), terms: terms.clone(), ..NewHandoff::default() };
/// let accept = engine.accept(&request, new)?;
/// engine.send(vec![accept], &terms).await?;
///
/// assert_eq!(engine.resolve("csv").await?.terms.to, "finder");
/// assert!(matches!(engine.resolve("cvs").await, Err(Problem::Unknown { .. })));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Engine {
    /// Keeps handoffs and their journal.
    pub store: Arc<dyn Store>,
    /// The clock that all verbs use.
    pub clock: Arc<dyn Clock>,
    /// Makes ids and the jitter of retries.
    pub random: Arc<dyn Random>,
    /// What documents are judged by where no workflow says otherwise.
    pub settings: Arc<Settings>,
    /// Runs that were read a moment ago.
    pub recent: Arc<RecentRuns>,
}

/// Produces random values.
pub trait Random: Send + Sync {
    /// Returns a number from 0 to 1.
    fn number(&self) -> f64;

    /// Returns a word.
    fn word(&self) -> String;

    /// Returns a unique id; later ids sort after earlier ones if the door cares about that.
    fn id(&self) -> HandoffId {
        HandoffId::parse(format!("hoff-{}", self.word())).expect("a word is a safe id")
    }
}

/// Who asks, through which interface, and inside whose work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// Who it is, and how that is known.
    pub decider: Decider,
    /// Through which interface.
    pub door: Door,
    /// What a token allows the caller; `None` where the door knows a person without one.
    pub role: Option<AccessRole>,
    /// The handoff that the caller is working on, if any. A process that works on a handoff cannot decide.
    pub working_on: Option<HandoffId>,
}

impl Caller {
    /// Lets a person pass. An agent decides nothing, neither about its own work nor about that of others.
    pub fn person(&self) -> Result<&Decider, Problem> {
        match (&self.working_on, self.role) {
            (Some(handoff), _) => Err(Problem::InsideWork(handoff.clone())),
            (None, Some(role)) if !role.is_person() => Err(Problem::NotAPerson(role)),
            (None, _) => Ok(&self.decider),
        }
    }

    /// Returns who stands in the journal as the sender of what a claimant says. An account of this machine is left out: an
    /// agent has that of whoever started it, so it tells nobody apart.
    fn author(&self) -> Option<Arc<CommandAuthor>> {
        let Decider { name, known, .. } = &self.decider;
        match known {
            HowKnown::Account => None,
            HowKnown::Unproven | HowKnown::Token(_) | HowKnown::Signature(_) => {
                Some(Arc::new(CommandAuthor { name: name.clone(), known: known.clone(), door: self.door }))
            }
        }
    }
}

impl Engine {
    /// Returns the time.
    pub fn now(&self) -> jiff::Timestamp {
        self.clock.now()
    }
}
