//! Fencing: what somebody says who does not hold the handoff any more has no effect, but it is not lost either.

use baton_engine::Fence;
use baton_engine::handoff::StateName;
use baton_engine::journal::Fact;
use baton_engine::lifecycle::{Command, Ending, Refusal};
use baton_engine::store::StoreError;

use super::bed::Bed;
use super::requests::{acknowledge, cancel, ended, fail, heartbeat, report, request, time, written};
use super::together::{accept, apply};

on_every_store! {
    report_with_an_old_token_is_refused_and_journalled,
    report_with_a_token_that_was_never_given_is_refused,
    report_after_a_cancellation_is_refused_and_journalled,
    late_failure_and_acknowledgment_are_journalled,
    late_heartbeat_is_refused_without_a_trace,
    report_said_twice_is_recognised,
    failure_said_twice_is_recognised,
    another_report_after_the_first_is_late,
    late_report_brings_nothing_next,
    expired_lease_that_nobody_took_over_is_still_heard,
}

/// Lets the first claim expire and claims again: token 1 is old, token 2 is right.
async fn taken_over(bed: &Bed) {
    bed.claimed(request("a"), time(0)).await;
    bed.store.rescue(1, 0.0, time(60)).await.unwrap();
    assert_eq!(bed.claim(1, time(90)).await[0].handoff.fence, baton_engine::Fence(2));
}

async fn report_with_an_old_token_is_refused_and_journalled(bed: Bed) {
    taken_over(&bed).await;
    let before = bed.find("a").await;
    let error = bed.apply("a", report(baton_engine::Fence(1), "my work"), time(91)).await.unwrap_err();
    assert!(matches!(error, StoreError::Refused(Refusal::Stale { given: Fence(1), current: Fence(2) })), "{error}");
    let after = bed.find("a").await;
    assert_eq!((&after.state, after.fence), (&before.state, before.fence));
    assert_eq!((after.version, after.changed_at), (before.version + 1, time(91)));
    let event = bed.events("a").await.pop().unwrap();
    assert_eq!((event.kind.as_str(), event.version, event.at), ("refused", after.version, time(91)));
    let Fact::Refused(refused) = event.fact().unwrap() else { panic!("{}", event.kind) };
    assert_eq!((refused.command.as_str(), refused.fence), ("report", Fence(1)));
    assert_eq!(refused.document, Some(written("my work")));
    // Whoever holds it is not disturbed.
    assert_eq!(
        bed.apply("a", report(baton_engine::Fence(2), "done"), time(92)).await.unwrap().state.name(),
        StateName::Completed
    );
}

async fn report_with_a_token_that_was_never_given_is_refused(bed: Bed) {
    bed.claimed(request("a"), time(0)).await;
    for token in [2, u64::MAX] {
        let error = bed.apply("a", report(baton_engine::Fence(token), "done"), time(1)).await.unwrap_err();
        assert!(matches!(error, StoreError::Refused(Refusal::NeverGiven { .. })), "{error}");
    }
    assert_eq!(bed.kinds("a").await, ["accepted", "claimed"]);
    assert_eq!(bed.find("a").await.state.name(), StateName::Claimed);
}

async fn report_after_a_cancellation_is_refused_and_journalled(bed: Bed) {
    let claimed = bed.claimed(request("a"), time(0)).await;
    bed.apply("a", cancel(), time(1)).await.unwrap();
    let error = bed.apply("a", report(claimed.fence, "done"), time(2)).await.unwrap_err();
    assert!(
        matches!(error, StoreError::Refused(Refusal::Over { given: Fence(1), state: StateName::Cancelled })),
        "{error}"
    );
    let kinds = bed.kinds("a").await;
    assert_eq!(kinds, ["accepted", "claimed", "cancelled", "refused"]);
    let after = bed.find("a").await;
    assert_eq!((after.state.name(), after.state.finished_at()), (StateName::Cancelled, Some(time(1))));
}

async fn late_failure_and_acknowledgment_are_journalled(bed: Bed) {
    taken_over(&bed).await;
    for command in [fail(baton_engine::Fence(1), "no"), acknowledge(baton_engine::Fence(1), true)] {
        assert!(bed.apply("a", command, time(91)).await.is_err());
    }
    let kinds = bed.kinds("a").await;
    assert_eq!(kinds[kinds.len() - 2..], ["refused", "refused"]);
}

async fn late_heartbeat_is_refused_without_a_trace(bed: Bed) {
    taken_over(&bed).await;
    let before = bed.find("a").await;
    let error = bed.apply("a", heartbeat(baton_engine::Fence(1), None), time(91)).await.unwrap_err();
    assert!(matches!(error, StoreError::Refused(Refusal::Stale { given: Fence(1), current: Fence(2) })), "{error}");
    assert_eq!(bed.find("a").await, before);
}

async fn report_said_twice_is_recognised(bed: Bed) {
    let claimed = bed.claimed(request("a"), time(0)).await;
    let endings = ["complete", "review", "clarification", "blocked"];
    for (number, ending) in endings.into_iter().enumerate() {
        let name = format!("b{number}");
        let claimed = bed.claimed(request(&name), time(0)).await;
        let ending = match ending {
            "review" => Ending::NeedsReview,
            "clarification" => Ending::NeedsClarification,
            "blocked" => Ending::Blocked { reason: "x".to_owned() },
            _ => Ending::Complete,
        };
        let once = bed.apply(&name, ended(claimed.fence, ending.clone(), "done"), time(1)).await.unwrap();
        let error = bed.apply(&name, ended(claimed.fence, ending, "done"), time(2)).await.unwrap_err();
        assert!(matches!(error, StoreError::Refused(Refusal::Repeated)), "{error}");
        assert_eq!(bed.find(&name).await, once);
    }
    assert_eq!(bed.find("a").await, claimed);
}

async fn failure_said_twice_is_recognised(bed: Bed) {
    let claimed = bed.claimed(request("a"), time(0)).await;
    let once = bed.apply("a", fail(claimed.fence, "no"), time(1)).await.unwrap();
    let error = bed.apply("a", fail(claimed.fence, "no"), time(2)).await.unwrap_err();
    assert!(matches!(error, StoreError::Refused(Refusal::Repeated)), "{error}");
    assert_eq!(bed.find("a").await, once);
}

async fn another_report_after_the_first_is_late(bed: Bed) {
    let claimed = bed.claimed(request("a"), time(0)).await;
    bed.apply("a", report(claimed.fence, "done"), time(1)).await.unwrap();
    let error = bed.apply("a", report(claimed.fence, "done differently"), time(2)).await.unwrap_err();
    assert!(matches!(error, StoreError::Refused(Refusal::Over { .. })), "{error}");
    assert_eq!(bed.kinds("a").await, ["accepted", "claimed", "reported", "refused"]);
}

async fn late_report_brings_nothing_next(bed: Bed) {
    taken_over(&bed).await;
    let steps = vec![apply("a", report(baton_engine::Fence(1), "mine")), accept(request("b"))];
    assert!(bed.store.carry_out(steps, time(91)).await.is_err());
    assert!(!bed.is_there("b").await);
}

async fn expired_lease_that_nobody_took_over_is_still_heard(bed: Bed) {
    let claimed = bed.claimed(request("a"), time(0)).await;
    let done = bed.apply("a", report(claimed.fence, "slow but done"), time(10_000)).await.unwrap();
    assert_eq!(done.state.name(), StateName::Completed);
    let Fact::Happened(Command::Report(_)) = bed.events("a").await.pop().unwrap().fact().unwrap() else {
        panic!("reported");
    };
}
