//! Apply: every command has its effect in the store, and one event in the journal.

use baton_engine::Fence;
use baton_engine::State;
use baton_engine::handoff::{About, Ask, Digest, StateName};
use baton_engine::lifecycle::{Claim, Command, Decision, Ending, Expire, Refusal, Verdict};
use baton_engine::store::StoreError;

use super::bed::Bed;
use super::requests::{
    acknowledge, blocked, cancel, decide, ended, fail, heartbeat, report, request, requeue, resume, time, verify, with,
};

on_every_store! {
    claim_of_one_handoff_by_its_id,
    acknowledged_claim_goes_on,
    acknowledgment_of_half_an_understanding_asks_a_person,
    heartbeat_extends_the_lease,
    complete_report_completes,
    report_that_must_be_verified_waits_for_evidence,
    refuted_report_goes_back_with_the_reasons,
    verified_report_completes,
    blocked_handoff_is_resumed_with_a_note,
    review_is_approved_by_a_person,
    review_is_rejected_with_feedback,
    questions_are_answered,
    decision_about_something_else_is_refused,
    failed_attempt_is_tried_again_until_the_policy_is_spent,
    expiry_of_one_handoff_by_its_id,
    cancelled_handoff_is_finished,
    dead_letter_is_requeued,
    command_for_nobody_is_not_found,
    refused_command_leaves_no_trace,
    every_command_is_seen_by_find_and_by_its_answer,
}

async fn claim_of_one_handoff_by_its_id(bed: Bed) {
    bed.send(["a", "b"].map(request), time(0)).await;
    let claim = || Command::Claim(Claim::by("w", 1_000));
    let claimed = bed.apply("b", claim(), time(1)).await.unwrap();
    assert_eq!((claimed.fence, claimed.state.name()), (Fence(1), StateName::Claimed));
    let error = bed.apply("b", claim(), time(2)).await.unwrap_err();
    assert!(matches!(error, StoreError::Refused(Refusal::WrongState { .. })), "{error}");
    assert_eq!(bed.claim(5, time(2)).await.len(), 1);
}

async fn acknowledged_claim_goes_on(bed: Bed) {
    let claimed = bed.claimed(request("a"), time(0)).await;
    let next = bed.apply("a", acknowledge(claimed.fence, true), time(10)).await.unwrap();
    let lease = next.lease().unwrap();
    assert_eq!((lease.acknowledged, lease.until), (true, time(70)));
    assert_eq!(bed.kinds("a").await, ["accepted", "claimed", "acknowledged"]);
}

async fn acknowledgment_of_half_an_understanding_asks_a_person(bed: Bed) {
    let claimed = bed.claimed(request("a"), time(0)).await;
    let next = bed.apply("a", acknowledge(claimed.fence, false), time(10)).await.unwrap();
    assert_eq!(next.state, State::AwaitingPerson { ask: Ask::Clarification });
    let answer = Decision::Answer { answers: "yes".to_owned() };
    assert_eq!(bed.decide("a", answer, time(20)).await.unwrap().state, State::Pending { ready_at: time(20) });
}

async fn heartbeat_extends_the_lease(bed: Bed) {
    let claimed = bed.claimed(request("a"), time(0)).await;
    let next = bed.apply("a", heartbeat(claimed.fence, None), time(50)).await.unwrap();
    assert_eq!(next.lease().unwrap().until, time(110));
    assert!(bed.store.rescue(10, 0.0, time(109)).await.unwrap().is_empty());
    let next = bed.apply("a", heartbeat(claimed.fence, Some(5_000)), time(100)).await.unwrap();
    assert_eq!(next.lease().unwrap().until, time(105));
    assert_eq!(bed.store.rescue(10, 0.0, time(105)).await.unwrap().len(), 1);
}

async fn complete_report_completes(bed: Bed) {
    let claimed = bed.claimed(request("a"), time(0)).await;
    let done = bed.apply("a", report(claimed.fence, "done"), time(30)).await.unwrap();
    assert_eq!(done.state, State::Completed { at: time(30) });
    assert_eq!(done.wakes_at(), None);
    assert_eq!(bed.kinds("a").await, ["accepted", "claimed", "reported"]);
}

