//! Looking at handoffs and runs.

use std::time::Duration;

use baton_engine::engine::{Problem, accepted_request, document_of, examined_of, reported_document, shown_document};
use baton_engine::handoff::{Ask, Digest};
use baton_engine::store::StoreError;

use crate::bed::{Bed, id, person};
use crate::documents::{REPORT, REQUEST, stop};

const WORKFLOW: &str = "name: w\nagents: {dev: {queue: true}}\nphases: [{id: build, agent: dev}]\n";

#[tokio::test]
async fn a_request_is_kept_as_it_was_written() {
    let bed = Bed::new();
    let sent = bed.send(REQUEST, "finder").await;
    assert_eq!(bed.engine.request(&sent.id).await.unwrap().text, REQUEST);
    let nowhere = id("nowhere");
    assert_eq!(bed.engine.request(&nowhere).await, Err(Problem::Store(StoreError::NotFound(nowhere.clone()))));
}

#[tokio::test]
async fn documents_are_found_in_the_events() {
    let bed = Bed::new();
    let claimed = bed.claimed().await;
    let before = bed.engine.events_of_run(&claimed.run).await.unwrap();
    assert_eq!(reported_document(&before), None);
    bed.report(&claimed, REPORT).await.unwrap();
    let events = bed.engine.events_of_run(&claimed.run).await.unwrap();
    assert_eq!(events.iter().map(|event| event.kind.as_str()).collect::<Vec<_>>(), ["accepted", "claimed", "reported"]);
    assert_eq!(accepted_request(&events).unwrap().text, REQUEST);
    assert_eq!(reported_document(&events).unwrap().text, REPORT);
    assert_eq!(events.iter().filter_map(document_of).count(), 2);
    let digest = Digest::of(REPORT.as_bytes());
    assert_eq!(shown_document(&events, Some(&digest)).unwrap().text, REPORT);
    assert_eq!(shown_document(&events, Some(&Digest::of(b"another"))), None);
    assert!(examined_of(&events).is_empty(), "nobody has examined it");
}

#[tokio::test]
async fn a_journal_without_its_request_is_damaged() {
    let damaged = accepted_request(&[]).unwrap_err();
    assert!(matches!(damaged, Problem::Store(StoreError::Damaged(_))), "{damaged}");
}

#[tokio::test]
async fn a_run_is_read_from_its_journal_and_a_lone_handoff_is_not_one() {
    let bed = Bed::new();
    let root = bed.begin("nightly", WORKFLOW).await;
    let record = bed.engine.run(&root.run).await.unwrap();
    assert_eq!(record.run.root().handoff, root);
    assert_eq!(record.events.len() as u64, record.run.seq);
    let lone = bed.send(REQUEST, "finder").await;
    let problem = bed.engine.run(&lone.run).await.unwrap_err();
    assert!(matches!(&problem, Problem::BrokenRun { run, .. } if *run == lone.run), "{problem}");
}

#[tokio::test]
async fn a_run_that_was_read_before_is_read_as_it_is_now() {
    let bed = Bed::new();
    let root = bed.begin("nightly", WORKFLOW).await;
    let before = bed.engine.run_now(&root.run).await.unwrap();
    let claimed = bed.claim("w/dev").await;
    let now = bed.engine.run_now(&root.run).await.unwrap();
    assert_eq!(now.seq, before.seq + 1, "only what is new was missing");
    assert_eq!(now.find(&claimed.id).unwrap().handoff, claimed);

    // Another run that is begun under its id is not taken for it.
    bed.engine.cancel(&root, None, &person()).await.unwrap();
    bed.clock.advance(Duration::from_secs(60));
    assert_eq!(bed.engine.store.remove_run(&root.run, bed.now(), bed.now()).await, Ok(2), "the run and its phase");
    let other = bed.begin("nightly", &WORKFLOW.replace("build", "test")).await;
    let begun = bed.engine.run_now(&other.run).await.unwrap();
    assert_eq!(begun.root().handoff, other);
    assert!(begun.find(&claimed.id).is_none(), "{} is of the other run", claimed.id);
}

#[tokio::test]
async fn what_a_run_was_started_with_is_known_to_each_of_its_handoffs_and_to_no_other() {
    let bed = Bed::new();
    let root = bed.begin("nightly", WORKFLOW).await;
    let step = bed.engine.resolve("nightly.build.1").await.unwrap();
    for handoff in [&root, &step] {
        assert_eq!(bed.engine.definition_of(handoff).await.unwrap().unwrap().name(), "w");
    }
    let lone = bed.send(REQUEST, "finder").await;
    assert_eq!(bed.engine.definition_of(&lone).await, Ok(None));
    assert_eq!(bed.engine.definition(&lone.run).await, Ok(None));
}

#[tokio::test]
async fn only_what_waits_for_a_person_has_a_question() {
    let bed = Bed::new();
    let claimed = bed.claimed().await;
    assert_eq!(bed.engine.question(&claimed).await, Ok(None));
    let waiting = bed.report(&claimed, &stop()).await.unwrap().handoff;
    let question = bed.engine.question(&waiting).await.unwrap().unwrap();
    assert_eq!((question.ask, Some(question.shown)), (Ask::Review, waiting.shown()));
    assert_eq!(question.document.unwrap().text, stop());
}
