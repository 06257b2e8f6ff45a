//! Saying that a request was understood.

use std::time::Duration;

use baton_engine::engine::{Problem, WantedTerms};
use baton_engine::handoff::{Ask, Handoff, State, StateName};
use baton_engine::lifecycle::Refusal;
use baton_protocol::Kind;

use crate::bed::{Bed, person, refused};
use crate::documents::{NOT_UNDERSTOOD, REPORT, REQUEST, UNDERSTOOD};

fn is_acknowledged(handoff: &Handoff) -> bool {
    handoff.lease().is_some_and(|lease| lease.acknowledged)
}

#[tokio::test]
async fn without_a_document_it_is_understood() {
    let bed = Bed::new();
    let claimed = bed.claimed().await;
    let told = bed.engine.acknowledge(&claimed, claimed.fence, None, &person()).await.unwrap().handoff;
    assert!(is_acknowledged(&told));
}

#[tokio::test]
async fn a_document_says_whether_it_was_understood() {
    let bed = Bed::new();
    let claimed = bed.claimed().await;
    let said = bed.valid(UNDERSTOOD);
    let told = bed.engine.acknowledge(&claimed, claimed.fence, Some(said), &person()).await.unwrap().handoff;
    assert!(is_acknowledged(&told));
    let said = bed.valid(NOT_UNDERSTOOD);
    let asked = bed.engine.acknowledge(&claimed, claimed.fence, Some(said.clone()), &person()).await.unwrap();
    assert_eq!(asked.handoff.state, State::AwaitingPerson { ask: Ask::Clarification });
    // Whoever lost the answer asks again.
    let again = bed.engine.acknowledge(&claimed, claimed.fence, Some(said), &person()).await.unwrap();
    assert_eq!((again.repeated, again.handoff), (true, asked.handoff));
}

#[tokio::test]
async fn only_an_acknowledgment_acknowledges() {
    let bed = Bed::new();
    let claimed = bed.claimed().await;
    let problem =
        bed.engine.acknowledge(&claimed, claimed.fence, Some(bed.valid(REPORT)), &person()).await.unwrap_err();
    assert_eq!(problem, Problem::WrongKind { found: Kind::Report, wanted: Kind::Acknowledgment });
    assert!(!is_acknowledged(&bed.find(&claimed).await));
}

#[tokio::test]
async fn nobody_acknowledges_without_a_claim() {
    let bed = Bed::new();
    let sent = bed.send(REQUEST, "finder").await;
    let problem = bed.engine.acknowledge(&sent, sent.fence.next(), None, &person()).await.unwrap_err();
    assert_eq!(problem, refused(&sent, Refusal::NeverGiven { given: sent.fence.next() }, StateName::Pending));
}

#[tokio::test]
async fn an_acknowledgment_that_comes_too_late_is_journalled() {
    let bed = Bed::new();
    let claimed = bed.claimed().await;
    bed.report(&claimed, REPORT).await.unwrap();
    let problem = bed.engine.acknowledge(&claimed, claimed.fence, None, &person()).await.unwrap_err();
    let over = Refusal::Over { given: claimed.fence, state: StateName::Completed };
    assert_eq!(problem, refused(&claimed, over, StateName::Completed));
    assert_eq!(bed.kinds(&claimed).await.last().unwrap(), "refused");
}

#[tokio::test]
async fn a_report_counts_only_after_the_acknowledgment_where_one_was_agreed() {
    let bed = Bed::new();
    let acknowledge_within = Some(Duration::from_secs(30));
    let terms = WantedTerms { to: Some("finder".to_owned()), acknowledge_within, ..WantedTerms::default() };
    let accept = bed.accept(REQUEST, terms.clone()).unwrap();
    bed.engine.send(vec![accept], &terms).await.unwrap();
    let claimed = bed.claim("finder").await;
    let problem = bed.report(&claimed, REPORT).await.unwrap_err();
    let refusal = Refusal::NotAcknowledged { given: claimed.fence };
    assert_eq!(problem, refused(&claimed, refusal, StateName::Claimed));
    bed.engine.acknowledge(&claimed, claimed.fence, None, &person()).await.unwrap();
    assert_eq!(bed.report(&claimed, REPORT).await.unwrap().handoff.state.name(), StateName::Completed);
}
