//! Actions: what the surroundings must do after a command. They are values; others carry them out.

use jiff::Timestamp;

use crate::Fence;
use crate::handoff::{Ask, Handoff};
use crate::id::HandoffId;

/// What the surroundings must do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Something can be claimed, from this time on.
    Announce {
        /// By this agent.
        agent: String,
        /// From this time on.
        at: Timestamp,
    },
    /// The report must be verified.
    Verify,
    /// A person must be asked.
    AskPerson {
        /// For what.
        ask: Ask,
    },
    /// The blocked agent needs somebody else.
    Unblock {
        /// Why it is blocked.
        reason: String,
    },
    /// The attempt of this claimant has no effect any more; its worker should stop.
    StopAttempt {
        /// Who works on it.
        claimant: String,
        /// With which token.
        fence: Fence,
    },
    /// The handoff is finished; handoffs that wait for it can continue.
    TellFinished,
    /// The blocked handoff must go on, in the same transaction: with the last report of this one, or with why there is
    /// none.
    Return {
        /// The blocked handoff.
        to: HandoffId,
    },
}

/// What each action means, by the word used in the documentation.
pub const ACTIONS: [(&str, &str); 7] = [
    ("announce", "the agent's queue has something to claim, now or from a time on"),
    ("verify", "the claims of the report must be compared with the evidence"),
    ("ask person", "a person must approve, reject or answer"),
    ("unblock", "another agent or a person must help the blocked agent"),
    ("stop attempt", "the worker should stop the attempt: its fencing token has no effect any more"),
    ("tell finished", "handoffs that wait for this one can continue"),
    ("return", "the blocked handoff that waits for this one continues with its result, in the same transaction"),
];

impl Action {
    /// Announces that a handoff can be claimed.
    pub(super) fn announce(handoff: &Handoff, at: Timestamp) -> Action {
        Action::Announce { agent: handoff.terms.to.clone(), at }
    }

    /// Returns the word used in the documentation.
    pub fn name(&self) -> &'static str {
        match self {
            Action::Announce { .. } => "announce",
            Action::Verify => "verify",
            Action::AskPerson { .. } => "ask person",
            Action::Unblock { .. } => "unblock",
            Action::StopAttempt { .. } => "stop attempt",
            Action::TellFinished => "tell finished",
            Action::Return { .. } => "return",
        }
    }
}
