//! Route: what was decided to follow. It changes nothing about the handoff but that its outcome has been dealt with.

use std::fmt;

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
    /// Phases that were left out on the way.
    pub skipped: Vec<SkippedPhase>,
}

/// A phase that was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedPhase {
    /// Its id.
    pub phase: String,
    /// The condition that did not hold.
    pub when: String,
}

impl SkippedPhase {
    /// Reads how it is stored.
    pub(crate) fn parse(text: &str) -> SkippedPhase {
        let (phase, when) = text.split_once(": ").unwrap_or((text, ""));
        SkippedPhase { phase: phase.to_owned(), when: when.to_owned() }
    }
}

impl fmt::Display for SkippedPhase {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.when.as_str() {
            "" => formatter.write_str(&self.phase),
            when => write!(formatter, "{}: {when}", self.phase),
        }
    }
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
