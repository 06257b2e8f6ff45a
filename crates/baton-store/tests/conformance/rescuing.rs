//! Rescue: what nobody looks after any more is found, whoever looks.

use baton_engine::Fence;
use baton_engine::failure::Code;
use baton_engine::handoff::StateName;
use baton_engine::lifecycle::{Claim, Command, Refusal};
use baton_engine::retry::Policy;
use baton_engine::store::{ClaimRequest, StoreError};
use baton_engine::{Handoff, State};

use super::bed::{Bed, wish};
use super::requests::{AGENT, acknowledge, blocked, heartbeat, report, request, time, with};

on_every_store! {
    expired_lease_returns_to_pending,
    nothing_is_rescued_before_its_time,
    attempt_that_takes_too_long_is_ended_in_spite_of_heartbeats,
    what_came_in_time_counts_later_if_the_claimant_times_itself,
    what_a_driver_holds_is_left_to_the_drivers_of_its_run,
    claim_that_is_not_acknowledged_in_time_goes_back,
    acknowledged_claim_lasts_as_long_as_its_lease,
    work_that_nobody_claims_in_time_is_tried_again_and_fails,
    deadline_ends_what_nobody_has_claimed,
    deadline_ends_what_is_blocked,
    spent_policy_makes_a_dead_letter,
    jitter_follows_the_dice,
    no_more_than_the_limit_are_rescued_and_the_oldest_first,
    finished_handoffs_are_not_rescued,
    next_due_is_the_earliest_of_everything,
}

async fn expired_lease_returns_to_pending(bed: Bed) {
    bed.claimed(request("a"), time(0)).await;
    let rescued = bed.store.rescue(10, 0.0, time(60)).await.unwrap();
    assert_eq!(rescued, [bed.find("a").await]);
    assert_eq!(rescued[0].state, State::Pending { ready_at: time(90) });
    assert_eq!(rescued[0].last_failure.as_ref().unwrap().code, Code::timeout());
    assert_eq!(bed.kinds("a").await, ["accepted", "claimed", "expired"]);
    assert!(bed.store.rescue(10, 0.0, time(60)).await.unwrap().is_empty());
}

async fn nothing_is_rescued_before_its_time(bed: Bed) {
    let claimed = bed.claimed(request("a"), time(0)).await;
    assert!(bed.store.rescue(10, 0.0, time(59)).await.unwrap().is_empty());
    assert!(bed.store.rescue(10, 0.0, time(-500)).await.unwrap().is_empty());
    assert_eq!(bed.find("a").await, claimed);
}

async fn attempt_that_takes_too_long_is_ended_in_spite_of_heartbeats(bed: Bed) {
    let claimed = bed.claimed(with(request("a"), |terms| terms.timeout_ms = Some(100_000)), time(0)).await;
    bed.apply("a", heartbeat(claimed.fence, None), time(50)).await.unwrap();
    bed.apply("a", heartbeat(claimed.fence, None), time(99)).await.unwrap();
    assert!(bed.store.rescue(10, 0.0, time(99)).await.unwrap().is_empty());
    let rescued = bed.store.rescue(10, 0.0, time(100)).await.unwrap().remove(0);
    assert!(rescued.last_failure.unwrap().message.contains("100 s"));
}

async fn what_came_in_time_counts_later_if_the_claimant_times_itself(bed: Bed) {
    let limited = |name| with(request(name), |terms| terms.timeout_ms = Some(100_000));
    for (name, times_itself) in [("a", true), ("b", false)] {
        bed.send([limited(name)], time(0)).await;
        let claimed =
            bed.store.claim(&ClaimRequest { times_itself, ..wish(1) }, time(0)).await.unwrap().remove(0).handoff;
        assert_eq!(claimed, bed.find(name).await);
        let late = bed.apply(name, report(claimed.fence, "done"), time(500)).await;
        assert_eq!(late.is_ok(), times_itself, "{late:?}");
    }
    // Whoever times itself has a moment to stop its agent; then anybody may notice.
    bed.send([limited("c")], time(0)).await;
    let claimed =
        bed.store.claim(&ClaimRequest { times_itself: true, ..wish(1) }, time(0)).await.unwrap().remove(0).handoff;
    bed.apply("c", heartbeat(claimed.fence, None), time(50)).await.unwrap();
    bed.apply("c", heartbeat(claimed.fence, None), time(100)).await.unwrap();
    let rescued = async |second| bed.store.rescue(10, 0.0, time(second)).await.unwrap();
    let is_it = |handoff: &Handoff| handoff.id == claimed.id;
    assert!(!rescued(109).await.iter().any(is_it));
    assert!(rescued(110).await.iter().any(is_it));
}

