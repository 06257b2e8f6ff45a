//! Applying a command to a handoff: repeating it is not an error, and a late caller learns the state.

use super::decide::says_something;
use super::{Caller, Engine, Problem};
use crate::handoff::Handoff;
use crate::lifecycle::{self, Accept, Command, Refusal};
use crate::store::{Order, StoreError, TransactionStep};

/// How many handoffs are rescued at a time.
const RESCUED_MAX: u32 = 100;

/// A handoff after a command.
#[derive(Debug, Clone, PartialEq)]
pub struct AppliedCommand {
    /// The handoff.
    pub handoff: Handoff,
    /// Whether the same was said before.
    pub repeated: bool,
}

impl Engine {
    /// Applies a command, and accepts what comes next in the same transaction.
    pub async fn apply(
        &self,
        handoff: &Handoff,
        command: Command,
        next: Vec<Accept>,
        caller: &Caller,
    ) -> Result<AppliedCommand, Problem> {
        may_say(handoff, &command)?;
        let command = command.sent_by(caller.author());
        match self.carry_out(Order::new(handoff.id.clone(), command), next).await {
            Ok(handoff) => Ok(AppliedCommand { handoff, repeated: false }),
            Err(StoreError::Refused(Refusal::Repeated)) => {
                Ok(AppliedCommand { handoff: self.again(handoff).await?, repeated: true })
            }
            Err(StoreError::Refused(refusal)) => {
                let state = self.again(handoff).await?.state.name();
                Err(Problem::Refused { id: handoff.id.clone(), refusal, state })
            }
            Err(error) => Err(error.into()),
        }
    }

    async fn carry_out(&self, order: Order, next: Vec<Accept>) -> Result<Handoff, StoreError> {
        if !next.is_empty() {
            let first = TransactionStep::Apply(order.id.clone(), order.command.clone());
            let next = next.into_iter().map(|request| TransactionStep::Accept(Box::new(request)));
            match self.store.carry_out(std::iter::once(first).chain(next).collect(), self.now()).await {
                Ok(left) => {
                    return left.into_iter().next().ok_or_else(|| StoreError::Failed("nothing was done".to_owned()));
                }
                // It goes on alone, to be journalled before it is refused.
                Err(StoreError::Refused(refusal)) if refusal.is_late() => {}
                Err(error) => return Err(error),
            }
        }
        self.store.apply(order, self.now()).await
    }

    /// Returns why a command would have no effect on a handoff as it is here; `None` if it would have one.
    pub fn foresee(&self, handoff: &Handoff, command: Command) -> Option<Problem> {
        if let Err(problem) = may_say(handoff, &command) {
            return Some(problem);
        }
        let refusal = lifecycle::apply(handoff, command, self.now()).err()?;
        Some(Problem::Refused { id: handoff.id.clone(), refusal, state: handoff.state.name() })
    }

    /// Returns a handoff as it is now.
    pub async fn again(&self, handoff: &Handoff) -> Result<Handoff, Problem> {
        let found = self.store.find(&handoff.id).await?;
        found.ok_or_else(|| Problem::Removed(handoff.id.clone()))
    }

    /// Expires everything that is due.
    pub async fn rescue(&self) -> Result<(), Problem> {
        while self.store.rescue(RESCUED_MAX, self.random.number(), self.now()).await?.len() == RESCUED_MAX as usize {}
        Ok(())
    }
}

/// Leaves it to drivers to speak for those who claimed their work. What comes after the end passes: it is refused as late, and
/// the journal keeps it.
fn may_say(handoff: &Handoff, command: &Command) -> Result<(), Problem> {
    if let Command::Decide(decide) = command {
        says_something(&handoff.id, &decide.decision)?;
    }
    if command.is_of_claimant() && !handoff.state.name().is_finished() {
        not_the_drivers(handoff)?;
    }
    Ok(())
}

/// Lets everything pass that is not the work of a driver. Drivers do not come through a door: they write whole transactions
/// of their run. Whoever else knows the fence of such a claim could pass a phase, or end a run, without doing anything.
fn not_the_drivers(handoff: &Handoff) -> Result<(), Problem> {
    if handoff.terms.is_drivers() {
        return Err(Problem::DriversWork { id: handoff.id.clone(), run: handoff.run.clone() });
    }
    Ok(())
}
