//! Who may decide, and who has approved so far.

use std::borrow::Cow;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::document::{owned, stored};
use crate::approval::{Approval, Approver, Key, Vote};

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredApproval<'s> {
    at_least: u32,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    signed: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    approvers: Vec<StoredApprover<'s>>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredApprover<'s> {
    name: Cow<'s, str>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    keys: Vec<StoredKey<'s>>,
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredKey<'s> {
    key: Cow<'s, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    valid_after: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    valid_before: Option<Timestamp>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredVote<'s> {
    by: Cow<'s, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    label: Option<Cow<'s, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<Cow<'s, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    choice: Option<Cow<'s, str>>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    withdrawn: bool,
}

impl<'s> From<&'s Approval> for StoredApproval<'s> {
    fn from(approval: &'s Approval) -> Self {
        let Approval { at_least, signed, approvers } = approval;
        StoredApproval { at_least: *at_least, signed: *signed, approvers: stored(approvers) }
    }
}

impl From<StoredApproval<'_>> for Approval {
    fn from(stored: StoredApproval<'_>) -> Self {
        let StoredApproval { at_least, signed, approvers } = stored;
        Approval { at_least, signed, approvers: owned(approvers) }
    }
}

impl<'s> From<&'s Approver> for StoredApprover<'s> {
    fn from(approver: &'s Approver) -> Self {
        let Approver { name, keys } = approver;
        StoredApprover { name: name.into(), keys: stored(keys) }
    }
}

impl From<StoredApprover<'_>> for Approver {
    fn from(stored: StoredApprover<'_>) -> Self {
        let StoredApprover { name, keys } = stored;
        Approver { name: name.into_owned(), keys: owned(keys) }
    }
}

impl<'s> From<&'s Key> for StoredKey<'s> {
    fn from(key: &'s Key) -> Self {
        let Key { key, valid_after, valid_before } = key;
        StoredKey { key: key.into(), valid_after: *valid_after, valid_before: *valid_before }
    }
}

impl From<StoredKey<'_>> for Key {
    fn from(stored: StoredKey<'_>) -> Self {
        let StoredKey { key, valid_after, valid_before } = stored;
        Key { key: key.into_owned(), valid_after, valid_before }
    }
}

impl<'s> From<&'s Vote> for StoredVote<'s> {
    fn from(vote: &'s Vote) -> Self {
        let Vote { by, label, key, choice, withdrawn } = vote;
        StoredVote {
            by: by.into(),
            label: label.as_deref().map(Cow::Borrowed),
            key: key.as_deref().map(Cow::Borrowed),
            choice: choice.as_deref().map(Cow::Borrowed),
            withdrawn: *withdrawn,
        }
    }
}

impl From<StoredVote<'_>> for Vote {
    fn from(stored: StoredVote<'_>) -> Self {
        let StoredVote { by, label, key, choice, withdrawn } = stored;
        Vote {
            by: by.into_owned(),
            label: label.map(Cow::into_owned),
            key: key.map(Cow::into_owned),
            choice: choice.map(Cow::into_owned),
            withdrawn,
        }
    }
}
