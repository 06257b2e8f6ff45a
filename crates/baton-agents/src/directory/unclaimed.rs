//! Gives up a request that nobody picks up: whoever asked may wait for an answer, but not for ever for somebody to begin.

use std::time::Duration;

use baton_engine::HandoffId;
use baton_engine::failure::{Code, Failure, Transience};
use jiff::Timestamp;

use super::handoff::{later, same_agent};
use super::{Directory, DirectoryError, FailedAttempt, Folder, files, id_of};

impl Directory {
    /// Moves a request to `failed` that nobody has picked up for so long since a time, or since it may be claimed.
    ///
    /// An agent that is busy with another request is there: it is waited for. Returns `None` if there is nothing to give
    /// up (yet).
    pub fn give_up_unclaimed(
        &self,
        id: &HandoffId,
        since: Timestamp,
        longest: Duration,
        now: Timestamp,
    ) -> Result<Option<FailedAttempt>, DirectoryError> {
        let Some(held) = self.try_hold_in(Folder::Pending, id)? else { return Ok(None) };
        let since = held.handoff.time("not_before").map_or(since, |time| time.max(since));
        if later(since, longest) > now || self.is_busy(held.handoff.to().unwrap_or_default(), now)? {
            return Ok(None);
        }
        let agent = held.handoff.to().unwrap_or("the agent");
        let message = format!("{agent} did not pick it up within {} s", longest.as_secs_f64());
        let failure = Failure { chance: Transience::Permanent, ..Failure::new(Code::timeout(), message) };
        match self.fail_held(held, &failure, now) {
            // A script that does not know locks has just picked it up.
            Err(DirectoryError::Busy { .. }) => Ok(None),
            other => other.map(Some),
        }
    }

    /// Returns whether an agent works on something, and has time left for it.
    fn is_busy(&self, agent: &str, now: Timestamp) -> Result<bool, DirectoryError> {
        for name in files::names(&self.folder(Folder::InProgress))? {
            let Some(id) = id_of(&name) else { continue };
            let Some((_, other)) = self.read(Folder::InProgress, &id)? else { continue };
            let has_time = other.time("started_at").is_some_and(|started| later(started, other.timeout()) > now);
            if has_time && other.to().is_some_and(|to| same_agent(to, agent)) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
