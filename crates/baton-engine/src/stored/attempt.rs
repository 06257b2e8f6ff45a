//! What happens in an attempt: it is claimed, goes on, and ends in one way or another.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::document::{StoredFailure, StoredWritten};
use super::evidence::StoredTranscript;
use super::finite;
use crate::Fence;
use crate::evidence::Transcript;
use crate::handoff::{Digest, WrittenDocument};
use crate::lifecycle::{Acknowledge, Claim, Ending, Expire, Fail, HandIn, Heartbeat, Release};
use crate::protection::Protection;

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredClaim<'s> {
    claimant: Cow<'s, str>,
    lease_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    prompt_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    driver: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    times_itself: bool,
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    moved: Cow<'s, [String]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    baseline: Option<Cow<'s, Digest>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    protection: Option<StoredProtection<'s>>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
enum StoredProtection<'s> {
    Bubblewrap,
    Landlock { why: Cow<'s, str> },
    Nothing { why: Cow<'s, str> },
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredAcknowledge<'s> {
    fence: Fence,
    understood: bool,
    document: StoredWritten<'s>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredHeartbeat<'s> {
    fence: Fence,
    lease_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    baseline: Option<Cow<'s, Digest>>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredReport<'s> {
    fence: Fence,
    ending: StoredEnding<'s>,
    document: StoredWritten<'s>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tokens_used: Option<u64>,
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    changed: Cow<'s, [String]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    transcript: Option<StoredTranscript<'s>>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredEnding<'s> {
    Complete,
    Blocked { reason: Cow<'s, str> },
    NeedsReview,
    NeedsClarification,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredFail<'s> {
    fence: Fence,
    failure: StoredFailure<'s>,
    document: Option<StoredWritten<'s>>,
    #[serde(serialize_with = "finite")]
    dice: f64,
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    changed: Cow<'s, [String]>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredExpire {
    #[serde(serialize_with = "finite")]
    dice: f64,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    for_good: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fence: Option<Fence>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredRelease<'s> {
    fence: Fence,
    why: Cow<'s, str>,
}

impl<'s> From<&'s Claim> for StoredClaim<'s> {
    fn from(claim: &'s Claim) -> Self {
        let Claim { claimant, lease_ms, prompt_tokens, driver, times_itself, moved, baseline, protection } = claim;
        StoredClaim {
            claimant: claimant.into(),
            lease_ms: *lease_ms,
            prompt_tokens: *prompt_tokens,
            driver: *driver,
            times_itself: *times_itself,
            moved: moved.into(),
            baseline: baseline.as_ref().map(Cow::Borrowed),
            protection: protection.as_ref().map(StoredProtection::from),
        }
    }
}

impl From<StoredClaim<'_>> for Claim {
    fn from(stored: StoredClaim<'_>) -> Self {
        let StoredClaim { claimant, lease_ms, prompt_tokens, driver, times_itself, moved, baseline, protection } =
            stored;
        Claim {
            claimant: claimant.into_owned(),
            lease_ms,
            prompt_tokens,
            driver,
            times_itself,
            moved: moved.into_owned(),
            baseline: baseline.map(Cow::into_owned),
            protection: protection.map(Protection::from),
        }
    }
}

impl<'s> From<&'s Protection> for StoredProtection<'s> {
    fn from(protection: &'s Protection) -> Self {
        match protection {
            Protection::Bubblewrap => StoredProtection::Bubblewrap,
            Protection::Landlock { why } => StoredProtection::Landlock { why: why.into() },
            Protection::Nothing { why } => StoredProtection::Nothing { why: why.into() },
        }
    }
}

impl From<StoredProtection<'_>> for Protection {
    fn from(stored: StoredProtection<'_>) -> Self {
        match stored {
            StoredProtection::Bubblewrap => Protection::Bubblewrap,
            StoredProtection::Landlock { why } => Protection::Landlock { why: why.into_owned() },
            StoredProtection::Nothing { why } => Protection::Nothing { why: why.into_owned() },
        }
    }
}

impl<'s> From<&'s Acknowledge> for StoredAcknowledge<'s> {
    fn from(acknowledge: &'s Acknowledge) -> Self {
        let Acknowledge { fence, understood, document } = acknowledge;
        StoredAcknowledge { fence: *fence, understood: *understood, document: document.into() }
    }
}

