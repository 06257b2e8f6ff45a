//! What was seen of a report.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::document::{owned, stored};
use super::finite;
use crate::Fence;
use crate::evidence::{ClaimFinding, ClaimKind, ExaminedClaim, SeenFile, Transcript};
use crate::handoff::Digest;
use crate::lifecycle::{Verdict, Verify};

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredVerify<'s> {
    fence: Fence,
    verdict: StoredVerdict<'s>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    examined: Vec<StoredExamined<'s>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    evidence: Option<Cow<'s, Digest>>,
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    kept: Cow<'s, [Digest]>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    review: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    repair: bool,
    #[serde(serialize_with = "finite")]
    dice: f64,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredVerdict<'s> {
    Verified,
    Refuted {
        reasons: Cow<'s, str>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        for_good: bool,
    },
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredExamined<'s> {
    rule: Cow<'s, str>,
    claim: Cow<'s, str>,
    verdict: ClaimFinding,
    seen: Cow<'s, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    path: Option<Cow<'s, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sha256: Option<Cow<'s, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mark: Option<Cow<'s, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    allowed: Option<Cow<'s, str>>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    asks_person: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kind: Option<ClaimKind>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredSeenFile<'s> {
    path: Cow<'s, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sha256: Option<Cow<'s, str>>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredTranscript<'s> {
    path: Cow<'s, str>,
    sha256: Cow<'s, str>,
}

impl<'s> From<&'s Verify> for StoredVerify<'s> {
    fn from(verify: &'s Verify) -> Self {
        let Verify { fence, verdict, examined, evidence, kept, review, repair, dice } = verify;
        StoredVerify {
            fence: *fence,
            verdict: verdict.into(),
            examined: stored(examined),
            evidence: evidence.as_ref().map(Cow::Borrowed),
            kept: kept.into(),
            review: *review,
            repair: *repair,
            dice: *dice,
        }
    }
}

impl From<StoredVerify<'_>> for Verify {
    fn from(stored: StoredVerify<'_>) -> Self {
        let StoredVerify { fence, verdict, examined, evidence, kept, review, repair, dice } = stored;
        Verify {
            fence,
            verdict: verdict.into(),
            examined: owned(examined),
            evidence: evidence.map(Cow::into_owned),
            kept: kept.into_owned(),
            review,
            repair,
            dice,
        }
    }
}

impl<'s> From<&'s Verdict> for StoredVerdict<'s> {
    fn from(verdict: &'s Verdict) -> Self {
        match verdict {
            Verdict::Verified => StoredVerdict::Verified,
            Verdict::Refuted { reasons, for_good } => {
                StoredVerdict::Refuted { reasons: reasons.into(), for_good: *for_good }
            }
        }
    }
}

impl From<StoredVerdict<'_>> for Verdict {
    fn from(stored: StoredVerdict<'_>) -> Self {
        match stored {
            StoredVerdict::Verified => Verdict::Verified,
            StoredVerdict::Refuted { reasons, for_good } => {
                Verdict::Refuted { reasons: reasons.into_owned(), for_good }
            }
        }
    }
}

impl<'s> From<&'s ExaminedClaim> for StoredExamined<'s> {
    fn from(examined: &'s ExaminedClaim) -> Self {
        let ExaminedClaim { rule, claim, verdict, seen, path, sha256, mark, allowed, asks_person, kind } = examined;
        StoredExamined {
            rule: rule.into(),
            claim: claim.into(),
            verdict: *verdict,
            seen: seen.into(),
            path: path.as_deref().map(Cow::Borrowed),
            sha256: sha256.as_deref().map(Cow::Borrowed),
            mark: mark.as_deref().map(Cow::Borrowed),
            allowed: allowed.as_deref().map(Cow::Borrowed),
            asks_person: *asks_person,
            kind: *kind,
        }
    }
}

impl From<StoredExamined<'_>> for ExaminedClaim {
    fn from(stored: StoredExamined<'_>) -> Self {
        let StoredExamined { rule, claim, verdict, seen, path, sha256, mark, allowed, asks_person, kind } = stored;
        ExaminedClaim {
            rule: rule.into_owned(),
            claim: claim.into_owned(),
            verdict,
            seen: seen.into_owned(),
            path: path.map(Cow::into_owned),
            sha256: sha256.map(Cow::into_owned),
            mark: mark.map(Cow::into_owned),
            allowed: allowed.map(Cow::into_owned),
            asks_person,
            kind,
        }
    }
}

impl<'s> From<&'s SeenFile> for StoredSeenFile<'s> {
    fn from(file: &'s SeenFile) -> Self {
        let SeenFile { path, sha256 } = file;
        StoredSeenFile { path: path.into(), sha256: sha256.as_deref().map(Cow::Borrowed) }
    }
}

impl From<StoredSeenFile<'_>> for SeenFile {
    fn from(stored: StoredSeenFile<'_>) -> Self {
        let StoredSeenFile { path, sha256 } = stored;
        SeenFile { path: path.into_owned(), sha256: sha256.map(Cow::into_owned) }
    }
}

impl<'s> From<&'s Transcript> for StoredTranscript<'s> {
    fn from(transcript: &'s Transcript) -> Self {
        let Transcript { path, sha256 } = transcript;
        StoredTranscript { path: path.into(), sha256: sha256.into() }
    }
}

impl From<StoredTranscript<'_>> for Transcript {
    fn from(stored: StoredTranscript<'_>) -> Self {
        let StoredTranscript { path, sha256 } = stored;
        Transcript { path: path.into_owned(), sha256: sha256.into_owned() }
    }
}
