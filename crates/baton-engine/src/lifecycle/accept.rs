//! Accept: a request becomes a handoff. From here on it is never lost.

use std::sync::Arc;

use jiff::Timestamp;

use super::{Action, Transition};
use crate::Fence;
use crate::handoff::{Ask, Handoff, Note, State, Terms, WrittenDocument, whole};
use crate::id::{HandoffId, RunId};
use crate::journal::Fact;
use crate::retry::RetryFault;

/// A request that becomes a handoff.
#[derive(Debug, Clone, PartialEq)]
pub struct Accept {
    /// The identifier of the handoff.
    pub id: HandoffId,
    /// The run that it belongs to.
    pub run: RunId,
    /// What is agreed.
    pub terms: Terms,
    /// The request.
    pub request: WrittenDocument,
    /// What the first attempt must know beyond the request.
    pub notes: Vec<Note>,
}

/// The longest name of a party, and the longest key.
const NAME_BYTES_MAX: usize = 1024;

/// Why a request cannot become a handoff.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum AcceptFault {
    /// A name or the key cannot be kept.
    #[error(transparent)]
    Name(#[from] NameFault),
    /// It would never go on.
    #[error("a handoff cannot wait for itself")]
    WaitsForItself,
    /// The retries cannot be worked out.
    #[error(transparent)]
    Retry(#[from] RetryFault),
}

/// Why a store cannot keep a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameFault {
    /// It is too long.
    #[error("the {what} has {bytes} bytes, but at most {NAME_BYTES_MAX} are allowed")]
    TooLong {
        /// What it names.
        what: &'static str,
        /// How long it is.
        bytes: usize,
    },
    /// It has a character that not every database can keep.
    #[error("the {0} has a NUL character")]
    Nul(&'static str),
}

impl Accept {
    /// Looks whether the terms keep within the limits; the error says what does not.
    pub fn check(&self) -> Result<(), AcceptFault> {
        name("sender", &self.terms.from)?;
        name("receiver", &self.terms.to)?;
        self.terms.key.as_deref().map_or(Ok(()), |key| name("key", key))?;
        if self.terms.returns_to.as_ref() == Some(&self.id) {
            return Err(AcceptFault::WaitsForItself);
        }
        Ok(self.terms.retry.check()?)
    }

    /// Makes the handoff.
    pub fn apply(self, at: Timestamp) -> Transition {
        let handoff = self.handoff(at);
        let actions = match &handoff.state {
            State::Pending { ready_at } => vec![Action::announce(&handoff, *ready_at)],
            State::Verifying => vec![Action::Verify],
            _ => vec![Action::AskPerson { ask: Ask::Gate }],
        };
        Transition { handoff, fact: Fact::Accepted(Box::new(self)), actions }
    }

    /// Returns the handoff as it begins.
    pub(crate) fn handoff(&self, at: Timestamp) -> Handoff {
        let at = whole(at);
        let ready_at = self.terms.not_before.map_or(at, |not_before| whole(not_before).max(at));
        let asks_person = self.terms.asks_person();
        let state = match asks_person {
            true if self.terms.look_first => State::Verifying,
            true => State::AwaitingPerson { ask: Ask::Gate },
            false => State::Pending { ready_at },
        };
        let request = self.request.digest();
        Handoff {
            id: self.id.clone(),
            run: self.run.clone(),
            terms: Arc::new(self.terms.clone()),
            // What a person decides about is the request itself.
            last_report: asks_person.then(|| request.clone()),
            evidence: None,
            has_files: !self.terms.files.is_empty(),
            approved: false,
            request,
            accepted_at: at,
            changed_at: at,
            deadline: self.terms.deadline.map(whole),
            version: 1,
            // Each look at its files has a token of its own.
            fence: Fence(u64::from(matches!(state, State::Verifying))),
            attempts: 0,
            state,
            notes: self.notes.clone(),
            last_failure: None,
            returned_early: false,
            routed: false,
            review_owed: false,
            approvals: Vec::new(),
        }
    }
}

/// Looks whether every store can keep a name.
pub(crate) fn name(what: &'static str, text: &str) -> Result<(), NameFault> {
    if text.len() > NAME_BYTES_MAX {
        return Err(NameFault::TooLong { what, bytes: text.len() });
    }
    if text.contains('\0') { Err(NameFault::Nul(what)) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lifecycle::table::sample;

    #[test]
    fn accepted_handoff_is_ready_at_once_or_not_before_its_time() {
        let at = sample::time(10);
        assert_eq!(sample::accept().apply(at).handoff.state, State::Pending { ready_at: at });

        let mut accept = sample::accept();
        accept.terms.not_before = Some(sample::time(60));
        let transition = accept.apply(at);
        assert_eq!(transition.handoff.state, State::Pending { ready_at: sample::time(60) });
        assert_eq!(transition.actions, [Action::Announce { agent: "b".to_owned(), at: sample::time(60) }]);
    }

    #[test]
    fn what_is_for_a_person_waits_for_one_and_cannot_be_claimed() {
        let mut accept = sample::accept();
        accept.terms.to = "human".to_owned();
        let handoff = accept.apply(sample::time(10)).handoff;
        assert_eq!(handoff.state, State::AwaitingPerson { ask: Ask::Gate });
        assert!(crate::lifecycle::apply(&handoff, sample::claim(), sample::time(20)).is_err());
    }

    #[test]
    fn nobody_is_asked_before_the_files_were_looked_at() {
        let mut accept = sample::accept();
        accept.terms.to = "human".to_owned();
        accept.terms.look_first = true;
        let Transition { handoff, actions, .. } = accept.apply(sample::time(10));
        assert_eq!((handoff.state, handoff.fence, actions), (State::Verifying, Fence(1), vec![Action::Verify]));
    }

    #[test]
    fn terms_have_limits() {
        assert_eq!(sample::accept().check(), Ok(()));
        let mut accept = sample::accept();
        accept.terms.to = "b\0".to_owned();
        assert_eq!(accept.check(), Err(NameFault::Nul("receiver").into()));
        accept.terms.to = "b".repeat(NAME_BYTES_MAX + 1);
        assert!(accept.check().is_err());
        accept.terms.to = "b".to_owned();
        accept.terms.key = Some("k\0".to_owned());
        assert_eq!(accept.check(), Err(NameFault::Nul("key").into()));
        accept.terms.key = None;
        accept.terms.retry.multiplier = f64::NAN;
        assert!(accept.check().is_err());
    }
}
