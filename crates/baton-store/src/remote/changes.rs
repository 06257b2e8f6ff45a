//! What the server has reported about changes, so that whoever waits for one need not ask again and again.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::json;

use super::talk::Talk;

/// The longest that a request waits for a change; proxies do not wait much longer.
const WAIT_MAX: Duration = Duration::from_secs(25);

/// How long an answer may take beyond that.
const ANSWER_MAX: Duration = Duration::from_secs(10);

/// How long to wait before a server that does not answer is asked again.
const AWAY_PAUSE: Duration = Duration::from_secs(1);

/// What the server has reported about changes.
#[derive(Default)]
pub(super) struct SeenChanges(Mutex<Seen>);

#[derive(Default)]
struct Seen {
    /// Grows with every change that was heard of.
    number: u64,
    /// What the server called the last of them.
    mark: Option<String>,
}

impl SeenChanges {
    /// Returns a number that grows with every change that was heard of.
    pub(super) fn number(&self) -> u64 {
        self.seen().number
    }

    /// Waits until the server tells of a change since that number, or until the time is over.
    pub(super) async fn wait(&self, talk: &Talk, since: u64, limit: Duration) {
        let mark = {
            let seen = self.seen();
            if seen.number != since {
                return;
            }
            seen.mark.clone()
        };
        let limit = limit.min(WAIT_MAX);
        let query = json!({ "read": "changes", "since": mark, "wait_ms": limit.as_millis() as u64 });
        match talk.read_within::<String>(&query, limit + ANSWER_MAX).await {
            Ok(new) => {
                let mut seen = self.seen();
                // The first mark says nothing about what has changed before: whoever waits looks once more.
                if seen.mark.as_ref() != Some(&new) {
                    seen.mark = Some(new);
                    seen.number += 1;
                }
            }
            // Whoever waits looks again, and tells what is wrong.
            Err(_) => tokio::time::sleep(limit.min(AWAY_PAUSE)).await,
        }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
