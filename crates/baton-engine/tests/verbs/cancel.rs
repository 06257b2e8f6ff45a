//! Calling off a handoff, or a run with everything in it.

use baton_engine::engine::Problem;
use baton_engine::handoff::StateName;
use baton_engine::lifecycle::Refusal;

use crate::bed::{Bed, agent, id, person, refused};
use crate::documents::{REPORT, REQUEST};

const WORKFLOW: &str = "name: w\nagents: {dev: {queue: true}}\nphases: [{id: build, agent: dev}]\n";

#[tokio::test]
async fn what_is_called_off_stays_so_and_saying_it_again_is_harmless() {
    let bed = Bed::new();
    let sent = bed.send(REQUEST, "finder").await;
    let first = bed.engine.cancel(&sent, Some("not needed".to_owned()), &person()).await.unwrap();
    assert_eq!((first.handoff.state.name(), first.repeated), (StateName::Cancelled, false));
    let again = bed.engine.cancel(&sent, None, &person()).await.unwrap();
    assert_eq!((again.handoff, again.repeated), (first.handoff, true));
}

#[tokio::test]
async fn what_is_done_cannot_be_called_off() {
    let bed = Bed::new();
    let claimed = bed.claimed().await;
    bed.report(&claimed, REPORT).await.unwrap();
    let wrong = Refusal::WrongState { state: StateName::Completed, participle: "cancelled" };
    let problem = bed.engine.cancel(&claimed, None, &person()).await.unwrap_err();
    assert_eq!(problem, refused(&claimed, wrong, StateName::Completed));
}

#[tokio::test]
async fn a_run_is_called_off_with_everything_that_is_open_in_it() {
    let bed = Bed::new();
    let run = bed.begin("r", WORKFLOW).await;
    bed.claim("w/dev").await;
    let cancelled = bed.engine.cancel(&run, None, &person()).await.unwrap().handoff;
    assert_eq!((cancelled.id, cancelled.state.name()), (run.id.clone(), StateName::Cancelled));
    for (handoff, _) in bed.engine.store.handoffs_of(&run.run).await.unwrap() {
        assert_eq!(handoff.state.name(), StateName::Cancelled, "{}", handoff.id);
    }
    // It is over, and saying so again is harmless.
    assert!(bed.engine.cancel(&bed.find(&run).await, None, &person()).await.unwrap().repeated);
}

#[tokio::test]
async fn what_belongs_to_a_run_is_not_called_off_from_inside_the_work() {
    let bed = Bed::new();
    let run = bed.begin("r", WORKFLOW).await;
    let step = bed.engine.resolve("r.build.1").await.unwrap();
    for handoff in [&run, &step] {
        let inside = bed.engine.cancel(handoff, None, &agent()).await;
        assert_eq!(inside, Err(Problem::InsideWork(id("some.other.work"))), "{}", handoff.id);
        assert_eq!(bed.find(handoff).await, *handoff);
    }
}

#[tokio::test]
async fn an_agent_can_call_off_what_belongs_to_no_run() {
    let bed = Bed::new();
    let sent = bed.send(REQUEST, "finder").await;
    let cancelled = bed.engine.cancel(&sent, None, &agent()).await.unwrap().handoff;
    assert_eq!(cancelled.state.name(), StateName::Cancelled);
}
