//! Several steps in one transaction: each sees the ones before, and all of them happen or none.

use std::sync::Arc;

use baton_engine::Fence;
use baton_engine::State;
use baton_engine::handoff::{About, StateName};
use baton_engine::lifecycle::{Accept, Command, Refusal, Verdict};
use baton_engine::store::{StoreError, TransactionStep};
use tokio::task::JoinSet;

use super::bed::{Bed, ids};
use super::requests::{
    blocked, cancel, claim, id, report, request, request_for, request_in, route, run, time, verify, with, written,
};

on_every_store! {
    chain_goes_on_in_one_transaction,
    every_step_returns_the_handoff_as_it_left_it,
    events_that_are_told_are_those_of_the_journal,
    chain_of_ten_is_replayable,
    nothing_to_do_is_no_error,
    handoff_is_accepted_and_claimed_in_one,
    refused_step_leaves_nothing,
    late_report_among_steps_is_not_journalled,
    command_for_nobody_leaves_nothing,
    taken_id_leaves_nothing,
    taken_key_of_a_step_before_leaves_nothing,
    invalid_request_leaves_nothing,
    known_request_gives_the_handoff_that_is_there,
    same_request_twice_is_accepted_once,
    caller_is_resumed_and_claimed_again,
    report_of_a_step_before_is_returned,
    steps_of_several_runs_keep_their_journals,
    later_step_is_not_before_an_earlier_one,
    what_was_claimed_by_steps_is_reported_and_goes_on,
    one_of_eight_routes_wins,
    many_chains_of_one_run_leave_one_journal,
    whoever_holds_the_run_goes_on_and_leaves_no_other_event,
    whoever_lost_the_run_changes_nothing,
    nobody_holds_what_is_not_claimed,
}

pub(crate) fn accept(request: Accept) -> TransactionStep {
    TransactionStep::Accept(Box::new(request))
}

pub(crate) fn apply(name: &str, command: Command) -> TransactionStep {
    TransactionStep::Apply(id(name), command)
}

fn verified(run: &str, name: &str) -> Accept {
    with(request_in(run, name), |terms| terms.verify = true)
}

/// What a run does between two reports.
fn hand_on(from: &str, to: Accept) -> Vec<TransactionStep> {
    let next = to.id.to_string();
    vec![
        apply(from, verify(baton_engine::Fence(1), Verdict::Verified)),
        apply(from, route(&next)),
        accept(to),
        apply(&next, claim("driver")),
    ]
}

/// Sends a handoff whose report waits to be verified.
async fn reported(bed: &Bed, run: &str, name: &str) {
    bed.store.carry_out(vec![accept(verified(run, name)), apply(name, claim("driver"))], time(0)).await.unwrap();
    bed.apply(name, report(baton_engine::Fence(1), "done"), time(1)).await.unwrap();
}

/// Everything that can be seen of a run.
async fn snapshot(bed: &Bed, name: &str) -> String {
    format!("{:?} {:?}", bed.store.handoffs_of(&run(name)).await.unwrap(), bed.events(name).await)
}

async fn chain_goes_on_in_one_transaction(bed: Bed) {
    reported(&bed, "r", "a").await;
    bed.store.carry_out(hand_on("a", verified("r", "b")), time(2)).await.unwrap();
    let kinds = bed.kinds("r").await;
    assert_eq!(kinds[3..], ["verified", "routed", "accepted", "claimed"]);
    assert_eq!(bed.find("a").await.state, State::Completed { at: time(2) });
    assert!(bed.find("a").await.routed);
    assert_eq!(bed.find("b").await.lease().unwrap().claimant, "driver");
    super::journal::assert_replayed(&bed, "r").await;
}

async fn every_step_returns_the_handoff_as_it_left_it(bed: Bed) {
    reported(&bed, "r", "a").await;
    let left = bed.store.carry_out(hand_on("a", verified("r", "b")), time(2)).await.unwrap();
    let told: Vec<(&str, u64, StateName, bool)> =
        left.iter().map(|one| (one.id.as_str(), one.version, one.state.name(), one.routed)).collect();
    let expected = [
        ("a", 4, StateName::Completed, false),
        ("a", 5, StateName::Completed, true),
        ("b", 1, StateName::Pending, false),
        ("b", 2, StateName::Claimed, false),
    ];
    assert_eq!(told, expected);
    assert_eq!((&left[1], &left[3]), (&bed.find("a").await, &bed.find("b").await));
}

