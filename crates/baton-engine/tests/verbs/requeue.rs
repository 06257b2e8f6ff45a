//! Bringing back what failed, was called off or is blocked.

use baton_engine::failure::{Code, Failure, Transience};
use baton_engine::handoff::{Handoff, StateName};
use baton_engine::lifecycle::Refusal;

use crate::bed::{Bed, person, refused};
use crate::documents::{REQUEST, with};

/// Sends a task that fails for good.
async fn dead(bed: &Bed, task: &str, to: &str) -> Handoff {
    bed.send(&with(REQUEST, "csv-07", task), to).await;
    let claimed = bed.claim(to).await;
    let failure = Failure { chance: Transience::Permanent, ..Failure::new(Code::timeout(), "too slow") };
    bed.engine.fail(&claimed, claimed.fence, failure, None, Vec::new(), &person()).await.unwrap().handoff
}

#[tokio::test]
async fn a_dead_letter_comes_back_with_a_note_for_whoever_claims_it() {
    let bed = Bed::new();
    let failed = dead(&bed, "csv-07", "finder").await;
    let back = bed.engine.requeue(&failed, Some("The index is rebuilt."), &person()).await.unwrap();
    assert_eq!((back.state.name(), back.attempts), (StateName::Pending, 0));
    let note = &back.notes[0];
    assert_eq!((note.from.as_str(), note.text.as_str()), ("ana", "The index is rebuilt."));
    assert!(bed.claim("finder").await.fence > failed.fence, "what was claimed before stays out");
}

#[tokio::test]
async fn what_was_called_off_comes_back_too() {
    let bed = Bed::new();
    let sent = bed.send(REQUEST, "finder").await;
    let cancelled = bed.engine.cancel(&sent, None, &person()).await.unwrap().handoff;
    assert_eq!(bed.engine.requeue(&cancelled, None, &person()).await.unwrap().state.name(), StateName::Pending);
}

#[tokio::test]
async fn what_waits_or_is_worked_on_is_not_brought_back() {
    let bed = Bed::new();
    let sent = bed.send(REQUEST, "finder").await;
    let wrong = |state| refused(&sent, Refusal::WrongState { state, participle: "requeued" }, state);
    assert_eq!(bed.engine.requeue(&sent, None, &person()).await, Err(wrong(StateName::Pending)));
    bed.claim("finder").await;
    assert_eq!(bed.engine.requeue(&sent, None, &person()).await, Err(wrong(StateName::Claimed)));
}

#[tokio::test]
async fn the_run_decides_what_becomes_of_its_steps() {
    let bed = Bed::new();
    bed.begin("r", "name: w\nagents: {dev: {queue: true}}\nphases: [{id: build, agent: dev}]\n").await;
    let step = bed.engine.resolve("r.build.1").await.unwrap();
    let problem = bed.engine.requeue(&step, None, &person()).await.unwrap_err();
    assert_eq!(problem, refused(&step, Refusal::PartOfRun, StateName::Pending));
}

#[tokio::test]
async fn all_dead_letters_of_an_agent_come_back_and_nobody_elses() {
    let bed = Bed::new();
    let (one, two) = (dead(&bed, "csv-01", "finder").await, dead(&bed, "csv-02", "finder").await);
    let others = dead(&bed, "csv-03", "writer").await;
    let mut back: Vec<_> = bed
        .engine
        .requeue_all("finder", None, &person())
        .await
        .unwrap()
        .into_iter()
        .map(|handoff| handoff.id)
        .collect();
    back.sort();
    assert_eq!(back, [one.id, two.id]);
    assert_eq!(bed.find(&others).await, others);
    assert!(bed.engine.requeue_all("finder", None, &person()).await.unwrap().is_empty());
}
