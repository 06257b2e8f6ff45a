//! Return: a completed delegation lets the blocked caller go on, in the same transaction, with what was reported.

use baton_engine::Fence;
use baton_engine::State;
use baton_engine::handoff::{About, StateName};
use baton_engine::lifecycle::{Accept, Decision, Ending, Verdict};
use baton_engine::store::StoreError;

use super::bed::Bed;
use super::requests::{blocked, cancel, ended, fail, id, report, request_for, request_in, time, verify, with, written};
use super::together::{accept, apply};

on_every_store! {
    completed_delegation_resumes_its_caller_with_the_report,
    caller_in_another_run_is_resumed_too,
    verified_delegation_returns_what_was_reported,
    approved_delegation_returns_what_was_reported,
    delegation_is_sent_with_the_report_that_blocks,
    failed_delegation_tells_its_caller,
    caller_that_does_not_wait_any_more_is_left_alone,
    caller_that_is_not_there_is_no_obstacle,
    return_is_undone_with_its_report,
    handoff_cannot_wait_for_itself,
    expired_delegation_tells_its_caller,
    cancelled_delegation_tells_its_caller,
    result_that_comes_before_the_block_is_not_lost,
}

/// A request of the specialist whose result goes back.
fn delegation(name: &str, caller: &str) -> Accept {
    let accept = with(request_for("specialist", name), |terms| terms.returns_to = Some(id(caller)));
    Accept { run: baton_engine::RunId::parse("r").unwrap(), ..accept }
}

async fn blocked_caller(bed: &Bed) {
    let claimed = bed.claimed(request_in("r", "caller"), time(0)).await;
    bed.apply("caller", blocked(claimed.fence), time(1)).await.unwrap();
}

async fn assert_resumed_with(bed: &Bed, text: &str, at: i64) {
    let caller = bed.find("caller").await;
    assert_eq!((&caller.state, caller.attempts), (&State::Pending { ready_at: time(at) }, 0));
    let note = caller.notes.last().unwrap();
    assert_eq!((note.about, note.from.as_str(), note.text.as_str()), (About::Resolution, "specialist", text));
}

async fn completed_delegation_resumes_its_caller_with_the_report(bed: Bed) {
    blocked_caller(&bed).await;
    let claimed = bed.claimed(delegation("d", "caller"), time(2)).await;
    let done = bed.apply("d", report(claimed.fence, "use PostgreSQL"), time(3)).await.unwrap();
    assert_eq!((done.id, done.state.name()), (id("d"), StateName::Completed));
    assert_resumed_with(&bed, "use PostgreSQL", 3).await;
    let kinds = bed.kinds("r").await;
    assert_eq!(kinds[kinds.len() - 2..], ["reported", "resumed"]);
    let again = bed.claim(1, time(3)).await.remove(0).handoff;
    assert_eq!((again.id, again.fence), (id("caller"), Fence(2)));
}

async fn caller_in_another_run_is_resumed_too(bed: Bed) {
    blocked_caller(&bed).await;
    let elsewhere = Accept { run: baton_engine::RunId::parse("other").unwrap(), ..delegation("d", "caller") };
    let claimed = bed.claimed(elsewhere, time(2)).await;
    bed.apply("d", report(claimed.fence, "use SQLite"), time(3)).await.unwrap();
    assert_resumed_with(&bed, "use SQLite", 3).await;
    assert_eq!(bed.kinds("other").await, ["accepted", "claimed", "reported"]);
    assert_eq!(bed.kinds("r").await, ["accepted", "claimed", "reported", "resumed"]);
}

async fn verified_delegation_returns_what_was_reported(bed: Bed) {
    blocked_caller(&bed).await;
    let claimed = bed.claimed(with(delegation("d", "caller"), |terms| terms.verify = true), time(2)).await;
    bed.apply("d", report(claimed.fence, "proven"), time(3)).await.unwrap();
    assert_eq!(bed.find("caller").await.state.name(), StateName::Blocked);
    bed.apply("d", verify(claimed.fence, Verdict::Verified), time(4)).await.unwrap();
    assert_resumed_with(&bed, "proven", 4).await;
}

async fn approved_delegation_returns_what_was_reported(bed: Bed) {
    blocked_caller(&bed).await;
    let claimed = bed.claimed(delegation("d", "caller"), time(2)).await;
    bed.apply("d", ended(claimed.fence, Ending::NeedsReview, "please look"), time(3)).await.unwrap();
    bed.decide("d", Decision::Approve, time(4)).await.unwrap();
    assert_resumed_with(&bed, "please look", 4).await;
}