async fn events_that_are_told_are_those_of_the_journal(bed: Bed) {
    reported(&bed, "r", "a").await;
    let before = bed.events("r").await.len();
    let (left, told) = bed.store.carry_out_and_tell(hand_on("a", verified("r", "b")), time(2)).await.unwrap();
    assert_eq!(left.len(), 4);
    // A store that has none at hand tells none.
    assert!(told.is_empty() || told == bed.events("r").await[before..], "{told:?}");
}

async fn chain_of_ten_is_replayable(bed: Bed) {
    reported(&bed, "r", "s0").await;
    for number in 1..10 {
        let (last, next) = (format!("s{}", number - 1), format!("s{number}"));
        bed.store.carry_out(hand_on(&last, verified("r", &next)), time(number)).await.unwrap();
        bed.apply(&next, report(baton_engine::Fence(1), "done"), time(number)).await.unwrap();
    }
    assert_eq!(bed.events("r").await.len(), 3 + 9 * 5);
    super::journal::assert_replayed(&bed, "r").await;
    let bed = bed.reopened().await;
    super::journal::assert_replayed(&bed, "r").await;
}

async fn nothing_to_do_is_no_error(bed: Bed) {
    assert_eq!(bed.store.carry_out(Vec::new(), time(0)).await.unwrap(), []);
    assert!(bed.store.runs(None, 10).await.unwrap().is_empty());
}

async fn handoff_is_accepted_and_claimed_in_one(bed: Bed) {
    let steps = vec![accept(request("a")), apply("a", claim("driver"))];
    let left = bed.store.carry_out(steps, time(0)).await.unwrap();
    assert_eq!(left[1], bed.find("a").await);
    assert_eq!(bed.kinds("a").await, ["accepted", "claimed"]);
    assert!(bed.claim(1, time(0)).await.is_empty());
    // Whoever claims it after the lease finds the request.
    bed.store.rescue(10, 0.0, time(3_600)).await.unwrap();
    let again = bed.claim(1, time(7_200)).await.remove(0);
    assert_eq!((again.request, again.handoff.fence), (written("build it"), Fence(2)));
}

async fn refused_step_leaves_nothing(bed: Bed) {
    reported(&bed, "r", "a").await;
    let before = snapshot(&bed, "r").await;
    let mut steps = hand_on("a", verified("r", "b"));
    steps.push(apply("b", claim("somebody else")));
    let refused = bed.store.carry_out(steps, time(2)).await.unwrap_err();
    assert!(matches!(refused, StoreError::Refused(Refusal::WrongState { .. })), "{refused:?}");
    assert_eq!(snapshot(&bed, "r").await, before);
    // Nothing is in the way of the steps that are allowed.
    bed.store.carry_out(hand_on("a", verified("r", "b")), time(3)).await.unwrap();
    super::journal::assert_replayed(&bed, "r").await;
}

async fn late_report_among_steps_is_not_journalled(bed: Bed) {
    bed.claimed(request("a"), time(0)).await;
    bed.apply("a", cancel(), time(1)).await.unwrap();
    let steps = vec![accept(request("b")), apply("a", report(baton_engine::Fence(1), "too late"))];
    let refused = bed.store.carry_out(steps, time(2)).await.unwrap_err();
    assert!(matches!(refused, StoreError::Refused(_)), "{refused:?}");
    assert_eq!(bed.kinds("a").await, ["accepted", "claimed", "cancelled"]);
    assert!(!bed.is_there("b").await);
}

async fn command_for_nobody_leaves_nothing(bed: Bed) {
    let steps = vec![accept(request("a")), apply("nobody", cancel())];
    assert_eq!(bed.store.carry_out(steps, time(0)).await, Err(StoreError::NotFound(id("nobody"))));
    assert!(!bed.is_there("a").await && bed.events("a").await.is_empty());
    // The order of the steps counts: what is accepted later is not there yet.
    let steps = vec![apply("a", claim("driver")), accept(request("a"))];
    assert_eq!(bed.store.carry_out(steps, time(0)).await, Err(StoreError::NotFound(id("a"))));
}

