//! What comes next: it is accepted in the transaction of the command before it, or neither happens.

use baton_engine::handoff::StateName;
use baton_engine::lifecycle::{Accept, Command};
use baton_engine::store::{StoreError, TransactionStep};

use super::bed::{Bed, ids};
use super::requests::{cancel, id, report, request, request_in, time, with, written};
use super::together::{accept, apply};

on_every_store! {
    what_comes_next_is_not_before_what_it_comes_from,
    next_handoff_is_accepted_with_the_report,
    several_next_handoffs_keep_their_order,
    taken_next_handoff_undoes_the_report,
    one_taken_next_handoff_undoes_all_of_them,
    next_handoff_that_is_there_already_is_no_obstacle,
    refused_command_brings_nothing_next,
    repeated_report_brings_nothing_next_twice,
}

/// A command, and the requests that come next.
fn steps(name: &str, command: Command, next: Vec<Accept>) -> Vec<TransactionStep> {
    std::iter::once(apply(name, command)).chain(next.into_iter().map(accept)).collect()
}

async fn next_handoff_is_accepted_with_the_report(bed: Bed) {
    let claimed = bed.claimed(request_in("r", "a"), time(0)).await;
    let next = vec![request_in("r", "b")];
    let left = bed.store.carry_out(steps("a", report(claimed.fence, "done"), next), time(1)).await.unwrap();
    assert_eq!((&left[0].id, left[0].state.name()), (&id("a"), StateName::Completed));
    let events = bed.events("r").await;
    let told: Vec<(&str, &str)> = events.iter().map(|event| (event.handoff.as_str(), event.kind.as_str())).collect();
    assert_eq!(told, [("a", "accepted"), ("a", "claimed"), ("a", "reported"), ("b", "accepted")]);
    assert_eq!(ids(&bed.claim(1, time(1)).await), ["b"]);
}

async fn several_next_handoffs_keep_their_order(bed: Bed) {
    let claimed = bed.claimed(request_in("r", "a"), time(0)).await;
    let next = ["z", "y", "x"].map(|name| request_in("r", name)).to_vec();
    bed.store.carry_out(steps("a", report(claimed.fence, "done"), next), time(1)).await.unwrap();
    let events = bed.events("r").await;
    let last: Vec<&str> = events[3..].iter().map(|event| event.handoff.as_str()).collect();
    assert_eq!(last, ["z", "y", "x"]);
}

async fn taken_next_handoff_undoes_the_report(bed: Bed) {
    let claimed = bed.claimed(request("a"), time(0)).await;
    bed.send_one("b").await;
    let mut taken = request("b");
    taken.request = written("something else");
    let error = bed.store.carry_out(steps("a", report(claimed.fence, "done"), vec![taken]), time(1)).await.unwrap_err();
    assert!(matches!(&error, StoreError::Taken { what: "id", value, .. } if value == "b"), "{error}");
    assert_eq!(bed.find("a").await, claimed);
    assert_eq!(bed.kinds("a").await, ["accepted", "claimed"]);
    // The report can be handed in again.
    assert!(bed.apply("a", report(claimed.fence, "done"), time(2)).await.is_ok());
}

async fn one_taken_next_handoff_undoes_all_of_them(bed: Bed) {
    let keyed = |name| with(request(name), |terms| terms.key = Some("k".to_owned()));
    let claimed = bed.claimed(request("a"), time(0)).await;
    bed.send([keyed("b")], time(0)).await;
    let mut taken = keyed("d");
    taken.request = written("something else");
    let next = vec![request("c"), taken];
    let error = bed.store.carry_out(steps("a", report(claimed.fence, "done"), next), time(1)).await.unwrap_err();
    assert!(matches!(error, StoreError::Taken { what: "key", .. }), "{error}");
    assert!(!bed.is_there("c").await && !bed.is_there("d").await);
    assert_eq!(bed.find("a").await, claimed);
}

async fn next_handoff_that_is_there_already_is_no_obstacle(bed: Bed) {
    let claimed = bed.claimed(request("a"), time(0)).await;
    let before = bed.send_one("b").await;
    let next = vec![request("b")];
    let left = bed.store.carry_out(steps("a", report(claimed.fence, "done"), next), time(1)).await.unwrap();
    assert_eq!(left[0].state.name(), StateName::Completed);
    assert_eq!((&left[1], &bed.find("b").await), (&before, &before));
}

async fn refused_command_brings_nothing_next(bed: Bed) {
    bed.send_one("a").await;
    bed.apply("a", cancel(), time(1)).await.unwrap();
    assert!(bed.store.carry_out(steps("a", cancel(), vec![request("b")]), time(2)).await.is_err());
    assert!(!bed.is_there("b").await);
}

async fn repeated_report_brings_nothing_next_twice(bed: Bed) {
    let claimed = bed.claimed(request("a"), time(0)).await;
    let steps = steps("a", report(claimed.fence, "done"), vec![request("b")]);
    bed.store.carry_out(steps.clone(), time(1)).await.unwrap();
    assert!(matches!(bed.store.carry_out(steps, time(2)).await, Err(StoreError::Refused(_))));
    assert_eq!(bed.kinds("b").await, ["accepted"]);
}

/// The clock of the caller has gone back; the time of the journal has not, and what follows keeps to that.
async fn what_comes_next_is_not_before_what_it_comes_from(bed: Bed) {
    let claimed = bed.claimed(request("a"), time(100)).await;
    let steps = steps("a", report(claimed.fence, "done"), vec![request("b")]);
    let left = bed.store.carry_out(steps, time(50)).await.unwrap();
    assert_eq!((left[0].changed_at, bed.find("b").await.accepted_at), (time(100), time(100)));
}
