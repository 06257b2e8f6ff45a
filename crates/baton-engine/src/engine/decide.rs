//! Deciding what waits for a person.

use super::{AppliedCommand, Caller, Engine, Problem};
use crate::handoff::Handoff;
use crate::lifecycle::{Command, Decide};

impl Engine {
    /// Records a decision. Nobody decides from inside the work on a handoff; whether the decision of this person counts is
    /// for the lifecycle to say. The door is the caller's, whatever the decision says.
    pub async fn decide(&self, handoff: &Handoff, decide: Decide, caller: &Caller) -> Result<AppliedCommand, Problem> {
        caller.person()?;
        let decide = Decide { door: caller.door, ..decide };
        self.apply(handoff, Command::Decide(decide), Vec::new()).await
    }
}
