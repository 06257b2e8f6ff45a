//! Waiting for something in the store: woken by changes and by what falls due, never by polling.

use std::time::Duration;

use jiff::Timestamp;

use crate::command_error::CommandError;
use crate::store::Session;

/// How long to pause where something is due already but nobody may have it: the queue is paused or full.
const PAUSE_MIN: Duration = Duration::from_millis(250);

/// The longest pause, so that a machine that slept notices what it missed.
const PAUSE_MAX: Duration = Duration::from_secs(60);

/// Looks until there is something, or the time is over. What has expired is rescued before each look.
///
/// Without a limit it waits as long as it takes; with a limit of zero it looks once.
pub(crate) async fn wait_for<T>(
    session: &Session,
    agent: Option<&str>,
    limit: Option<Duration>,
    mut look: impl AsyncFnMut() -> Result<Option<T>, CommandError>,
) -> Result<Option<T>, CommandError> {
    let end = limit.map(|limit| session.now().checked_add(limit).unwrap_or(Timestamp::MAX));
    loop {
        // The number comes first: what changes while we look wakes us at once.
        let since = session.store.changes();
        session.rescue().await?;
        if let Some(found) = look().await? {
            return Ok(Some(found));
        }
        let now = session.now();
        if end.is_some_and(|end| end <= now) {
            return Ok(None);
        }
        let due = session.store.next_due(agent).await?;
        session.store.changed(since, pause(now, due, end)).await;
    }
}

fn pause(now: Timestamp, due: Option<Timestamp>, end: Option<Timestamp>) -> Duration {
    let until = |time: Timestamp| Duration::try_from(time.duration_since(now)).unwrap_or_default();
    let next = due.map_or(PAUSE_MAX, |due| until(due).clamp(PAUSE_MIN, PAUSE_MAX));
    end.map_or(next, |end| until(end).min(next))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).expect("a time")
    }

    #[test]
    fn pause_ends_with_what_comes_first() {
        assert_eq!(pause(at(0), Some(at(5)), None), Duration::from_secs(5));
        assert_eq!(pause(at(0), Some(at(5)), Some(at(2))), Duration::from_secs(2));
        assert_eq!(pause(at(0), None, Some(at(1_000))), PAUSE_MAX);
        assert_eq!(pause(at(0), None, None), PAUSE_MAX);
    }

    #[test]
    fn what_is_overdue_does_not_make_us_busy() {
        assert_eq!(pause(at(10), Some(at(5)), None), PAUSE_MIN);
    }
}