impl From<StoredAcknowledge<'_>> for Acknowledge {
    fn from(stored: StoredAcknowledge<'_>) -> Self {
        let StoredAcknowledge { fence, understood, document } = stored;
        Acknowledge { fence, understood, document: document.into() }
    }
}

impl<'s> From<&'s Heartbeat> for StoredHeartbeat<'s> {
    fn from(heartbeat: &'s Heartbeat) -> Self {
        let Heartbeat { fence, lease_ms, baseline } = heartbeat;
        StoredHeartbeat { fence: *fence, lease_ms: *lease_ms, baseline: baseline.as_ref().map(Cow::Borrowed) }
    }
}

impl From<StoredHeartbeat<'_>> for Heartbeat {
    fn from(stored: StoredHeartbeat<'_>) -> Self {
        let StoredHeartbeat { fence, lease_ms, baseline } = stored;
        Heartbeat { fence, lease_ms, baseline: baseline.map(Cow::into_owned) }
    }
}

impl<'s> From<&'s HandIn> for StoredReport<'s> {
    fn from(report: &'s HandIn) -> Self {
        let HandIn { fence, ending, document, tokens_used, changed, transcript } = report;
        StoredReport {
            fence: *fence,
            ending: ending.into(),
            document: document.into(),
            tokens_used: *tokens_used,
            changed: changed.into(),
            transcript: transcript.as_ref().map(StoredTranscript::from),
        }
    }
}

impl From<StoredReport<'_>> for HandIn {
    fn from(stored: StoredReport<'_>) -> Self {
        let StoredReport { fence, ending, document, tokens_used, changed, transcript } = stored;
        HandIn {
            fence,
            ending: ending.into(),
            document: document.into(),
            tokens_used,
            changed: changed.into_owned(),
            transcript: transcript.map(Transcript::from),
        }
    }
}

impl<'s> From<&'s Ending> for StoredEnding<'s> {
    fn from(ending: &'s Ending) -> Self {
        match ending {
            Ending::Complete => StoredEnding::Complete,
            Ending::Blocked { reason } => StoredEnding::Blocked { reason: reason.into() },
            Ending::NeedsReview => StoredEnding::NeedsReview,
            Ending::NeedsClarification => StoredEnding::NeedsClarification,
        }
    }
}

impl From<StoredEnding<'_>> for Ending {
    fn from(stored: StoredEnding<'_>) -> Self {
        match stored {
            StoredEnding::Complete => Ending::Complete,
            StoredEnding::Blocked { reason } => Ending::Blocked { reason: reason.into_owned() },
            StoredEnding::NeedsReview => Ending::NeedsReview,
            StoredEnding::NeedsClarification => Ending::NeedsClarification,
        }
    }
}

impl<'s> From<&'s Fail> for StoredFail<'s> {
    fn from(fail: &'s Fail) -> Self {
        let Fail { fence, failure, document, dice, changed } = fail;
        StoredFail {
            fence: *fence,
            failure: failure.into(),
            document: document.as_ref().map(StoredWritten::from),
            dice: *dice,
            changed: changed.into(),
        }
    }
}

impl From<StoredFail<'_>> for Fail {
    fn from(stored: StoredFail<'_>) -> Self {
        let StoredFail { fence, failure, document, dice, changed } = stored;
        Fail {
            fence,
            failure: failure.into(),
            document: document.map(WrittenDocument::from),
            dice,
            changed: changed.into_owned(),
        }
    }
}

impl From<&Expire> for StoredExpire {
    fn from(expire: &Expire) -> Self {
        let Expire { dice, for_good, fence } = expire;
        StoredExpire { dice: *dice, for_good: *for_good, fence: *fence }
    }
}

impl From<StoredExpire> for Expire {
    fn from(stored: StoredExpire) -> Self {
        let StoredExpire { dice, for_good, fence } = stored;
        Expire { dice, for_good, fence }
    }
}

impl<'s> From<&'s Release> for StoredRelease<'s> {
    fn from(release: &'s Release) -> Self {
        let Release { fence, why } = release;
        StoredRelease { fence: *fence, why: why.into() }
    }
}

impl From<StoredRelease<'_>> for Release {
    fn from(stored: StoredRelease<'_>) -> Self {
        let StoredRelease { fence, why } = stored;
        Release { fence, why: why.into_owned() }
    }
}
