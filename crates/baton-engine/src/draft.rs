//! A transaction in the making: steps, and the run as it will be when they are carried out.

use jiff::Timestamp;

use crate::id::HandoffId;
use crate::lifecycle::{self, Accept, Action, Command, Refusal, Resume};
use crate::run::Run;
use crate::store::Step;

/// A transaction in the making.
#[derive(Debug, Clone)]
pub struct Draft {
    /// The run as it will be.
    pub run: Run,
    /// What must be carried out for that.
    pub steps: Vec<Step>,
    /// When that is.
    pub at: Timestamp,
}

impl Draft {
    /// Begins with the run as it is.
    pub fn new(run: &Run, at: Timestamp) -> Draft {
        Draft { run: run.clone(), steps: Vec::new(), at }
    }

    /// Makes a handoff of a request.
    pub fn accept(&mut self, accept: Accept) {
        let transition = accept.clone().apply(self.at);
        self.steps.push(Step::Accept(Box::new(accept)));
        self.run.take(transition.handoff, &transition.fact);
    }

    /// Applies a command, with what the store makes of it in the same transaction.
    pub fn apply(&mut self, id: &HandoffId, command: Command) -> Result<(), Refusal> {
        self.happen(id, command.clone())?;
        self.steps.push(Step::Apply(id.clone(), command));
        Ok(())
    }

    fn happen(&mut self, id: &HandoffId, command: Command) -> Result<(), Refusal> {
        let Some(tracked) = self.run.find(id) else { return Ok(()) };
        let transition = lifecycle::apply(&tracked.handoff, command, self.at)?;
        let actions = transition.actions.clone();
        let done = transition.handoff.clone();
        self.run.take(transition.handoff, &transition.fact);
        for action in actions {
            if let Action::Return { to } = action {
                let report =
                    self.run.find(&done.id).and_then(|tracked| tracked.told.as_ref()).map(|told| &told.written);
                let resume = Command::Resume(Resume::after(&done, report));
                // If it does not wait any more, the result stands for itself.
                let _ = self.happen(&to, resume);
            }
        }
        Ok(())
    }

    /// Says whether there is nothing to carry out.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }
}
