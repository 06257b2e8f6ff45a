//! What is counted against the limits of a run. It persists, because it follows from the journal.

use std::collections::HashMap;

use jiff::Timestamp;

use crate::journal::Fact;
use crate::lifecycle::Command;
use crate::step::{Role, Step};

/// What was counted since the beginning, or since a person revised the run.
#[derive(Debug, Clone, PartialEq)]
pub struct Counted {
    /// Since when.
    pub since: Timestamp,
    /// Handoffs between agents, checks and groups.
    pub handoffs: u64,
    /// Tokens of prompts and answers.
    pub tokens: u64,
    visits: HashMap<String, u64>,
    failures: HashMap<(String, String), u64>,
    /// Which agents had their turn in which phase, without repetitions.
    turns: Vec<(String, String)>,
}

/// So many turns are remembered; two agents that go on for longer have reached every limit.
const TURNS_MAX: usize = 256;

impl Counted {
    /// Starts counting.
    pub fn since(since: Timestamp) -> Counted {
        let (visits, failures) = (HashMap::new(), HashMap::new());
        Counted { since, handoffs: 0, tokens: 0, visits, failures, turns: Vec::new() }
    }

    pub(super) fn take(&mut self, step: &Step, to: &str, fact: &Fact, failure: Option<String>, tokens: u64) {
        self.tokens = self.tokens.saturating_add(tokens);
        match fact {
            Fact::Accepted(_) if step.role.is_counted() => {
                self.handoffs += 1;
                if step.role.is_phase() {
                    *self.visits.entry(step.phase.clone()).or_default() += 1;
                }
            }
            Fact::Happened(Command::Claim(_)) if matches!(step.role, Role::Work | Role::Delegation) => {
                let turn = (step.phase.clone(), to.to_owned());
                if self.turns.last() != Some(&turn) {
                    self.turns.push(turn);
                }
                if self.turns.len() > TURNS_MAX {
                    self.turns.remove(0);
                }
            }
            Fact::Accepted(_) | Fact::Happened(_) | Fact::Refused(_) => {}
        }
        if let Some(failure) = failure {
            *self.failures.entry((step.phase.clone(), failure)).or_default() += 1;
        }
    }

    /// Returns how often a phase was visited.
    pub fn visits(&self, phase: &str) -> u64 {
        self.visits.get(phase).copied().unwrap_or_default()
    }

    /// Returns how often the same failure happened in a phase.
    pub fn failures(&self, phase: &str, failure: &str) -> u64 {
        self.failures.get(&(phase.to_owned(), failure.to_owned())).copied().unwrap_or_default()
    }

    /// Returns how often the same work would have gone to and fro between the last agent and this one.
    ///
    /// Only the same phase with the same agent again is a return; two agents that work on one thing after the other are
    /// none.
    pub fn exchanges_with(&self, phase: &str, agent: &str) -> u64 {
        let turn = (phase.to_owned(), agent.to_owned());
        let mut turns: Vec<&(String, String)> = self.turns.iter().collect();
        if turns.last() != Some(&&turn) {
            turns.push(&turn);
        }
        let alternate = turns.windows(3).rev().take_while(|window| window[0] == window[2]).count();
        // a b a: once there and back.
        (alternate as u64).div_ceil(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back_is_one_exchange() {
        let with = |turns: &[&str]| {
            let mut counted = Counted::since(Timestamp::UNIX_EPOCH);
            let (last, before) = turns.split_last().expect("somebody");
            counted.turns = before.iter().map(|name| ("p".to_owned(), (*name).to_owned())).collect();
            counted.exchanges_with("p", last)
        };
        assert_eq!(with(&["a", "b"]), 0);
        assert_eq!(with(&["a", "b", "a"]), 1);
        assert_eq!(with(&["a", "b", "a", "b"]), 1);
        assert_eq!(with(&["a", "b", "a", "b", "a"]), 2);
        assert_eq!(with(&["a", "b", "a", "c"]), 0);
        assert_eq!(with(&["c", "a", "b", "a", "b", "a", "b", "a"]), 3);
    }
}