async fn report_that_must_be_verified_waits_for_evidence(bed: Bed) {
    let claimed = bed.claimed(with(request("a"), |terms| terms.verify = true), time(0)).await;
    let next = bed.apply("a", report(claimed.fence, "done"), time(1)).await.unwrap();
    assert_eq!(next.state, State::Verifying);
    assert!(bed.claim(1, time(1_000)).await.is_empty());
}

async fn refuted_report_goes_back_with_the_reasons(bed: Bed) {
    let claimed = bed.claimed(with(request("a"), |terms| terms.verify = true), time(0)).await;
    bed.apply("a", report(claimed.fence, "done"), time(1)).await.unwrap();
    let refuted = Verdict::Refuted { reasons: "src/a.rs is not there".to_owned(), for_good: false };
    let next = bed.apply("a", verify(claimed.fence, refuted), time(2)).await.unwrap();
    assert_eq!(next.state, State::Pending { ready_at: time(32) });
    let again = bed.claim(1, time(32)).await.remove(0).handoff;
    let note = &again.notes[0];
    assert_eq!((note.about, note.text.as_str()), (About::Refuted, "src/a.rs is not there"));
}

async fn verified_report_completes(bed: Bed) {
    let claimed = bed.claimed(with(request("a"), |terms| terms.verify = true), time(0)).await;
    bed.apply("a", report(claimed.fence, "done"), time(1)).await.unwrap();
    let done = bed.apply("a", verify(claimed.fence, Verdict::Verified), time(2)).await.unwrap();
    assert_eq!(done.state, State::Completed { at: time(2) });
}

async fn blocked_handoff_is_resumed_with_a_note(bed: Bed) {
    let claimed = bed.claimed(request("a"), time(0)).await;
    let waiting = bed.apply("a", blocked(claimed.fence), time(1)).await.unwrap();
    assert_eq!(waiting.state, State::Blocked { reason: "missing_requirements".to_owned() });
    let next = bed.apply("a", resume("PostgreSQL"), time(2)).await.unwrap();
    assert_eq!((next.state, next.attempts), (State::Pending { ready_at: time(2) }, 0));
    assert_eq!((next.notes[0].about, next.notes[0].text.as_str()), (About::Resolution, "PostgreSQL"));
}

async fn review_is_approved_by_a_person(bed: Bed) {
    let claimed = bed.claimed(request("a"), time(0)).await;
    bed.apply("a", ended(claimed.fence, Ending::NeedsReview, "the work"), time(1)).await.unwrap();
    let done = bed.decide("a", Decision::Approve, time(2)).await.unwrap();
    assert_eq!(done.state, State::Completed { at: time(2) });
}

async fn review_is_rejected_with_feedback(bed: Bed) {
    let claimed = bed.claimed(request("a"), time(0)).await;
    bed.apply("a", ended(claimed.fence, Ending::NeedsReview, "the work"), time(1)).await.unwrap();
    let reject = Decision::Reject { feedback: "no tests".to_owned() };
    let next = bed.decide("a", reject, time(2)).await.unwrap();
    assert_eq!((next.attempts, next.notes[0].about), (0, About::Feedback));
    assert_eq!(bed.claim(1, time(2)).await[0].handoff.notes, next.notes);
}

async fn questions_are_answered(bed: Bed) {
    let claimed = bed.claimed(request("a"), time(0)).await;
    bed.apply("a", ended(claimed.fence, Ending::NeedsClarification, "which one?"), time(1)).await.unwrap();
    let answer = Decision::Answer { answers: "the blue one".to_owned() };
    let next = bed.decide("a", answer, time(2)).await.unwrap();
    assert_eq!((next.notes[0].about, next.notes[0].text.as_str()), (About::Answer, "the blue one"));
}

async fn decision_about_something_else_is_refused(bed: Bed) {
    let claimed = bed.claimed(request("a"), time(0)).await;
    let waiting = bed.apply("a", ended(claimed.fence, Ending::NeedsReview, "the work"), time(1)).await.unwrap();
    let error = bed.apply("a", decide(Digest::of(b"older work"), Decision::Approve), time(2)).await.unwrap_err();
    assert!(matches!(error, StoreError::Refused(Refusal::Changed { .. })), "{error}");
    assert_eq!(bed.find("a").await, waiting);
}

