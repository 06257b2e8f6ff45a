//! Requeue: a dead letter gets another life, by somebody's decision.

use jiff::Timestamp;

use super::resume::start_over;
use super::{Action, Refusal};
use crate::handoff::{About, Handoff, State};

/// Bring a handoff back that was given up, called off or blocked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requeue {
    /// Who brings it back.
    pub by: String,
    /// What the next attempt must know.
    pub note: Option<String>,
}

impl Requeue {
    pub(super) fn apply(&self, handoff: &mut Handoff, at: Timestamp) -> Result<Vec<Action>, Refusal> {
        if handoff.terms.step.is_some() {
            return Err(Refusal::PartOfRun);
        }
        match handoff.state {
            State::Failed { .. } | State::Cancelled { .. } | State::Blocked { .. } => {
                // A deadline that has passed would end it again at once.
                handoff.deadline = handoff.deadline.filter(|deadline| *deadline > at);
                handoff.note(About::Requeued, &self.by, self.note.as_deref().unwrap_or("brought back"));
                Ok(start_over(handoff, at))
            }
            State::Pending { .. }
            | State::Claimed { .. }
            | State::Verifying
            | State::AwaitingPerson { .. }
            | State::Completed { .. } => {
                Err(Refusal::WrongState { state: handoff.state.name(), participle: "requeued" })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::handoff::StateName;
    use crate::lifecycle::table::sample;
    use crate::lifecycle::{Refusal, apply};
    use crate::step::Role;

    #[test]
    fn dead_letter_starts_over_but_its_token_goes_on_growing() {
        let failed = sample::handoff(StateName::Failed);
        let pending = apply(&failed, sample::requeue(), sample::time(50)).expect("failed").handoff;
        assert_eq!((pending.attempts, pending.fence), (0, failed.fence));
        let claimed = apply(&pending, sample::claim(), sample::time(51)).expect("ready").handoff;
        assert_eq!(claimed.fence, failed.fence.next());
    }

    #[test]
    fn deadline_that_has_passed_does_not_end_it_again() {
        let mut failed = sample::handoff(StateName::Failed);
        failed.deadline = Some(sample::time(45));
        let pending = apply(&failed, sample::requeue(), sample::time(50)).expect("failed").handoff;
        assert_eq!(pending.wakes_at(), None);
    }

    #[test]
    fn step_of_a_run_is_not_brought_back_past_the_run() {
        let mut failed = sample::handoff(StateName::Failed);
        Arc::make_mut(&mut failed.terms).step = Some(sample::step(Role::Work));
        assert_eq!(apply(&failed, sample::requeue(), sample::time(50)), Err(Refusal::PartOfRun));
    }
}