async fn what_a_driver_holds_is_left_to_the_drivers_of_its_run(bed: Bed) {
    bed.send([with(request("a"), |terms| terms.timeout_ms = Some(100_000))], time(0)).await;
    let claim = Command::Claim(Claim { driver: true, ..Claim::by("driver", 60_000) });
    let claimed = bed.apply("a", claim, time(0)).await.unwrap();
    assert_eq!(claimed, bed.find("a").await);
    assert!(bed.store.rescue(10, 0.0, time(3_600)).await.unwrap().is_empty(), "it may only have slept");
    assert_eq!(bed.store.next_due(None).await.unwrap(), Some(time(3_660)));
    bed.apply("a", heartbeat(claimed.fence, None), time(3_600)).await.unwrap();
    bed.apply("a", report(claimed.fence, "done"), time(3_601)).await.unwrap();
    assert_eq!(bed.find("a").await.state.name(), StateName::Completed);
}

async fn claim_that_is_not_acknowledged_in_time_goes_back(bed: Bed) {
    let soon = with(request("a"), |terms| (terms.acknowledge, terms.acknowledge_within_ms) = (true, Some(5_000)));
    let claimed = bed.claimed(soon, time(0)).await;
    assert_eq!(claimed.acknowledge_by(), Some(time(5)));
    assert_eq!(bed.store.next_due(None).await.unwrap(), Some(time(5)));
    let early = bed.apply("a", report(claimed.fence, "done"), time(1)).await.unwrap_err();
    assert!(matches!(early, StoreError::Refused(Refusal::NotAcknowledged { given: Fence(1) })), "{early}");
    bed.apply("a", heartbeat(claimed.fence, None), time(4)).await.unwrap();
    assert!(bed.store.rescue(10, 0.0, time(4)).await.unwrap().is_empty());
    let rescued = bed.store.rescue(10, 0.0, time(5)).await.unwrap().remove(0);
    assert_eq!(rescued, bed.find("a").await);
    assert_eq!(rescued.state, State::Pending { ready_at: time(35) });
    assert_eq!(rescued.last_failure.unwrap().code, Code::not_acknowledged());
}

async fn acknowledged_claim_lasts_as_long_as_its_lease(bed: Bed) {
    let soon = with(request("a"), |terms| (terms.acknowledge, terms.acknowledge_within_ms) = (true, Some(5_000)));
    let claimed = bed.claimed(soon, time(0)).await;
    bed.apply("a", acknowledge(claimed.fence, true), time(4)).await.unwrap();
    assert!(bed.store.rescue(10, 0.0, time(60)).await.unwrap().is_empty());
    bed.apply("a", report(claimed.fence, "done"), time(61)).await.unwrap();
    assert_eq!(bed.find("a").await.state.name(), StateName::Completed);
}

async fn work_that_nobody_claims_in_time_is_tried_again_and_fails(bed: Bed) {
    let retry = Policy { max_retries: 1, ..Policy::default() };
    bed.send([with(request("a"), |terms| (terms.pick_up_within_ms, terms.retry) = (Some(5_000), retry))], time(0))
        .await;
    assert!(bed.store.rescue(10, 0.0, time(4)).await.unwrap().is_empty());
    let again = bed.store.rescue(10, 0.0, time(5)).await.unwrap().remove(0);
    assert_eq!((again.state, again.attempts, again.fence), (State::Pending { ready_at: time(35) }, 1, Fence(0)));
    assert!(bed.store.rescue(10, 0.0, time(39)).await.unwrap().is_empty(), "the time begins anew");
    let dead = bed.store.rescue(10, 0.0, time(40)).await.unwrap().remove(0);
    assert_eq!(dead.state, State::Failed { at: time(40) });
    assert_eq!(dead.last_failure.unwrap().to_string(), "TIMEOUT: nobody picked it up within 5 s");
    assert_eq!(bed.kinds("a").await, ["accepted", "expired", "expired"]);
}

