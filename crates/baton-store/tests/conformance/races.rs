//! Races: many at once, through one store and through several on the same database.

use std::collections::BTreeSet;
use std::sync::Arc;

use baton_engine::Fence;
use baton_engine::Store;
use baton_engine::handoff::StateName;
use baton_engine::lifecycle::{Accept, Refusal};
use baton_engine::queue::Queue;
use baton_engine::store::{ClaimRequest, Order, StoreError};
use tokio::task::JoinSet;

use super::bed::{Bed, wish};
use super::requests::{AGENT, blocked, id, report, request, request_for, request_in, run, time, with, written};

on_every_store! {
    two_claimers_never_get_the_same,
    limit_holds_while_many_claim,
    one_of_eight_reports_wins,
    one_of_eight_same_reports_wins_and_the_others_are_recognised,
    one_of_eight_same_requests_is_new,
    one_key_of_eight_requests_is_new,
    many_who_write_to_one_run_leave_one_chain,
    lease_is_rescued_once_by_many,
    eight_returns_to_one_caller_resume_it_once_and_none_is_lost,
    removal_and_requeue_do_not_meet_halfway,
}

/// Two stores on the same database, used in turn.
async fn stores(bed: &Bed) -> [Arc<dyn Store>; 2] {
    [Arc::clone(&bed.store), bed.open_again().await]
}

async fn two_claimers_never_get_the_same(bed: Bed) {
    let names: Vec<String> = (0..40).map(|number| format!("h{number:02}")).collect();
    bed.send(names.iter().map(|name| request(name)), time(0)).await;
    let stores = stores(&bed).await;
    let mut tasks = JoinSet::new();
    for number in 0..8 {
        let store = Arc::clone(&stores[number % 2]);
        tasks.spawn(async move {
            let mut mine = Vec::new();
            let wish = ClaimRequest { claimant: format!("w{number}"), ..wish(3) };
            // An empty answer does not mean that nothing is there, so each looks a few times more.
            let mut empty = 0;
            while empty < 5 {
                let claimed = store.claim(&wish, time(1)).await.unwrap();
                empty = if claimed.is_empty() { empty + 1 } else { 0 };
                mine.extend(claimed.into_iter().map(|one| (one.handoff.id.to_string(), one.handoff.fence)));
            }
            mine
        });
    }
    let mut all: Vec<(String, Fence)> = tasks.join_all().await.concat();
    all.sort();
    let expected: Vec<(String, Fence)> = names.into_iter().map(|name| (name, Fence(1))).collect();
    assert_eq!(all, expected);
}

async fn limit_holds_while_many_claim(bed: Bed) {
    bed.store.set_queue(&Queue { concurrency: Some(5), ..Queue::open(AGENT) }).await.unwrap();
    bed.send((0..20).map(|number| request(&format!("h{number:02}"))), time(0)).await;
    let stores = stores(&bed).await;
    let mut tasks = JoinSet::new();
    for number in 0..8 {
        let store = Arc::clone(&stores[number % 2]);
        tasks.spawn(async move { store.claim(&wish(3), time(1)).await.unwrap().len() });
    }
    let claimed: usize = tasks.join_all().await.into_iter().sum();
    assert!(claimed <= 5, "{claimed}");
    let rest = bed.claim(20, time(2)).await.len();
    assert_eq!(claimed + rest, 5);
}

/// Eight tasks apply their order at once. Returns who was heard, and what the others were told.
async fn race(bed: &Bed, order: impl Fn(usize) -> Order) -> (usize, Vec<StoreError>) {
    let stores = stores(bed).await;
    let mut tasks = JoinSet::new();
    for number in 0..8 {
        let (store, order) = (Arc::clone(&stores[number % 2]), order(number));
        tasks.spawn(async move { store.apply(order, time(5)).await });
    }
    let (heard, refused): (Vec<_>, Vec<_>) = tasks.join_all().await.into_iter().partition(Result::is_ok);
    (heard.len(), refused.into_iter().filter_map(Result::err).collect())
}

async fn one_of_eight_reports_wins(bed: Bed) {
    bed.claimed(request("a"), time(0)).await;
    let (heard, errors) =
        race(&bed, |number| Order::new(id("a"), report(baton_engine::Fence(1), &format!("work of {number}")))).await;
    assert_eq!((heard, errors.len()), (1, 7));
    assert!(errors.iter().all(|error| matches!(error, StoreError::Refused(Refusal::Over { .. }))), "{errors:?}");
    let kinds = bed.kinds("a").await;
    assert_eq!(kinds.iter().filter(|kind| *kind == "refused").count(), 7);
    super::journal::replayed(&bed.events("a").await);
}

async fn one_of_eight_same_reports_wins_and_the_others_are_recognised(bed: Bed) {
    bed.claimed(request("a"), time(0)).await;
    let (heard, errors) = race(&bed, |_| Order::new(id("a"), report(baton_engine::Fence(1), "done"))).await;
    assert_eq!((heard, errors.len()), (1, 7));
    assert!(errors.iter().all(|error| matches!(error, StoreError::Refused(Refusal::Repeated))), "{errors:?}");
    assert_eq!(bed.kinds("a").await, ["accepted", "claimed", "reported"]);
}

