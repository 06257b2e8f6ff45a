//! Handoffs as the events of the journal left them, kept so that not each event sends whoever watches to the store: what follows
//! from an event follows from the handoff before it and the event alone.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use baton_engine::handoff::Handoff;
use baton_engine::journal::{Event, Fact};
use baton_engine::lifecycle;
use baton_engine::store::PositionedEvent;
use baton_engine::{EventKind, HandoffId};

/// How many handoffs are kept. Those that are needed after all are looked up again.
const HANDOFFS_MAX: usize = 4_096;

/// The handoffs that something has happened to lately and that are not finished.
#[derive(Debug, Default)]
pub(crate) struct KnownHandoffs(HashMap<HandoffId, Arc<Handoff>>);

impl KnownHandoffs {
    /// Returns the handoffs that must be looked up before these events can be followed.
    pub(crate) fn missing(&self, events: &[PositionedEvent]) -> Vec<HandoffId> {
        let mut versions: HashMap<&HandoffId, u64> = HashMap::new();
        let mut missing = BTreeSet::new();
        for PositionedEvent { event, .. } in events {
            let known = || self.0.get(&event.handoff).map_or(0, |handoff| handoff.version);
            let version = versions.entry(&event.handoff).or_insert_with(known);
            let follows = *version + 1 == event.version && (*version > 0 || event.is(EventKind::Accepted));
            if !follows && *version < event.version {
                missing.insert(event.handoff.clone());
            }
            *version = event.version.max(*version);
        }
        missing.into_iter().collect()
    }

    /// Takes handoffs as they are now.
    pub(crate) fn take(&mut self, found: Vec<Handoff>) {
        if self.0.len() + found.len() > HANDOFFS_MAX {
            self.0.clear();
        }
        self.0.extend(found.into_iter().map(|handoff| (handoff.id.clone(), Arc::new(handoff))));
    }

    /// Returns the handoff as an event left it, or as it was when it was looked up if that is later.
    pub(crate) fn after(&mut self, event: &Event, fact: &Fact) -> Option<Arc<Handoff>> {
        let before = self.0.remove(&event.handoff);
        let after = match before {
            Some(before) if before.version >= event.version => before,
            before => {
                let before = before.map(Arc::unwrap_or_clone);
                Arc::new(lifecycle::replay(before, fact.clone(), event.at).ok()?)
            }
        };
        // What has finished is kept as long as events about it are still to come.
        if !after.state.name().is_finished() || after.version > event.version {
            if self.0.len() >= HANDOFFS_MAX {
                self.0.clear();
            }
            self.0.insert(event.handoff.clone(), Arc::clone(&after));
        }
        Some(after)
    }
}

#[cfg(test)]
mod tests {
    use baton_engine::Fence;
    use baton_engine::engine::{Caller, Door};
    use baton_engine::known::Decider;
    use baton_engine::memory::{self, StillClock};
    use baton_engine::store::ClaimRequest;
    use jiff::Timestamp;

    use super::*;

    /// Whoever has followed all events knows what the store has, and has never asked it.
    #[tokio::test]
    async fn followed_handoff_is_that_of_the_store_and_is_not_looked_up() {
        let clock = Arc::new(StillClock::at(Timestamp::UNIX_EPOCH));
        let ana = Caller { decider: Decider::unproven("ana"), door: Door::Http, role: None, working_on: None };
        let engine = memory::engine(&clock);
        let accept = memory::request("csv-07", "finder");
        let id = accept.id.clone();
        engine.store.accept(vec![accept], engine.now()).await.expect("accepted");
        let (agent, claimant) = ("finder".to_owned(), "w".to_owned());
        let wanted = ClaimRequest { agent, claimant, lease_ms: 60_000, count: 1, times_itself: false, author: None };
        let claimed = engine.claim(&wanted, &ana).await.expect("claimed").remove(0).handoff;
        engine.heartbeat(&claimed, Fence(1), None, &ana).await.expect("held");
        let mut known = KnownHandoffs::default();
        let events = engine.store.events_after(0, 10).await.expect("events");
        assert!(known.missing(&events).is_empty());
        let mut last = None;
        for PositionedEvent { event, .. } in &events {
            last = known.after(event, &event.fact().expect("known"));
        }
        assert_eq!(last.as_deref(), engine.store.find(&id).await.expect("a store").as_ref());

        // Whoever begins in the middle looks once.
        let mut late = KnownHandoffs::default();
        assert_eq!(late.missing(&events[1..]), std::slice::from_ref(&id));
        late.take(engine.store.find_all(std::slice::from_ref(&id)).await.expect("a store"));
        assert!(late.missing(&events[1..]).is_empty());
        for PositionedEvent { event, .. } in &events[1..] {
            assert_eq!(late.after(event, &event.fact().expect("known")), last);
        }
    }
}
