//! From what somebody types to a handoff or a run.

use std::time::Duration;

use baton_engine::engine::{IdKind, Problem};
use baton_engine::handoff::Handoff;

use crate::bed::{Bed, id, person};
use crate::documents::{NAMELESS, PACKAGE, REQUEST, with};

/// A workflow whose first phase somebody claims from the queue.
const WORKFLOW: &str = "name: w\nagents: {dev: {queue: true}}\nphases: [{id: build, agent: dev}]\n";

async fn prune(bed: &Bed, handoff: &Handoff) {
    bed.engine.cancel(handoff, None, &person()).await.unwrap();
    bed.clock.advance(Duration::from_secs(1));
    let removed = bed.engine.store.remove_run(&handoff.run, bed.now(), bed.now()).await.unwrap();
    assert_eq!(removed, 1);
}

#[tokio::test]
async fn an_id_and_a_unique_beginning_of_it_mean_the_same_handoff() {
    let bed = Bed::new();
    let sent = bed.send(REQUEST, "finder").await;
    for given in ["csv-07.research", "csv-07", "c"] {
        assert_eq!(bed.engine.resolve(given).await, Ok(sent.clone()), "{given}");
    }
}

#[tokio::test]
async fn what_all_made_ids_have_in_common_need_not_be_typed() {
    let bed = Bed::new();
    let sent = bed.send(NAMELESS, "finder").await;
    assert_eq!(sent.id, id("hoff-0000000000000001"));
    assert_eq!(bed.engine.resolve("0000").await, Ok(sent));
}

#[tokio::test]
async fn an_id_that_is_also_the_beginning_of_others_means_itself() {
    let bed = Bed::new();
    let short = bed.send(PACKAGE, "finder").await;
    bed.send(&with(PACKAGE, "HO-2026-031", "HO-2026-031-b"), "finder").await;
    assert_eq!(bed.engine.resolve("HO-2026-031").await, Ok(short));
}

#[tokio::test]
async fn a_beginning_of_several_is_ambiguous_and_names_them() {
    let bed = Bed::new();
    bed.send(REQUEST, "finder").await;
    bed.send(&with(REQUEST, "csv-07", "csv-08"), "finder").await;
    let ids = vec![id("csv-07.research"), id("csv-08.research")];
    assert_eq!(bed.engine.resolve("csv").await, Err(Problem::Ambiguous { given: "csv".to_owned(), ids }));
}

#[tokio::test]
async fn an_unknown_id_comes_with_the_one_that_was_probably_meant() {
    let bed = Bed::new();
    let unknown = |given: &str, close| Problem::Unknown { sought: IdKind::Handoff, given: given.to_owned(), close };
    assert_eq!(bed.engine.resolve("csv-7.research").await, Err(unknown("csv-7.research", None)));
    let sent = bed.send(REQUEST, "finder").await;
    assert_eq!(bed.engine.resolve("csv-7.research").await, Err(unknown("csv-7.research", Some(sent.id))));
    // The empty text is a prefix of every id, and some texts cannot be an id.
    assert_eq!(bed.engine.resolve("").await, Err(unknown("", None)));
    assert_eq!(bed.engine.resolve("../csv").await, Err(unknown("../csv", None)));
}

#[tokio::test]
async fn whatever_was_pruned_is_said_to_be_pruned() {
    let bed = Bed::new();
    let sent = bed.send(REQUEST, "finder").await;
    prune(&bed, &sent).await;
    let pruned = Problem::Pruned { run: sent.run.clone(), at: bed.now() };
    assert_eq!(bed.engine.resolve("csv-07.research").await, Err(pruned.clone()));
    assert_eq!(bed.engine.resolve("csv-07.research.review.1").await, Err(pruned));
}

#[tokio::test]
async fn the_id_of_something_that_was_pruned_is_not_the_beginning_of_something_else() {
    let bed = Bed::new();
    let sent = bed.send(PACKAGE, "finder").await;
    prune(&bed, &sent).await;
    let longer = bed.send(&with(PACKAGE, "HO-2026-031", "HO-2026-031-b"), "finder").await;
    assert!(matches!(bed.engine.resolve("HO-2026-031").await, Err(Problem::Pruned { .. })));
    assert_eq!(bed.engine.resolve("HO-2026-031-").await, Ok(longer));
}

#[tokio::test]
async fn the_beginning_of_a_run_means_the_run_and_not_what_is_in_it() {
    let bed = Bed::new();
    let run = bed.begin("nightly", WORKFLOW).await;
    assert_eq!(bed.engine.resolve("night").await, Ok(run.clone()));
    assert_eq!(bed.engine.resolve("nightly.b").await.unwrap().id, id("nightly.build.1"));
    // A second run makes the beginning ambiguous again.
    let other = bed.begin("nightly-2", WORKFLOW).await;
    let ids = vec![run.id, other.id];
    assert_eq!(bed.engine.resolve("night").await, Err(Problem::Ambiguous { given: "night".to_owned(), ids }));
}

#[tokio::test]
async fn a_handoff_of_a_run_means_its_run() {
    let bed = Bed::new();
    let run = bed.begin("nightly", WORKFLOW).await;
    for given in ["nightly", "nightly.build.1", "nightly.b"] {
        assert_eq!(bed.engine.resolve_run(given).await, Ok(run.clone()), "{given}");
    }
}

#[tokio::test]
async fn a_lone_handoff_has_no_run_of_a_workflow_and_an_unknown_run_is_unknown() {
    let bed = Bed::new();
    let sent = bed.send(REQUEST, "finder").await;
    assert_eq!(bed.engine.resolve_run("csv-07").await, Err(Problem::NotOfARun(sent.id)));
    let unknown = Problem::Unknown { sought: IdKind::Run, given: "nightly".to_owned(), close: None };
    assert_eq!(bed.engine.resolve_run("nightly").await, Err(unknown));
}
