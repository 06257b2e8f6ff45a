//! What is wrong with a run: its journal does not tell one, or what it tells does not fit together.

use crate::id::{HandoffId, RunId};
use crate::lifecycle::ReplayFault;
use crate::store::StoreError;
use crate::stored::Unreadable;

/// Why a journal does not tell a run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JournalFault {
    /// There is no event at all.
    #[error("there is no such run")]
    Empty,
    /// Something happened before anything was asked.
    #[error("it does not begin with a request")]
    NoRequest,
    /// What began is not part of a workflow.
    #[error("{0} is a handoff, not a run of a workflow")]
    NotARun(HandoffId),
    /// Events are missing, or there twice.
    #[error("event {found} follows event {before}")]
    OutOfOrder {
        /// The number of the event.
        found: u64,
        /// The number of the one before it.
        before: u64,
    },
    /// An event cannot be read.
    #[error("{place}: {fault}")]
    Event {
        /// Where it stands.
        place: String,
        /// Why not.
        fault: Unreadable,
    },
    /// What the run was started with cannot be read.
    #[error(transparent)]
    Definition(#[from] Unreadable),
    /// An event cannot have happened.
    #[error(transparent)]
    Replay(#[from] ReplayFault),
}

impl From<JournalFault> for StoreError {
    fn from(why: JournalFault) -> Self {
        match why {
            // What a newer program wrote is not damage.
            JournalFault::Event { place, fault } => fault.at(&place),
            why => StoreError::damaged(why),
        }
    }
}

/// What a run lacks, although its journal could be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecordFault {
    /// A handoff that others name is not there.
    #[error("{0} is gone")]
    Gone(&'static str),
    /// A handoff is not in the journal of its run.
    #[error("{handoff} is not in the journal of {run}")]
    Elsewhere {
        /// The handoff.
        handoff: HandoffId,
        /// The run.
        run: RunId,
    },
    /// A step stands for a phase that the workflow does not have.
    #[error("its phase is not in the workflow")]
    NoPhase,
    /// What was asked cannot be read.
    #[error("its request cannot be read: the record is damaged")]
    Request,
    /// The items of a phase cannot be read.
    #[error("the list of {0} cannot be read: the record is damaged")]
    Items(String),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::{Event, Fact, Head};
    use crate::lifecycle::table::sample;
    use crate::run::Run;

    fn accepted() -> Event {
        let accept = sample::accept();
        let (run, id) = (accept.run.clone(), accept.id.clone());
        Head::START.next(&run, &id, 1, sample::time(1), &Fact::Accepted(Box::new(accept)))
    }

    #[test]
    fn a_journal_that_tells_no_run_says_why() {
        let begin = |events: &[Event]| Run::of_journal(events).expect_err("no run");
        assert_eq!(begin(&[]), JournalFault::Empty);
        assert_eq!(begin(&[accepted()]), JournalFault::NotARun(accepted().handoff));
    }

    #[test]
    fn what_a_newer_program_wrote_is_not_damage() {
        let event = Event { kind: "teleported".to_owned(), ..accepted() };
        let fault = Run::of_journal(&[event]).expect_err("no run");
        assert!(matches!(StoreError::from(fault), StoreError::Newer(_)));
        let fault = JournalFault::OutOfOrder { found: 3, before: 1 };
        assert_eq!(StoreError::from(fault), StoreError::Damaged("event 3 follows event 1".to_owned()));
    }
}
