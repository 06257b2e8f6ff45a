//! What a run asks of its handoffs: routes, releases, questions of a person, choices and reviews. All stores keep them.

use baton_engine::Fence;
use baton_engine::State;
use baton_engine::approval::{Approval, Approver};
use baton_engine::evidence::{ClaimFinding, ExaminedClaim};
use baton_engine::handoff::{About, Ask, StateName};
use baton_engine::journal::Fact;
use baton_engine::lifecycle::{
    Accept, Command, Decide, Decision, Ending, Refusal, Release, Route, SkippedPhase, Verdict, Verify,
};
use baton_engine::store::StoreError;

use super::bed::Bed;
use super::journal::assert_replayed;
use super::requests::{
    blocked, cancel, decide, ended, id, report, request, request_for, request_in, requeue, route, time, verify, with,
};

on_every_store! {
    outcome_is_routed_once,
    route_is_kept_as_it_was_decided,
    blocked_handoff_is_routed_and_forgets_it_when_it_goes_on,
    open_handoff_cannot_be_routed,
    released_handoff_can_be_claimed_at_once,
    release_with_an_old_token_is_refused_and_not_journalled,
    question_of_a_person_goes_back_and_the_next_report_is_shown_again,
    question_at_a_gate_goes_to_the_caller,
    choices_are_kept_and_nothing_else_can_be_chosen,
    gate_of_two_keeps_who_approved_and_journals_who_may_not,
    verified_report_waits_for_the_review,
    what_was_examined_is_kept,
}

fn release(fence: Fence) -> Command {
    Command::Release(Release { fence, why: "the limit of the run".to_owned() })
}

fn ask(question: &str) -> Decision {
    Decision::Ask { question: question.to_owned() }
}

/// Everything that the store says must still be so when it is opened again.
async fn assert_kept(bed: Bed, run: &str, names: &[&str]) {
    let mut before = Vec::new();
    for name in names {
        before.push(bed.find(name).await);
    }
    let bed = bed.reopened().await;
    for (name, before) in names.iter().zip(before) {
        assert_eq!(bed.find(name).await, before);
    }
    assert_replayed(&bed, run).await;
}

async fn outcome_is_routed_once(bed: Bed) {
    let claimed = bed.claimed(request("a"), time(0)).await;
    bed.apply("a", report(claimed.fence, "done"), time(1)).await.unwrap();
    let routed = bed.apply("a", route("review"), time(2)).await.unwrap();
    assert!(routed.routed && routed.state == State::Completed { at: time(1) });
    let again = bed.apply("a", route("review"), time(3)).await.unwrap_err();
    assert!(matches!(again, StoreError::Refused(Refusal::Repeated)), "{again}");
    assert_eq!(bed.kinds("a").await, ["accepted", "claimed", "reported", "routed"]);
    assert_kept(bed, "a", &["a"]).await;
}

async fn route_is_kept_as_it_was_decided(bed: Bed) {
    bed.send_one("a").await;
    bed.apply("a", cancel(), time(1)).await.unwrap();
    let decided = Route {
        to: "end".to_owned(),
        why: "„nothing\" left".to_owned(),
        instead_of: Some("test".to_owned()),
        skipped: vec![
            SkippedPhase { phase: "docs".to_owned(), when: "changed: false".to_owned() },
            SkippedPhase { phase: "notes".to_owned(), when: String::new() },
        ],
    };
    bed.apply("a", Command::Route(decided.clone()), time(2)).await.unwrap();
    let last = bed.events("a").await.pop().unwrap();
    assert_eq!(last.fact().unwrap(), Fact::Happened(Command::Route(decided)));
    assert_kept(bed, "a", &["a"]).await;
}

async fn blocked_handoff_is_routed_and_forgets_it_when_it_goes_on(bed: Bed) {
    let caller = bed.claimed(request_in("r", "caller"), time(0)).await;
    bed.apply("caller", blocked(caller.fence), time(1)).await.unwrap();
    assert!(bed.apply("caller", route("specialist"), time(2)).await.unwrap().routed);
    let delegation = with(request_for("specialist", "d"), |terms| terms.returns_to = Some(id("caller")));
    let claimed = bed.claimed(Accept { run: caller.run, ..delegation }, time(3)).await;
    bed.apply("d", report(claimed.fence, "use SQLite"), time(4)).await.unwrap();
    let resumed = bed.find("caller").await;
    assert_eq!((resumed.state.name(), resumed.routed), (StateName::Pending, false));
    assert_kept(bed, "r", &["caller", "d"]).await;
}

