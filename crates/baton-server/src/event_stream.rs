//! The journal as server-sent events: each event for programs, or the parts of pages that have changed. A stream keeps
//! nothing: the id of an event is a number of the journal, from which any server goes on after a break.

use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::sse::{Event as SentEvent, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use baton_engine::engine::Problem;
use baton_engine::journal::Event;
use baton_engine::store::PositionedEvent;
use baton_engine::{HandoffId, RunId};
use baton_page::live;
use futures_util::StreamExt as _;
use futures_util::stream::{self, Stream};
use jiff::Timestamp;
use tokio::sync::broadcast;
use tokio::time::Instant;

use crate::access::Principal;
use crate::event_hub::{HubEvent, WaitEnd, rendered, wait_for};
use crate::problem_json::ProblemJson;
use crate::server::Server;

/// How often a stream on which nothing happens shows that it lives.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// How many events are read at a time.
/// Few: each listener that does not read holds so many.
const EVENTS_MAX: u32 = 64;

/// How long to wait for a change before looking again.
const PAUSE: Duration = Duration::from_secs(15);

/// How long a position may be missing before it is taken that nobody will ever write it.
const MISSING_MAX: Duration = Duration::from_secs(5);

/// How long a token that was taken back may still be listened with.
const LOOK_AT_ACCESS: Duration = Duration::from_secs(1);

/// How often access is looked at while nothing happens: whoever is not let in any more gets nothing, and is not kept either.
pub(crate) const LOOK_AT_WAITING: Duration = Duration::from_secs(5);

/// What a stream sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StreamForm {
    /// Every event, in its JSON form.
    Journal,
    /// The fragments of pages that may have changed. Several events that are there together are one.
    Fragments,
}

/// Returns the number behind which a stream begins: `Last-Event-ID` goes before what the address says.
pub(crate) fn beginning(headers: &HeaderMap, given: Option<u64>) -> Result<Option<u64>, ProblemJson> {
    let Some(header) = headers.get("last-event-id") else { return Ok(given) };
    // Whoever began at the start instead would get everything again, and take it for news.
    let number = header.to_str().ok().and_then(|text| text.trim().parse().ok());
    number.map(Some).ok_or_else(|| {
        ProblemJson::new(StatusCode::BAD_REQUEST, "bad_request", "`Last-Event-ID` is not the id of an event")
            .hint("send the `id` of the last event that you got, or leave the header out")
    })
}

/// The problem when somebody wants to go on behind an event that has not happened: nothing would come, or what is not theirs.
pub(crate) fn beyond() -> ProblemJson {
    ProblemJson::new(StatusCode::BAD_REQUEST, "bad_request", "there is no event with this id yet")
        .hint("send the `id` of the last event that you got, or leave `Last-Event-ID` and `after` out")
}

/// Streams the events of a run.
pub(crate) fn of_run(server: Server, reader: Principal, run: RunId, after: u64, form: StreamForm) -> Response {
    let live = server.hub.listen();
    let access = OpenAccess::of(&server, reader);
    let reader = RunReader { server, run, after, form, live, waiting: VecDeque::new(), is_over: false };
    answer(access, stream::unfold(reader, |mut reader| async move { Some((reader.next().await?, reader)) }))
}

/// Streams the events of all runs.
pub(crate) fn of_all(server: Server, reader: Principal, after: u64, form: StreamForm) -> Response {
    let live = server.hub.listen();
    let access = OpenAccess::of(&server, reader);
    let (positions, waiting) = (Positions::behind(after), VecDeque::new());
    let reader = StoreReader { server, positions, form, live, waiting, has_caught_up: false };
    answer(access, stream::unfold(reader, |mut reader| async move { Some((reader.next().await?, reader)) }))
}

/// Streams the fragments that change from now on. All of them are named at once: the page may be older.
pub(crate) fn of_all_from_now(server: Server, reader: Principal, now: u64) -> Response {
    let live = server.hub.listen();
    let access = OpenAccess::of(&server, reader);
    let (positions, form) = (Positions::behind(now), StreamForm::Fragments);
    let waiting = VecDeque::from([fragments(now, live::ALL)]);
    let reader = StoreReader { server, positions, form, live, waiting, has_caught_up: false };
    answer(access, stream::unfold(reader, |mut reader| async move { Some((reader.next().await?, reader)) }))
}

