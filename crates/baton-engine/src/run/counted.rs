//! What is counted against the limits of a run. It persists, because it follows from the journal.

use std::collections::VecDeque;
use std::sync::Arc;

use baton_protocol::wire::same_word;
use jiff::Timestamp;
use rpds::HashTrieMapSync;

use super::CONTINUE;
use crate::journal::Fact;
use crate::lifecycle::{Command, Decision};
use crate::sabotage::{Bug, planted};
use crate::step::{Role, Step};

/// What was counted since the beginning, or since a person revised the run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunCounters {
    /// Since when.
    pub since: Timestamp,
    /// Handoffs between agents, checks and groups.
    pub handoffs: u64,
    /// What was used.
    pub used: Used,
    /// What was used when a person was last asked because of a limit.
    pub asked_at: Used,
    visits: HashTrieMapSync<String, u64>,
    /// How often each phase was visited when a person last said `continue`, by the list of phases that they said it in.
    continued: HashTrieMapSync<String, HashTrieMapSync<String, u64>>,
    failures: HashTrieMapSync<(String, String), u64>,
    /// Which agents had their turn in which phase, without repetitions.
    turns: Arc<VecDeque<Arc<(String, String)>>>,
}

/// What was used of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Used {
    /// Tokens of prompts and answers.
    pub tokens: u64,
    /// What they cost in millionths of a US dollar, as far as a price is known.
    pub cost_micros: u64,
}

/// How many turns are remembered; two agents that go on for longer have reached every limit.
const TURNS_MAX: usize = 256;

impl RunCounters {
    /// Starts counting.
    pub fn since(since: Timestamp) -> RunCounters {
        let (visits, failures) = (HashTrieMapSync::new_sync(), HashTrieMapSync::new_sync());
        RunCounters {
            since,
            handoffs: 0,
            used: Used::default(),
            asked_at: Used::default(),
            visits,
            continued: HashTrieMapSync::new_sync(),
            failures,
            turns: Arc::default(),
        }
    }

    pub(super) fn take(&mut self, step: &Step, to: &str, fact: &Fact, failure: Option<String>, used: Used) {
        self.used.tokens = self.used.tokens.saturating_add(used.tokens);
        self.used.cost_micros = self.used.cost_micros.saturating_add(used.cost_micros);
        match fact {
            Fact::Accepted(_) if step.role == Role::Limit => self.asked_at = self.used,
            _ if chooses(step, fact, CONTINUE) => {
                let list = step.phase.rsplit_once('/').map_or("", |(list, _)| list).to_owned();
                self.continued.insert_mut(list, self.visits.clone());
            }
            Fact::Accepted(_) if step.role.is_counted() => {
                self.handoffs += u64::from(!(step.role == Role::Check && planted(Bug::CounterNotCounted)));
                if step.role.is_phase() {
                    self.visits.insert_mut(step.phase.clone(), self.visits(&step.phase) + 1);
                }
            }
            Fact::Happened(Command::Claim(_)) if matches!(step.role, Role::Work | Role::Delegation) => {
                let turn = (step.phase.clone(), to.to_owned());
                if self.turns.back().is_none_or(|last| **last != turn) {
                    let turns = Arc::make_mut(&mut self.turns);
                    turns.push_back(Arc::new(turn));
                    turns.drain(..turns.len().saturating_sub(TURNS_MAX));
                }
            }
            Fact::Accepted(_) | Fact::Happened(_) | Fact::Refused(_) => {}
        }
        if let Some(failure) = failure {
            let count = self.failures(&step.phase, &failure) + 1;
            self.failures.insert_mut((step.phase.clone(), failure), count);
        }
    }

    /// Returns how often a phase was visited.
    pub fn visits(&self, phase: &str) -> u64 {
        self.visits.get(phase).copied().unwrap_or_default()
    }

    /// Returns whether a person has allowed one more round, and the phase was not visited in it yet.
    ///
    /// A round covers each phase once that is in the same list as the one where the person said `continue`, or inside of
    /// it. Somebody who lets work be built again wants it to be reviewed again, too.
    pub fn is_allowed_once_more(&self, phase: &str) -> bool {
        let lists = phase.match_indices('/').map(|(end, _)| &phase[..end]);
        let mut rounds = std::iter::once("").chain(lists).filter_map(|list| self.continued.get(list));
        rounds.any(|before| before.get(phase).copied().unwrap_or_default() == self.visits(phase))
    }

    /// Returns how often the same failure happened in a phase.
    pub fn failures(&self, phase: &str, failure: &str) -> u64 {
        self.failures.get(&(phase.to_owned(), failure.to_owned())).copied().unwrap_or_default()
    }

    /// Returns how often the same work would have gone back and forth between the last agent and this one.
    ///
    /// Only the same phase with the same agent again is a return; two agents that work on one thing after the other are
    /// none.
    pub fn exchanges_with(&self, phase: &str, agent: &str) -> u64 {
        let turn = (phase.to_owned(), agent.to_owned());
        let is_new = self.turns.back().is_none_or(|last| **last != turn);
        let latest_first = is_new.then_some(&turn).into_iter().chain(self.turns.iter().rev().map(|turn| &**turn));
        let two_before = latest_first.clone().skip(2);
        let alternate = latest_first.zip(two_before).take_while(|(turn, before)| turn == before).count();
        // a b a: once there and back.
        (alternate as u64).div_ceil(2)
    }
}

/// Returns whether a person has chosen a word at a limit.
pub(super) fn chooses(step: &Step, fact: &Fact, word: &str) -> bool {
    let Fact::Happened(Command::Decide(decide)) = fact else { return false };
    let Decision::Answer { answers } = &decide.decision else { return false };
    step.role == Role::Limit && same_word(answers.trim(), word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back_is_one_exchange() {
        let with = |turns: &[&str]| {
            let mut counted = RunCounters::since(Timestamp::UNIX_EPOCH);
            let (last, before) = turns.split_last().expect("somebody");
            let turns = before.iter().map(|name| Arc::new(("p".to_owned(), (*name).to_owned())));
            counted.turns = Arc::new(turns.collect());
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
