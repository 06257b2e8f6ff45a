//! How a handoff begins: its request, its terms, and the notes for its claimant.

use std::borrow::Cow;

use baton_protocol::model::terms::Priority;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::approval::StoredApproval;
use super::document::{StoredNote, StoredWritten, owned, stored};
use super::evidence::StoredSeenFile;
use crate::handoff::Terms;
use crate::id::{HandoffId, RunId};
use crate::lifecycle::Accept;
use crate::retry::Policy;
use crate::step::{Role, Step};

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredAccept<'s> {
    id: HandoffId,
    run: RunId,
    terms: StoredTerms<'s>,
    request: StoredWritten<'s>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    notes: Vec<StoredNote<'s>>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredTerms<'s> {
    from: Cow<'s, str>,
    to: Cow<'s, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    queue: Option<Cow<'s, str>>,
    #[serde(with = "priority_word")]
    priority: Priority,
    not_before: Option<Timestamp>,
    deadline: Option<Timestamp>,
    timeout_ms: Option<u64>,
    retry: StoredPolicy,
    key: Option<Cow<'s, str>>,
    verify: bool,
    returns_to: Option<HandoffId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    step: Option<StoredStep<'s>>,
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    choices: Cow<'s, [String]>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    files: Vec<StoredSeenFile<'s>>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    look_first: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    acknowledge: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    acknowledge_within_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pick_up_within_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    approval: Option<StoredApproval<'s>>,
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredPolicy {
    max_retries: u32,
    delay_ms: u64,
    multiplier: f64,
    jitter: f64,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    at_once_if_refused: bool,
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredStep<'s> {
    role: Role,
    phase: Cow<'s, str>,
    visit: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    within: Option<HandoffId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    about: Option<HandoffId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    after: Option<HandoffId>,
}

impl<'s> From<&'s Accept> for StoredAccept<'s> {
    fn from(accept: &'s Accept) -> Self {
        let Accept { id, run, terms, request, notes } = accept;
        StoredAccept {
            id: id.clone(),
            run: run.clone(),
            terms: terms.into(),
            request: request.into(),
            notes: stored(notes),
        }
    }
}

impl From<StoredAccept<'_>> for Accept {
    fn from(stored: StoredAccept<'_>) -> Self {
        let StoredAccept { id, run, terms, request, notes } = stored;
        Accept { id, run, terms: terms.into(), request: request.into(), notes: owned(notes) }
    }
}

impl<'s> From<&'s Terms> for StoredTerms<'s> {
    fn from(terms: &'s Terms) -> Self {
        let Terms {
            from,
            to,
            queue,
            priority,
            not_before,
            deadline,
            timeout_ms,
            retry,
            key,
            verify,
            returns_to,
            step,
            choices,
            files,
            look_first,
            acknowledge,
            acknowledge_within_ms,
            pick_up_within_ms,
            approval,
        } = terms;
        StoredTerms {
            from: from.into(),
            to: to.into(),
            queue: queue.as_deref().map(Cow::Borrowed),
            priority: *priority,
            not_before: *not_before,
            deadline: *deadline,
            timeout_ms: *timeout_ms,
            retry: (*retry).into(),
            key: key.as_deref().map(Cow::Borrowed),
            verify: *verify,
            returns_to: returns_to.clone(),
            step: step.as_ref().map(StoredStep::from),
            choices: choices.into(),
            files: stored(files),
            look_first: *look_first,
            acknowledge: *acknowledge,
            acknowledge_within_ms: *acknowledge_within_ms,
            pick_up_within_ms: *pick_up_within_ms,
            approval: approval.as_ref().map(StoredApproval::from),
        }
    }
}

impl From<StoredTerms<'_>> for Terms {
    fn from(stored: StoredTerms<'_>) -> Self {
        let StoredTerms {
            from,
            to,
            queue,
            priority,
            not_before,
            deadline,
            timeout_ms,
            retry,
            key,
            verify,
            returns_to,
            step,
            choices,
            files,
            look_first,
            acknowledge,
            acknowledge_within_ms,
            pick_up_within_ms,
            approval,
        } = stored;
        Terms {
            from: from.into_owned(),
            to: to.into_owned(),
            queue: queue.map(Cow::into_owned),
            priority,
            not_before,
            deadline,
            timeout_ms,
            retry: retry.into(),
            key: key.map(Cow::into_owned),
            verify,
            returns_to,
            step: step.map(Step::from),
            choices: choices.into_owned(),
            files: owned(files),
            look_first,
            acknowledge,
            acknowledge_within_ms,
            pick_up_within_ms,
            approval: approval.map(Into::into),
        }
    }
}

impl From<Policy> for StoredPolicy {
    fn from(policy: Policy) -> Self {
        let Policy { max_retries, delay_ms, multiplier, jitter, at_once_if_refused } = policy;
        StoredPolicy { max_retries, delay_ms, multiplier, jitter, at_once_if_refused }
    }
}

impl From<StoredPolicy> for Policy {
    fn from(stored: StoredPolicy) -> Self {
        let StoredPolicy { max_retries, delay_ms, multiplier, jitter, at_once_if_refused } = stored;
        Policy { max_retries, delay_ms, multiplier, jitter, at_once_if_refused }
    }
}

impl<'s> From<&'s Step> for StoredStep<'s> {
    fn from(step: &'s Step) -> Self {
        let Step { role, phase, visit, within, about, after } = step;
        let (within, about, after) = (within.clone(), about.clone(), after.clone());
        StoredStep { role: *role, phase: phase.into(), visit: *visit, within, about, after }
    }
}

impl From<StoredStep<'_>> for Step {
    fn from(stored: StoredStep<'_>) -> Self {
        let StoredStep { role, phase, visit, within, about, after } = stored;
        Step { role, phase: phase.into_owned(), visit, within, about, after }
    }
}

/// Priorities are stored as their word.
mod priority_word {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    use super::Priority;

    pub(super) fn serialize<S: Serializer>(priority: &Priority, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(priority.as_str())
    }

    pub(super) fn deserialize<'d, D: Deserializer<'d>>(deserializer: D) -> Result<Priority, D::Error> {
        let word = String::deserialize(deserializer)?;
        Priority::parse(&word).ok_or_else(|| D::Error::custom(format!("`{word}` is not a priority")))
    }
}
