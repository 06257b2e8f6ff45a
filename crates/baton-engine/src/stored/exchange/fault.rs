//! Why a call of a store had no effect, as a server passes it on: the program that called says the same sentence and ends
//! with the same code as if the store were its own.

use std::borrow::Cow;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::Fence;
use crate::handoff::{Digest, StateName};
use crate::id::HandoffId;
use crate::lifecycle::Refusal;
use crate::store::StoreError;

/// Why a call of a store had no effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "fault", rename_all = "snake_case")]
pub enum FaultRecord {
    /// The lifecycle does not allow it.
    Refused(RefusalRecord),
    /// Unknown handoff.
    NotFound {
        /// Which.
        id: HandoffId,
    },
    /// Not within the limits.
    Invalid {
        /// What is not.
        why: String,
    },
    /// The id or the key belongs to another request.
    Taken {
        /// `id` or `key`.
        what: Cow<'static, str>,
        /// The id or the key.
        value: String,
        /// Whose it is.
        existing: HandoffId,
    },
    /// The store does not answer at the moment.
    Unreachable {
        /// Why.
        why: String,
    },
    /// Nothing can be written.
    Unwritable {
        /// Why.
        why: String,
    },
    /// Something was written by a newer program.
    Newer {
        /// What.
        why: String,
    },
    /// It is not there any more, or another one is in its place.
    Gone {
        /// What happened to it.
        why: String,
    },
    /// What is stored is not what was written.
    Damaged {
        /// What is not.
        why: String,
    },
    /// The store refuses a statement.
    Failed {
        /// Why.
        why: String,
    },
}

