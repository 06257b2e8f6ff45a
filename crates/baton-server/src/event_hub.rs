//! One reader of the journal for everybody who waits here. A thousand listeners must not ask the store a thousand times after
//! each event: the hub asks once, and passes on what it finds.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use baton_engine::EventKind;
use baton_engine::handoff::Handoff;
use baton_engine::journal::Event;
use baton_engine::store::{PositionedEvent, StoreError};
use tokio::sync::broadcast;
use tokio::time::Instant;

use crate::event_stream::Positions;
use crate::known_handoffs::KnownHandoffs;
use crate::server::Server;

/// How many events wait for a listener that is slow; one that misses some reads them in the journal.
const WAITING_MAX: usize = 4_096;

/// How many events are read at a time.
const EVENTS_MAX: u32 = 500;

/// How long to wait for a change before looking again.
const PAUSE: Duration = Duration::from_secs(15);

/// How soon to look again for a position that is missing, or for a store that is away.
const PAUSE_SHORT: Duration = Duration::from_secs(1);

/// How long to leave the store alone after something was found: while much happens, each look then finds many events.
const PAUSE_BUSY: Duration = Duration::from_millis(10);

/// Something that has happened.
#[derive(Debug)]
pub(crate) struct HubEvent {
    /// The event, and its position.
    pub(crate) positioned: PositionedEvent,
    /// The handoff as the event left it, or later; `None` for signs of life, which change nothing that anybody waits for.
    pub(crate) handoff: Option<Arc<Handoff>>,
    data: OnceLock<String>,
}

impl HubEvent {
    /// Returns the JSON form of the event, which is made once for all who listen.
    pub(crate) fn data(&self) -> &str {
        self.data.get_or_init(|| rendered(&self.positioned.event))
    }
}

/// Passes events on.
#[derive(Debug)]
pub(crate) struct EventHub(broadcast::Sender<Arc<HubEvent>>);

impl Default for EventHub {
    fn default() -> EventHub {
        EventHub(broadcast::Sender::new(WAITING_MAX))
    }
}

impl EventHub {
    /// Listens from now on.
    pub(crate) fn listen(&self) -> broadcast::Receiver<Arc<HubEvent>> {
        self.0.subscribe()
    }

    /// Returns how many requests listen. So does the server itself, for runs that it could drive, and that does not count.
    pub(crate) fn listeners(&self) -> usize {
        self.0.receiver_count().saturating_sub(1)
    }
}

impl Server {
    /// Reads what is recorded behind a position, counts it, and passes it on; without one, what is recorded from now on.
    pub(crate) async fn keep_watching(self, behind: Option<u64>) {
        let (mut positions, mut known) = (behind.map(Positions::behind), KnownHandoffs::default());
        let mut trouble: Option<StoreError> = None;
        while !self.is_closing() {
            let since = self.engine.store.changes();
            let watched = self.watch(&mut positions, &mut known).await;
            self.tell_trouble(&mut trouble, watched.as_ref().err());
            let pause = match watched {
                Ok(0) if positions.as_ref().is_some_and(Positions::is_complete) => PAUSE,
                // What is missing may come without ringing.
                Ok(0) | Err(_) => PAUSE_SHORT,
                Ok(count) if count == EVENTS_MAX as usize => continue,
                Ok(_) => {
                    tokio::time::sleep(PAUSE_BUSY).await;
                    continue;
                }
            };
            tokio::select! {
                () = self.closing() => return,
                () = self.engine.store.changed(since, pause) => {}
            }
        }
    }

    /// Tells whoever runs the server what is wrong with the store now, if they do not know it yet.
    fn tell_trouble(&self, told: &mut Option<StoreError>, now: Option<&StoreError>) {
        // The same trouble has another wording now and then.
        let is_known = match (told.as_ref(), now) {
            (Some(told), Some(now)) => std::mem::discriminant(told) == std::mem::discriminant(now),
            (told, now) => told.is_none() && now.is_none(),
        };
        if !is_known {
            self.host.tell_store(now);
            *told = now.cloned();
        }
    }

    async fn watch(&self, positions: &mut Option<Positions>, known: &mut KnownHandoffs) -> Result<usize, StoreError> {
        let positions = match positions {
            Some(positions) => positions,
            None => positions.insert(Positions::behind(self.engine.store.last_position().await?)),
        };
        let found = self.engine.store.events_after(positions.complete(), EVENTS_MAX).await?;
        // Before they count as seen: if the store is away now, they are read again.
        let missing = known.missing(&found);
        if !missing.is_empty() {
            known.take(self.engine.store.find_all(&missing).await?);
        }
        let new = positions.take(found, self.engine.now());
        let count = new.len();
        for (_, positioned) in new {
            let is_alive = positioned.event.is(EventKind::Extended);
            let fact = positioned.event.fact().ok();
            let handoff = fact.as_ref().and_then(|fact| known.after(&positioned.event, fact)).filter(|_| !is_alive);
            self.metrics.measure(self, &positioned.event, fact, handoff.as_deref()).await;
            // Without listeners it is told to nobody.
            let _ = self.hub.0.send(Arc::new(HubEvent { positioned, handoff, data: OnceLock::new() }));
        }
        Ok(count)
    }
}

/// Returns the JSON form of an event.
pub(crate) fn rendered(event: &Event) -> String {
    baton_views::event::json(event, None).to_string()
}

/// Why a wait has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WaitEnd {
    /// Something happened that may be what was waited for.
    News,
    /// The time is over.
    TimeOver,
    /// The server ends.
    Closing,
}

/// Waits until something happens that somebody waits for, until a time, or until the server ends.
pub(crate) async fn wait_for(
    server: &Server,
    live: &mut broadcast::Receiver<Arc<HubEvent>>,
    until: Instant,
    is_wanted: impl Fn(&HubEvent) -> bool,
) -> WaitEnd {
    loop {
        tokio::select! {
            biased;
            () = server.closing() => return WaitEnd::Closing,
            received = live.recv() => match received {
                Ok(event) if is_wanted(&event) => return WaitEnd::News,
                Ok(_) => {}
                // What was missed may have been it.
                Err(broadcast::error::RecvError::Lagged(_)) => return WaitEnd::News,
                Err(broadcast::error::RecvError::Closed) => return WaitEnd::Closing,
            },
            () = tokio::time::sleep_until(until) => return WaitEnd::TimeOver,
        }
    }
}
