//! The document of a handoff, as it is written in its file. Unknown members survive, in their order.

use std::time::Duration;

use baton_engine::failure::{Code, Failure};
use baton_engine::retry::{DELAY_MAX, Policy, RETRIES_MAX};
use baton_protocol::model::terms::Priority;
use baton_protocol::wire::same_word;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};

use super::Folder;

/// How long an attempt may take if the request does not say.
pub const TIMEOUT_DEFAULT: Duration = Duration::from_secs(300);

/// The document of a handoff.
#[derive(Debug, Clone, PartialEq)]
pub struct FolderHandoff {
    /// What the file holds.
    pub members: Map<String, Value>,
}

/// Reads how urgent a request is; what is missing or unknown is usual.
pub(super) fn priority_of(member: Option<&Value>) -> Priority {
    member.and_then(Value::as_str).and_then(Priority::parse).unwrap_or(Priority::Normal)
}

impl FolderHandoff {
    /// Reads a file; the error says why it is not a document (yet).
    pub fn parse(bytes: &[u8]) -> Result<FolderHandoff, serde_json::Error> {
        serde_json::from_slice(bytes).map(|members| FolderHandoff { members })
    }

    /// Returns the bytes of the file.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(&self.members).expect("a map with text keys is always JSON");
        bytes.push(b'\n');
        bytes
    }

    /// Returns the document as a JSON value.
    pub fn to_value(&self) -> Value {
        Value::Object(self.members.clone())
    }

    /// Sets a member.
    pub(super) fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.members.insert(name.to_owned(), value.into());
    }

    /// Sets a member, unless there is nothing in it.
    pub(super) fn add(&mut self, name: &str, value: impl Into<Value>) {
        let value = value.into();
        let empty = match &value {
            Value::Object(members) => members.is_empty(),
            Value::Array(items) => items.is_empty(),
            _ => false,
        };
        if !empty {
            self.set(name, value);
        }
    }

    /// Removes members, keeping the order of the others.
    pub(super) fn clear(&mut self, names: &[&str]) {
        for name in names {
            self.members.shift_remove(*name);
        }
    }

    /// Returns a text by its path.
    pub fn text(&self, path: &[&str]) -> Option<&str> {
        let (first, rest) = path.split_first()?;
        rest.iter().try_fold(self.members.get(*first)?, |value, name| value.get(name))?.as_str()
    }

    /// Returns the identifier that the document gives itself.
    pub fn id(&self) -> Option<&str> {
        self.text(&["handoff_id"])
    }

    /// Returns who asks.
    pub fn from(&self) -> Option<&str> {
        self.text(&["source", "agent_id"])
    }

    /// Returns who is asked.
    pub fn to(&self) -> Option<&str> {
        self.text(&["target", "agent_id"])
    }

    /// Returns where an answer says that its artifact is.
    pub fn artifact_path(&self) -> Option<&str> {
        self.text(&["output", "artifact_path"])
    }

    /// Sets where the artifact of an answer is.
    pub(crate) fn set_artifact_path(&mut self, path: &str) {
        if let Some(Value::Object(output)) = self.members.get_mut("output") {
            output.insert("artifact_path".to_owned(), path.into());
        }
    }

    /// Returns whether the document has the status that belongs to a folder.
    pub fn belongs_to(&self, folder: Folder) -> bool {
        self.text(&["status"]).is_some_and(|status| same_word(status, folder.status()))
    }

    /// Returns whether the document was moved to where claimed ones are, but does not say that it is claimed.
    pub(super) fn is_half_claimed(&self) -> bool {
        self.belongs_to(Folder::Pending) && !self.members.contains_key("started_at")
    }

    /// Returns how often it was tried again.
    pub fn retry_count(&self) -> u32 {
        let count = self.members.get("retry_count").and_then(Value::as_u64).unwrap_or(0);
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// Returns the number of the attempt, counted from 1.
    pub fn attempt(&self) -> u32 {
        let said = self.members.get("attempt").and_then(Value::as_u64).and_then(|number| u32::try_from(number).ok());
        said.unwrap_or_else(|| self.retry_count().saturating_add(1))
    }

    /// Returns a time; one without a zone is in UTC.
    pub fn time(&self, name: &str) -> Option<Timestamp> {
        parse_time(self.text(&[name])?)
    }

    /// Returns when it failed or was completed, by either spelling.
    pub fn ended_at(&self) -> Option<Timestamp> {
        ["timestamp_failed", "failed_at", "timestamp_completed", "completed_at"].iter().find_map(|name| self.time(name))
    }

    /// Returns how long an attempt may take.
    pub fn timeout(&self) -> Duration {
        let seconds = self.members.get("timeout_seconds").and_then(Value::as_f64).filter(|seconds| *seconds > 0.0);
        let most = DELAY_MAX.as_secs_f64();
        seconds.map_or(TIMEOUT_DEFAULT, |seconds| Duration::from_secs_f64(seconds.min(most)))
    }

    /// Returns how often and when to try again. Whoever asks without a policy takes the first failure as final.
    pub fn policy(&self) -> Policy {
        if !self.members.get("retry_policy").is_some_and(Value::is_object) {
            return Policy { max_retries: 0, ..Policy::default() };
        }
        let number = |name: &str| self.members.get("retry_policy")?.get(name)?.as_f64().filter(|number| *number >= 0.0);
        let usual = Policy::default();
        let delay_ms =
            number("retry_delay_seconds").map(|seconds| (seconds * 1000.0).min(DELAY_MAX.as_millis() as f64));
        Policy {
            max_retries: number("max_retries").map_or(usual.max_retries, |most| most.min(RETRIES_MAX.into()) as u32),
            delay_ms: delay_ms.map_or(usual.delay_ms, |delay| delay as u64),
            multiplier: number("backoff_multiplier").unwrap_or(usual.multiplier),
            ..usual
        }
    }

    /// Returns when a failed handoff, as another side wrote it, will be tried again; `None` if it is final.
    pub fn next_attempt_at(&self) -> Option<Timestamp> {
        let promised = self.members.get("retry_available").and_then(Value::as_bool).unwrap_or(false);
        let code = self.text(&["error", "code"]).and_then(|code| Code::parse(code).ok());
        let transient = code.is_none_or(|code| code.chance() == baton_engine::failure::Transience::Transient);
        let attempt = self.attempt();
        if !promised || !transient || !self.policy().allows_another(attempt) {
            return None;
        }
        Some(later(self.ended_at().unwrap_or(Timestamp::UNIX_EPOCH), self.policy().delay_before(attempt, 1.0)))
    }

    /// Turns it into the request for the next attempt.
    pub(super) fn retried(&self, error: Value, not_before: Timestamp) -> FolderHandoff {
        let mut next = self.clone();
        next.set("retry_count", self.attempt());
        next.set("status", Folder::Pending.status());
        next.set("not_before", written(not_before));
        next.set("last_error", error);
        next.clear(&[
            "started_at",
            "attempt",
            "claimed_by",
            "timestamp_failed",
            "failed_at",
            "error",
            "retry_available",
        ]);
        next.clear(&["execution_time_seconds", "max_retries", "recovery_actions"]);
        next
    }

    /// Sets how long the attempt took.
    pub(super) fn set_execution_time(&mut self, now: Timestamp) {
        let started = self.time("started_at").unwrap_or(now);
        let milliseconds = now.duration_since(started).as_millis().max(0);
        self.set("execution_time_seconds", milliseconds as f64 / 1000.0);
    }
}