async fn open_handoff_cannot_be_routed(bed: Bed) {
    bed.send_one("a").await;
    let refused = bed.apply("a", route("review"), time(1)).await.unwrap_err();
    assert!(matches!(refused, StoreError::Refused(Refusal::WrongState { .. })), "{refused}");
    bed.apply("a", cancel(), time(2)).await.unwrap();
    bed.apply("a", route("review"), time(3)).await.unwrap();
    assert!(!bed.apply("a", requeue("again"), time(4)).await.unwrap().routed);
    assert_kept(bed, "a", &["a"]).await;
}

async fn released_handoff_can_be_claimed_at_once(bed: Bed) {
    let claimed = bed.claimed(request("a"), time(0)).await;
    let released = bed.apply("a", release(claimed.fence), time(1)).await.unwrap();
    assert_eq!((&released.state, released.attempts), (&State::Pending { ready_at: time(1) }, 0));
    let again = bed.claim(1, time(1)).await.remove(0).handoff;
    assert_eq!((again.fence, again.attempts), (Fence(2), 1));
    assert_eq!(bed.kinds("a").await, ["accepted", "claimed", "released", "claimed"]);
    assert_kept(bed, "a", &["a"]).await;
}

async fn release_with_an_old_token_is_refused_and_not_journalled(bed: Bed) {
    let claimed = bed.claimed(request("a"), time(0)).await;
    bed.apply("a", release(claimed.fence), time(1)).await.unwrap();
    bed.claim(1, time(1)).await;
    let before = bed.find("a").await;
    let refused = bed.apply("a", release(claimed.fence), time(2)).await.unwrap_err();
    assert!(matches!(refused, StoreError::Refused(Refusal::Stale { given: Fence(1), current: Fence(2) })), "{refused}");
    assert_eq!(bed.find("a").await, before);
}

async fn question_of_a_person_goes_back_and_the_next_report_is_shown_again(bed: Bed) {
    let verified = with(request("a"), |terms| terms.verify = true);
    let claimed = bed.claimed(verified, time(0)).await;
    bed.apply("a", ended(claimed.fence, Ending::NeedsReview, "please look"), time(1)).await.unwrap();
    bed.apply("a", verify(claimed.fence, Verdict::Verified), time(1)).await.unwrap();
    let asked = bed.decide("a", ask("why not SQLite?"), time(2)).await.unwrap();
    let note = asked.notes.last().unwrap();
    assert_eq!((note.about, note.from.as_str(), note.text.as_str()), (About::Question, "ana", "why not SQLite?"));
    assert!(asked.review_owed);
    let again = bed.claim(1, time(3)).await.remove(0).handoff;
    bed.apply("a", report(again.fence, "because of the crowd"), time(4)).await.unwrap();
    let shown = bed.apply("a", verify(again.fence, Verdict::Verified), time(5)).await.unwrap();
    assert_eq!(shown.state, State::AwaitingPerson { ask: Ask::Review });
    let done = bed.decide("a", Decision::Approve, time(6)).await.unwrap();
    assert_eq!((done.state.name(), done.review_owed), (StateName::Completed, false));
    assert_kept(bed, "a", &["a"]).await;
}

async fn question_at_a_gate_goes_to_the_caller(bed: Bed) {
    let caller = bed.claimed(request_in("r", "caller"), time(0)).await;
    bed.apply("caller", blocked(caller.fence), time(1)).await.unwrap();
    let gate = with(request_for("human", "gate"), |terms| terms.returns_to = Some(id("caller")));
    bed.send([Accept { run: caller.run, ..gate }], time(2)).await;
    bed.decide("gate", ask("what does it cost?"), time(3)).await.unwrap();
    let resumed = bed.find("caller").await;
    assert_eq!(resumed.state, State::Pending { ready_at: time(3) });
    assert_eq!(resumed.notes.last().unwrap().text, "The person asks: what does it cost?");
    assert_kept(bed, "r", &["caller", "gate"]).await;
}

