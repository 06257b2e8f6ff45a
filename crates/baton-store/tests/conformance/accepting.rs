//! Accept: requests become handoffs, all of them or none, and the same request twice is one handoff.

use baton_engine::Fence;
use baton_engine::State;
use baton_engine::store::StoreError;

use super::bed::Bed;
use super::requests::{id, report, request, request_in, requeue, time, with, written};

on_every_store! {
    same_request_is_known_after_a_deadline_was_lifted,
    accepted_handoff_is_ready_at_once,
    accepted_handoff_is_not_ready_before_its_time,
    not_before_in_the_past_is_now,
    nothing_is_accepted_of_an_empty_batch,
    batch_comes_back_in_its_order,
    same_request_again_gives_the_handoff_that_is_there,
    same_request_is_known_after_it_was_finished,
    same_key_with_another_id_gives_the_handoff_that_is_there,
    known_id_with_other_text_is_taken,
    known_id_with_other_terms_is_taken,
    known_key_with_other_text_is_taken,
    batch_with_a_taken_id_leaves_nothing,
    batch_that_contradicts_itself_leaves_nothing,
    batch_with_the_same_request_twice_makes_one_handoff,
    key_of_two_new_requests_belongs_to_the_first,
    handoffs_without_key_do_not_collide,
}

async fn accepted_handoff_is_ready_at_once(bed: Bed) {
    let accepted = bed.send([request("a")], time(5)).await.remove(0);
    assert!(!accepted.existing);
    let handoff = accepted.handoff;
    assert_eq!(handoff.state, State::Pending { ready_at: time(5) });
    assert_eq!((handoff.version, handoff.fence, handoff.attempts), (1, Fence(0), 0));
    assert_eq!((handoff.accepted_at, handoff.changed_at), (time(5), time(5)));
    assert_eq!((&*handoff.terms, &handoff.request), (&request("a").terms, &request("a").request.digest()));
    assert_eq!(bed.find("a").await, handoff);
}

async fn accepted_handoff_is_not_ready_before_its_time(bed: Bed) {
    let later = with(request("a"), |terms| terms.not_before = Some(time(60)));
    let handoff = bed.send([later], time(0)).await.remove(0).handoff;
    assert_eq!(handoff.state, State::Pending { ready_at: time(60) });
    assert!(bed.claim(1, time(59)).await.is_empty());
    assert_eq!(bed.claim(1, time(60)).await.len(), 1);
}

async fn not_before_in_the_past_is_now(bed: Bed) {
    let earlier = with(request("a"), |terms| terms.not_before = Some(time(-60)));
    let handoff = bed.send([earlier], time(0)).await.remove(0).handoff;
    assert_eq!(handoff.state, State::Pending { ready_at: time(0) });
}

async fn nothing_is_accepted_of_an_empty_batch(bed: Bed) {
    assert!(bed.send([], time(0)).await.is_empty());
    assert!(bed.store.runs(None, 10).await.unwrap().is_empty());
}

async fn batch_comes_back_in_its_order(bed: Bed) {
    let batch = ["c", "a", "b"].map(|name| request_in("r", name));
    let accepted = bed.send(batch, time(0)).await;
    let order: Vec<&str> = accepted.iter().map(|one| one.handoff.id.as_str()).collect();
    assert_eq!(order, ["c", "a", "b"]);
    let journal: Vec<String> = bed.events("r").await.iter().map(|event| event.handoff.to_string()).collect();
    assert_eq!(journal, ["c", "a", "b"]);
}

async fn same_request_again_gives_the_handoff_that_is_there(bed: Bed) {
    let first = bed.send_one("a").await;
    let again = bed.send([request("a")], time(100)).await.remove(0);
    assert!(again.existing);
    assert_eq!(again.handoff, first);
    assert_eq!(bed.kinds("a").await, ["accepted"]);
}

async fn same_request_is_known_after_it_was_finished(bed: Bed) {
    let claimed = bed.claimed(request("a"), time(0)).await;
    let done = bed.apply("a", report(claimed.fence, "done"), time(1)).await.unwrap();
    let again = bed.send([request("a")], time(100)).await.remove(0);
    assert!(again.existing);
    assert_eq!(again.handoff, done);
}