async fn taken_id_leaves_nothing(bed: Bed) {
    reported(&bed, "r", "a").await;
    bed.send_one("b").await;
    let before = (snapshot(&bed, "r").await, snapshot(&bed, "b").await);
    let taken = bed.store.carry_out(hand_on("a", verified("r", "b")), time(2)).await.unwrap_err();
    assert!(matches!(&taken, StoreError::Taken { what: "id", value, .. } if value == "b"), "{taken}");
    assert_eq!((snapshot(&bed, "r").await, snapshot(&bed, "b").await), before);
}

async fn taken_key_of_a_step_before_leaves_nothing(bed: Bed) {
    let keyed = |name| with(request(name), |terms| terms.key = Some("k".to_owned()));
    let other = Accept { request: written("something else"), ..keyed("b") };
    let taken = bed.store.carry_out(vec![accept(keyed("a")), accept(other)], time(0)).await.unwrap_err();
    assert_eq!(taken, StoreError::Taken { what: "key", value: "k".to_owned(), existing: id("a") });
    assert!(!bed.is_there("a").await && !bed.is_there("b").await);
}

async fn invalid_request_leaves_nothing(bed: Bed) {
    let itself = with(request("b"), |terms| terms.returns_to = Some(id("b")));
    let refused = bed.store.carry_out(vec![accept(request("a")), accept(itself)], time(0)).await;
    assert!(matches!(refused, Err(StoreError::Invalid(_))), "{refused:?}");
    assert!(!bed.is_there("a").await);
}

async fn known_request_gives_the_handoff_that_is_there(bed: Bed) {
    let keyed = |name| with(request(name), |terms| terms.key = Some("k".to_owned()));
    let before = bed.claimed(keyed("a"), time(0)).await;
    let steps = vec![
        accept(keyed("a")),
        accept(keyed("b")),
        apply("a", report(baton_engine::Fence(1), "done")),
        accept(keyed("c")),
    ];
    let left = bed.store.carry_out(steps, time(1)).await.unwrap();
    assert_eq!((&left[0], &left[1]), (&before, &before));
    assert_eq!((&left[2], &left[3]), (&bed.find("a").await, &bed.find("a").await));
    assert!(!bed.is_there("b").await && !bed.is_there("c").await);
    assert_eq!(bed.kinds("a").await, ["accepted", "claimed", "reported"]);
}

async fn same_request_twice_is_accepted_once(bed: Bed) {
    let steps = vec![accept(request("a")), accept(request("a"))];
    let left = bed.store.carry_out(steps, time(0)).await.unwrap();
    assert_eq!(left[0], left[1]);
    assert_eq!(bed.kinds("a").await, ["accepted"]);
}

async fn caller_is_resumed_and_claimed_again(bed: Bed) {
    let caller = bed.claimed(request_in("r", "caller"), time(0)).await;
    bed.apply("caller", blocked(caller.fence), time(1)).await.unwrap();
    let delegation = with(request_for("specialist", "d"), |terms| {
        terms.returns_to = Some(id("caller"));
        terms.verify = true;
    });
    bed.claimed(Accept { run: run("r"), ..delegation }, time(2)).await;
    bed.apply("d", report(baton_engine::Fence(1), "use SQLite"), time(3)).await.unwrap();
    let steps = vec![
        apply("d", verify(baton_engine::Fence(1), Verdict::Verified)),
        apply("d", route("caller")),
        apply("caller", claim("driver")),
    ];
    let left = bed.store.carry_out(steps, time(4)).await.unwrap();
    assert_eq!((left[2].fence, left[2].state.name()), (Fence(2), StateName::Claimed));
    let note = left[2].notes.last().unwrap();
    assert_eq!((note.about, note.text.as_str()), (About::Resolution, "use SQLite"));
    assert_eq!(bed.kinds("r").await[6..], ["verified", "resumed", "routed", "claimed"]);
    super::journal::assert_replayed(&bed, "r").await;
}

