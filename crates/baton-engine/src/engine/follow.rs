//! Reading a journal as it grows.

use std::time::Duration;

use tokio::time::Instant;

use super::outage::{Outage, StoreNews};
use super::{Engine, Problem};
use crate::handoff::Handoff;
use crate::journal::Event;

/// How many events are read at a time.
const EVENTS_MAX: u32 = 500;

/// How long to wait for a change before looking again.
const PAUSE: Duration = Duration::from_secs(30);

/// Somebody who reads a journal while it grows.
pub struct Follower<'e> {
    engine: &'e Engine,
    handoff: &'e Handoff,
    after: u64,
    /// Learns when the store goes away and comes back.
    tell: &'e (dyn Fn(StoreNews<'_>) + Sync),
    outage: Outage,
    /// When the store may be asked again.
    resumes_at: Option<Instant>,
}

impl Engine {
    /// Follows the journal that a handoff is in, behind an event or, behind 0, from the first one. A store that cannot be
    /// reached is asked again for a while; `tell` learns of it.
    pub fn follow<'e>(
        &'e self,
        handoff: &'e Handoff,
        after: u64,
        tell: &'e (dyn Fn(StoreNews<'_>) + Sync),
    ) -> Follower<'e> {
        Follower { engine: self, handoff, after, tell, outage: Outage::default(), resumes_at: None }
    }
}

impl Follower<'_> {
    /// Waits for more events of the run; `None` when the handoff is finished and every event was returned. Dropping the
    /// future loses nothing.
    pub async fn next(&mut self) -> Result<Option<Vec<Event>>, Problem> {
        loop {
            if let Some(at) = self.resumes_at {
                tokio::time::sleep_until(at).await;
                self.resumes_at = None;
            }
            match self.read_on().await {
                Ok(events) => return Ok(events),
                Err(problem) => self.resumes_at = Some(Instant::now() + self.outage.endure(problem, self.tell)?),
            }
        }
    }

    async fn read_on(&mut self) -> Result<Option<Vec<Event>>, Problem> {
        let store = &self.engine.store;
        loop {
            // The number comes first: what changes while we look wakes us at once.
            let since = store.changes();
            // The handoff comes before its events. The other way round the last one could be missed:
            //
            //   we: no more events    somebody: it ends, with an event    we: it is finished, so that was all
            let found = store.find(&self.handoff.id).await?;
            let events = store.history(&self.handoff.run, self.after, EVENTS_MAX).await?;
            self.outage.end(self.tell);
            if let Some(last) = events.last() {
                self.after = last.seq;
                return Ok(Some(events));
            }
            if found.is_none_or(|found| found.state.name().is_finished()) {
                return Ok(None);
            }
            store.changed(since, PAUSE).await;
        }
    }
}