async fn failed_attempt_is_tried_again_until_the_policy_is_spent(bed: Bed) {
    bed.send_one("a").await;
    let mut now = time(0);
    let mut waits = Vec::new();
    loop {
        let claimed = bed.claim(1, now).await.remove(0).handoff;
        let next = bed.apply("a", fail(claimed.fence, "no luck"), now).await.unwrap();
        assert_eq!(next.last_failure.unwrap().message, "no luck");
        let State::Pending { ready_at } = next.state else { break };
        waits.push(ready_at.duration_since(now).as_secs());
        now = ready_at;
    }
    assert_eq!(waits, [30, 60, 120]);
    assert_eq!(bed.find("a").await.state, State::Failed { at: now });
}

async fn expiry_of_one_handoff_by_its_id(bed: Bed) {
    bed.claimed(request("a"), time(0)).await;
    let expire = || Command::Expire(Expire { dice: 0.0, for_good: false, fence: None });
    let error = bed.apply("a", expire(), time(59)).await.unwrap_err();
    assert!(matches!(error, StoreError::Refused(Refusal::NotExpired)), "{error}");
    let next = bed.apply("a", expire(), time(60)).await.unwrap();
    assert_eq!(next.state, State::Pending { ready_at: time(90) });
}

async fn cancelled_handoff_is_finished(bed: Bed) {
    bed.send_one("a").await;
    let gone = bed.apply("a", cancel(), time(1)).await.unwrap();
    assert_eq!(gone.state, State::Cancelled { at: time(1) });
    assert!(bed.claim(1, time(2)).await.is_empty());
    let error = bed.apply("a", cancel(), time(2)).await.unwrap_err();
    assert!(matches!(error, StoreError::Refused(Refusal::Repeated)), "{error}");
}

async fn dead_letter_is_requeued(bed: Bed) {
    let once = with(request("a"), |terms| terms.retry = baton_engine::retry::Policy::NEVER);
    let claimed = bed.claimed(once, time(0)).await;
    let dead = bed.apply("a", fail(claimed.fence, "no"), time(1)).await.unwrap();
    assert_eq!(dead.state.name(), StateName::Failed);
    let next = bed.apply("a", requeue("disk is free again"), time(2)).await.unwrap();
    assert_eq!((next.state, next.attempts, next.fence), (State::Pending { ready_at: time(2) }, 0, Fence(1)));
    assert_eq!(bed.claim(1, time(2)).await[0].handoff.fence, baton_engine::Fence(2));
}

async fn command_for_nobody_is_not_found(bed: Bed) {
    let error = bed.apply("nobody", cancel(), time(1)).await.unwrap_err();
    assert!(matches!(&error, StoreError::NotFound(id) if id.as_str() == "nobody"), "{error}");
    assert!(bed.events("nobody").await.is_empty());
}

async fn refused_command_leaves_no_trace(bed: Bed) {
    let before = bed.send_one("a").await;
    for command in
        [verify(baton_engine::Fence(0), Verdict::Verified), requeue("x"), heartbeat(baton_engine::Fence(9), None)]
    {
        assert!(matches!(bed.apply("a", command, time(5)).await, Err(StoreError::Refused(_))));
    }
    assert_eq!(bed.find("a").await, before);
    assert_eq!(bed.kinds("a").await, ["accepted"]);
}

async fn every_command_is_seen_by_find_and_by_its_answer(bed: Bed) {
    let claimed = bed.claimed(with(request("a"), |terms| terms.verify = true), time(0)).await;
    let token = claimed.fence;
    let refuted = Verdict::Refuted { reasons: "no".to_owned(), for_good: false };
    let commands = [
        acknowledge(token, true),
        heartbeat(token, None),
        report(token, "done"),
        verify(token, refuted),
        cancel(),
        requeue("again"),
    ];
    for (number, command) in commands.into_iter().enumerate() {
        let answer = bed.apply("a", command, time(number as i64 + 1)).await.unwrap();
        assert_eq!(bed.find("a").await, answer);
        assert_eq!(answer.version, number as u64 + 3);
    }
    let versions: Vec<u64> = bed.events("a").await.iter().map(|event| event.version).collect();
    assert_eq!(versions, (1..=8).collect::<Vec<u64>>());
}
