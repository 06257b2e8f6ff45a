//! What happens in an attempt: it is claimed, goes on, and ends in one way or another.

use std::borrow::Cow;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::decision::StoredAuthor;
use super::document::{StoredFailure, StoredWritten, owned, stored};
use super::evidence::{StoredExamined, StoredTranscript};
use super::finite;
use super::spent::StoredSpent;
use crate::Fence;
use crate::evidence::Transcript;
use crate::handoff::{Digest, WrittenDocument};
use crate::lifecycle::{Acknowledge, Again, Claim, Ending, Expire, Fail, HandIn, Heartbeat, Release};
use crate::protection::Protection;
use crate::session::{SessionTurn, Spent};

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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session: Option<StoredSession<'s>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    author: Option<StoredAuthor<'s>>,
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredSession<'s> {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<Cow<'s, str>>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    goes_on: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    repairs: bool,
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    author: Option<StoredAuthor<'s>>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredHeartbeat<'s> {
    fence: Fence,
    lease_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    baseline: Option<Cow<'s, Digest>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session: Option<Cow<'s, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    spent: Option<StoredSpent>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    author: Option<StoredAuthor<'s>>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredReport<'s> {
    fence: Fence,
    ending: StoredEnding<'s>,
    document: StoredWritten<'s>,
    /// Written before there was `spent`.
    #[serde(default, skip_serializing)]
    tokens_used: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    spent: Option<StoredSpent>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    skills: Option<Cow<'s, [String]>>,
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    changed: Cow<'s, [String]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    transcript: Option<StoredTranscript<'s>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    examined: Vec<StoredExamined<'s>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    author: Option<StoredAuthor<'s>>,
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
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    warnings: Cow<'s, [String]>,
    #[serde(serialize_with = "finite")]
    dice: f64,
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    changed: Cow<'s, [String]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    spent: Option<StoredSpent>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    skills: Option<Cow<'s, [String]>>,
    #[serde(default, skip_serializing_if = "StoredAgain::is_policy")]
    again: StoredAgain,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    author: Option<StoredAuthor<'s>>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredAgain {
    #[default]
    Policy,
    Repair,
    Fresh,
    AtOnce,
    NotBefore(Timestamp),
    At(Timestamp),
}

impl StoredAgain {
    fn is_policy(&self) -> bool {
        matches!(self, StoredAgain::Policy)
    }
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
        let Claim {
            claimant,
            lease_ms,
            prompt_tokens,
            driver,
            times_itself,
            moved,
            baseline,
            protection,
            session,
            author,
        } = claim;
        StoredClaim {
            claimant: claimant.into(),
            lease_ms: *lease_ms,
            prompt_tokens: *prompt_tokens,
            driver: *driver,
            times_itself: *times_itself,
            moved: moved.into(),
            baseline: baseline.as_ref().map(Cow::Borrowed),
            protection: protection.as_ref().map(StoredProtection::from),
            session: session.as_ref().map(StoredSession::from),
            author: StoredAuthor::of(author),
        }
    }
}

impl From<StoredClaim<'_>> for Claim {
    fn from(stored: StoredClaim<'_>) -> Self {
        let StoredClaim {
            claimant,
            lease_ms,
            prompt_tokens,
            driver,
            times_itself,
            moved,
            baseline,
            protection,
            session,
            author,
        } = stored;
        Claim {
            claimant: claimant.into_owned(),
            lease_ms,
            prompt_tokens,
            driver,
            times_itself,
            moved: moved.into_owned(),
            baseline: baseline.map(Cow::into_owned),
            protection: protection.map(Protection::from),
            session: session.map(SessionTurn::from),
            author: author.map(StoredAuthor::author),
        }
    }
}

impl<'s> From<&'s SessionTurn> for StoredSession<'s> {
    fn from(session: &'s SessionTurn) -> Self {
        let SessionTurn { id, goes_on, repairs } = session;
        StoredSession { id: id.as_ref().map(Cow::from), goes_on: *goes_on, repairs: *repairs }
    }
}

impl From<StoredSession<'_>> for SessionTurn {
    fn from(stored: StoredSession<'_>) -> Self {
        let StoredSession { id, goes_on, repairs } = stored;
        SessionTurn { id: id.map(Cow::into_owned), goes_on, repairs }
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
        let Acknowledge { fence, understood, document, author } = acknowledge;
        let author = StoredAuthor::of(author);
        StoredAcknowledge { fence: *fence, understood: *understood, document: document.into(), author }
    }
}

