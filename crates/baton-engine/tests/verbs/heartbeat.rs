//! Staying alive: what whoever has claimed something says while it works.

use std::time::Duration;

use baton_engine::handoff::StateName;
use baton_engine::lifecycle::Refusal;

use crate::bed::{Bed, person, refused};

#[tokio::test]
async fn a_heartbeat_extends_the_lease() {
    let bed = Bed::new();
    let claimed = bed.claimed().await;
    bed.clock.advance(Duration::from_secs(50));
    let alive = bed.engine.heartbeat(&claimed, claimed.fence, None, &person()).await.unwrap().handoff;
    assert_eq!(alive.lease().unwrap().until, bed.now() + Duration::from_secs(60));
    let longer =
        bed.engine.heartbeat(&claimed, claimed.fence, Some(Duration::from_secs(600)), &person()).await.unwrap().handoff;
    assert_eq!(longer.lease().unwrap().until, bed.now() + Duration::from_secs(600));
}

#[tokio::test]
async fn a_token_that_nobody_was_given_extends_nothing() {
    let bed = Bed::new();
    let claimed = bed.claimed().await;
    let given = claimed.fence.next();
    let problem = bed.engine.heartbeat(&claimed, given, None, &person()).await.unwrap_err();
    assert_eq!(problem, refused(&claimed, Refusal::NeverGiven { given }, StateName::Claimed));
}

#[tokio::test]
async fn whoever_was_silent_too_long_learns_that_somebody_else_has_it() {
    let bed = Bed::new();
    let first = bed.claimed().await;
    bed.clock.advance(Duration::from_secs(61));
    bed.engine.rescue().await.unwrap();
    bed.clock.advance(Duration::from_secs(3600));
    let second = bed.claim("finder").await;
    let problem = bed.engine.heartbeat(&first, first.fence, None, &person()).await.unwrap_err();
    let stale = Refusal::Stale { given: first.fence, current: second.fence };
    assert_eq!(problem, refused(&first, stale, StateName::Claimed));
    // Heartbeats carry nothing that would be lost.
    assert_eq!(bed.kinds(&first).await, ["accepted", "claimed", "expired", "claimed"]);
}
