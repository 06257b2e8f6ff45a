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
use crate::server::Server;

/// How many events wait for a listener that is slow; one that misses some reads them in the journal.
const WAITING_MAX: usize = 4_096;

/// How many events are read at a time.
const EVENTS_MAX: u32 = 500;

/// How long to wait for a change before looking again.
const PAUSE: Duration = Duration::from_secs(15);

/// How soon to look again for a position that is missing, or for a store that is away.
const PAUSE_SHORT: Duration = Duration::from_secs(1);

/// Something that has happened.
#[derive(Debug)]
pub(crate) struct HubEvent {
    /// The event, and its position.
    pub(crate) positioned: PositionedEvent,
    /// The handoff as it is now; `None` for signs of life, which change nothing that anybody waits for.
    pub(crate) handoff: Option<Handoff>,
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

    /// Returns how many listen.
    pub(crate) fn listeners(&self) -> usize {
        self.0.receiver_count()
    }
}

impl Server {
    /// Reads what is recorded from now on, counts it, and passes it on.
    pub(crate) async fn keep_watching(self) {
        let mut positions: Option<Positions> = None;
        while !self.is_closing() {
            let since = self.engine.store.changes();
            let pause = match self.watch(&mut positions).await {
                Ok(0) if positions.as_ref().is_some_and(Positions::is_complete) => PAUSE,
                // What is missing may come without ringing.
                Ok(0) | Err(_) => PAUSE_SHORT,
                Ok(_) => continue,
            };
            tokio::select! {
                () = self.closing() => return,
                () = self.engine.store.changed(since, pause) => {}
            }
        }
    }

    async fn watch(&self, positions: &mut Option<Positions>) -> Result<usize, StoreError> {
        let positions = match positions {
            Some(positions) => positions,
            None => positions.insert(Positions::behind(self.engine.store.last_position().await?)),
        };
        let found = self.engine.store.events_after(positions.complete(), EVENTS_MAX).await?;
        let new = positions.take(found, self.engine.now());
        let count = new.len();
        for (_, positioned) in new {
            let handoff = if positioned.event.is(EventKind::Extended) {
                None
            } else {
                self.engine.store.find(&positioned.event.handoff).await?
            };
            self.metrics.measure(self, &positioned.event, handoff.as_ref()).await;
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

/// Waits until something happens that somebody waits for, until a time, or until the server ends. Returns whether it goes on.
pub(crate) async fn wait_for(
    server: &Server,
    live: &mut broadcast::Receiver<Arc<HubEvent>>,
    until: Instant,
    is_wanted: impl Fn(&HubEvent) -> bool,
) -> bool {
    loop {
        tokio::select! {
            biased;
            () = server.closing() => return false,
            received = live.recv() => match received {
                Ok(event) if is_wanted(&event) => return true,
                Ok(_) => {}
                // What was missed may have been it.
                Err(broadcast::error::RecvError::Lagged(_)) => return true,
                Err(broadcast::error::RecvError::Closed) => return false,
            },
            () = tokio::time::sleep_until(until) => return true,
        }
    }
}
