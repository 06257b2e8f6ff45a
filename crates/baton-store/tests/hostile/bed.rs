//! What every hostile test needs: a store to open, requests to send, and a look whether everything is there.

use std::future::Future;
use std::path::Path;
use std::sync::Arc;

use baton_engine::handoff::WrittenDocument;
use baton_engine::journal::Head;
use baton_engine::lifecycle::{self, Accept};
use baton_engine::store::{ClaimRequest, StoreError};
use baton_engine::{Handoff, HandoffId, RunId, Store, Terms};
use baton_store::Location;
use jiff::Timestamp;

/// Runs something on a runtime of its own.
pub(crate) fn run<T>(what: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(what)
}

/// Opens a store in a file.
pub(crate) async fn open(path: &Path) -> Result<Arc<dyn Store>, StoreError> {
    baton_store::open(&Location::Sqlite(path.to_owned())).await
}

/// Returns a time so many seconds after the beginning of the test.
pub(crate) fn time(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).expect("a time")
}

/// Makes an id.
pub(crate) fn id(text: &str) -> HandoffId {
    HandoffId::parse(text).expect("a safe id")
}

/// Makes a request with a text of so many bytes.
pub(crate) fn request(text: &str, bytes: usize) -> Accept {
    let id = id(text);
    let content = format!("{{\"name\": \"{id}\", \"filling\": \"{}\"}}", "x".repeat(bytes));
    let request = WrittenDocument { dialect: "native".to_owned(), text: content, path: None, warnings: Box::default() };
    Accept { run: RunId::alone(&id), id, terms: Terms::between("lead", "builder"), request, notes: Vec::new() }
}

/// Makes a wish for so many handoffs.
pub(crate) fn wish(count: u32) -> ClaimRequest {
    ClaimRequest {
        agent: "builder".to_owned(),
        claimant: "w".to_owned(),
        lease_ms: 10_000,
        count,
        times_itself: false,
        author: None,
    }
}

/// Fills a store with requests `h0`, `h1`, …; every seventh of them is long.
pub(crate) async fn fill(store: &dyn Store, count: usize) -> Vec<Handoff> {
    let mut handoffs = Vec::new();
    for number in 0..count {
        let bytes = if number % 7 == 0 { 9_000 } else { 100 };
        let accepted =
            store.accept(vec![request(&format!("h{number}"), bytes)], time(0)).await.expect("it is accepted");
        handoffs.extend(accepted.into_iter().map(|accepted| accepted.handoff));
    }
    handoffs
}

/// Brings everything into the database file itself, so that there is nothing beside it.
pub(crate) fn settle(path: &Path) {
    let connection = rusqlite::Connection::open(path).expect("the database opens");
    connection.busy_timeout(std::time::Duration::from_secs(10)).expect("a number");
    let busy: i64 = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0)).expect("it is ours");
    assert_eq!(busy, 0, "somebody else has the database");
}

/// Reads the journal of a run, and returns what its events make of each handoff. The error says what is wrong with it.
pub(crate) async fn replay(store: &dyn Store, run: &RunId) -> Result<Option<Handoff>, StoreError> {
    let mut handoff: Option<Handoff> = None;
    let mut head = Head::START;
    for event in store.history(run, 0, 10_000).await? {
        let chained = event.seq == head.seq + 1 && event.hash == event.hash_after(&head.hash);
        assert!(chained, "the chain of {run} breaks at {}", event.seq);
        assert!(handoff.as_ref().is_none_or(|before| before.changed_at <= event.at), "time runs backwards in {run}");
        head = event.head();
        let fact = event.fact().map_err(|why| why.at(&format!("event {} of {run}", event.seq)))?;
        handoff = Some(lifecycle::replay(handoff, fact, event.at).map_err(StoreError::damaged)?);
    }
    Ok(handoff)
}
