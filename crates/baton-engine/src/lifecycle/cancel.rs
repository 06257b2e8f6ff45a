//! Cancel: the result is no longer wanted.

use jiff::Timestamp;

use super::report::completed;
use super::{Action, Refusal};
use crate::handoff::{Handoff, State};

/// Call a handoff off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cancel {
    /// Who calls it off.
    pub by: String,
    /// Why.
    pub reason: Option<String>,
}

impl Cancel {
    pub(super) fn apply(&self, handoff: &mut Handoff, at: Timestamp) -> Result<Vec<Action>, Refusal> {
        let fence = handoff.fence;
        let stop = match &handoff.state {
            State::Pending { .. } | State::Verifying | State::Blocked { .. } | State::AwaitingPerson { .. } => None,
            State::Claimed { lease } => Some(Action::StopAttempt { claimant: lease.claimant.clone(), fence }),
            State::Cancelled { .. } => return Err(Refusal::Repeated),
            State::Completed { .. } | State::Failed { .. } => {
                return Err(Refusal::WrongState { state: handoff.state.name(), participle: "cancelled" });
            }
        };
        handoff.state = State::Cancelled { at };
        Ok(stop.into_iter().chain(completed(handoff)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handoff::StateName;
    use crate::lifecycle::apply;
    use crate::lifecycle::table::sample;

    #[test]
    fn cancelled_while_claimed_makes_the_report_late() {
        let claimed = sample::handoff(StateName::Claimed);
        let transition = apply(&claimed, sample::cancel(), sample::time(30)).expect("open");
        assert!(matches!(transition.actions[0], Action::StopAttempt { .. }));
        let refusal = apply(&transition.handoff, sample::report(claimed.fence), sample::time(31)).expect_err("late");
        assert_eq!(refusal, Refusal::Over { given: claimed.fence, state: StateName::Cancelled });
    }
}
