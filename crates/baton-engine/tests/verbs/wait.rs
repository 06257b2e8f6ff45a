//! Waiting for something in the store.

use std::time::Duration;

use baton_engine::Handoff;
use baton_engine::engine::{Problem, StoreNews, WaitFor};
use baton_engine::handoff::StateName;

use crate::bed::{Bed, person};
use crate::documents::{REPORT, REQUEST, stop};

fn wait_for(limit: Option<Duration>) -> WaitFor<'static> {
    WaitFor { agent: None, limit, tell: &|news: StoreNews<'_>| panic!("{news:?}") }
}

#[tokio::test]
async fn whoever_looks_once_does_not_wait() {
    let bed = Bed::new();
    let mut looks = 0;
    let look = async || {
        looks += 1;
        Ok(None::<()>)
    };
    assert_eq!(bed.engine.wait_for(wait_for(Some(Duration::ZERO)), look).await, Ok(None));
    assert_eq!(looks, 1);
}

#[tokio::test(start_paused = true)]
async fn waiting_ends_with_its_limit() {
    let bed = Bed::new();
    let begun = tokio::time::Instant::now();
    let limit = Duration::from_secs(90);
    let nothing = bed.engine.wait_for(wait_for(Some(limit)), async || Ok(None::<()>)).await;
    assert_eq!((nothing, begun.elapsed()), (Ok(None), limit));
}

#[tokio::test(start_paused = true)]
async fn whatever_changes_wakes_whoever_waits() {
    let bed = Bed::new();
    let claimed = bed.claimed().await;
    let begun = tokio::time::Instant::now();
    let look = async || {
        let now = bed.find(&claimed).await;
        Ok(Some(now).filter(|now| now.state.name().is_finished()))
    };
    let report = async {
        tokio::task::yield_now().await;
        bed.report(&claimed, REPORT).await.unwrap();
    };
    let (found, ()) = tokio::join!(bed.engine.wait_for(wait_for(None), look), report);
    assert_eq!(found.unwrap().unwrap().state.name(), StateName::Completed);
    assert_eq!(begun.elapsed(), Duration::ZERO, "nobody polls");
}

#[tokio::test]
async fn what_has_expired_is_rescued_before_anybody_looks() {
    let bed = Bed::new();
    let claimed = bed.claimed().await;
    bed.clock.advance(Duration::from_secs(61));
    let look = async || Ok(Some(bed.find(&claimed).await));
    let found = bed.engine.wait_for(wait_for(None), look).await.unwrap().unwrap();
    assert_eq!(found.state.name(), StateName::Pending);
}

#[tokio::test]
async fn a_problem_ends_the_waiting() {
    let bed = Bed::new();
    let look = async || Err::<Option<()>, _>(Problem::NotComplete);
    assert_eq!(bed.engine.wait_for(wait_for(None), look).await, Err(Problem::NotComplete));
}

#[tokio::test]
async fn what_is_pruned_while_somebody_waits_for_it_is_said_to_be_removed() {
    let bed = Bed::new();
    let sent = bed.send(REQUEST, "finder").await;
    let ids = [sent.id.clone()];
    assert_eq!(bed.engine.find_all(&ids).await, Ok(vec![sent.clone()]));
    bed.engine.cancel(&sent, None, &person()).await.unwrap();
    bed.clock.advance(Duration::from_secs(1));
    bed.engine.store.remove_run(&sent.run, bed.now(), bed.now()).await.unwrap();
    assert_eq!(bed.engine.find_all(&ids).await, Err(Problem::Removed(sent.id)));
}

async fn is_settled(bed: &Bed, handoff: &Handoff, through_people: bool) -> bool {
    bed.engine.is_settled(std::slice::from_ref(handoff), through_people).await.unwrap()
}

#[tokio::test]
async fn waiting_is_over_when_all_are_finished_or_a_person_is_needed() {
    let bed = Bed::new();
    let claimed = bed.claimed().await;
    assert!(!is_settled(&bed, &claimed, false).await);
    let asked = bed.report(&claimed, &stop()).await.unwrap().handoff;
    assert!(is_settled(&bed, &asked, false).await);
    assert!(!is_settled(&bed, &asked, true).await, "it waits through people");
    let done = bed.engine.cancel(&asked, None, &person()).await.unwrap().handoff;
    assert!(is_settled(&bed, &done, true).await);
    assert_eq!(bed.engine.is_settled(&[done, claimed], true).await, Ok(false), "not all of them are");
}

#[tokio::test]
async fn a_run_needs_a_person_when_one_is_asked_in_it_and_nobody_works() {
    let bed = Bed::new();
    let gate = bed.begin("g", "name: w\nphases: [{id: go, gate: {title: Ship it?}}]\n").await;
    assert!(is_settled(&bed, &gate, false).await);
    assert!(!is_settled(&bed, &gate, true).await);
    let work = "name: w\nagents: {dev: {queue: true}}\nphases: [{id: build, agent: dev}]\n";
    let run = bed.begin("r", work).await;
    assert!(!is_settled(&bed, &run, false).await);
}
