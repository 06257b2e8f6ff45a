//! Gives up an attempt: another one follows later, or the handoff has failed.

use baton_engine::HandoffId;
use baton_engine::failure::{Failure, Transience};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::finish::Held;
use super::handoff::{error_member, later, written};
use super::{Directory, DirectoryError, Folder, FolderHandoff};

/// What became of a handoff after an attempt failed.
#[derive(Debug, Clone, PartialEq)]
pub struct FailedAttempt {
    /// Its document.
    pub handoff: FolderHandoff,
    /// When it may be claimed again; `None` if it has failed for good.
    pub again_at: Option<Timestamp>,
}

impl Directory {
    /// Gives up an attempt: the one with this number, or whichever is current.
    pub fn fail(
        &self,
        id: &HandoffId,
        attempt: Option<u32>,
        failure: &Failure,
        now: Timestamp,
    ) -> Result<FailedAttempt, DirectoryError> {
        let held = self.hold(id, attempt)?;
        self.fail_held(held, failure, now)
    }

    /// Ends an attempt that failed.
    pub(super) fn fail_held(
        &self,
        held: Held,
        failure: &Failure,
        now: Timestamp,
    ) -> Result<FailedAttempt, DirectoryError> {
        let (policy, attempt) = (held.handoff.policy(), held.handoff.attempt());
        let error = error_member(failure, now);
        if failure.chance == Transience::Transient && policy.allows_another(attempt) {
            let again_at = later(now, policy.delay_before(attempt, 1.0));
            let next = held.handoff.retried(error, again_at);
            let id = held.id.clone();
            self.finish(held, Folder::Pending, &next)?;
            self.note_waiting(&id, &next);
            return Ok(FailedAttempt { handoff: next, again_at: Some(again_at) });
        }
        let mut failed = held.handoff.clone();
        failed.set("status", Folder::Failed.status());
        failed.set("timestamp_failed", written(now));
        failed.set("failed_at", written(now));
        failed.set_execution_time(now);
        failed.set("error", error);
        failed.set("retry_available", false);
        failed.set("retry_count", failed.retry_count());
        failed.set("max_retries", policy.max_retries);
        failed.set("recovery_actions", recovery(failure));
        failed.clear(&["last_error"]);
        self.finish(held, Folder::Failed, &failed)?;
        Ok(FailedAttempt { handoff: failed, again_at: None })
    }
}

/// Returns what a person can do about a failure.
fn recovery(failure: &Failure) -> Value {
    match failure.code.as_str() {
        "SCHEMA_VALIDATION_FAILED" => json!(["Correct the input so that it satisfies its schema", "Create it again"]),
        "TIMEOUT" => json!(["Allow more time", "Split the work", "Create it again"]),
        "DEPENDENCY_MISSING" => json!(["Provide what is missing", "Create it again"]),
        "VALIDATION_FAILED" => json!(["Correct what the agent writes", "Create it again"]),
        _ => json!(["Read the agent's log", "Create it again"]),
    }
}