impl From<StoredAcknowledge<'_>> for Acknowledge {
    fn from(stored: StoredAcknowledge<'_>) -> Self {
        let StoredAcknowledge { fence, understood, document, author } = stored;
        let author = author.map(StoredAuthor::author);
        Acknowledge { fence, understood, document: document.into(), author }
    }
}

impl<'s> From<&'s Heartbeat> for StoredHeartbeat<'s> {
    fn from(heartbeat: &'s Heartbeat) -> Self {
        let Heartbeat { fence, lease_ms, baseline, session, spent, author } = heartbeat;
        let author = StoredAuthor::of(author);
        let (baseline, session) = (baseline.as_ref().map(Cow::Borrowed), session.as_ref().map(Cow::from));
        StoredHeartbeat {
            fence: *fence,
            lease_ms: *lease_ms,
            baseline,
            session,
            spent: spent.map(StoredSpent::from),
            author,
        }
    }
}

impl From<StoredHeartbeat<'_>> for Heartbeat {
    fn from(stored: StoredHeartbeat<'_>) -> Self {
        let StoredHeartbeat { fence, lease_ms, baseline, session, spent, author } = stored;
        let author = author.map(StoredAuthor::author);
        let (baseline, session) = (baseline.map(Cow::into_owned), session.map(Cow::into_owned));
        Heartbeat { fence, lease_ms, baseline, session, spent: spent.map(Spent::from), author }
    }
}

impl<'s> From<&'s HandIn> for StoredReport<'s> {
    fn from(report: &'s HandIn) -> Self {
        let HandIn { fence, ending, document, spent, skills, changed, transcript, examined, author } = report;
        StoredReport {
            fence: *fence,
            ending: ending.into(),
            document: document.into(),
            tokens_used: None,
            spent: spent.map(StoredSpent::from),
            skills: skills.as_ref().map(Cow::from),
            changed: changed.into(),
            transcript: transcript.as_ref().map(StoredTranscript::from),
            examined: stored(examined),
            author: StoredAuthor::of(author),
        }
    }
}

impl From<StoredReport<'_>> for HandIn {
    fn from(stored: StoredReport<'_>) -> Self {
        let StoredReport { fence, ending, document, tokens_used, spent, skills, changed, transcript, examined, author } =
            stored;
        let older = || Some(Spent { output: tokens_used?, ..Spent::default() });
        HandIn {
            fence,
            ending: ending.into(),
            document: document.into(),
            spent: spent.map(Spent::from).or_else(older),
            skills: skills.map(Cow::into_owned),
            changed: changed.into_owned(),
            transcript: transcript.map(Transcript::from),
            examined: owned(examined),
            author: author.map(StoredAuthor::author),
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
        let Fail { fence, failure, document, warnings, dice, changed, spent, skills, again, author } = fail;
        StoredFail {
            fence: *fence,
            failure: failure.into(),
            document: document.as_ref().map(StoredWritten::from),
            warnings: warnings.into(),
            dice: *dice,
            changed: changed.into(),
            spent: spent.map(StoredSpent::from),
            skills: skills.as_ref().map(Cow::from),
            again: match again {
                Again::Policy => StoredAgain::Policy,
                Again::Repair => StoredAgain::Repair,
                Again::Fresh => StoredAgain::Fresh,
                Again::AtOnce => StoredAgain::AtOnce,
                Again::NotBefore(time) => StoredAgain::NotBefore(*time),
                Again::At(time) => StoredAgain::At(*time),
            },
            author: StoredAuthor::of(author),
        }
    }
}

impl From<StoredFail<'_>> for Fail {
    fn from(stored: StoredFail<'_>) -> Self {
        let StoredFail { fence, failure, document, warnings, dice, changed, spent, skills, again, author } = stored;
        Fail {
            fence,
            failure: failure.into(),
            document: document.map(WrittenDocument::from),
            warnings: warnings.into_owned(),
            dice,
            changed: changed.into_owned(),
            spent: spent.map(Spent::from),
            skills: skills.map(Cow::into_owned),
            again: match again {
                StoredAgain::Policy => Again::Policy,
                StoredAgain::Repair => Again::Repair,
                StoredAgain::Fresh => Again::Fresh,
                StoredAgain::AtOnce => Again::AtOnce,
                StoredAgain::NotBefore(time) => Again::NotBefore(time),
                StoredAgain::At(time) => Again::At(time),
            },
            author: author.map(StoredAuthor::author),
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
