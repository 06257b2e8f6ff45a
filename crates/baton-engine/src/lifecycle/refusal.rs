//! Refusals: why a command has no effect. A late report is refused and journalled; nothing else of it remains.

use std::sync::Arc;

use jiff::Timestamp;

use crate::Fence;
use crate::handoff::{Digest, StateName, WrittenDocument};
use crate::known::CommandAuthor;

/// Why a command has no effect.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Somebody else has claimed it since, or the lease was lost.
    #[error("claim {given} was superseded by claim {current}")]
    Stale {
        /// The token of the caller.
        given: Fence,
        /// The latest token.
        current: Fence,
    },
    /// This token was never issued.
    #[error("unknown claim {given}")]
    NeverGiven {
        /// The token of the caller.
        given: Fence,
    },
    /// The attempt took longer than was agreed.
    #[error("claim {given} expired at {ended_at}")]
    TooLong {
        /// The token of the caller.
        given: Fence,
        /// When it had to end.
        ended_at: Timestamp,
    },
    /// The claimant must say first that it understood.
    #[error("claim {given} must be acknowledged before its report counts")]
    NotAcknowledged {
        /// The token of the caller.
        given: Fence,
    },
    /// The caller's claim is over.
    #[error("claim {given} has ended: the handoff is {state}")]
    Over {
        /// The token of the caller.
        given: Fence,
        /// Where the handoff is.
        state: StateName,
    },
    /// The same was said before and has had its effect.
    #[error("this was already recorded")]
    Repeated,
    /// It cannot be claimed yet.
    #[error("it is not ready before {at}")]
    NotReady {
        /// When it can be.
        at: Timestamp,
    },
    /// Its deadline has passed.
    #[error("its deadline has passed")]
    Overdue,
    /// It has changed since it was looked at.
    #[error("it has changed since it was looked at")]
    NotAsSeen,
    /// Nothing has ended yet.
    #[error("nothing has expired")]
    NotExpired,
    /// The person saw something that has changed since.
    #[error("it has changed since it was shown")]
    Changed {
        /// What identifies what is there now.
        current: Option<Digest>,
    },
    /// The person was asked something else.
    #[error("a person is asked for {expected}")]
    OtherQuestion {
        /// What would be an answer.
        expected: &'static str,
    },
    /// An agent waits for an answer, which approval does not give.
    #[error("an agent waits for an answer, so approval is not enough: use `baton answer ID TEXT`")]
    Unanswered,
    /// The person chose something that is not offered.
    #[error("not one of the choices: choose one of those offered, or approve or reject it")]
    NoChoice,
    /// The gate names others.
    #[error("the account `{by}` is not one of the approvers: {named}")]
    NotNamed {
        /// Who decided.
        by: String,
        /// Who may.
        named: String,
    },
    /// It is unknown who decided.
    #[error("{by}: only an account or a signature can decide here")]
    Unknown {
        /// Who decided, by their own account.
        by: String,
    },
    /// Only signatures count.
    #[error("only signed decisions count here: use --sign; approvers: {named}")]
    Unsigned {
        /// Who may decide.
        named: String,
    },
    /// The signature is not what it should be.
    #[error("the signature does not count: {why}")]
    Forged {
        /// What does not fit.
        why: String,
    },
    /// The same person has decided the same before.
    #[error("{by} has already decided: another approver must decide, too")]
    Twice {
        /// Who.
        by: String,
    },
    /// It belongs to a run, which decides about it.
    #[error("it is part of a run: only the run can change it")]
    PartOfRun,
    /// The command makes no sense in this state.
    #[error("a handoff that is {state} cannot be {participle}")]
    WrongState {
        /// Where the handoff is.
        state: StateName,
        /// What cannot be done with it.
        participle: &'static str,
    },
}

