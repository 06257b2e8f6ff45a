//! Pruning: a run goes as a whole, with its journal, and only when everything in it was finished long enough ago.

use super::bed::Bed;
use super::requests::{cancel, id, request, request_in, requeue, run, time, with};

on_every_store! {
    run_is_finished_when_all_of_its_handoffs_are,
    finished_runs_have_a_limit,
    removed_run_is_gone_with_its_journal,
    run_that_is_not_finished_is_not_removed,
    run_that_was_finished_later_is_not_removed,
    requeued_handoff_keeps_its_run,
    removing_nothing_removes_nothing,
    removed_id_and_key_can_be_used_again,
}

async fn finished(bed: &Bed, before: i64) -> Vec<String> {
    let mut runs = bed.store.finished_runs(time(before), 100).await.unwrap();
    runs.sort();
    runs.into_iter().map(String::from).collect()
}

async fn run_is_finished_when_all_of_its_handoffs_are(bed: Bed) {
    bed.send([request_in("r", "a"), request_in("r", "b"), request("c"), request("d")], time(0)).await;
    bed.apply("a", cancel(), time(10)).await.unwrap();
    bed.apply("c", cancel(), time(20)).await.unwrap();
    assert_eq!(finished(&bed, 100).await, ["c"]);
    bed.apply("b", cancel(), time(30)).await.unwrap();
    assert_eq!(finished(&bed, 100).await, ["c", "r"]);
    assert_eq!(finished(&bed, 30).await, ["c"]);
    assert!(finished(&bed, 20).await.is_empty());
}

async fn finished_runs_have_a_limit(bed: Bed) {
    for name in ["a", "b", "c"] {
        bed.send([request_in(name, &format!("{name}1")), request_in(name, &format!("{name}2"))], time(0)).await;
        bed.apply(&format!("{name}1"), cancel(), time(1)).await.unwrap();
        bed.apply(&format!("{name}2"), cancel(), time(1)).await.unwrap();
    }
    assert_eq!(bed.store.finished_runs(time(9), 2).await.unwrap().len(), 2);
    assert_eq!(bed.store.finished_runs(time(9), 9).await.unwrap().len(), 3);
    assert!(bed.store.finished_runs(time(9), 0).await.unwrap().is_empty());
}

async fn removed_run_is_gone_with_its_journal(bed: Bed) {
    bed.send([request_in("r", "a"), request_in("r", "b"), request("c")], time(0)).await;
    for name in ["a", "b", "c"] {
        bed.apply(name, cancel(), time(1)).await.unwrap();
    }
    assert_eq!(bed.store.remove_run(&run("r"), time(9), time(100)).await.unwrap(), 2);
    assert!(!bed.is_there("a").await && !bed.is_there("b").await);
    assert!(bed.events("r").await.is_empty());
    assert!(bed.store.handoffs_of(&run("r")).await.unwrap().is_empty());
    assert_eq!(bed.store.runs(None, 10).await.unwrap(), [run("c")]);
    assert_eq!(bed.store.ids_beginning_with("", 10).await.unwrap(), [id("c")]);
    assert_eq!(bed.kinds("c").await, ["accepted", "cancelled"]);
}

async fn run_that_is_not_finished_is_not_removed(bed: Bed) {
    bed.send([request_in("r", "a"), request_in("r", "b")], time(0)).await;
    bed.apply("a", cancel(), time(1)).await.unwrap();
    assert_eq!(bed.store.remove_run(&run("r"), time(9), time(100)).await.unwrap(), 0);
    assert!(bed.is_there("a").await && bed.is_there("b").await);
    assert_eq!(bed.events("r").await.len(), 3);
}

async fn run_that_was_finished_later_is_not_removed(bed: Bed) {
    bed.send_one("a").await;
    bed.apply("a", cancel(), time(10)).await.unwrap();
    assert_eq!(bed.store.remove_run(&run("a"), time(10), time(100)).await.unwrap(), 0);
    assert_eq!(bed.store.remove_run(&run("a"), time(11), time(100)).await.unwrap(), 1);
}

async fn requeued_handoff_keeps_its_run(bed: Bed) {
    bed.send_one("a").await;
    bed.apply("a", cancel(), time(1)).await.unwrap();
    assert_eq!(finished(&bed, 9).await, ["a"]);
    bed.apply("a", requeue("again"), time(2)).await.unwrap();
    assert!(finished(&bed, 9).await.is_empty());
    assert_eq!(bed.store.remove_run(&run("a"), time(9), time(100)).await.unwrap(), 0);
    assert!(bed.is_there("a").await);
}

async fn removing_nothing_removes_nothing(bed: Bed) {
    bed.send_one("a").await;
    assert_eq!(bed.store.remove_run(&run("nobody"), time(9), time(100)).await.unwrap(), 0);
    assert!(bed.is_there("a").await);
}

async fn removed_id_and_key_can_be_used_again(bed: Bed) {
    let keyed = with(request("a"), |terms| terms.key = Some("k".to_owned()));
    bed.send([keyed.clone()], time(0)).await;
    bed.apply("a", cancel(), time(1)).await.unwrap();
    assert_eq!(bed.store.remove_run(&run("a"), time(9), time(100)).await.unwrap(), 1);
    let again = bed.send([keyed], time(20)).await.remove(0);
    assert!(!again.existing);
    let events = bed.events("a").await;
    assert_eq!((events.len(), events[0].seq, events[0].at), (1, 1, time(20)));
}
