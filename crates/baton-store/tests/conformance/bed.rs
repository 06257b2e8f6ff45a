//! A fresh store for one test, and what tests ask of it again and again.

use std::sync::Arc;

use baton_engine::journal::Event;
use baton_engine::lifecycle::{Accept, Command, Decision};
use baton_engine::memory::MemoryStore;
use baton_engine::store::{AcceptedHandoff, ClaimRequest, ClaimedHandoff, Order, StoreError};
use baton_engine::{Handoff, HandoffId, Store};
use baton_store::Location;
use baton_testbed::{PostgresServer, Scratch};
use jiff::Timestamp;

use super::requests::{AGENT, decide, id, request, run, time};

/// A fresh store.
pub(crate) struct Bed {
    pub(crate) store: Arc<dyn Store>,
    place: Place,
}

enum Place {
    Memory(MemoryStore),
    Sqlite(Scratch),
    Postgres(String),
}

impl Bed {
    pub(crate) async fn memory() -> Bed {
        Bed::at(Place::Memory(MemoryStore::new())).await
    }

    pub(crate) async fn sqlite() -> Bed {
        Bed::at(Place::Sqlite(Scratch::new())).await
    }

    pub(crate) async fn postgres() -> Bed {
        Bed::at(Place::Postgres(PostgresServer::shared().new_database())).await
    }

    /// A database that sorts like people who read English, where capitals do not come before all other letters.
    pub(crate) async fn english_postgres() -> Bed {
        let server = PostgresServer::shared();
        let url = server.new_database();
        let name = url.rsplit('/').next().unwrap().split('?').next().unwrap();
        baton_testbed::query(server.url(), &format!("DROP DATABASE {name}"));
        let language = "LOCALE_PROVIDER icu ICU_LOCALE 'en-US' LOCALE 'C' TEMPLATE template0";
        baton_testbed::query(server.url(), &format!("CREATE DATABASE {name} {language}"));
        Bed::at(Place::Postgres(url)).await
    }

    async fn at(place: Place) -> Bed {
        Bed { store: place.open().await, place }
    }

    /// Opens the same database once more, as another process would.
    pub(crate) async fn open_again(&self) -> Arc<dyn Store> {
        self.place.open().await
    }

    /// Closes the store and opens it again.
    pub(crate) async fn reopened(self) -> Bed {
        let Bed { store, place } = self;
        drop(store);
        Bed::at(place).await
    }

    /// Returns whether the time of the store is that of a server.
    pub(crate) fn has_its_own_clock(&self) -> bool {
        matches!(self.place, Place::Postgres(_))
    }

    /// Runs a statement behind the back of the store.
    pub(crate) async fn sql(&self, statement: &str) -> Result<(), String> {
        match &self.place {
            Place::Memory(_) => panic!("memory knows no SQL"),
            Place::Sqlite(scratch) => {
                let connection = rusqlite::Connection::open(scratch.path(SQLITE_FILE)).unwrap();
                connection.busy_timeout(std::time::Duration::from_secs(10)).unwrap();
                connection.execute_batch(statement).map_err(|error| error.to_string())
            }
            Place::Postgres(url) => {
                let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
                tokio::spawn(connection);
                let done = client.batch_execute(statement).await;
                done.map_err(|error| error.as_db_error().map_or(error.to_string(), |said| said.message().to_owned()))
            }
        }
    }

    /// Sends requests; they are there afterwards.
    pub(crate) async fn send(&self, requests: impl IntoIterator<Item = Accept>, at: Timestamp) -> Vec<AcceptedHandoff> {
        self.store.accept(requests.into_iter().collect(), at).await.unwrap()
    }

    /// Sends one plain request at the beginning of time.
    pub(crate) async fn send_one(&self, name: &str) -> Handoff {
        self.send([request(name)], time(0)).await.remove(0).handoff
    }

    /// Claims so many for the usual agent, for a minute.
    pub(crate) async fn claim(&self, count: u32, at: Timestamp) -> Vec<ClaimedHandoff> {
        self.store.claim(&wish(count), at).await.unwrap()
    }

    /// Sends one request and claims it at the same time.
    pub(crate) async fn claimed(&self, accept: Accept, at: Timestamp) -> Handoff {
        let expected = accept.id.clone();
        let agent = accept.terms.to.clone();
        self.send([accept], at).await;
        let mut claimed = self.store.claim(&ClaimRequest { agent, ..wish(1) }, at).await.unwrap();
        let handoff = claimed.remove(0).handoff;
        assert_eq!(handoff.id, expected);
        handoff
    }

    pub(crate) async fn apply(&self, name: &str, command: Command, at: Timestamp) -> Result<Handoff, StoreError> {
        self.store.apply(Order::new(id(name), command), at).await
    }

    /// Decides about what is shown now.
    pub(crate) async fn decide(&self, name: &str, decision: Decision, at: Timestamp) -> Result<Handoff, StoreError> {
        let shown = self.find(name).await.shown().expect("something to decide about");
        self.apply(name, decide(shown, decision), at).await
    }

    pub(crate) async fn find(&self, name: &str) -> Handoff {
        self.store.find(&id(name)).await.unwrap().expect("it was accepted")
    }

    pub(crate) async fn is_there(&self, name: &str) -> bool {
        self.store.find(&id(name)).await.unwrap().is_some()
    }

    /// Returns the whole journal of a run.
    pub(crate) async fn events(&self, name: &str) -> Vec<Event> {
        self.store.history(&run(name), 0, 10_000).await.unwrap()
    }

    /// Returns the kinds of all events of a run.
    pub(crate) async fn kinds(&self, name: &str) -> Vec<String> {
        self.events(name).await.into_iter().map(|event| event.kind).collect()
    }
}

const SQLITE_FILE: &str = "baton.db";

impl Place {
    async fn open(&self) -> Arc<dyn Store> {
        match self {
            Place::Memory(memory) => Arc::new(memory.clone()),
            Place::Sqlite(scratch) => open(&Location::Sqlite(scratch.path(SQLITE_FILE))).await,
            Place::Postgres(url) => open(&Location::Postgres(url.clone())).await,
        }
    }
}

async fn open(location: &Location) -> Arc<dyn Store> {
    baton_store::open(location).await.unwrap()
}

/// A wish of the usual agent.
pub(crate) fn wish(count: u32) -> ClaimRequest {
    ClaimRequest {
        agent: AGENT.to_owned(),
        claimant: "worker-1".to_owned(),
        lease_ms: 60_000,
        count,
        times_itself: false,
        author: None,
    }
}

pub(crate) fn ids(claimed: &[ClaimedHandoff]) -> Vec<&str> {
    claimed.iter().map(|one| one.handoff.id.as_str()).collect()
}

pub(crate) fn names(ids: &[HandoffId]) -> Vec<&str> {
    ids.iter().map(HandoffId::as_str).collect()
}