/// Why a command has no effect; [`Refusal`] says what the fields are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "refusal", rename_all = "snake_case")]
pub enum RefusalRecord {
    Stale { given: Fence, current: Fence },
    NeverGiven { given: Fence },
    TooLong { given: Fence, ended_at: Timestamp },
    NotAcknowledged { given: Fence },
    Over { given: Fence, state: String },
    Repeated,
    NotReady { at: Timestamp },
    Overdue,
    NotAsSeen,
    NotExpired,
    Changed { current: Option<Digest> },
    OtherQuestion { expected: Cow<'static, str> },
    Unanswered,
    NoChoice,
    NotNamed { by: String, named: String },
    Unknown { by: String },
    Unsigned { named: String },
    Forged { why: String },
    Twice { by: String },
    PartOfRun,
    WrongState { state: String, participle: Cow<'static, str> },
}

impl From<StoreError> for FaultRecord {
    fn from(error: StoreError) -> FaultRecord {
        let told = error.to_string();
        match error {
            StoreError::Refused(refusal) => FaultRecord::Refused(refusal.into()),
            StoreError::NotFound(id) => FaultRecord::NotFound { id },
            StoreError::Invalid(why) => FaultRecord::Invalid { why },
            StoreError::Taken { what, value, existing } => FaultRecord::Taken { what: what.into(), value, existing },
            StoreError::Unreachable(why) => FaultRecord::Unreachable { why },
            StoreError::Unwritable(why) => FaultRecord::Unwritable { why },
            StoreError::TooNew { .. } | StoreError::Newer(_) => FaultRecord::Newer { why: told },
            StoreError::Gone(why) => FaultRecord::Gone { why },
            StoreError::Damaged(why) => FaultRecord::Damaged { why },
            StoreError::Failed(why) => FaultRecord::Failed { why },
            StoreError::Declined { .. } => FaultRecord::Failed { why: told },
        }
    }
}

impl FaultRecord {
    /// Returns the error; `None` if it has a word in it that this program does not know.
    pub fn error(self) -> Option<StoreError> {
        Some(match self {
            FaultRecord::Refused(refusal) => StoreError::Refused(refusal.refusal()?),
            FaultRecord::NotFound { id } => StoreError::NotFound(id),
            FaultRecord::Invalid { why } => StoreError::Invalid(why),
            FaultRecord::Taken { what, value, existing } => {
                StoreError::Taken { what: known(&["id", "key"], &what)?, value, existing }
            }
            FaultRecord::Unreachable { why } => StoreError::Unreachable(why),
            FaultRecord::Unwritable { why } => StoreError::Unwritable(why),
            FaultRecord::Newer { why } => StoreError::Newer(why),
            FaultRecord::Gone { why } => StoreError::Gone(why),
            FaultRecord::Damaged { why } => StoreError::Damaged(why),
            FaultRecord::Failed { why } => StoreError::Failed(why),
        })
    }
}

impl From<Refusal> for RefusalRecord {
    fn from(refusal: Refusal) -> RefusalRecord {
        let word = |state: StateName| state.as_str().to_owned();
        match refusal {
            Refusal::Stale { given, current } => RefusalRecord::Stale { given, current },
            Refusal::NeverGiven { given } => RefusalRecord::NeverGiven { given },
            Refusal::TooLong { given, ended_at } => RefusalRecord::TooLong { given, ended_at },
            Refusal::NotAcknowledged { given } => RefusalRecord::NotAcknowledged { given },
            Refusal::Over { given, state } => RefusalRecord::Over { given, state: word(state) },
            Refusal::Repeated => RefusalRecord::Repeated,
            Refusal::NotReady { at } => RefusalRecord::NotReady { at },
            Refusal::Overdue => RefusalRecord::Overdue,
            Refusal::NotAsSeen => RefusalRecord::NotAsSeen,
            Refusal::NotExpired => RefusalRecord::NotExpired,
            Refusal::Changed { current } => RefusalRecord::Changed { current },
            Refusal::OtherQuestion { expected } => RefusalRecord::OtherQuestion { expected: expected.into() },
            Refusal::Unanswered => RefusalRecord::Unanswered,
            Refusal::NoChoice => RefusalRecord::NoChoice,
            Refusal::NotNamed { by, named } => RefusalRecord::NotNamed { by, named },
            Refusal::Unknown { by } => RefusalRecord::Unknown { by },
            Refusal::Unsigned { named } => RefusalRecord::Unsigned { named },
            Refusal::Forged { why } => RefusalRecord::Forged { why },
            Refusal::Twice { by } => RefusalRecord::Twice { by },
            Refusal::PartOfRun => RefusalRecord::PartOfRun,
            Refusal::WrongState { state, participle } => {
                RefusalRecord::WrongState { state: word(state), participle: participle.into() }
            }
        }
    }
}

impl RefusalRecord {
    /// Returns the refusal; `None` if it has a word in it that this program does not know.
    fn refusal(self) -> Option<Refusal> {
        Some(match self {
            RefusalRecord::Stale { given, current } => Refusal::Stale { given, current },
            RefusalRecord::NeverGiven { given } => Refusal::NeverGiven { given },
            RefusalRecord::TooLong { given, ended_at } => Refusal::TooLong { given, ended_at },
            RefusalRecord::NotAcknowledged { given } => Refusal::NotAcknowledged { given },
            RefusalRecord::Over { given, state } => Refusal::Over { given, state: StateName::parse(&state)? },
            RefusalRecord::Repeated => Refusal::Repeated,
            RefusalRecord::NotReady { at } => Refusal::NotReady { at },
            RefusalRecord::Overdue => Refusal::Overdue,
            RefusalRecord::NotAsSeen => Refusal::NotAsSeen,
            RefusalRecord::NotExpired => Refusal::NotExpired,
            RefusalRecord::Changed { current } => Refusal::Changed { current },
            RefusalRecord::OtherQuestion { expected } => {
                Refusal::OtherQuestion { expected: known(&Refusal::EXPECTED, &expected)? }
            }
            RefusalRecord::Unanswered => Refusal::Unanswered,
            RefusalRecord::NoChoice => Refusal::NoChoice,
            RefusalRecord::NotNamed { by, named } => Refusal::NotNamed { by, named },
            RefusalRecord::Unknown { by } => Refusal::Unknown { by },
            RefusalRecord::Unsigned { named } => Refusal::Unsigned { named },
            RefusalRecord::Forged { why } => Refusal::Forged { why },
            RefusalRecord::Twice { by } => Refusal::Twice { by },
            RefusalRecord::PartOfRun => Refusal::PartOfRun,
            RefusalRecord::WrongState { state, participle } => Refusal::WrongState {
                state: StateName::parse(&state)?,
                participle: known(&Refusal::PARTICIPLES, &participle)?,
            },
        })
    }
}

fn known(words: &[&'static str], given: &str) -> Option<&'static str> {
    words.iter().copied().find(|word| *word == given)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_comes_back_as_it_was() {
        let at = Timestamp::from_second(1_800_000_000).expect("a time");
        let (given, current) = (Fence(1), Fence(2));
        let (by, named) = ("ana".to_owned(), "bob".to_owned());
        let mut refusals = vec![
            Refusal::Stale { given, current },
            Refusal::NeverGiven { given },
            Refusal::TooLong { given, ended_at: at },
            Refusal::NotAcknowledged { given },
            Refusal::Over { given, state: StateName::Completed },
            Refusal::Repeated,
            Refusal::NotReady { at },
            Refusal::Overdue,
            Refusal::NotAsSeen,
            Refusal::NotExpired,
            Refusal::Changed { current: Some(Digest("9f86".to_owned())) },
            Refusal::Changed { current: None },
            Refusal::Unanswered,
            Refusal::NoChoice,
            Refusal::NotNamed { by: by.clone(), named: named.clone() },
            Refusal::Unknown { by: by.clone() },
            Refusal::Unsigned { named },
            Refusal::Forged { why: "it does not match the decision".to_owned() },
            Refusal::Twice { by },
            Refusal::PartOfRun,
        ];
        refusals.extend(Refusal::EXPECTED.map(|expected| Refusal::OtherQuestion { expected }));
        refusals.extend(
            Refusal::PARTICIPLES.map(|participle| Refusal::WrongState { state: StateName::Blocked, participle }),
        );
        let id = HandoffId::parse("csv-07").expect("safe");
        let mut errors: Vec<StoreError> = refusals.into_iter().map(StoreError::Refused).collect();
        errors.push(StoreError::NotFound(id.clone()));
        errors.push(StoreError::Taken { what: "key", value: "nightly".to_owned(), existing: id });
        let worded = [StoreError::Invalid, StoreError::Unreachable, StoreError::Unwritable, StoreError::Newer];
        errors.extend(worded.map(|error| error("why".to_owned())));
        errors.extend([StoreError::Gone, StoreError::Damaged, StoreError::Failed].map(|error| error("why".to_owned())));
        for error in errors {
            let sent = serde_json::to_string(&FaultRecord::from(error.clone())).expect("JSON");
            let received: FaultRecord = serde_json::from_str(&sent).expect("the same form");
            assert_eq!(received.error(), Some(error), "{sent}");
        }
    }

    #[test]
    fn words_of_a_newer_server_are_not_guessed() {
        let text = r#"{"fault": "refused", "refusal": "wrong_state", "state": "melted", "participle": "claimed"}"#;
        assert_eq!(serde_json::from_str::<FaultRecord>(text).expect("its form is known").error(), None);
        assert!(serde_json::from_str::<FaultRecord>(r#"{"fault": "bored"}"#).is_err());
    }
}