fn answer(access: OpenAccess, events: impl Stream<Item = SentEvent> + Send + 'static) -> Response {
    let guarded = stream::unfold((Box::pin(events), access), |(mut events, mut access)| async move {
        loop {
            match tokio::time::timeout(LOOK_AT_WAITING, events.next()).await {
                Ok(event) => return access.holds().await.then_some((event?, (events, access))),
                Err(_) if access.holds().await => {}
                Err(_) => return None,
            }
        }
    });
    let events = guarded.map(Ok::<_, Infallible>);
    let mut response = Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response();
    // Proxies that collect what they pass on would make it anything but live.
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Whether whoever listens may still do so. A stream lives longer than a request: tokens are taken back meanwhile.
struct OpenAccess {
    server: Server,
    principal: Principal,
    looked_at: Instant,
}

impl OpenAccess {
    fn of(server: &Server, principal: Principal) -> OpenAccess {
        OpenAccess { server: server.clone(), principal, looked_at: Instant::now() }
    }

    async fn holds(&mut self) -> bool {
        if self.looked_at.elapsed() < LOOK_AT_ACCESS {
            return true;
        }
        self.looked_at = Instant::now();
        self.principal.is_still_let_in(&self.server).await
    }
}

fn sent(id: u64, data: &str) -> SentEvent {
    SentEvent::default().id(id.to_string()).event("event").data(data)
}

fn fragments(id: u64, names: &[&str]) -> SentEvent {
    SentEvent::default().id(id.to_string()).event("fragments").data(names.join(" "))
}

/// Names the fragments that events have changed; `None` if nothing has.
fn changed<'e>(events: impl Iterator<Item = &'e Event>) -> Option<Vec<&'static str>> {
    let mut names: Vec<&str> = Vec::new();
    for name in events.flat_map(live::changed_by) {
        if !names.contains(name) {
            names.push(name);
        }
    }
    (!names.is_empty()).then_some(names)
}

/// Reads the journal of one run.
struct RunReader {
    server: Server,
    run: RunId,
    after: u64,
    form: StreamForm,
    live: broadcast::Receiver<Arc<HubEvent>>,
    waiting: VecDeque<Event>,
    is_over: bool,
}

impl RunReader {
    async fn next(&mut self) -> Option<SentEvent> {
        loop {
            if let Some(event) = self.take() {
                return Some(event);
            }
            if self.is_over {
                return None;
            }
            // Whoever listens comes again if the store is away, with the number that it has.
            if !self.read().await.ok()? {
                self.is_over = true;
                if self.form == StreamForm::Fragments {
                    return None;
                }
                return Some(SentEvent::default().event("end").data("{}"));
            }
            if self.waiting.is_empty() {
                let (run, until) = (&self.run, Instant::now() + PAUSE);
                let is_of_run = |news: &HubEvent| news.positioned.event.run == *run;
                if wait_for(&self.server, &mut self.live, until, is_of_run).await == WaitEnd::Closing {
                    return None;
                }
            }
        }
    }

    /// Returns what is to be sent next of what was read.
    fn take(&mut self) -> Option<SentEvent> {
        match self.form {
            StreamForm::Journal => {
                let event = self.waiting.pop_front()?;
                self.after = event.seq;
                Some(sent(event.seq, &rendered(&event)))
            }
            StreamForm::Fragments => {
                self.after = self.waiting.back()?.seq;
                let names = changed(self.waiting.iter());
                self.waiting.clear();
                names.map(|names| fragments(self.after, &names))
            }
        }
    }

    /// Reads on. Returns whether more can come: the run is looked at before its events, so that none is missed.
    async fn read(&mut self) -> Result<bool, Problem> {
        let store = &self.server.engine.store;
        let root = match HandoffId::parse(self.run.as_str()) {
            Ok(root) => store.find(&root).await?,
            Err(_) => None,
        };
        self.waiting = store.history(&self.run, self.after, EVENTS_MAX).await?.into();
        let is_finished = root.is_some_and(|root| root.state.name().is_finished());
        Ok(!self.waiting.is_empty() || !is_finished)
    }
}

/// Reads the journals of all runs: from the store what was before, from the hub what happens.
struct StoreReader {
    server: Server,
    positions: Positions,
    form: StreamForm,
    live: broadcast::Receiver<Arc<HubEvent>>,
    waiting: VecDeque<SentEvent>,
    has_caught_up: bool,
}