/// Requeueing a dead letter lifts a deadline that has passed. Its sender may not know that, and asks with the old one.
async fn same_request_is_known_after_a_deadline_was_lifted(bed: Bed) {
    let pressing = with(request("a"), |terms| {
        terms.deadline = Some(time(10));
        terms.key = Some("k".to_owned());
    });
    bed.send([pressing.clone()], time(0)).await;
    assert_eq!(bed.store.rescue(10, 0.0, time(20)).await.unwrap().len(), 1);
    bed.apply("a", requeue("try again"), time(30)).await.unwrap();
    let again = bed.send([pressing], time(31)).await.remove(0);
    assert!(again.existing);
}

async fn same_key_with_another_id_gives_the_handoff_that_is_there(bed: Bed) {
    let keyed = |name| with(request(name), |terms| terms.key = Some("order 7".to_owned()));
    let first = bed.send([keyed("a")], time(0)).await.remove(0).handoff;
    let again = bed.send([keyed("b")], time(1)).await.remove(0);
    assert!(again.existing);
    assert_eq!(again.handoff, first);
    assert!(!bed.is_there("b").await);
}

async fn known_id_with_other_text_is_taken(bed: Bed) {
    bed.send_one("a").await;
    let mut other = request("a");
    other.request = written("build something else");
    let error = bed.store.accept(vec![other], time(1)).await.unwrap_err();
    assert!(
        matches!(&error, StoreError::Taken { what: "id", value, existing } if value == "a" && *existing == id("a"))
    );
}

async fn known_id_with_other_terms_is_taken(bed: Bed) {
    bed.send_one("a").await;
    let other = with(request("a"), |terms| terms.timeout_ms = Some(1));
    let error = bed.store.accept(vec![other], time(1)).await.unwrap_err();
    assert!(matches!(error, StoreError::Taken { what: "id", .. }), "{error}");
}

async fn known_key_with_other_text_is_taken(bed: Bed) {
    let keyed = |name| with(request(name), |terms| terms.key = Some("k".to_owned()));
    bed.send([keyed("a")], time(0)).await;
    let mut other = keyed("b");
    other.request = written("build something else");
    let error = bed.store.accept(vec![other], time(1)).await.unwrap_err();
    assert!(
        matches!(&error, StoreError::Taken { what: "key", value, existing } if value == "k" && *existing == id("a"))
    );
    assert!(!bed.is_there("b").await);
}

async fn batch_with_a_taken_id_leaves_nothing(bed: Bed) {
    bed.send_one("b").await;
    let mut taken = request("b");
    taken.request = written("build something else");
    let error = bed.store.accept(vec![request("a"), taken, request("c")], time(1)).await.unwrap_err();
    assert!(matches!(error, StoreError::Taken { .. }), "{error}");
    assert!(!bed.is_there("a").await && !bed.is_there("c").await);
    assert!(bed.events("a").await.is_empty());
    assert_eq!(bed.store.runs(None, 10).await.unwrap().len(), 1);
}

async fn batch_that_contradicts_itself_leaves_nothing(bed: Bed) {
    let mut other = request("a");
    other.request = written("build something else");
    let error = bed.store.accept(vec![request("a"), other], time(0)).await.unwrap_err();
    assert!(matches!(error, StoreError::Taken { .. }), "{error}");
    assert!(!bed.is_there("a").await);
}

async fn batch_with_the_same_request_twice_makes_one_handoff(bed: Bed) {
    let accepted = bed.send([request("a"), request("a")], time(0)).await;
    assert_eq!([accepted[0].existing, accepted[1].existing], [false, true]);
    assert_eq!(accepted[0].handoff, accepted[1].handoff);
    assert_eq!(bed.kinds("a").await, ["accepted"]);
}

async fn key_of_two_new_requests_belongs_to_the_first(bed: Bed) {
    let keyed = |name| with(request(name), |terms| terms.key = Some("k".to_owned()));
    let accepted = bed.send([keyed("a"), keyed("b")], time(0)).await;
    assert_eq!((accepted[1].existing, &accepted[1].handoff.id), (true, &id("a")));
}

async fn handoffs_without_key_do_not_collide(bed: Bed) {
    let empty = with(request("c"), |terms| terms.key = Some(String::new()));
    let accepted = bed.send([request("a"), request("b"), empty], time(0)).await;
    assert!(accepted.iter().all(|one| !one.existing));
}
