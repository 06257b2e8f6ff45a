//! The body of a handoff's row: everything that needs no column of its own.

use std::borrow::Cow;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::accept::StoredTerms;
use super::approval::StoredVote;
use super::document::{StoredFailure, StoredNote, owned, stored};
use super::{Unreadable, is_known, json, parse};
use crate::Fence;
use crate::failure::Failure;
use crate::handoff::{Ask, Digest, Handoff, Lease, State};
use crate::id::{HandoffId, RunId};

/// The version of the body. It stands in each.
const VERSION: u32 = 1;

/// What a row has in columns beside the body, and the body does not repeat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BesideBody {
    /// Which handoff.
    pub id: HandoffId,
    /// Its run.
    pub run: RunId,
    /// How many events there are about it.
    pub version: u64,
    /// The token of the latest claim.
    pub fence: Fence,
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredBody<'s> {
    v: u32,
    terms: StoredTerms<'s>,
    request: Cow<'s, Digest>,
    accepted_at: Timestamp,
    changed_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    deadline: Option<Timestamp>,
    attempts: u32,
    state: StoredState<'s>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    notes: Vec<StoredNote<'s>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last_report: Option<Cow<'s, Digest>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    evidence: Option<Cow<'s, Digest>>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    has_files: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    approved: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last_failure: Option<StoredFailure<'s>>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    returned_early: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    routed: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    review_owed: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    approvals: Vec<StoredVote<'s>>,
}

/// The version alone, to tell a body that is newer from one that is damaged.
#[derive(Deserialize)]
struct Stamp {
    v: u32,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredState<'s> {
    Pending {
        ready_at: Timestamp,
    },
    Claimed {
        claimant: Cow<'s, str>,
        since: Timestamp,
        until: Timestamp,
        length_ms: u64,
        acknowledged: bool,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        driven: bool,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        times_itself: bool,
    },
    Verifying,
    Blocked {
        reason: Cow<'s, str>,
    },
    AwaitingPerson {
        ask: Ask,
    },
    Completed {
        at: Timestamp,
    },
    Failed {
        at: Timestamp,
    },
    Cancelled {
        at: Timestamp,
    },
}

/// Returns the body of a handoff's row.
pub fn write(handoff: &Handoff) -> String {
    json(&StoredBody::from(handoff))
}

/// Reads the handoff of a row.
pub fn read(body: &str, beside: BesideBody) -> Result<Handoff, Unreadable> {
    let damaged = match parse::<StoredBody<'_>>(body) {
        Ok(stored) => {
            is_known(stored.v, VERSION)?;
            return Ok(stored.handoff(beside));
        }
        Err(damaged) => damaged,
    };
    is_known(parse::<Stamp>(body).map_or(VERSION, |stamp| stamp.v), VERSION)?;
    Err(damaged)
}

impl<'s> From<&'s Handoff> for StoredBody<'s> {
    fn from(handoff: &'s Handoff) -> Self {
        let Handoff {
            id: _,
            run: _,
            terms,
            request,
            accepted_at,
            changed_at,
            deadline,
            version: _,
            fence: _,
            attempts,
            state,
            notes,
            last_report,
            evidence,
            has_files,
            approved,
            last_failure,
            returned_early,
            routed,
            review_owed,
            approvals,
        } = handoff;
        StoredBody {
            v: VERSION,
            terms: terms.as_ref().into(),
            request: Cow::Borrowed(request),
            accepted_at: *accepted_at,
            changed_at: *changed_at,
            deadline: *deadline,
            attempts: *attempts,
            state: state.into(),
            notes: stored(notes),
            last_report: last_report.as_ref().map(Cow::Borrowed),
            evidence: evidence.as_ref().map(Cow::Borrowed),
            has_files: *has_files,
            approved: *approved,
            last_failure: last_failure.as_ref().map(StoredFailure::from),
            returned_early: *returned_early,
            routed: *routed,
            review_owed: *review_owed,
            approvals: stored(approvals),
        }
    }
}

impl StoredBody<'_> {
    fn handoff(self, beside: BesideBody) -> Handoff {
        let BesideBody { id, run, version, fence } = beside;
        let StoredBody {
            v: _,
            terms,
            request,
            accepted_at,
            changed_at,
            deadline,
            attempts,
            state,
            notes,
            last_report,
            evidence,
            has_files,
            approved,
            last_failure,
            returned_early,
            routed,
            review_owed,
            approvals,
        } = self;
        Handoff {
            id,
            run,
            terms: Arc::new(terms.into()),
            request: request.into_owned(),
            accepted_at,
            changed_at,
            deadline,
            version,
            fence,
            attempts,
            state: state.into(),
            notes: owned(notes),
            last_report: last_report.map(Cow::into_owned),
            evidence: evidence.map(Cow::into_owned),
            has_files,
            approved,
            last_failure: last_failure.map(Failure::from),
            returned_early,
            routed,
            review_owed,
            approvals: owned(approvals),
        }
    }
}

impl<'s> From<&'s State> for StoredState<'s> {
    fn from(state: &'s State) -> Self {
        match state {
            State::Pending { ready_at } => StoredState::Pending { ready_at: *ready_at },
            State::Claimed { lease } => {
                let Lease { claimant, since, until, length_ms, acknowledged, driven, times_itself } = lease;
                StoredState::Claimed {
                    claimant: claimant.into(),
                    since: *since,
                    until: *until,
                    length_ms: *length_ms,
                    acknowledged: *acknowledged,
                    driven: *driven,
                    times_itself: *times_itself,
                }
            }
            State::Verifying => StoredState::Verifying,
            State::Blocked { reason } => StoredState::Blocked { reason: reason.into() },
            State::AwaitingPerson { ask } => StoredState::AwaitingPerson { ask: *ask },
            State::Completed { at } => StoredState::Completed { at: *at },
            State::Failed { at } => StoredState::Failed { at: *at },
            State::Cancelled { at } => StoredState::Cancelled { at: *at },
        }
    }
}

impl From<StoredState<'_>> for State {
    fn from(stored: StoredState<'_>) -> Self {
        match stored {
            StoredState::Pending { ready_at } => State::Pending { ready_at },
            StoredState::Claimed { claimant, since, until, length_ms, acknowledged, driven, times_itself } => {
                // Rows of drivers were once written without it.
                let (claimant, times_itself) = (claimant.into_owned(), driven || times_itself);
                State::Claimed {
                    lease: Lease { claimant, since, until, length_ms, acknowledged, driven, times_itself },
                }
            }
            StoredState::Verifying => State::Verifying,
            StoredState::Blocked { reason } => State::Blocked { reason: reason.into_owned() },
            StoredState::AwaitingPerson { ask } => State::AwaitingPerson { ask },
            StoredState::Completed { at } => State::Completed { at },
            StoredState::Failed { at } => State::Failed { at },
            StoredState::Cancelled { at } => State::Cancelled { at },
        }
    }
}
