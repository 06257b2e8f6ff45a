//! Reads a journal to its end, page by page, so that a long one is never in memory as a whole.

use crate::id::RunId;
use crate::journal::Event;
use crate::store::{Store, StoreError};

/// How many events are read at a time.
const EVENTS_MAX: u32 = 1_000;

/// The pages of a journal that are still to be read.
pub struct JournalPages<'s> {
    store: &'s dyn Store,
    run: &'s RunId,
    after: u64,
    is_over: bool,
}

impl<'s> JournalPages<'s> {
    /// Begins behind an event, or with the first one behind 0.
    pub fn after(store: &'s dyn Store, run: &'s RunId, after: u64) -> JournalPages<'s> {
        JournalPages { store, run, after, is_over: false }
    }

    /// Returns the next events; `None` when there are no more.
    pub async fn next(&mut self) -> Result<Option<Vec<Event>>, StoreError> {
        if self.is_over {
            return Ok(None);
        }
        let page = self.store.history(self.run, self.after, EVENTS_MAX).await?;
        self.is_over = page.len() < EVENTS_MAX as usize;
        self.after = page.last().map_or(self.after, |event| event.seq);
        Ok((!page.is_empty()).then_some(page))
    }

    /// Returns all events that are left.
    pub async fn collect(mut self) -> Result<Vec<Event>, StoreError> {
        let mut events = Vec::new();
        while let Some(page) = self.next().await? {
            events.extend(page);
        }
        Ok(events)
    }
}