impl StoreReader {
    async fn next(&mut self) -> Option<SentEvent> {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                return Some(event);
            }
            if !self.has_caught_up {
                let found = self.server.engine.store.events_after(self.positions.complete, EVENTS_MAX).await.ok()?;
                self.has_caught_up = found.len() < EVENTS_MAX as usize;
                let new = self.positions.take(found, self.server.engine.now());
                self.waiting = match self.form {
                    StreamForm::Journal => new.iter().map(|(id, new)| sent(*id, &rendered(&new.event))).collect(),
                    StreamForm::Fragments => changes(&new),
                };
                continue;
            }
            let received = tokio::select! {
                biased;
                () = self.server.closing() => return None,
                received = self.live.recv() => received,
            };
            match received {
                Ok(news) => {
                    let new = self.positions.take(vec![news.positioned.clone()], self.server.engine.now());
                    self.waiting = match self.form {
                        StreamForm::Journal => new.iter().map(|(id, _)| sent(*id, news.data())).collect(),
                        StreamForm::Fragments => changes(&new),
                    };
                }
                // What this listener was too slow for stands in the journal.
                Err(broadcast::error::RecvError::Lagged(_)) => self.has_caught_up = false,
                Err(broadcast::error::RecvError::Closed) => return None,
            }
        }
    }
}

/// Names the fragments that new events have changed, if any.
fn changes(new: &[(u64, PositionedEvent)]) -> VecDeque<SentEvent> {
    let names = changed(new.iter().map(|(_, new)| &new.event));
    names.zip(new.last()).map(|(names, (id, _))| fragments(*id, &names)).into_iter().collect()
}

/// Which positions were seen. With several writers a lower one may become visible after a higher one:
///
/// ```text
///   writer A                 writer B                 reader
///   gets position 7
///                            gets position 8
///                            commits
///                                                     sees 8, and sends it
///   commits
///                                                     must still look behind 6, not behind 8
/// ```
#[derive(Debug)]
pub(crate) struct Positions {
    /// None is missing up to this one.
    complete: u64,
    /// Those behind it that were seen, and when they were written.
    ahead: BTreeMap<u64, Timestamp>,
}

impl Positions {
    /// Begins behind a position.
    pub(crate) fn behind(complete: u64) -> Positions {
        Positions { complete, ahead: BTreeMap::new() }
    }

    /// Returns the position up to which none is missing.
    pub(crate) fn complete(&self) -> u64 {
        self.complete
    }

    /// Returns whether none is missing before the last one that was seen.
    pub(crate) fn is_complete(&self) -> bool {
        self.ahead.is_empty()
    }

    /// Takes what was found. Returns what is new, each with the position up to which everything was sent by then.
    pub(crate) fn take(&mut self, found: Vec<PositionedEvent>, now: Timestamp) -> Vec<(u64, PositionedEvent)> {
        let mut new = Vec::new();
        for found in found {
            if found.position > self.complete && self.ahead.insert(found.position, found.event.at).is_none() {
                new.push(found);
            }
        }
        let before = self.complete;
        self.advance(now);
        // All but the last carry the number from before: whoever breaks off in between gets them again.
        let last = new.len().saturating_sub(1);
        let id = |index| if index == last { self.complete } else { before };
        new.into_iter().enumerate().map(|(index, found)| (id(index), found)).collect()
    }

    fn advance(&mut self, now: Timestamp) {
        while let Some((position, at)) = self.ahead.first_key_value().map(|(position, at)| (*position, *at)) {
            let is_old = now.duration_since(at).unsigned_abs() > MISSING_MAX;
            if position != self.complete + 1 && !is_old {
                return;
            }
            self.complete = position;
            self.ahead.pop_first();
        }
    }
}

#[cfg(test)]
mod tests {
    use baton_engine::journal::Hash;

    use super::*;

    fn found(position: u64) -> PositionedEvent {
        let event = Event {
            run: RunId::parse("r").expect("safe"),
            seq: position,
            handoff: HandoffId::parse("r").expect("safe"),
            version: 1,
            at: Timestamp::UNIX_EPOCH,
            kind: "claimed".to_owned(),
            detail: "{}".to_owned(),
            hash: Hash([0; 32]),
        };
        PositionedEvent { position, event }
    }

    fn taken(order: &mut Positions, positions: &[u64], second: i64) -> Vec<(u64, u64)> {
        let now = Timestamp::from_second(second).expect("a time");
        let found = positions.iter().copied().map(found).collect();
        order.take(found, now).into_iter().map(|(id, found)| (id, found.position)).collect()
    }

    #[test]
    fn event_that_becomes_visible_late_is_sent_and_none_is_sent_twice() {
        let mut order = Positions::behind(6);
        assert_eq!(taken(&mut order, &[8], 0), [(6, 8)], "a break now would bring 8 again, and 7");
        assert_eq!(taken(&mut order, &[7, 8, 9], 1), [(6, 7), (9, 9)]);
        assert_eq!(taken(&mut order, &[], 1), []);
    }

    #[test]
    fn position_that_nobody_will_write_is_waited_for_only_so_long() {
        let mut order = Positions::behind(6);
        assert_eq!(taken(&mut order, &[8], 0), [(6, 8)]);
        assert_eq!(taken(&mut order, &[8, 9], 60), [(9, 9)]);
    }
}
