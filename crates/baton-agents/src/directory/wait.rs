//! Waits: for the answer to a request, or for a request to claim.

use std::time::Duration;

use baton_engine::HandoffId;
use jiff::Timestamp;

use super::handoff::later;
use super::{Directory, DirectoryError, Folder, FolderClaim, FolderHandoff, NotedResult, POLL};

/// How waiting ended.
#[derive(Debug, Clone, PartialEq)]
pub enum WaitEnd {
    /// It is done.
    Completed(FolderHandoff),
    /// It has failed, and no attempt will follow.
    Failed(FolderHandoff),
    /// The time is up, and it has not ended.
    TimedOut(Folder),
}

impl Directory {
    /// Waits until a handoff has ended, at most so long. A failure after which an attempt will follow is not the end.
    ///
    /// Whoever waits also enforces the time allowed for the attempt and brings due retries on their way, so that an
    /// orchestrator needs nobody else who sweeps.
    pub fn wait(
        &self,
        id: &HandoffId,
        longest: Option<Duration>,
        clock: &dyn Fn() -> Timestamp,
    ) -> Result<WaitEnd, DirectoryError> {
        let watch = self.watch(&Folder::ALL);
        let deadline = longest.map_or(Timestamp::MAX, |longest| later(clock(), longest));
        let mut next_sweep = Timestamp::MIN;
        loop {
            let now = clock();
            let located = self.look(id)?;
            match located.handoff {
                Some(handoff) if located.folder == Folder::Completed && handoff.belongs_to(Folder::Completed) => {
                    return Ok(WaitEnd::Completed(handoff));
                }
                Some(handoff) if located.folder == Folder::Failed && is_final(&handoff) => {
                    return Ok(WaitEnd::Failed(handoff));
                }
                _ => {}
            }
            if now >= deadline {
                return Ok(WaitEnd::TimedOut(located.folder));
            }
            if now >= next_sweep {
                self.sweep_one(id, now)?;
                next_sweep = later(now, POLL);
            }
            watch.wait(until(deadline, now));
        }
    }

    /// Claims a handoff as soon as one waits, or returns `None` when the time is up.
    pub fn claim_within(
        &self,
        agent: &str,
        longest: Option<Duration>,
        clock: &dyn Fn() -> Timestamp,
    ) -> Result<NotedResult<Option<FolderClaim>>, DirectoryError> {
        let watch = self.watch(&[Folder::Pending]);
        let deadline = longest.map_or(Timestamp::MAX, |longest| later(clock(), longest));
        let mut warnings = Vec::new();
        loop {
            let now = clock();
            let noted = self.claim(agent, now)?;
            // A file that stays wrong is told once, not every second.
            for warning in noted.warnings {
                if !warnings.contains(&warning) {
                    warnings.push(warning);
                }
            }
            if noted.result.is_some() || now >= deadline {
                return Ok(NotedResult { result: noted.result, warnings });
            }
            let due = self.next_due(agent).filter(|due| *due > now).unwrap_or(Timestamp::MAX);
            watch.wait(until(deadline.min(due), now));
        }
    }
}

/// Returns whether a failure is the end: no attempt will follow.
fn is_final(handoff: &FolderHandoff) -> bool {
    handoff.belongs_to(Folder::Failed) && handoff.next_attempt_at().is_none()
}

fn until(time: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(time.duration_since(now)).unwrap_or(Duration::ZERO)
}
