//! Calling off a handoff, or a run with everything in it.

use super::{AppliedCommand, Caller, Engine, Problem};
use crate::handoff::Handoff;
use crate::lifecycle::{self, Cancel, Command, Refusal};
use crate::step::ORCHESTRATOR;
use crate::store::{StoreError, TransactionStep};

/// How often somebody else may change something while a run is called off.
const RACES_MAX: usize = 20;

impl Engine {
    /// Calls a handoff off; of a run, everything that is open in it. What belongs to a run only a person calls off.
    pub async fn cancel(
        &self,
        handoff: &Handoff,
        reason: Option<String>,
        caller: &Caller,
    ) -> Result<AppliedCommand, Problem> {
        if handoff.terms.step.is_some() {
            caller.person()?;
        }
        let cancel = Cancel { by: caller.decider.name.clone(), reason };
        if handoff.is_run() && !handoff.state.name().is_finished() {
            let handoff = self.cancel_run(handoff, &cancel).await?;
            return Ok(AppliedCommand { handoff, repeated: false });
        }
        self.apply(handoff, Command::Cancel(cancel), Vec::new(), caller).await
    }

    /// Calls a run off with everything that is open in it, in one transaction. What the run is about is not looked at: one
    /// that nobody can read can be called off, too.
    async fn cancel_run(&self, root: &Handoff, cancel: &Cancel) -> Result<Handoff, Problem> {
        let stopped = Cancel { by: ORCHESTRATOR.to_owned(), reason: Some("the run has stopped".to_owned()) };
        let mut ended = false;
        for _ in 0..RACES_MAX {
            let handoffs = self.store.handoffs_of(&root.run).await?;
            let now = handoffs.iter().map(|(handoff, _)| handoff).find(|handoff| handoff.id == root.id).unwrap_or(root);
            let open =
                handoffs.iter().map(|(handoff, _)| handoff).filter(|handoff| !handoff.state.name().is_finished());
            let command = |handoff: &Handoff| if handoff.id == root.id { cancel.clone() } else { stopped.clone() };
            let step =
                |handoff: &Handoff| TransactionStep::Apply(handoff.id.clone(), Command::Cancel(command(handoff)));
            let steps: Vec<TransactionStep> = open.map(step).collect();
            if !ended {
                lifecycle::apply(now, Command::Cancel(cancel.clone()), self.now()).map_err(StoreError::Refused)?;
            }
            // What was begun while the rest was called off is looked for as well. Nothing more can begin after that.
            if ended && steps.is_empty() {
                return Ok(now.clone());
            }
            match self.store.carry_out(steps, self.now()).await {
                Ok(_) => ended = true,
                // Something has happened in it in the meantime.
                Err(StoreError::Refused(Refusal::WrongState { .. } | Refusal::Repeated)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Problem::Contended(root.id.clone()))
    }
}