/// Returns the member that tells what went wrong.
pub(super) fn error_member(failure: &Failure, now: Timestamp) -> Value {
    json!({
        "code": failure.code.as_str(), "message": failure.text(), "severity": "error", "timestamp": written(now),
    })
}

/// Writes a time as both sides read it.
pub(super) fn written(time: Timestamp) -> String {
    format!("{time:.3}")
}

/// Reads a time; one without a zone is in UTC.
pub(super) fn parse_time(text: &str) -> Option<Timestamp> {
    let without_zone = || text.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok();
    text.parse().ok().or_else(|| Some(without_zone()?.timestamp()))
}

/// Returns the time after a wait.
pub(super) fn later(time: Timestamp, wait: Duration) -> Timestamp {
    let wait = SignedDuration::try_from(wait).unwrap_or(SignedDuration::MAX);
    time.checked_add(wait).unwrap_or(Timestamp::MAX)
}

/// Compares the names of agents, with or without the `@`.
pub(super) fn same_agent(left: &str, right: &str) -> bool {
    left.trim_start_matches('@') == right.trim_start_matches('@')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handoff(value: Value) -> FolderHandoff {
        FolderHandoff::parse(value.to_string().as_bytes()).expect("an object")
    }

    #[test]
    fn times_are_read_as_python_writes_them() {
        let exact = parse_time("2026-01-13T10:00:00Z").expect("a time");
        assert_eq!(parse_time("2026-01-13T10:00:00"), Some(exact));
        assert_eq!(parse_time("2026-01-13T11:00:00+01:00"), Some(exact));
        assert_eq!(parse_time("2026-01-13T10:00:00.123456Z").map(written).as_deref(), Some("2026-01-13T10:00:00.123Z"));
        assert_eq!(parse_time("yesterday"), None);
    }

    #[test]
    fn missing_members_have_defaults() {
        let bare = handoff(json!({}));
        assert_eq!((bare.attempt(), bare.timeout(), bare.policy().max_retries), (1, TIMEOUT_DEFAULT, 0));
        assert_eq!(handoff(json!({"retry_policy": {}})).policy(), Policy { jitter: 0.0, ..Policy::default() });
        assert_eq!(priority_of(None), Priority::Normal);
        let odd = handoff(json!({"timeout_seconds": -3, "retry_policy": {"max_retries": "x"}, "retry_count": 1e99}));
        assert_eq!((odd.timeout(), odd.policy().max_retries, odd.retry_count()), (TIMEOUT_DEFAULT, 3, 0));
    }

    #[test]
    fn failure_of_a_script_is_retried_only_with_a_policy() {
        let failed = json!({
            "failed_at": "2026-01-13T10:00:00Z", "error": {"code": "PROCESSING_ERROR"}, "retry_available": true,
            "retry_count": 1, "retry_policy": {"max_retries": 2, "retry_delay_seconds": 10},
        });
        assert_eq!(handoff(failed.clone()).next_attempt_at(), parse_time("2026-01-13T10:00:20Z"));
        let without = |name: &str| {
            let mut other = failed.clone();
            other.as_object_mut().expect("an object").remove(name);
            handoff(other).next_attempt_at()
        };
        assert_eq!((without("retry_policy"), without("retry_available")), (None, None));
        let mut spent = failed.clone();
        spent["retry_count"] = 2.into();
        assert_eq!(handoff(spent).next_attempt_at(), None);
    }
}
