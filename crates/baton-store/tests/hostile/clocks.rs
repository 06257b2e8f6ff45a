//! Clocks that jump back: journals never do, leases end all the same, and nothing is stuck.

use std::sync::Arc;
use std::time::Duration;

use baton_engine::handoff::{StateName, WrittenDocument};
use baton_engine::lifecycle::{Command, Ending, HandIn, Heartbeat};
use baton_engine::memory::StillClock;
use baton_engine::store::Order;
use baton_engine::{Clock, Store};
use baton_store::Location;
use baton_testbed::{MOVABLE_CLOCK, PostgresServer, Scratch, query};

use crate::bed::{id, open, replay, request, run, time, wish};

const HOUR: i64 = 3600;

#[test]
fn journal_on_sqlite_never_runs_backwards() {
    let scratch = Scratch::new();
    run(async { jumping(open(&scratch.path("baton.db")).await.unwrap()).await });
}

#[test]
fn journal_on_postgres_never_runs_backwards() {
    let location = Location::Postgres(PostgresServer::shared().new_database());
    run(async { jumping(baton_store::open(&location).await.unwrap()).await });
}

/// Goes through a life while the clock jumps back at every step.
async fn jumping(store: Arc<dyn Store>) {
    store.accept(vec![request("h", 10)], time(HOUR)).await.unwrap();
    assert!(store.claim(&wish(1), time(HOUR - 1)).await.unwrap().is_empty(), "it is not ready before it was sent");
    let claimed = store.claim(&wish(1), time(HOUR)).await.unwrap().remove(0).handoff;
    let fence = claimed.fence;
    let heartbeat = Command::Heartbeat(Heartbeat::new(fence));
    let extended = store.apply(Order::new(id("h"), heartbeat), time(0)).await.unwrap();
    let lease = extended.lease().expect("still claimed");
    assert_eq!(lease.until, time(HOUR + 10), "a heartbeat from the past does not shorten the lease");
    assert!(store.rescue(10, 0.5, time(-HOUR)).await.unwrap().is_empty(), "nothing ends in the past");
    let document =
        WrittenDocument { dialect: "native".to_owned(), text: "{}".to_owned(), path: None, warnings: Box::default() };
    let report = Command::Report(HandIn::new(fence, Ending::Complete, document));
    let done = store.apply(Order::new(id("h"), report), time(-HOUR)).await.unwrap();
    assert_eq!(done.state.name(), StateName::Completed);
    assert_eq!(done.changed_at, time(HOUR));
    assert_eq!(replay(&*store, &done.run).await, Ok(Some(done)));
}

#[test]
fn lease_ends_in_time_for_whoever_asks_the_store_for_its_time() {
    let scratch = Scratch::new();
    run(async {
        let path = scratch.path("baton.db");
        let store = open(&path).await.unwrap();
        store.accept(vec![request("h", 10), request("waiting", 10)], time(HOUR)).await.unwrap();
        store.claim(&wish(1), time(HOUR)).await.unwrap();
        drop(store);

        // The machine comes back with its clock set back by an hour.
        let store = open(&path).await.unwrap();
        let clock = StillClock::at(time(0));
        clock.observe(store.time().await.unwrap().expect("something has happened"));
        assert_eq!(clock.now(), time(HOUR));
        let waiting = store.claim(&wish(1), clock.now()).await.unwrap();
        assert_eq!(waiting.len(), 1, "what waits can be claimed at once");
        clock.advance(Duration::from_secs(11));
        assert_eq!(store.rescue(10, 0.5, clock.now()).await.unwrap().len(), 2, "leases end after their length");
    });
}

/// A machine that was suspended without noticing, and a server that has gone on for a night, look the same.
#[test]
fn every_answer_of_a_server_tells_its_time() {
    let url = PostgresServer::shared().new_database();
    query(&url, MOVABLE_CLOCK);
    run(async {
        let store = baton_store::open(&Location::Postgres(url.clone())).await.unwrap();
        let evening = store.server_time().expect("a server has a clock");
        query(&url, "UPDATE shift SET by = interval '8 hours'");
        // What was heard is asked for again after a moment, with whatever is looked up then.
        let night = Duration::from_secs(8 * 3600);
        while store.server_time().expect("a server has a clock").duration_since(evening).unsigned_abs() < night {
            store.next_due(Some("builder")).await.unwrap();
        }
        query(&url, "UPDATE shift SET by = interval '0'");
        while store.server_time().expect("a server has a clock").duration_since(evening).unsigned_abs() > night {
            store.claim(&wish(1), time(0)).await.unwrap();
        }
    });
}
