//! Queues: a paused one hands out nothing, and a limit holds over all claimants.

use baton_engine::handoff::StateName;
use baton_engine::queue::Queue;

use super::bed::{Bed, ids};
use super::requests::{AGENT, report, request, request_for, time};

on_every_store! {
    queue_that_nobody_has_set_is_open,
    settings_of_a_queue_are_kept_and_replaced,
    paused_queue_hands_out_nothing_until_it_goes_on,
    paused_queue_accepts,
    limit_holds_over_several_claims,
    limit_counts_expired_leases_until_they_are_rescued,
    limit_of_nothing_hands_out_nothing,
    settings_of_one_agent_do_not_touch_another,
}

fn limited(concurrency: u32) -> Queue {
    Queue { concurrency: Some(concurrency), ..Queue::open(AGENT) }
}

async fn queue_that_nobody_has_set_is_open(bed: Bed) {
    assert_eq!(bed.store.queue("nobody").await.unwrap(), Queue::open("nobody"));
}

async fn settings_of_a_queue_are_kept_and_replaced(bed: Bed) {
    let first = Queue { paused: true, concurrency: Some(u32::MAX), agent: "Ä'\"%".to_owned() };
    bed.store.set_queue(&first).await.unwrap();
    assert_eq!(bed.store.queue("Ä'\"%").await.unwrap(), first);
    let second = Queue { paused: false, concurrency: None, ..first };
    bed.store.set_queue(&second).await.unwrap();
    assert_eq!(bed.store.queue("Ä'\"%").await.unwrap(), second);
}

async fn paused_queue_hands_out_nothing_until_it_goes_on(bed: Bed) {
    bed.send_one("a").await;
    bed.store.set_queue(&Queue { paused: true, ..Queue::open(AGENT) }).await.unwrap();
    assert!(bed.claim(1, time(1)).await.is_empty());
    bed.store.set_queue(&Queue::open(AGENT)).await.unwrap();
    assert_eq!(bed.claim(1, time(1)).await.len(), 1);
}

async fn paused_queue_accepts(bed: Bed) {
    bed.store.set_queue(&Queue { paused: true, ..Queue::open(AGENT) }).await.unwrap();
    assert_eq!(bed.send_one("a").await.state.name(), StateName::Pending);
}

async fn limit_holds_over_several_claims(bed: Bed) {
    bed.store.set_queue(&limited(3)).await.unwrap();
    bed.send(["a", "b", "c", "d", "e"].map(request), time(0)).await;
    assert_eq!(ids(&bed.claim(2, time(0)).await), ["a", "b"]);
    assert_eq!(ids(&bed.claim(2, time(0)).await), ["c"]);
    assert!(bed.claim(2, time(0)).await.is_empty());
    let token = bed.find("b").await.fence;
    bed.apply("b", report(token, "done"), time(1)).await.unwrap();
    assert_eq!(ids(&bed.claim(2, time(1)).await), ["d"]);
}

async fn limit_counts_expired_leases_until_they_are_rescued(bed: Bed) {
    bed.store.set_queue(&limited(1)).await.unwrap();
    bed.send(["a", "b"].map(request), time(0)).await;
    bed.claim(1, time(0)).await;
    assert!(bed.claim(1, time(500)).await.is_empty());
    bed.store.rescue(10, 0.0, time(500)).await.unwrap();
    assert_eq!(ids(&bed.claim(1, time(500)).await), ["b"]);
}

async fn limit_of_nothing_hands_out_nothing(bed: Bed) {
    bed.store.set_queue(&limited(0)).await.unwrap();
    bed.send_one("a").await;
    assert!(bed.claim(1, time(0)).await.is_empty());
}

async fn settings_of_one_agent_do_not_touch_another(bed: Bed) {
    bed.store.set_queue(&Queue { paused: true, ..Queue::open("reviewer") }).await.unwrap();
    bed.send([request("a"), request_for("reviewer", "b")], time(0)).await;
    assert_eq!(ids(&bed.claim(5, time(0)).await), ["a"]);
}
