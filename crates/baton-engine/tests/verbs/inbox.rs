//! What waits for people.

use std::time::Duration;

use baton_engine::engine::{IdKind, InboxPlace, NotAPlace, Problem};
use baton_engine::handoff::{Ask, Handoff};
use baton_engine::{HandoffId, RunId};

use crate::bed::{Bed, id};
use crate::documents::{REQUEST, stop, with};

/// Sends a task whose report a person must approve.
async fn waiting(bed: &Bed, task: &str) -> Handoff {
    bed.send(&with(REQUEST, "csv-07", task), "finder").await;
    let claimed = bed.claim("finder").await;
    bed.clock.advance(Duration::from_secs(1));
    bed.report(&claimed, &with(&stop(), "csv-07", task)).await.unwrap().handoff
}

async fn page(bed: &Bed, after: Option<&InboxPlace>, limit: u32) -> (Vec<HandoffId>, Option<InboxPlace>, usize) {
    let page = bed.engine.inbox(None, after, limit).await.unwrap();
    (page.waiting.into_iter().map(|(handoff, _)| handoff.id).collect(), page.next, page.more)
}

#[tokio::test]
async fn whatever_waits_for_a_person_is_in_the_inbox_the_longest_first() {
    let bed = Bed::new();
    assert_eq!(page(&bed, None, 10).await, (vec![], None, 0));
    // The order of the ids is another one.
    waiting(&bed, "csv-09").await;
    waiting(&bed, "csv-08").await;
    bed.claimed().await;
    assert_eq!(page(&bed, None, 10).await, (vec![id("csv-09.research"), id("csv-08.research")], None, 0));
    let asked = bed.engine.inbox(None, None, 10).await.unwrap().waiting.remove(0).1;
    assert_eq!((asked.handoff, asked.ask), (id("csv-09.research"), Ask::Review));
}

#[tokio::test]
async fn a_page_goes_on_where_the_one_before_it_ended_although_that_is_decided_by_now() {
    let bed = Bed::new();
    let first = waiting(&bed, "csv-01").await;
    for task in ["csv-02", "csv-03"] {
        waiting(&bed, task).await;
    }
    let (ids, next, more) = page(&bed, None, 1).await;
    assert_eq!((ids, more), (vec![id("csv-01.research")], 2));
    bed.engine.cancel(&first, None, &crate::bed::person()).await.unwrap();
    // It goes through a door as text.
    let place: InboxPlace = next.unwrap().to_string().parse().unwrap();
    assert_eq!(place, InboxPlace::of(&first));
    assert_eq!(page(&bed, Some(&place), 10).await, (vec![id("csv-02.research"), id("csv-03.research")], None, 0));
}

#[tokio::test]
async fn one_run_can_be_looked_at_alone_and_an_unknown_one_is_said_to_be_unknown() {
    let bed = Bed::new();
    let gate = "name: w\nphases: [{id: go, gate: {title: Ship it?}}]\n";
    let run = bed.begin("r", gate).await;
    waiting(&bed, "csv-01").await;
    let page = bed.engine.inbox(Some(&run.run), None, 10).await.unwrap();
    assert_eq!(page.waiting.iter().map(|(handoff, _)| handoff.id.as_str()).collect::<Vec<_>>(), ["r.go.1"]);
    let nowhere = RunId::parse("nowhere").unwrap();
    let unknown = Problem::Unknown { sought: IdKind::Run, given: "nowhere".to_owned(), close: None };
    assert_eq!(bed.engine.inbox(Some(&nowhere), None, 10).await.unwrap_err(), unknown);
}

#[test]
fn a_place_is_a_time_and_an_id() {
    for wrong in ["", "csv-07", "yesterday/csv-07", "2026-01-31T12:00:00Z/../x"] {
        assert_eq!(wrong.parse::<InboxPlace>(), Err(NotAPlace), "{wrong}");
    }
}