/// A refused command, for the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedCommand {
    /// The verb.
    pub command: String,
    /// The token of the caller.
    pub fence: Fence,
    /// Why it was refused.
    pub why: String,
    /// The document that came too late.
    pub document: Option<WrittenDocument>,
    /// Who decided what they may not decide, and how.
    pub by: Option<String>,
    /// Who sent what came too late, where a door knows.
    pub author: Option<Arc<CommandAuthor>>,
}

/// What each refusal means, by the word used in the documentation.
pub const REFUSALS: [(&str, &str); 8] = [
    ("stale claim", "another worker has claimed it since: a later fencing token exists"),
    ("claim is over", "the token is the latest, but its claim has ended: reported, failed, expired or cancelled"),
    ("already recorded", "the same command was applied before; repeating it is harmless"),
    ("not ready", "it cannot be claimed before its time"),
    ("not expired", "no lease, timeout, deadline or other time limit has expired"),
    ("changed since", "it has changed since it was shown to the person"),
    ("other question", "the person was asked for something else: approval, or answers"),
    ("wrong state", "the command is not possible in this state"),
];

impl Refusal {
    /// What a person may be asked for, as it is written in [`Refusal::OtherQuestion`].
    pub const EXPECTED: [&'static str; 3] =
        ["approval: approve or reject it", "answers: answer the questions", "a decision: no agent can be asked"];

    /// What cannot be done with a handoff, as it is written in [`Refusal::WrongState`].
    pub const PARTICIPLES: [&'static str; 8] =
        ["cancelled", "claimed", "decided about", "expired", "requeued", "resumed", "routed", "verified"];

    /// Returns the word used in the documentation.
    pub fn name(&self) -> &'static str {
        match self {
            Refusal::Stale { .. } => "stale claim",
            Refusal::NeverGiven { .. } => "never given",
            Refusal::TooLong { .. } => "took too long",
            Refusal::NotAcknowledged { .. } => "not acknowledged",
            Refusal::Over { .. } => "claim is over",
            Refusal::Repeated => "already recorded",
            Refusal::NotReady { .. } => "not ready",
            Refusal::Overdue => "overdue",
            Refusal::NotAsSeen => "not-as-seen",
            Refusal::NotExpired => "not expired",
            Refusal::Changed { .. } => "changed since",
            Refusal::OtherQuestion { .. } => "other question",
            Refusal::Unanswered => "other question",
            Refusal::NoChoice => "no choice",
            Refusal::NotNamed { .. } | Refusal::Unknown { .. } => "not named",
            Refusal::Unsigned { .. } => "not signed",
            Refusal::Forged { .. } => "forged",
            Refusal::Twice { .. } => "decided twice",
            Refusal::PartOfRun => "part of a run",
            Refusal::WrongState { .. } => "wrong state",
        }
    }

    /// Returns whether somebody decided who may not, or not like this.
    pub fn is_of_decider(&self) -> bool {
        matches!(
            self,
            Refusal::NotNamed { .. }
                | Refusal::Unknown { .. }
                | Refusal::Unsigned { .. }
                | Refusal::Forged { .. }
                | Refusal::Twice { .. }
        )
    }

    /// Returns whether it must be journalled: somebody believed to hold a handoff that is not theirs any more.
    pub fn is_late(&self) -> bool {
        match self {
            Refusal::Stale { .. } | Refusal::Over { .. } | Refusal::TooLong { .. } => true,
            Refusal::Repeated
            | Refusal::NeverGiven { .. }
            | Refusal::NotAcknowledged { .. }
            | Refusal::NotReady { .. }
            | Refusal::Overdue
            | Refusal::NotAsSeen
            | Refusal::NotExpired
            | Refusal::Changed { .. }
            | Refusal::OtherQuestion { .. }
            | Refusal::Unanswered
            | Refusal::NoChoice
            | Refusal::NotNamed { .. }
            | Refusal::Unknown { .. }
            | Refusal::Unsigned { .. }
            | Refusal::Forged { .. }
            | Refusal::Twice { .. }
            | Refusal::PartOfRun
            | Refusal::WrongState { .. } => false,
        }
    }
}
