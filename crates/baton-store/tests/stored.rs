//! A store that an earlier program has written: everything in it is read, means the same, and would be written again byte
//! by byte. `stored/store_of_version_1.sql` is what that program left behind, and is never made anew.

use std::path::PathBuf;
use std::sync::Arc;

use baton_engine::journal::{Event, Fact};
use baton_engine::run::Run;
use baton_engine::store::StoreError;
use baton_engine::stored::body;
use baton_engine::{HandoffId, RunId, State, Store, audit};
use baton_store::Location;
use baton_testbed::Scratch;
use rusqlite::Connection;

const STORE: &str = include_str!("stored/store_of_version_1.sql");

/// Every kind of event there is.
const KINDS: [&str; 15] = [
    "accepted",
    "acknowledged",
    "cancelled",
    "claimed",
    "decided",
    "expired",
    "extended",
    "failed",
    "refused",
    "released",
    "reported",
    "requeued",
    "resumed",
    "routed",
    "verified",
];

/// The store as it was left behind, in a file.
struct Old {
    _scratch: Scratch,
    path: PathBuf,
    database: Connection,
}

impl Old {
    fn new() -> Old {
        let scratch = Scratch::new();
        let path = scratch.path("baton.db");
        let database = Connection::open(&path).expect("a new file");
        database.execute_batch(STORE).expect("what was left behind is whole");
        Old { _scratch: scratch, path, database }
    }

    async fn open(&self) -> Arc<dyn Store> {
        baton_store::open(&Location::Sqlite(self.path.clone())).await.expect("an old store opens")
    }

    fn texts(&self, query: &str) -> Vec<String> {
        let mut statement = self.database.prepare(query).expect("our own query");
        let rows = statement.query_map([], |row| row.get(0)).expect("our own query");
        rows.map(|text| text.expect("a text")).collect()
    }

    fn runs(&self) -> Vec<RunId> {
        let runs = self.texts("SELECT DISTINCT run FROM events ORDER BY run");
        runs.into_iter().map(|run| RunId::parse(run).expect("safe")).collect()
    }
}

async fn journal(store: &dyn Store, run: &RunId) -> Vec<Event> {
    store.history(run, 0, 1_000).await.expect("the journal can be read")
}

#[tokio::test]
async fn every_event_of_an_old_store_is_read_and_would_be_written_again_byte_by_byte() {
    let old = Old::new();
    let store = old.open().await;
    let mut kinds = Vec::new();
    for run in old.runs() {
        for event in journal(&*store, &run).await {
            let fact = event.fact().unwrap_or_else(|why| panic!("{} {}: {why}", event.run, event.seq));
            assert_eq!((fact.kind().as_str(), fact.detail()), (event.kind.as_str(), event.detail));
            kinds.push(event.kind);
        }
    }
    kinds.sort_unstable();
    kinds.dedup();
    assert_eq!(kinds, KINDS);
}

#[tokio::test]
async fn every_row_of_an_old_store_is_read_and_would_be_written_again_byte_by_byte() {
    let old = Old::new();
    let store = old.open().await;
    let (ids, bodies) =
        (old.texts("SELECT id FROM handoffs ORDER BY id"), old.texts("SELECT body FROM handoffs ORDER BY id"));
    assert_eq!(ids.len(), 19);
    for (id, stored) in ids.into_iter().zip(bodies) {
        let found = store.find(&HandoffId::parse(id).expect("safe")).await.expect("the row can be read");
        assert_eq!(body::write(&found.expect("it is there")), stored);
    }
}

#[tokio::test]
async fn old_store_is_proved_from_its_first_event_to_its_last() {
    let old = Old::new();
    let store = old.open().await;
    for run in old.runs() {
        let rows = store.handoffs_of(&run).await.expect("the rows can be read");
        let audit = audit::verify(&run, &journal(&*store, &run).await, &rows);
        assert!(audit.findings.is_empty(), "{run}: {:?}", audit.findings);
    }
}

#[tokio::test]
async fn run_of_an_old_store_is_what_it_was() {
    let old = Old::new();
    let events = journal(&*old.open().await, &RunId::parse("t").expect("safe")).await;
    let run = Run::of_journal(&events).expect("it can be replayed");
    assert_eq!((run.definition.name(), run.definition.approvers.len()), ("release", 2));
    let Ok(Fact::Accepted(accept)) = events[0].fact() else { panic!("{:?}", events[0]) };
    assert_eq!(run.definition.request(&run.id, "root"), accept.request, "its definition would be written again");
    let signed = run.handoffs().find(|tracked| tracked.handoff.id.as_str() == "t.ok.1").expect("a signed gate");
    assert!(matches!(signed.handoff.state, State::Completed { .. }));
    assert_eq!(signed.handoff.approvals.len(), 2);
}

#[tokio::test]
async fn row_of_a_newer_program_is_refused_and_not_called_damaged() {
    let old = Old::new();
    let newer = "UPDATE handoffs SET body = replace(body, '{\"v\":1,', '{\"v\":2,') WHERE id = 'q1'";
    assert_eq!(old.database.execute(newer, []), Ok(1));
    let found = old.open().await.find(&HandoffId::parse("q1").expect("safe")).await;
    let Err(StoreError::Newer(why)) = &found else { panic!("{found:?}") };
    assert!(why.contains("the row of handoff `q1`: it was written by a newer baton (version 2 "), "{why}");
}