/// Everything at once, the report too: what goes back is what this transaction has reported, not an older one.
async fn report_of_a_step_before_is_returned(bed: Bed) {
    let caller = bed.claimed(request_in("r", "caller"), time(0)).await;
    let delegation = with(verified("other", "d"), |terms| terms.returns_to = Some(id("caller")));
    let steps = vec![
        apply("caller", blocked(caller.fence)),
        accept(delegation),
        apply("d", claim("driver")),
        apply("d", report(baton_engine::Fence(1), "just now")),
        apply("d", verify(baton_engine::Fence(1), Verdict::Verified)),
    ];
    bed.store.carry_out(steps, time(1)).await.unwrap();
    let caller = bed.find("caller").await;
    assert_eq!((caller.state.name(), caller.notes.last().unwrap().text.as_str()), (StateName::Pending, "just now"));
    super::journal::assert_replayed(&bed, "r").await;
    super::journal::assert_replayed(&bed, "other").await;
}

async fn steps_of_several_runs_keep_their_journals(bed: Bed) {
    let steps = vec![
        accept(request_in("r", "a")),
        accept(request_in("s", "b")),
        apply("a", claim("driver")),
        accept(request_in("r", "c")),
        apply("b", cancel()),
    ];
    bed.store.carry_out(steps, time(0)).await.unwrap();
    assert_eq!(bed.kinds("r").await, ["accepted", "claimed", "accepted"]);
    assert_eq!(bed.kinds("s").await, ["accepted", "cancelled"]);
    super::journal::assert_replayed(&bed, "r").await;
    super::journal::assert_replayed(&bed, "s").await;
    assert_eq!(ids(&bed.claim(9, time(0)).await), ["c"]);
}

async fn later_step_is_not_before_an_earlier_one(bed: Bed) {
    bed.claimed(request("a"), time(100)).await;
    let steps = vec![apply("a", report(baton_engine::Fence(1), "done")), accept(request("b"))];
    let left = bed.store.carry_out(steps, time(50)).await.unwrap();
    assert_eq!((left[0].changed_at, left[1].accepted_at), (time(100), time(100)));
}

/// Somebody else gets in between, and what is remembered of the claim is out of date.
async fn what_was_claimed_by_steps_is_reported_and_goes_on(bed: Bed) {
    reported(&bed, "r", "a").await;
    let other = bed.open_again().await;
    bed.store.carry_out(hand_on("a", verified("r", "b")), time(2)).await.unwrap();
    other.accept(vec![request_in("r", "x")], time(3)).await.unwrap();
    bed.apply("b", report(baton_engine::Fence(1), "done"), time(4)).await.unwrap();
    other.accept(vec![request_in("r", "y")], time(5)).await.unwrap();
    bed.store.carry_out(hand_on("b", verified("r", "c")), time(6)).await.unwrap();
    other.carry_out(vec![apply("c", cancel())], time(7)).await.unwrap();
    assert!(bed.apply("c", report(baton_engine::Fence(1), "done"), time(8)).await.is_err());
    super::journal::assert_replayed(&bed, "r").await;
}

async fn one_of_eight_routes_wins(bed: Bed) {
    reported(&bed, "r", "a").await;
    let stores = [Arc::clone(&bed.store), bed.open_again().await];
    let mut tasks = JoinSet::new();
    for number in 0..8 {
        let store = Arc::clone(&stores[number % 2]);
        let steps = hand_on("a", verified("r", &format!("b{number}")));
        tasks.spawn(async move { store.carry_out(steps, time(2)).await });
    }
    let (done, refused): (Vec<_>, Vec<_>) = tasks.join_all().await.into_iter().partition(Result::is_ok);
    assert_eq!((done.len(), refused.len()), (1, 7), "{refused:?}");
    let late = |answer: &Result<_, StoreError>| matches!(answer, Err(StoreError::Refused(Refusal::WrongState { .. })));
    assert!(refused.iter().all(late), "{refused:?}");
    assert_eq!(bed.store.ids_beginning_with("b", 10).await.unwrap().len(), 1);
    assert_eq!(bed.kinds("r").await.len(), 7);
    super::journal::assert_replayed(&bed, "r").await;
}