/// Eight tasks accept their request at once. Returns how many were new.
async fn accept_race(bed: &Bed, accept: impl Fn(usize) -> Accept) -> usize {
    let stores = stores(bed).await;
    let mut tasks = JoinSet::new();
    for number in 0..8 {
        let (store, accept) = (Arc::clone(&stores[number % 2]), accept(number));
        tasks.spawn(async move { store.accept(vec![accept], time(0)).await.unwrap().remove(0) });
    }
    let accepted = tasks.join_all().await;
    let ids: BTreeSet<&str> = accepted.iter().map(|one| one.handoff.id.as_str()).collect();
    assert_eq!(ids.len(), 1, "{ids:?}");
    accepted.iter().filter(|one| !one.existing).count()
}

async fn one_of_eight_same_requests_is_new(bed: Bed) {
    assert_eq!(accept_race(&bed, |_| request("a")).await, 1);
    assert_eq!(bed.kinds("a").await, ["accepted"]);
}

async fn one_key_of_eight_requests_is_new(bed: Bed) {
    let keyed = |number| with(request(&format!("h{number}")), |terms| terms.key = Some("k".to_owned()));
    assert_eq!(accept_race(&bed, keyed).await, 1);
    assert_eq!(bed.store.ids_beginning_with("h", 10).await.unwrap().len(), 1);
    assert_eq!(bed.store.runs(None, 10).await.unwrap().len(), 1);
}

async fn many_who_write_to_one_run_leave_one_chain(bed: Bed) {
    let stores = stores(&bed).await;
    let mut tasks = JoinSet::new();
    for number in 0..8 {
        let store = Arc::clone(&stores[number % 2]);
        tasks.spawn(async move {
            for round in 0..5 {
                let accept = request_in("r", &format!("h{number}-{round}"));
                store.accept(vec![accept], time(round)).await.unwrap();
                for claimed in store.claim(&wish(1), time(round)).await.unwrap() {
                    let order = Order::new(claimed.handoff.id, report(claimed.handoff.fence, "done"));
                    store.apply(order, time(round)).await.unwrap();
                }
            }
        });
    }
    tasks.join_all().await;
    let handoffs = super::journal::replayed(&bed.events("r").await);
    assert_eq!(handoffs.len(), 40);
    for (handoff, _) in bed.store.handoffs_of(&run("r")).await.unwrap() {
        assert_eq!(handoffs[&handoff.id], handoff);
    }
}

async fn lease_is_rescued_once_by_many(bed: Bed) {
    bed.send((0..10).map(|number| request(&format!("h{number}"))), time(0)).await;
    bed.claim(10, time(0)).await;
    let stores = stores(&bed).await;
    let mut tasks = JoinSet::new();
    for number in 0..8 {
        let store = Arc::clone(&stores[number % 2]);
        tasks.spawn(async move { store.rescue(3, 0.0, time(60)).await.unwrap() });
    }
    let rescued: Vec<_> = tasks.join_all().await.concat();
    let different: BTreeSet<&str> = rescued.iter().map(|handoff| handoff.id.as_str()).collect();
    assert_eq!(different.len(), rescued.len());
    let rest = bed.store.rescue(10, 0.0, time(60)).await.unwrap().len();
    assert_eq!(rescued.len() + rest, 10);
}

async fn eight_returns_to_one_caller_resume_it_once_and_none_is_lost(bed: Bed) {
    bed.claimed(request("caller"), time(0)).await;
    bed.apply("caller", blocked(baton_engine::Fence(1)), time(1)).await.unwrap();
    for number in 0..8 {
        let accept = with(request_for("specialist", &format!("d{number}")), |terms| {
            terms.returns_to = Some(id("caller"));
        });
        bed.claimed(accept, time(2)).await;
    }
    let (heard, errors) =
        race(&bed, |number| Order::new(id(&format!("d{number}")), report(baton_engine::Fence(1), "solved"))).await;
    assert_eq!((heard, errors.len()), (8, 0), "{errors:?}");
    assert_eq!(bed.kinds("caller").await, [&["accepted", "claimed", "reported"][..], &["resumed"; 8]].concat());
    let caller = bed.find("caller").await;
    assert_eq!((caller.state.name(), caller.notes.len()), (StateName::Pending, 8));
}

async fn removal_and_requeue_do_not_meet_halfway(bed: Bed) {
    let stores = stores(&bed).await;
    for round in 0..10 {
        let name = format!("h{round}");
        bed.claimed(Accept { request: written("x"), ..request(&name) }, time(0)).await;
        bed.apply(&name, super::requests::cancel(), time(1)).await.unwrap();
        let (removing, requeueing) = (Arc::clone(&stores[0]), Arc::clone(&stores[1]));
        let (gone, back) = (run(&name), Order::new(id(&name), super::requests::requeue("again")));
        let (removed, requeued) = tokio::join!(
            tokio::spawn(async move { removing.remove_run(&gone, time(9), time(100)).await.unwrap() }),
            tokio::spawn(async move { requeueing.apply(back, time(2)).await.is_ok() }),
        );
        let (removed, requeued) = (removed.unwrap(), requeued.unwrap());
        assert_eq!(removed == 1, !requeued);
        assert_eq!(bed.is_there(&name).await, requeued);
        assert_eq!(bed.events(&name).await.is_empty(), !requeued);
        if requeued {
            assert_eq!(bed.find(&name).await.state.name(), StateName::Pending);
        }
    }
}
