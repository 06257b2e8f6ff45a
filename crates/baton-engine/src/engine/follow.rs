//! Reading a journal as it grows.

use std::time::Duration;

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
}

impl Engine {
    /// Follows the journal that a handoff is in, behind an event or, behind 0, from the first one.
    pub fn follow<'e>(&'e self, handoff: &'e Handoff, after: u64) -> Follower<'e> {
        Follower { engine: self, handoff, after }
    }
}

impl Follower<'_> {
    /// Waits for more events of the run; `None` when the handoff is finished and every event was returned.
    pub async fn next(&mut self) -> Result<Option<Vec<Event>>, Problem> {
        let store = &self.engine.store;
        loop {
            // The number comes first: what changes while we look wakes us at once.
            let since = store.changes();
            // The handoff comes before its events. The other way round the last one could be missed:
            //
            //   we: no more events    somebody: it ends, with an event    we: it is finished, so that was all
            let found = store.find(&self.handoff.id).await?;
            let events = store.history(&self.handoff.run, self.after, EVENTS_MAX).await?;
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
