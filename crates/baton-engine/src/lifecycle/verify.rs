//! Verify: evidence decides whether a report counts.

use jiff::Timestamp;

use super::fail::{give_up, go_on, try_again};
use super::report::{asked, completed};
use super::{Action, Refusal};
use crate::Fence;
use crate::evidence::ExaminedClaim;
use crate::failure::{Code, Failure};
use crate::handoff::{About, Ask, Digest, Handoff, State};
use crate::sabotage::{Bug, planted};
use crate::step::Role;

/// Say what the evidence showed.
#[derive(Debug, Clone, PartialEq)]
pub struct Verify {
    /// The fence of the claim whose report was verified.
    pub fence: Fence,
    /// What it showed.
    pub verdict: Verdict,
    /// What was seen, claim by claim.
    pub examined: Vec<ExaminedClaim>,
    /// Identifies what was seen, so that a decision can be bound to it. Older events have none.
    pub evidence: Option<Digest>,
    /// What identifies the files of it that the store keeps, so that one that is missing is noticed.
    pub kept: Vec<Digest>,
    /// Whether a person must approve what was verified.
    pub review: bool,
    /// Whether a refuted report is repaired at once, in the same session.
    pub repair: bool,
    /// A random number between 0 and 1, for the jitter of the policy.
    pub dice: f64,
}

/// What the evidence showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing in the report is refuted.
    Verified,
    /// Something in the report is not true.
    Refuted {
        /// What, and what was seen instead.
        reasons: String,
        /// Whether another attempt makes no sense.
        for_good: bool,
    },
}

impl Verify {
    pub(super) fn apply(&self, handoff: &mut Handoff, at: Timestamp) -> Result<Vec<Action>, Refusal> {
        match handoff.state {
            State::Verifying if self.fence != handoff.fence => {
                Err(Refusal::Stale { given: self.fence, current: handoff.fence })
            }
            State::Verifying => Ok(self.decide(handoff, at)),
            State::Pending { .. }
            | State::Claimed { .. }
            | State::Blocked { .. }
            | State::AwaitingPerson { .. }
            | State::Completed { .. }
            | State::Failed { .. }
            | State::Cancelled { .. } => {
                Err(Refusal::WrongState { state: handoff.state.name(), participle: "verified" })
            }
        }
    }

    fn decide(&self, handoff: &mut Handoff, at: Timestamp) -> Vec<Action> {
        let approved = std::mem::take(&mut handoff.approved);
        // If all is as it was approved, what was seen before still stands.
        if !approved || !self.examined.is_empty() {
            handoff.evidence = self.evidence.clone();
            handoff.has_files = self.examined.iter().any(|examined| examined.path.is_some());
        }
        match &self.verdict {
            Verdict::Verified if (self.review || handoff.review_owed) && !planted(Bug::ReviewSkipped) => {
                // What was approved is no longer what is there.
                handoff.approvals.clear();
                let is_gate = handoff.terms.step.as_ref().is_some_and(|step| step.role == Role::Gate);
                let (state, actions) = asked(if is_gate { Ask::Gate } else { Ask::Review });
                handoff.state = state;
                actions
            }
            Verdict::Refuted { .. } if planted(Bug::RefutedCounts) => {
                handoff.state = State::Completed { at };
                completed(handoff)
            }
            Verdict::Verified => {
                handoff.state = State::Completed { at };
                completed(handoff)
            }
            Verdict::Refuted { reasons, for_good } => {
                handoff.note(About::Refuted, "evidence", reasons);
                let failure = Failure::new(Code::validation_failed(), reasons.clone());
                match for_good {
                    true => give_up(handoff, failure, at),
                    false if self.repair => go_on(handoff, failure, at),
                    false => try_again(handoff, failure, self.dice, at),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handoff::StateName;
    use crate::lifecycle::table::sample;
    use crate::lifecycle::{Command, apply};

    fn verify(fence: Fence, verdict: Verdict) -> Command {
        Command::Verify(Verify {
            fence,
            verdict,
            examined: Vec::new(),
            evidence: None,
            kept: Vec::new(),
            review: false,
            repair: false,
            dice: 0.0,
        })
    }

    #[test]
    fn refuted_report_goes_back_with_the_reasons() {
        let verifying = sample::handoff(StateName::Verifying);
        let refuted = Verdict::Refuted { reasons: "src/a.rs is not there".to_owned(), for_good: false };
        let next = apply(&verifying, verify(verifying.fence, refuted), sample::time(40)).expect("verifying").handoff;
        assert_eq!(next.state.name(), StateName::Pending);
        assert_eq!(next.notes[0].about, About::Refuted);
    }

    #[test]
    fn verified_report_completes() {
        let verifying = sample::handoff(StateName::Verifying);
        let next = apply(&verifying, verify(verifying.fence, Verdict::Verified), sample::time(40)).expect("verifying");
        assert_eq!(next.handoff.state, State::Completed { at: sample::time(40) });
    }
}