async fn deadline_ends_what_nobody_has_claimed(bed: Bed) {
    bed.send([with(request("a"), |terms| terms.deadline = Some(time(10)))], time(0)).await;
    assert!(bed.store.rescue(10, 0.0, time(9)).await.unwrap().is_empty());
    let dead = bed.store.rescue(10, 0.0, time(10)).await.unwrap().remove(0);
    assert_eq!(dead.state, State::Failed { at: time(10) });
}

async fn deadline_ends_what_is_blocked(bed: Bed) {
    let claimed = bed.claimed(with(request("a"), |terms| terms.deadline = Some(time(100))), time(0)).await;
    bed.apply("a", blocked(claimed.fence), time(1)).await.unwrap();
    assert_eq!(bed.store.rescue(10, 0.0, time(100)).await.unwrap()[0].state, State::Failed { at: time(100) });
}

async fn spent_policy_makes_a_dead_letter(bed: Bed) {
    bed.claimed(with(request("a"), |terms| terms.retry = Policy::NEVER), time(0)).await;
    assert_eq!(bed.store.rescue(10, 0.0, time(60)).await.unwrap()[0].state, State::Failed { at: time(60) });
}

async fn jitter_follows_the_dice(bed: Bed) {
    let jitter = Policy { jitter: 0.5, ..Policy::default() };
    bed.claimed(with(request("a"), |terms| terms.retry = jitter), time(0)).await;
    let rescued = bed.store.rescue(10, 0.5, time(60)).await.unwrap().remove(0);
    let State::Pending { ready_at } = rescued.state else { panic!("{:?}", rescued.state) };
    assert_eq!(ready_at.duration_since(time(60)).as_millis(), 22_500);
}

async fn no_more_than_the_limit_are_rescued_and_the_oldest_first(bed: Bed) {
    bed.send(["a", "b", "c"].map(request), time(0)).await;
    for (at, lease_ms) in [(0, 90_000), (1, 30_000), (2, 60_000)] {
        let wish = ClaimRequest { lease_ms, ..wish(1) };
        bed.store.claim(&wish, time(at)).await.unwrap();
    }
    assert!(bed.store.rescue(0, 0.0, time(500)).await.unwrap().is_empty());
    let first = bed.store.rescue(2, 0.0, time(500)).await.unwrap();
    let order: Vec<&str> = first.iter().map(|handoff| handoff.id.as_str()).collect();
    assert_eq!(order, ["b", "c"]);
    assert_eq!(bed.store.rescue(2, 0.0, time(500)).await.unwrap().len(), 1);
}

async fn finished_handoffs_are_not_rescued(bed: Bed) {
    let claimed = bed.claimed(with(request("a"), |terms| terms.deadline = Some(time(100))), time(0)).await;
    bed.apply("a", report(claimed.fence, "done"), time(1)).await.unwrap();
    assert!(bed.store.rescue(10, 0.0, time(1_000)).await.unwrap().is_empty());
    assert_eq!(bed.find("a").await.state.name(), StateName::Completed);
}

async fn next_due_is_the_earliest_of_everything(bed: Bed) {
    let due = async |agent: Option<&'static str>| bed.store.next_due(agent).await.unwrap();
    assert_eq!((due(None).await, due(Some(AGENT)).await), (None, None));
    bed.send([with(request("a"), |terms| terms.not_before = Some(time(50)))], time(0)).await;
    assert_eq!((due(None).await, due(Some(AGENT)).await, due(Some("x")).await), (None, Some(time(50)), None));
    bed.send([with(request("b"), |terms| terms.deadline = Some(time(500)))], time(0)).await;
    assert_eq!((due(None).await, due(Some(AGENT)).await), (Some(time(500)), Some(time(0))));
    bed.claim(1, time(0)).await;
    assert_eq!((due(Some("x")).await, due(Some(AGENT)).await), (Some(time(60)), Some(time(50))));
}
