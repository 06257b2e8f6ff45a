//! Route: what was decided to follow. It changes nothing about the handoff but that its outcome has been dealt with.

use jiff::Timestamp;

use super::{Action, Refusal};
use crate::handoff::{Handoff, State};

/// Record what follows from an outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// Where it goes: a phase, an agent, `human`, `end`.
    pub to: String,
    /// Why there.
    pub why: String,
    /// What the agent had advised instead, where that was not followed.
    pub instead_of: Option<String>,
    /// Phases that were left out on the way, with the reason.
    pub skipped: Vec<String>,
}

impl Route {
    pub(super) fn apply(&self, handoff: &mut Handoff, _: Timestamp) -> Result<Vec<Action>, Refusal> {
        match handoff.state {
            State::Completed { .. } | State::Failed { .. } | State::Cancelled { .. } | State::Blocked { .. }
                if handoff.routed =>
            {
                Err(Refusal::Repeated)
            }
            State::Completed { .. } | State::Failed { .. } | State::Cancelled { .. } | State::Blocked { .. } => {
                handoff.routed = true;
                Ok(Vec::new())
            }
            State::Pending { .. } | State::Claimed { .. } | State::Verifying | State::AwaitingPerson { .. } => {
                Err(Refusal::WrongState { state: handoff.state.name(), participle: "routed" })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handoff::StateName;
    use crate::lifecycle::apply;
    use crate::lifecycle::table::sample;

    #[test]
    fn outcome_is_dealt_with_once_and_again_after_it_came_back() {
        let failed = sample::handoff(StateName::Failed);
        let routed = apply(&failed, sample::route(), sample::time(40)).expect("finished").handoff;
        assert_eq!(apply(&routed, sample::route(), sample::time(41)), Err(Refusal::Repeated));
        let pending = apply(&routed, sample::requeue(), sample::time(42)).expect("failed").handoff;
        assert!(!pending.routed);
    }
}
