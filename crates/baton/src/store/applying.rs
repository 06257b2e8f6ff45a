//! Applying a command to a handoff, as commands do it: saying it twice is no error, and being late is told with the state.

use baton_engine::handoff::StateName;
use baton_engine::lifecycle::{self, Accept, Command};
use baton_engine::store::{Error, Order, Step};
use baton_engine::{Handoff, HandoffId, Refusal};
use serde_json::json;

use super::{Session, dice};
use crate::command_error::CommandError;
use crate::output::Output;
use crate::render;

/// What is rescued at a time.
const RESCUED_MAX: u32 = 100;

/// A handoff after a command.
#[derive(Debug)]
pub(crate) struct Applied {
    /// The handoff.
    pub handoff: Handoff,
    /// Whether the same was said before.
    pub repeated: bool,
}

impl Session {
    /// Applies a command, and accepts what comes next in the same transaction.
    pub(crate) async fn apply(
        &self,
        handoff: &Handoff,
        command: Command,
        next: Vec<Accept>,
    ) -> Result<Applied, CommandError> {
        match self.carry_out(Order::new(handoff.id.clone(), command), next).await {
            Ok(handoff) => Ok(Applied { handoff, repeated: false }),
            Err(Error::Refused(Refusal::Repeated)) => {
                Ok(Applied { handoff: self.again(handoff).await?, repeated: true })
            }
            Err(Error::Refused(refusal)) => {
                let state = self.again(handoff).await?.state.name();
                Err(late(&handoff.id, refusal, state))
            }
            Err(error) => Err(error.into()),
        }
    }

    async fn carry_out(&self, order: Order, next: Vec<Accept>) -> Result<Handoff, Error> {
        if !next.is_empty() {
            let first = Step::Apply(order.id.clone(), order.command.clone());
            let next = next.into_iter().map(|request| Step::Accept(Box::new(request)));
            match self.store.carry_out(std::iter::once(first).chain(next).collect(), self.now()).await {
                Ok(left) => return left.into_iter().next().ok_or_else(|| Error::Failed("nothing was done".to_owned())),
                // It goes on alone, to be journalled before it is refused.
                Err(Error::Refused(refusal)) if refusal.is_late() => {}
                Err(error) => return Err(error),
            }
        }
        self.store.apply(order, self.now()).await
    }

    /// Tells why a command would have no effect on a handoff as it is here; `None` if it would have one.
    pub(crate) fn foreseen(&self, handoff: &Handoff, command: Command) -> Option<CommandError> {
        let refusal = lifecycle::apply(handoff, command, self.now()).err()?;
        Some(late(&handoff.id, refusal, handoff.state.name()))
    }

    async fn again(&self, handoff: &Handoff) -> Result<Handoff, CommandError> {
        let found = self.store.find(&handoff.id).await?;
        found.ok_or_else(|| CommandError::no(format!("the handoff `{}` was removed just now", handoff.id)))
    }

    /// Expires everything that is due.
    pub(crate) async fn rescue(&self) -> Result<(), CommandError> {
        while self.store.rescue(RESCUED_MAX, dice(), self.now()).await?.len() == RESCUED_MAX as usize {}
        Ok(())
    }

    /// Tells what became of a handoff: a line on stdout, or JSON.
    pub(crate) fn tell(&self, applied: &Applied, json: bool, output: &Output) -> Result<(), CommandError> {
        let handoff = &applied.handoff;
        if json {
            return output.json(&json!({
                "version": 1,
                "handoff": render::handoff::json(handoff),
                "repeated": applied.repeated,
            }));
        }
        if applied.repeated {
            output.note(&format!("{}: already recorded", handoff.id));
        }
        output.data(&format!("{} {}\n", handoff.id, render::handoff::state(handoff, self.now())))?;
        if handoff.approved {
            let run = &handoff.run;
            output.note(&format!(
                "its files are looked at once more, then the run goes on; if nobody drives it: baton resume {run}"
            ));
        }
        Ok(())
    }
}

/// Tells that a command has no effect on a handoff, and where that is, once.
fn late(id: &HandoffId, refusal: Refusal, now: StateName) -> CommandError {
    let told = match &refusal {
        Refusal::Over { state, .. } | Refusal::WrongState { state, .. } => *state == now,
        _ => false,
    };
    let hint = match &refusal {
        Refusal::Changed { .. } => Some(format!("look at it again: baton show {id}")),
        Refusal::NotAcknowledged { given } => {
            Some(format!("say first that the request was understood: baton ack {id} --fence {given}"))
        }
        _ => None,
    };
    let mut error = CommandError::from(Error::Refused(refusal));
    error.message = match told {
        true => format!("{id}: {}", error.message),
        false => format!("{id}: {}; it is {now}", error.message),
    };
    error.hints.extend(hint);
    error
}
