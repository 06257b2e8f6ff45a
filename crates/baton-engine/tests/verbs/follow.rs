//! Reading a journal as it grows.

use baton_engine::journal::Event;

use crate::bed::Bed;
use crate::documents::REPORT;

fn kinds(events: Option<Vec<Event>>) -> Vec<String> {
    events.expect("it is not over").iter().map(|event| event.kind.to_string()).collect()
}

#[tokio::test]
async fn events_come_as_they_are_written_until_the_handoff_is_finished() {
    let bed = Bed::new();
    let claimed = bed.claimed().await;
    let mut follower = bed.engine.follow(&claimed, 0, &|_| {});
    assert_eq!(kinds(follower.next().await.unwrap()), ["accepted", "claimed"]);
    let (events, _) = tokio::join!(follower.next(), bed.report(&claimed, REPORT));
    assert_eq!(kinds(events.unwrap()), ["reported"], "it was waited for");
    assert!(follower.next().await.unwrap().is_none(), "nothing more will happen");
}

#[tokio::test]
async fn what_was_read_before_is_not_read_again() {
    let bed = Bed::new();
    let claimed = bed.claimed().await;
    bed.report(&claimed, REPORT).await.unwrap();
    let mut follower = bed.engine.follow(&claimed, 1, &|_| {});
    assert_eq!(kinds(follower.next().await.unwrap()), ["claimed", "reported"]);
    assert!(follower.next().await.unwrap().is_none());
}
