//! Claim: the most urgent first, then the longest ready, then by id; each claim with a lease and a higher token.

use baton_engine::Fence;
use baton_engine::Priority;
use baton_engine::handoff::StateName;
use baton_engine::lifecycle::LEASE_MS_MAX;
use baton_engine::store::{ClaimRequest, Filter};

use super::bed::{Bed, ids, wish};
use super::requests::{AGENT, fail, report, request, request_for, time, urgent, with};

on_every_store! {
    times_finer_than_a_microsecond_are_no_error,
    urgent_handoffs_go_first,
    handoff_that_has_been_ready_longest_goes_first,
    equally_urgent_and_ready_go_by_id,
    no_more_than_asked_for_are_claimed,
    nothing_is_claimed_when_nothing_is_asked_for,
    handoff_of_another_agent_is_not_claimed,
    handoff_of_a_workflow_is_claimed_from_its_own_queue_only,
    claimed_handoff_comes_with_request_lease_and_token,
    claimed_handoff_is_not_claimed_again,
    token_grows_with_every_claim,
    retried_handoff_waits_for_its_time,
    finished_handoffs_are_not_claimed,
    lease_has_a_limit,
    clock_that_goes_back_hands_out_nothing_early,
}

async fn urgent_handoffs_go_first(bed: Bed) {
    bed.send([urgent("a", Priority::Low), urgent("b", Priority::Normal)], time(0)).await;
    bed.send([urgent("c", Priority::Critical), urgent("d", Priority::High)], time(1)).await;
    assert_eq!(ids(&bed.claim(4, time(2)).await), ["c", "d", "b", "a"]);
}

async fn handoff_that_has_been_ready_longest_goes_first(bed: Bed) {
    let waiting = with(request("a"), |terms| terms.not_before = Some(time(8)));
    bed.send([waiting], time(0)).await;
    bed.send([request("c")], time(5)).await;
    bed.send([request("b")], time(6)).await;
    let claimed = [bed.claim(1, time(9)).await, bed.claim(1, time(9)).await, bed.claim(1, time(9)).await].concat();
    assert_eq!(ids(&claimed), ["c", "b", "a"]);
}

async fn equally_urgent_and_ready_go_by_id(bed: Bed) {
    bed.send(["m", "Z", "b", "a1", "a-1", "ä"].map(request), time(0)).await;
    assert_eq!(ids(&bed.claim(6, time(0)).await), ["Z", "a-1", "a1", "b", "m", "ä"]);
}

async fn no_more_than_asked_for_are_claimed(bed: Bed) {
    bed.send(["a", "b", "c", "d", "e"].map(request), time(0)).await;
    assert_eq!(ids(&bed.claim(2, time(0)).await), ["a", "b"]);
    assert_eq!(ids(&bed.claim(10, time(0)).await), ["c", "d", "e"]);
    assert!(bed.claim(10, time(0)).await.is_empty());
}

async fn nothing_is_claimed_when_nothing_is_asked_for(bed: Bed) {
    bed.send_one("a").await;
    assert!(bed.claim(0, time(0)).await.is_empty());
    assert_eq!(bed.find("a").await.state.name(), StateName::Pending);
}

async fn handoff_of_another_agent_is_not_claimed(bed: Bed) {
    bed.send([request_for("reviewer", "a"), request_for("Builder", "b"), request_for("builder ", "c")], time(0)).await;
    assert!(bed.claim(10, time(0)).await.is_empty());
}

async fn handoff_of_a_workflow_is_claimed_from_its_own_queue_only(bed: Bed) {
    let reserved = with(request("a"), |terms| terms.reserve("invoices"));
    let queued = with(request("b"), |terms| terms.in_queue_of("invoices"));
    bed.send([reserved, queued, request("c")], time(0)).await;
    let bed = bed.reopened().await;
    let listed = Filter { agent: Some(AGENT.to_owned()), states: Vec::new(), after: None, limit: 9 };
    assert_eq!(bed.store.list(&listed).await.unwrap().len(), 3, "all of them are for agents of this name");
    // What comes first in time does not stand in the way of what can be claimed.
    assert_eq!(ids(&bed.claim(1, time(1)).await), ["c"]);
    assert_eq!(bed.claim(9, time(1)).await, []);
    let from = |queue: &str| ClaimRequest { agent: queue.to_owned(), ..wish(9) };
    assert_eq!(bed.store.claim(&from("@invoices/builder"), time(1)).await.unwrap(), []);
    assert_eq!(ids(&bed.store.claim(&from("invoices/builder"), time(1)).await.unwrap()), ["b"]);
}

