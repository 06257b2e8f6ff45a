//! Deciding what waits for a person.

use jiff::Timestamp;

use super::{AppliedCommand, Caller, Engine, Problem};
use crate::handoff::{Handoff, StateName};
use crate::id::HandoffId;
use crate::journal::Fact;
use crate::lifecycle::{Command, Decide, Refusal};
use crate::store::StoreError;

impl Engine {
    /// Records a decision. Nobody decides from inside the work on a handoff; whether the decision of this person counts is
    /// for the lifecycle to say. The door is the caller's, whatever the decision says.
    pub async fn decide(&self, handoff: &Handoff, decide: Decide, caller: &Caller) -> Result<AppliedCommand, Problem> {
        caller.person()?;
        let decide = Decide { door: caller.door, ..decide };
        match self.apply(handoff, Command::Decide(decide), Vec::new()).await {
            Err(problem @ Problem::Refused { .. }) => Err(self.with_decision(problem).await),
            result => result,
        }
    }

    /// Adds who has decided to a refusal because nobody is asked any more. Other problems stay as they are.
    pub async fn with_decision(&self, problem: Problem) -> Problem {
        let Problem::Refused { id, refusal: refusal @ Refusal::WrongState { .. }, state } = problem else {
            return problem;
        };
        // What was called off was not decided, whatever somebody said about it before.
        let decided = match state {
            StateName::Cancelled => None,
            _ => self.last_decision(&id).await.ok().flatten(),
        };
        match decided {
            Some((decided, at)) => Problem::AlreadyDecided { id, decided: Box::new(decided), at, refusal, state },
            None => Problem::Refused { id, refusal, state },
        }
    }

    /// Returns what was decided last about a handoff, and when, if anything was.
    pub async fn last_decision(&self, id: &HandoffId) -> Result<Option<(Decide, Timestamp)>, StoreError> {
        let events = self.store.history_of(id).await?;
        Ok(events.iter().rev().find_map(|event| match event.fact() {
            Ok(Fact::Happened(Command::Decide(decide))) => Some((decide, event.at)),
            _ => None,
        }))
    }
}