/// Eight branches of one run go on at the same time; each finds the journal longer than it was.
async fn many_chains_of_one_run_leave_one_journal(bed: Bed) {
    let stores = [Arc::clone(&bed.store), bed.open_again().await];
    let mut tasks = JoinSet::new();
    for number in 0..8 {
        let store = Arc::clone(&stores[number % 2]);
        tasks.spawn(async move {
            let name = |step: usize| format!("c{number}-{step}");
            let first = vec![accept(verified("r", &name(0))), apply(&name(0), claim("driver"))];
            store.carry_out(first, time(0)).await.unwrap();
            for step in 0..4 {
                let order = baton_engine::store::Order::new(id(&name(step)), report(baton_engine::Fence(1), "done"));
                store.apply(order, time(1)).await.unwrap();
                let steps = hand_on(&name(step), verified("r", &name(step + 1)));
                store.carry_out(steps, time(1)).await.unwrap();
            }
        });
    }
    tasks.join_all().await;
    assert_eq!(bed.events("r").await.len(), 8 * (2 + 4 * 5));
    super::journal::assert_replayed(&bed, "r").await;
}

fn held(name: &str, fence: Fence) -> TransactionStep {
    TransactionStep::Held { id: id(name), fence }
}

async fn whoever_holds_the_run_goes_on_and_leaves_no_other_event(bed: Bed) {
    bed.store.carry_out(vec![accept(request("r")), apply("r", claim("driver"))], time(0)).await.unwrap();
    let steps = vec![held("r", baton_engine::Fence(1)), accept(request_in("r", "a")), apply("a", claim("driver"))];
    let left = bed.store.carry_out(steps, time(1)).await.unwrap();
    assert_eq!(left[0], bed.find("r").await, "the one that is held, unchanged");
    assert_eq!(left[2], bed.find("a").await);
    assert_eq!(bed.kinds("r").await, ["accepted", "claimed", "accepted", "claimed"]);
    // A lease that is over is still held until somebody else has it.
    bed.store
        .carry_out(
            vec![held("r", baton_engine::Fence(1)), apply("a", report(baton_engine::Fence(1), "done"))],
            time(50_000),
        )
        .await
        .unwrap();
    super::journal::assert_replayed(&bed, "r").await;
}

async fn whoever_lost_the_run_changes_nothing(bed: Bed) {
    reported(&bed, "r", "a").await;
    bed.store.carry_out(vec![accept(request_in("r", "root")), apply("root", claim("driver"))], time(2)).await.unwrap();
    bed.store.rescue(10, 0.0, time(3_600)).await.unwrap();
    bed.store.carry_out(vec![apply("root", claim("another"))], time(7_200)).await.unwrap();
    let before = snapshot(&bed, "r").await;
    // The report waits to be verified, and its token is still the latest: only the run tells who may go on.
    let steps = [vec![held("root", baton_engine::Fence(1))], hand_on("a", verified("r", "b"))].concat();
    let refused = bed.store.carry_out(steps, time(7_201)).await;
    assert_eq!(
        refused,
        Err(StoreError::Refused(Refusal::Stale { given: baton_engine::Fence(1), current: baton_engine::Fence(2) }))
    );
    assert_eq!(snapshot(&bed, "r").await, before);
    let steps = [vec![held("root", baton_engine::Fence(2))], hand_on("a", verified("r", "b"))].concat();
    bed.store.carry_out(steps, time(7_202)).await.unwrap();
}

async fn nobody_holds_what_is_not_claimed(bed: Bed) {
    bed.store.carry_out(vec![accept(request("r"))], time(0)).await.unwrap();
    let refused = bed.store.carry_out(vec![held("r", baton_engine::Fence(1)), accept(request("a"))], time(1)).await;
    assert_eq!(refused, Err(StoreError::Refused(Refusal::NeverGiven { given: baton_engine::Fence(1) })));
    let nobody = bed.store.carry_out(vec![held("nobody", baton_engine::Fence(1))], time(1)).await;
    assert_eq!(nobody, Err(StoreError::NotFound(id("nobody"))));
    bed.apply("r", cancel(), time(2)).await.unwrap();
    assert!(bed.store.find(&id("a")).await.unwrap().is_none());
}