async fn delegation_is_sent_with_the_report_that_blocks(bed: Bed) {
    let claimed = bed.claimed(request_in("r", "caller"), time(0)).await;
    let steps = vec![apply("caller", blocked(claimed.fence)), accept(delegation("d", "caller"))];
    assert_eq!(bed.store.carry_out(steps, time(1)).await.unwrap()[0].state.name(), StateName::Blocked);
    let wish = baton_engine::store::ClaimRequest { agent: "specialist".to_owned(), ..super::bed::wish(1) };
    let claimed = bed.store.claim(&wish, time(2)).await.unwrap().remove(0).handoff;
    bed.apply("d", report(claimed.fence, "solved"), time(3)).await.unwrap();
    assert_resumed_with(&bed, "solved", 3).await;
}

async fn failed_delegation_tells_its_caller(bed: Bed) {
    blocked_caller(&bed).await;
    let once = with(delegation("d", "caller"), |terms| terms.retry = baton_engine::retry::Policy::NEVER);
    let claimed = bed.claimed(once, time(2)).await;
    let dead = bed.apply("d", fail(claimed.fence, "no"), time(3)).await.unwrap();
    assert_eq!(dead.state.name(), StateName::Failed);
    let why = dead.last_failure.unwrap();
    assert_resumed_with(&bed, &format!("handoff d is failed: {why}"), 3).await;
}

async fn caller_that_does_not_wait_any_more_is_left_alone(bed: Bed) {
    blocked_caller(&bed).await;
    let gone = bed.apply("caller", cancel(), time(2)).await.unwrap();
    let claimed = bed.claimed(delegation("d", "caller"), time(3)).await;
    let done = bed.apply("d", report(claimed.fence, "too late"), time(4)).await.unwrap();
    assert_eq!(done.state.name(), StateName::Completed);
    assert_eq!(bed.find("caller").await, gone);
}

async fn caller_that_is_not_there_is_no_obstacle(bed: Bed) {
    let claimed = bed.claimed(delegation("d", "nobody"), time(0)).await;
    let done = bed.apply("d", report(claimed.fence, "done"), time(1)).await.unwrap();
    assert_eq!(done.state.name(), StateName::Completed);
}

async fn return_is_undone_with_its_report(bed: Bed) {
    blocked_caller(&bed).await;
    let waiting = bed.find("caller").await;
    let claimed = bed.claimed(delegation("d", "caller"), time(2)).await;
    bed.send_one("b").await;
    let mut taken = super::requests::request("b");
    taken.request = written("something else");
    let steps = vec![apply("d", report(claimed.fence, "solved")), accept(taken)];
    assert!(bed.store.carry_out(steps, time(3)).await.is_err());
    assert_eq!((bed.find("caller").await, bed.find("d").await), (waiting, claimed));
}

async fn handoff_cannot_wait_for_itself(bed: Bed) {
    let refused = bed.store.accept(vec![delegation("d", "d")], time(0)).await;
    assert!(matches!(refused, Err(StoreError::Invalid(_))), "{refused:?}");
}

async fn expired_delegation_tells_its_caller(bed: Bed) {
    blocked_caller(&bed).await;
    let pressing = with(delegation("d", "caller"), |terms| terms.deadline = Some(time(10)));
    bed.send([pressing], time(2)).await;
    let rescued = bed.store.rescue(10, 0.0, time(10)).await.unwrap();
    assert_eq!(rescued, [bed.find("d").await]);
    assert_resumed_with(&bed, "handoff d is failed: TIMEOUT: the deadline passed while it was pending", 10).await;
}

async fn cancelled_delegation_tells_its_caller(bed: Bed) {
    blocked_caller(&bed).await;
    bed.send([delegation("d", "caller")], time(2)).await;
    bed.apply("d", cancel(), time(3)).await.unwrap();
    assert_resumed_with(&bed, "handoff d is cancelled", 3).await;
}

async fn result_that_comes_before_the_block_is_not_lost(bed: Bed) {
    let caller = bed.claimed(request_in("r", "caller"), time(0)).await;
    let claimed = bed.claimed(delegation("d", "caller"), time(1)).await;
    bed.apply("d", report(claimed.fence, "solved"), time(2)).await.unwrap();
    assert_eq!(bed.find("caller").await.state.name(), StateName::Claimed);
    bed.apply("caller", blocked(caller.fence), time(3)).await.unwrap();
    assert_resumed_with(&bed, "solved", 3).await;
}
