//! Requeue: a dead letter gets another life, and a run begins again from a phase, by somebody's decision.

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::resume::start_over;
use super::{Action, Refusal};
use crate::handoff::{About, Handoff, State};
use crate::step::Role;

/// Bring a handoff back that was given up, called off or blocked; or let a run begin again from one of its phases.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Requeue {
    /// Who brings it back.
    pub by: String,
    /// What the next attempt must know.
    pub note: Option<String>,
    /// The phase that a run begins again from.
    pub from: Option<String>,
    /// Inputs of the run that are different from then on.
    pub inputs: Map<String, Value>,
    /// The version of the handoff that was looked at before, if that must not have changed. The journal need not know it.
    pub seen: Option<u64>,
}

impl Requeue {
    pub(super) fn apply(&self, handoff: &mut Handoff, at: Timestamp) -> Result<Vec<Action>, Refusal> {
        if self.seen.is_some_and(|seen| seen != handoff.version) {
            return Err(Refusal::NotAsSeen);
        }
        let role = handoff.terms.step.as_ref().map(|step| step.role);
        match (role, &self.from) {
            (None, None) if self.inputs.is_empty() => {}
            (Some(Role::Run), Some(_)) => {}
            _ => return Err(Refusal::PartOfRun),
        }
        match handoff.state {
            // A run without a driver may go back before it has ended.
            State::Pending { .. } if self.from.is_some() => {
                handoff.note(About::Requeued, &self.by, self.note.as_deref().unwrap_or("brought back"));
                Ok(start_over(handoff, at))
            }
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

    use super::*;
    use crate::handoff::StateName;
    use crate::lifecycle::table::sample;
    use crate::lifecycle::{Command, apply};

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
        let from = Requeue { by: "ana".to_owned(), from: Some("build".to_owned()), ..Requeue::default() };
        assert_eq!(apply(&failed, Command::Requeue(from), sample::time(50)), Err(Refusal::PartOfRun));
    }

    #[test]
    fn run_begins_again_from_a_phase_once_nobody_drives_it() {
        let from =
            || Command::Requeue(Requeue { by: "ana".to_owned(), from: Some("build".to_owned()), ..Requeue::default() });
        let run = |state| {
            let mut run = sample::handoff(state);
            Arc::make_mut(&mut run.terms).step = Some(sample::step(Role::Run));
            run
        };
        for state in [StateName::Failed, StateName::Cancelled, StateName::Pending] {
            let again = apply(&run(state), from(), sample::time(50)).expect("it begins again").handoff;
            assert_eq!(again.state, State::Pending { ready_at: sample::time(50) });
        }
        for state in [StateName::Completed, StateName::Claimed] {
            assert!(matches!(apply(&run(state), from(), sample::time(50)), Err(Refusal::WrongState { .. })));
        }
        assert_eq!(apply(&run(StateName::Failed), sample::requeue(), sample::time(50)), Err(Refusal::PartOfRun));
    }
}
