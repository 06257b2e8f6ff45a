//! Resume: what a blocked agent waited for is there.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Action, Refusal};
use crate::handoff::{About, Handoff, State};

/// Go on with what the blocked agent waited for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resume {
    /// Who resolved it.
    pub by: String,
    /// What the agent must know to go on.
    pub resolution: String,
}

impl Resume {
    pub(super) fn apply(&self, handoff: &mut Handoff, at: Timestamp) -> Result<Vec<Action>, Refusal> {
        match handoff.state {
            State::Blocked { .. } => {
                handoff.note(About::Resolution, &self.by, &self.resolution);
                Ok(start_over(handoff, at))
            }
            State::Pending { .. }
            | State::Claimed { .. }
            | State::Verifying
            | State::AwaitingPerson { .. }
            | State::Completed { .. }
            | State::Failed { .. }
            | State::Cancelled { .. } => {
                Err(Refusal::WrongState { state: handoff.state.name(), participle: "resumed" })
            }
        }
    }
}

/// Makes it ready at once. There is something new to know, so what was tried before does not count against it.
pub(super) fn start_over(handoff: &mut Handoff, at: Timestamp) -> Vec<Action> {
    handoff.attempts = 0;
    handoff.state = State::Pending { ready_at: at };
    vec![Action::announce(handoff, at)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handoff::StateName;
    use crate::lifecycle::table::sample;
    use crate::lifecycle::{Command, apply};

    #[test]
    fn blocked_handoff_goes_on_with_the_resolution() {
        let blocked = sample::handoff(StateName::Blocked);
        let resume = Resume { by: "security".to_owned(), resolution: "use JWT".to_owned() };
        let next = apply(&blocked, Command::Resume(resume), sample::time(40)).expect("blocked").handoff;
        assert_eq!(next.state, State::Pending { ready_at: sample::time(40) });
        assert_eq!((next.notes[0].about, next.notes[0].text.as_str()), (About::Resolution, "use JWT"));
    }
}
