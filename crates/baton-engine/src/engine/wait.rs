//! Waiting for something in the store: woken by changes and by what falls due, never by polling.

use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;

use super::leniency::Leniency;
use super::outage::{Outage, StoreNews};
use super::{Engine, Problem};
use crate::handoff::{Handoff, StateName};
use crate::id::HandoffId;

/// How long to pause if something is due but cannot be claimed, because the queue is paused or full.
const PAUSE_MIN: Duration = Duration::from_millis(250);

/// The longest pause, so that a machine that slept notices what it missed.
const PAUSE_MAX: Duration = Duration::from_secs(60);

/// What is waited for.
pub struct WaitFor<'a> {
    /// For which agent something may fall due; `None` for any.
    pub agent: Option<&'a str>,
    /// How long to wait: without a limit as long as it takes, with a limit of zero one look.
    pub limit: Option<Duration>,
    /// Learns when the store goes away and comes back.
    pub tell: &'a (dyn Fn(StoreNews<'_>) + Sync),
}

impl Engine {
    /// Looks until there is something, or the time is over. What has expired is rescued before each look.
    ///
    /// A store that is out of reach is asked again until it answers, within the same limit. After that, or after a pause of
    /// this process, nothing is rescued for a while.
    pub async fn wait_for<T>(
        &self,
        waiting: WaitFor<'_>,
        mut look: impl AsyncFnMut() -> Result<Option<T>, Problem>,
    ) -> Result<Option<T>, Problem> {
        let WaitFor { agent, limit, tell } = waiting;
        // By a clock that nobody sets: the time of the store may jump while its server or this machine was asleep.
        let begun = Instant::now();
        let (mut outage, mut leniency) = (Outage::default(), Leniency::default());
        loop {
            // The number comes first: what changes while we look wakes us at once. The other way round it could be missed:
            //
            //   we: nothing is ready    somebody: sends work    we: wake us at the next change
            let since = self.store.changes();
            let looked: Result<Looked<T>, Problem> = async {
                if leniency.may_rescue(self.now()) {
                    self.rescue().await?;
                }
                match look().await? {
                    Some(found) => Ok(Looked::Found(found)),
                    None => Ok(Looked::Due(self.store.next_due(agent).await?)),
                }
            }
            .await;
            let now = self.now();
            let left = limit.map(|limit| limit.saturating_sub(begun.elapsed()));
            let over = left.is_some_and(|left| left.is_zero());
            let error = match looked {
                Ok(Looked::Found(found)) => return Ok(Some(found)),
                Ok(Looked::Due(_)) if over => return Ok(None),
                Ok(Looked::Due(due)) => {
                    outage.end(tell);
                    let pause = pause(now, leniency.due(due), left);
                    leniency.pauses(now, pause);
                    self.store.changed(since, pause).await;
                    continue;
                }
                Err(error) => error,
            };
            if over {
                return Err(error);
            }
            let pause = outage.endure(error, tell)?;
            leniency.store_was_away();
            tokio::time::sleep(left.map_or(pause, |left| left.min(pause))).await;
        }
    }
}

impl Engine {
    /// Returns handoffs as they are now.
    pub async fn find_all(&self, ids: &[HandoffId]) -> Result<Vec<Handoff>, Problem> {
        let mut handoffs = Vec::with_capacity(ids.len());
        for id in ids {
            handoffs.push(self.store.find(id).await?.ok_or_else(|| Problem::Removed(id.clone()))?);
        }
        Ok(handoffs)
    }

    /// Returns whether waiting for handoffs is over: all are finished, or a person is needed before anything else happens.
    pub async fn is_settled(&self, handoffs: &[Handoff], through_people: bool) -> Result<bool, Problem> {
        for handoff in handoffs {
            let settled = match handoff.state.name() {
                StateName::AwaitingPerson => !through_people,
                name if name.is_finished() => true,
                _ if handoff.is_run() && !through_people => self.is_asking(handoff).await?,
                _ => false,
            };
            if !settled {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns whether nothing happens in a run before a person has decided.
    async fn is_asking(&self, root: &Handoff) -> Result<bool, Problem> {
        let inside = self.store.handoffs_of(&root.run).await?;
        let inside = || inside.iter().map(|(handoff, _)| handoff).filter(|handoff| handoff.id != root.id);
        let is_working = |handoff: &Handoff| matches!(handoff.state.name(), StateName::Claimed | StateName::Verifying);
        Ok(inside().any(|handoff| handoff.state.name() == StateName::AwaitingPerson) && !inside().any(is_working))
    }
}

/// What a look came to.
enum Looked<T> {
    /// It is there.
    Found(T),
    /// It is not, and something is due then.
    Due(Option<Timestamp>),
}

fn pause(now: Timestamp, due: Option<Timestamp>, left: Option<Duration>) -> Duration {
    let until = |time: Timestamp| Duration::try_from(time.duration_since(now)).unwrap_or_default();
    let next = due.map_or(PAUSE_MAX, |due| until(due).clamp(PAUSE_MIN, PAUSE_MAX));
    left.map_or(next, |left| left.min(next))
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
        assert_eq!(pause(at(0), Some(at(5)), Some(Duration::from_secs(2))), Duration::from_secs(2));
        assert_eq!(pause(at(0), None, Some(Duration::from_secs(1_000))), PAUSE_MAX);
        assert_eq!(pause(at(0), None, None), PAUSE_MAX);
    }

    #[test]
    fn what_is_overdue_does_not_make_us_busy() {
        assert_eq!(pause(at(10), Some(at(5)), None), PAUSE_MIN);
    }
}
