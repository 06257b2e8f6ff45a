//! Signals between stores, what a store knows of time, and opening it again.

use std::sync::Arc;
use std::time::{Duration, Instant};

use baton_engine::Store;
use baton_engine::queue::Queue;
use baton_engine::store::Checkup;

use super::bed::{Bed, ids};
use super::requests::{AGENT, cancel, id, report, request, run, time, with};

on_every_store! {
    own_change_is_noticed,
    change_through_another_store_wakes,
    everybody_who_waits_is_woken,
    waiting_ends_with_the_time,
    changes_that_are_known_do_not_make_wait,
    store_knows_the_time_of_its_last_change,
    sound_store_has_no_faults,
    reopened_store_sees_everything,
}

/// Far more than a signal needs, far less than a test may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// Waits until the number has grown.
async fn grown(store: &Arc<dyn Store>, since: u64) {
    let waiting = async {
        while store.changes() <= since {
            store.changed(since, PATIENCE).await;
        }
    };
    tokio::time::timeout(PATIENCE, waiting).await.expect("a change is noticed");
}

async fn own_change_is_noticed(bed: Bed) {
    let since = bed.store.changes();
    bed.send_one("a").await;
    grown(&bed.store, since).await;
}

/// The first wait may return at once, because it only begins to listen.
async fn listening(store: &Arc<dyn Store>) -> u64 {
    store.changed(store.changes(), Duration::ZERO).await;
    store.changes()
}

async fn change_through_another_store_wakes(bed: Bed) {
    let other = bed.open_again().await;
    listening(&other).await;
    let started = Instant::now();
    let waiting = tokio::spawn(async move {
        loop {
            let since = other.changes();
            if other.find(&id("a")).await.unwrap().is_some() {
                return;
            }
            // It may have grown for another reason, such as beginning to listen.
            grown(&other, since).await;
        }
    });
    bed.send_one("a").await;
    waiting.await.unwrap();
    assert!(started.elapsed() < PATIENCE / 2, "{:?}", started.elapsed());
}

async fn everybody_who_waits_is_woken(bed: Bed) {
    let mut waiting = Vec::new();
    for _ in 0..4 {
        let other = bed.open_again().await;
        let since = listening(&other).await;
        waiting.push(tokio::spawn(async move { grown(&other, since).await }));
    }
    bed.send_one("a").await;
    for one in waiting {
        one.await.unwrap();
    }
}

async fn waiting_ends_with_the_time(bed: Bed) {
    let since = listening(&bed.store).await;
    let waiting = bed.store.changed(since, Duration::from_millis(20));
    tokio::time::timeout(PATIENCE, waiting).await.expect("it ends by itself");
}

async fn changes_that_are_known_do_not_make_wait(bed: Bed) {
    let since = listening(&bed.store).await;
    bed.send_one("a").await;
    grown(&bed.store, since).await;
    // It has grown already, so there is nothing to wait for.
    let waiting = bed.store.changed(since, PATIENCE * 2);
    tokio::time::timeout(PATIENCE, waiting).await.expect("it returns at once");
}

async fn store_knows_the_time_of_its_last_change(bed: Bed) {
    let before = bed.store.time().await.unwrap();
    bed.send([request("a")], time(100)).await;
    bed.send([request("b")], time(50)).await;
    let after = bed.store.time().await.unwrap();
    if bed.has_its_own_clock() {
        assert!(before.is_some() && after >= before);
    } else {
        assert_eq!((before, after), (None, Some(time(100))));
        bed.apply("b", cancel(), time(200)).await.unwrap();
        assert_eq!(bed.store.time().await.unwrap(), Some(time(200)));
    }
}

/// The server for tests does not wait for the disk, and a checkup rightly says so.
fn assert_no_faults(checkup: &Checkup) {
    let deliberate = |fault: &&String| fault.ends_with("can be lost in a power failure");
    let faults: Vec<&String> = checkup.faults.iter().filter(|fault| !deliberate(fault)).collect();
    assert!(faults.is_empty(), "{faults:?}");
}

async fn sound_store_has_no_faults(bed: Bed) {
    bed.send_one("a").await;
    let checkup = bed.store.checkup().await.unwrap();
    assert_no_faults(&checkup);
    assert_eq!(checkup.migration, checkup.migration_known);
    assert!(checkup.migration >= 1 && !checkup.place.is_empty());
}

async fn reopened_store_sees_everything(bed: Bed) {
    let keyed = with(request("a"), |terms| terms.key = Some("k".to_owned()));
    let claimed = bed.claimed(keyed.clone(), time(0)).await;
    bed.send_one("b").await;
    bed.store.set_queue(&Queue { concurrency: Some(2), ..Queue::open(AGENT) }).await.unwrap();
    let events = bed.events("a").await;
    let bed = bed.reopened().await;
    assert_eq!(bed.find("a").await, claimed);
    assert_eq!(bed.events("a").await, events);
    assert_eq!(bed.store.queue(AGENT).await.unwrap().concurrency, Some(2));
    assert_eq!(bed.store.runs(None, 10).await.unwrap(), [run("a"), run("b")]);
    assert!(bed.send([keyed], time(1)).await[0].existing);
    assert_eq!(ids(&bed.claim(5, time(1)).await), ["b"]);
    bed.apply("a", report(claimed.fence, "done"), time(2)).await.unwrap();
}
