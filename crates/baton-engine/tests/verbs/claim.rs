//! Finding work.

use std::time::Duration;

use baton_engine::Handoff;
use baton_engine::engine::{Caller, Door, WaitFor};
use baton_engine::journal::Fact;
use baton_engine::known::Decider;
use baton_engine::queue::Queue;
use baton_engine::store::ClaimRequest;

use crate::bed::{Bed, person};
use crate::documents::{REQUEST, with};

/// Claims whatever is ready for `finder` now, as a worker that does not wait does.
async fn claim(bed: &Bed) -> Vec<Handoff> {
    let (agent, claimant) = ("finder".to_owned(), "worker".to_owned());
    let wanted = ClaimRequest { agent, claimant, lease_ms: 60_000, count: 9, times_itself: false, author: None };
    let look = async || {
        let claimed = bed.engine.claim(&wanted, &person()).await?;
        Ok(Some(claimed).filter(|claimed| !claimed.is_empty()))
    };
    let once = WaitFor { agent: Some("finder"), limit: Some(Duration::ZERO), tell: &|news| panic!("{news:?}") };
    let claimed = bed.engine.wait_for(once, look).await.unwrap().unwrap_or_default();
    claimed.into_iter().map(|claimed| claimed.handoff).collect()
}

#[tokio::test]
async fn what_is_ready_is_claimed_once() {
    let bed = Bed::new();
    let sent = bed.send(REQUEST, "finder").await;
    bed.send(&with(REQUEST, "csv-07", "csv-08"), "writer").await;
    let claimed = claim(&bed).await;
    assert_eq!(claimed.iter().map(|handoff| (&handoff.id, handoff.attempts)).collect::<Vec<_>>(), [(&sent.id, 1)]);
    assert_eq!(claim(&bed).await, []);
}

#[tokio::test]
async fn journal_names_whoever_has_a_token_and_no_account_which_agents_share_with_people() {
    let bed = Bed::new();
    let token = Caller { decider: Decider::token("bo", "tok-1"), door: Door::Http, ..person() };
    for (caller, sender) in [(person(), None), (token, Some("bo"))] {
        let sent = bed.send(&with(REQUEST, "csv-07", &format!("csv-{}", caller.decider.name)), "finder").await;
        let (agent, claimant) = ("finder".to_owned(), "worker".to_owned());
        let wanted = ClaimRequest { agent, claimant, lease_ms: 60_000, count: 1, times_itself: false, author: None };
        let claimed = bed.engine.claim(&wanted, &caller).await.unwrap().remove(0).handoff;
        bed.engine.heartbeat(&claimed, claimed.fence, None, &caller).await.unwrap();
        for event in &bed.engine.store.history_of(&sent.id).await.unwrap()[1..] {
            let Fact::Happened(command) = event.fact().unwrap() else { panic!("{event:?}") };
            assert_eq!(command.author().map(|author| author.name.as_str()), sender, "{}", event.kind);
        }
    }
}

#[tokio::test]
async fn what_a_dead_claimant_held_is_claimed_again_with_a_higher_fence() {
    let bed = Bed::new();
    let first = bed.claimed().await;
    bed.clock.advance(Duration::from_secs(61));
    assert_eq!(claim(&bed).await, [], "another attempt waits its time");
    bed.clock.advance(Duration::from_secs(3600));
    let second = claim(&bed).await.remove(0);
    assert!(second.fence > first.fence && second.id == first.id);
}

#[tokio::test]
async fn nothing_is_claimed_from_a_queue_that_is_paused() {
    let bed = Bed::new();
    bed.send(REQUEST, "finder").await;
    let paused = Queue { paused: true, ..Queue::open("finder") };
    bed.engine.store.set_queue(&paused).await.unwrap();
    assert_eq!(claim(&bed).await, []);
    bed.engine.store.set_queue(&Queue::open("finder")).await.unwrap();
    assert_eq!(claim(&bed).await.len(), 1);
}

#[tokio::test]
async fn work_for_an_agent_of_this_name_is_found_in_the_queues_of_workflows() {
    let bed = Bed::new();
    let queue = "name: Customer import\nagents: {dev: {queue: true}}\nphases: [{id: build, agent: dev}]\n";
    bed.begin("r", queue).await;
    assert_eq!(bed.engine.other_queues("dev").await.unwrap(), ["customer-import/dev"]);
    assert!(bed.engine.other_queues("finder").await.unwrap().is_empty());
    // Whoever has work in the plain queue need not look elsewhere.
    bed.send(REQUEST, "dev").await;
    assert!(bed.engine.other_queues("dev").await.unwrap().is_empty());
}