async fn claimed_handoff_comes_with_request_lease_and_token(bed: Bed) {
    bed.send_one("a").await;
    let claimed = bed.claim(1, time(3)).await.remove(0);
    assert_eq!(claimed.request, request("a").request);
    let lease = claimed.handoff.lease().unwrap();
    assert_eq!((lease.claimant.as_str(), lease.since, lease.until), ("worker-1", time(3), time(63)));
    assert_eq!((lease.length_ms, lease.acknowledged), (60_000, false));
    assert_eq!((claimed.handoff.fence, claimed.handoff.attempts, claimed.handoff.version), (Fence(1), 1, 2));
    assert_eq!(bed.find("a").await, claimed.handoff);
    assert_eq!(bed.kinds("a").await, ["accepted", "claimed"]);
}

async fn claimed_handoff_is_not_claimed_again(bed: Bed) {
    bed.send_one("a").await;
    assert_eq!(bed.claim(1, time(0)).await.len(), 1);
    assert!(bed.claim(1, time(1)).await.is_empty());
    // Even when the lease has ended: somebody must rescue it first.
    assert!(bed.claim(1, time(10_000)).await.is_empty());
}

async fn token_grows_with_every_claim(bed: Bed) {
    bed.send_one("a").await;
    let mut now = time(0);
    for expected in 1..=4 {
        let handoff = bed.claim(1, now).await.remove(0).handoff;
        assert_eq!((handoff.fence, u64::from(handoff.attempts)), (Fence(expected), expected));
        now = handoff.lease().unwrap().until;
        let rescued = bed.store.rescue(1, 0.0, now).await.unwrap().remove(0);
        assert_eq!(rescued.fence, baton_engine::Fence(expected));
        now = bed.store.next_due(Some("builder")).await.unwrap().unwrap_or(now);
    }
    assert_eq!(bed.find("a").await.state.name(), StateName::Failed);
}

async fn retried_handoff_waits_for_its_time(bed: Bed) {
    let claimed = bed.claimed(request("a"), time(0)).await;
    bed.apply("a", fail(claimed.fence, "no"), time(10)).await.unwrap();
    assert!(bed.claim(1, time(39)).await.is_empty());
    assert_eq!(bed.claim(1, time(40)).await.len(), 1);
}

async fn finished_handoffs_are_not_claimed(bed: Bed) {
    let claimed = bed.claimed(request("a"), time(0)).await;
    bed.apply("a", report(claimed.fence, "done"), time(1)).await.unwrap();
    assert!(bed.claim(1, time(10_000)).await.is_empty());
}

async fn lease_has_a_limit(bed: Bed) {
    bed.send_one("a").await;
    let claimed = bed.store.claim(&ClaimRequest { lease_ms: u64::MAX, ..wish(1) }, time(0)).await.unwrap().remove(0);
    assert_eq!(claimed.handoff.lease().unwrap().length_ms, LEASE_MS_MAX);
}

async fn clock_that_goes_back_hands_out_nothing_early(bed: Bed) {
    bed.send([request("a")], time(100)).await;
    assert!(bed.claim(1, time(50)).await.is_empty());
    let claimed = bed.claim(1, time(100)).await.remove(0).handoff;
    let done = bed.apply("a", report(claimed.fence, "done"), time(10)).await.unwrap();
    assert_eq!((done.changed_at, done.state.finished_at()), (time(100), Some(time(100))));
    assert_eq!(bed.events("a").await.last().unwrap().at, time(100));
}

/// The clock counts microseconds, but a request may say anything.
async fn times_finer_than_a_microsecond_are_no_error(bed: Bed) {
    let soon = time(10).checked_add(std::time::Duration::from_nanos(500)).unwrap();
    let not_yet = with(request("a"), |terms| terms.not_before = Some(soon));
    let pressing = with(request_for("reviewer", "b"), |terms| terms.deadline = Some(soon));
    bed.send([not_yet, pressing], time(0)).await;
    assert!(bed.claim(1, time(10)).await.is_empty());
    assert!(bed.store.rescue(10, 0.0, time(10)).await.unwrap().is_empty());
    assert_eq!(bed.claim(1, time(11)).await.len(), 1);
    assert_eq!(bed.store.rescue(10, 0.0, time(11)).await.unwrap().len(), 1);
}