async fn choices_are_kept_and_nothing_else_can_be_chosen(bed: Bed) {
    let choices = ["SQLite", "Postgre„SQL\""].map(str::to_owned).to_vec();
    let gate = with(request_for("human", "gate"), |terms| terms.choices.clone_from(&choices));
    bed.send([gate.clone()], time(0)).await;
    assert!(bed.send([gate], time(1)).await[0].existing);
    let bed = bed.reopened().await;
    assert_eq!(bed.find("gate").await.terms.choices, choices);
    let answer = |text: &str| Decision::Answer { answers: text.to_owned() };
    for other in [Decision::Approve, answer("MySQL")] {
        let refused = bed.decide("gate", other, time(2)).await.unwrap_err();
        assert!(matches!(refused, StoreError::Refused(Refusal::NoChoice)), "{refused}");
    }
    let chosen = bed.decide("gate", answer("SQLite"), time(3)).await.unwrap();
    assert_eq!((chosen.state.name(), chosen.notes[0].text.as_str()), (StateName::Completed, "SQLite"));
    assert_kept(bed, "gate", &["gate"]).await;
}

async fn gate_of_two_keeps_who_approved_and_journals_who_may_not(bed: Bed) {
    let named = |name: &str| Approver { name: name.to_owned(), keys: Vec::new() };
    let approval = Approval { at_least: 2, signed: false, approvers: vec![named("ana"), named("ben")] };
    let gate = with(request_for("human", "gate"), |terms| terms.approval = Some(approval));
    bed.send([gate], time(0)).await;
    let shown = bed.find("gate").await.shown().expect("something to decide about");
    let by = |name: &str| match decide(shown.clone(), Decision::Approve) {
        Command::Decide(decide) => Command::Decide(Decide { by: name.to_owned(), ..decide }),
        _ => unreachable!("a decision"),
    };
    let first = bed.apply("gate", by("ana"), time(1)).await.unwrap();
    assert_eq!((first.state.name(), first.approvals.len()), (StateName::AwaitingPerson, 1));
    for (name, at) in [("carl", 2), ("ana", 3)] {
        let refused = bed.apply("gate", by(name), time(at)).await.unwrap_err();
        assert!(matches!(refused, StoreError::Refused(Refusal::NotNamed { .. } | Refusal::Twice { .. })), "{refused}");
        assert_eq!(bed.find("gate").await.approvals, first.approvals);
    }
    let done = bed.apply("gate", by("ben"), time(4)).await.unwrap();
    assert_eq!((done.state.name(), done.approvals.len()), (StateName::Completed, 2));
    assert_eq!(bed.kinds("gate").await, ["accepted", "decided", "refused", "refused", "decided"]);
    assert_kept(bed, "gate", &["gate"]).await;
}

async fn verified_report_waits_for_the_review(bed: Bed) {
    let claimed = bed.claimed(with(request("a"), |terms| terms.verify = true), time(0)).await;
    bed.apply("a", report(claimed.fence, "done"), time(1)).await.unwrap();
    bed.apply("a", examined(claimed.fence, true), time(2)).await.unwrap();
    let bed = bed.reopened().await;
    assert_eq!(bed.find("a").await.state, State::AwaitingPerson { ask: Ask::Review });
    let done = bed.decide("a", Decision::Approve, time(3)).await.unwrap();
    assert_eq!(done.state, State::Completed { at: time(3) });
    assert_kept(bed, "a", &["a"]).await;
}

async fn what_was_examined_is_kept(bed: Bed) {
    let claimed = bed.claimed(with(request("a"), |terms| terms.verify = true), time(0)).await;
    bed.apply("a", report(claimed.fence, "done"), time(1)).await.unwrap();
    let verify = examined(claimed.fence, false);
    bed.apply("a", verify.clone(), time(2)).await.unwrap();
    let last = bed.events("a").await.pop().unwrap();
    assert_eq!(last.fact().unwrap(), Fact::Happened(verify));
    assert_kept(bed, "a", &["a"]).await;
}

/// A verification that says what was seen.
fn examined(fence: Fence, review: bool) -> Command {
    let sha256 = Some("ab".repeat(32));
    let seen = ExaminedClaim {
        sha256,
        ..ExaminedClaim::new("artifact-missing", ClaimFinding::Verified, "src/a.rs", "12 lines")
    };
    Command::Verify(Verify {
        fence,
        verdict: Verdict::Verified,
        examined: vec![seen],
        evidence: None,
        kept: Vec::new(),
        review,
        repair: false,
        dice: 0.25,
    })
}
