//! Waiting for something in the store: woken by changes and by what falls due, never by polling.

use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;

use crate::command_error::{CommandError, Exit};
use crate::output::Output;
use crate::store::Session;

/// How long to pause where something is due already but nobody may have it: the queue is paused or full.
const PAUSE_MIN: Duration = Duration::from_millis(250);

/// The longest pause, so that a machine that slept notices what it missed.
const PAUSE_MAX: Duration = Duration::from_secs(60);

/// How long to wait before a store that is away is asked again, at most.
const ASK_AGAIN_MAX: Duration = Duration::from_secs(5);

/// How long a store may be out of reach before nobody waits for it any longer, as long as a driver waits.
const AWAY_MAX: Duration = Duration::from_mins(10);

/// Looks until there is something, or the time is over. What has expired is rescued before each look.
///
/// Without a limit it waits as long as it takes; with a limit of zero it looks once. A store that is out of reach is
/// asked again until it answers, within the same limit.
pub(crate) async fn wait_for<T>(
    session: &Session,
    agent: Option<&str>,
    limit: Option<Duration>,
    output: &Output,
    mut look: impl AsyncFnMut() -> Result<Option<T>, CommandError>,
) -> Result<Option<T>, CommandError> {
    let end = limit.map(|limit| session.now().checked_add(limit).unwrap_or(Timestamp::MAX));
    let mut away_since: Option<Instant> = None;
    loop {
        // The number comes first: what changes while we look wakes us at once.
        let since = session.store.changes();
        let looked = async {
            session.rescue().await?;
            match look().await? {
                Some(found) => Ok(Looked::Found(found)),
                None => Ok(Looked::Due(session.store.next_due(agent).await?)),
            }
        };
        let looked: Result<Looked<T>, CommandError> = looked.await;
        let now = session.now();
        let over = end.is_some_and(|end| end <= now);
        match looked {
            Ok(Looked::Found(found)) => return Ok(Some(found)),
            Ok(Looked::Due(_)) if over => return Ok(None),
            Ok(Looked::Due(due)) => {
                if away_since.take().is_some() {
                    output.note("the store answers again");
                }
                session.store.changed(since, pause(now, due, end)).await;
            }
            Err(error) if error.exit_code() == Exit::TryAgain && !over => {
                let away = away_since.map(|since| since.elapsed()).unwrap_or_default();
                if away >= AWAY_MAX {
                    return Err(error);
                }
                if away_since.is_none() {
                    output.note(&format!("{}; trying again", error.message));
                    away_since = Some(Instant::now());
                }
                tokio::time::sleep(pause(now, Some(now + away / 2), end).min(ASK_AGAIN_MAX)).await;
            }
            Err(error) => return Err(error),
        }
    }
}

/// What a look came to.
enum Looked<T> {
    /// It is there.
    Found(T),
    /// It is not, and something is due then.
    Due(Option<Timestamp>),
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
