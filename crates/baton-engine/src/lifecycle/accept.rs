//! Accept: a request becomes a handoff. From here on it is never lost.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Action, Transition};
use crate::handoff::{Handoff, State, Terms, Written};
use crate::id::{HandoffId, RunId};
use crate::journal::Fact;

/// A request that becomes a handoff.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Accept {
    /// The identifier of the handoff.
    pub id: HandoffId,
    /// The run that it belongs to.
    pub run: RunId,
    /// What is agreed.
    pub terms: Terms,
    /// The request.
    pub request: Written,
}

impl Accept {
    /// Makes the handoff.
    pub fn apply(self, at: Timestamp) -> Transition {
        let ready_at = self.terms.not_before.map_or(at, |not_before| not_before.max(at));
        let handoff = Handoff {
            id: self.id.clone(),
            run: self.run.clone(),
            terms: self.terms.clone(),
            request: self.request.digest(),
            accepted_at: at,
            changed_at: at,
            version: 1,
            fence: 0,
            attempts: 0,
            state: State::Pending { ready_at },
            notes: Vec::new(),
            last_report: None,
            last_failure: None,
        };
        let actions = vec![Action::announce(&handoff, ready_at)];
        Transition { handoff, fact: Fact::Accepted(Box::new(self)), actions }
    }
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
}
