//! Sending requests: whose terms count, what cannot be agreed to, and what is the same request again.

use std::time::Duration;

use baton_engine::Priority;
use baton_engine::engine::{Problem, TermsFault, WantedTerms, WantedTime, agent_name, plain_key};
use baton_engine::handoff::StateName;
use baton_engine::store::StoreError;
use baton_protocol::Kind;

use crate::bed::{Bed, id};
use crate::documents::{NAMELESS, PACKAGE, REPORT, REQUEST, with};

fn to_finder() -> WantedTerms {
    WantedTerms { to: Some("finder".to_owned()), ..WantedTerms::default() }
}

fn hours(hours: u64) -> Duration {
    Duration::from_secs(hours * 3600)
}

#[tokio::test]
async fn a_request_says_between_whom_and_the_sender_can_say_otherwise() {
    let bed = Bed::new();
    let asked = bed.accept(PACKAGE, WantedTerms::default()).unwrap();
    assert_eq!((asked.terms.from.as_str(), asked.terms.to.as_str()), ("architecture", "security-review"));
    let terms = WantedTerms {
        to: Some("@auditor".to_owned()),
        from: Some("ben".to_owned()),
        priority: Some(Priority::Critical),
        ..WantedTerms::default()
    };
    let wanted = bed.accept(PACKAGE, terms).unwrap();
    // `@auditor` is a way to address `auditor`.
    assert_eq!((wanted.terms.from.as_str(), wanted.terms.to.as_str()), ("ben", "auditor"));
    assert_eq!(wanted.terms.priority, Priority::Critical);
}

#[tokio::test]
async fn whoever_sends_hands_over_if_nobody_else_says_who_does() {
    let bed = Bed::new();
    let sent = bed.send(REQUEST, "finder").await;
    assert_eq!((sent.terms.from.as_str(), sent.state.name()), ("ana", StateName::Pending));
    assert_eq!((sent.id, sent.run.as_str()), (id("csv-07.research"), "csv-07.research"));
}

#[tokio::test]
async fn a_request_without_an_id_gets_one_that_nobody_has() {
    let bed = Bed::new();
    let (one, other) = (bed.send(NAMELESS, "finder").await, bed.send(NAMELESS, "finder").await);
    assert_ne!(one.id, other.id);
}

#[tokio::test]
async fn what_is_not_a_request_is_not_sent() {
    let bed = Bed::new();
    let problem = bed.accept(REPORT, to_finder()).unwrap_err();
    assert_eq!(problem, Problem::WrongKind { found: Kind::Report, wanted: Kind::Request });
}

#[tokio::test]
async fn terms_that_nobody_can_keep_are_not_agreed_to() {
    let bed = Bed::new();
    let now = bed.now();
    let fault = |terms| match bed.accept(REQUEST, terms).unwrap_err() {
        Problem::Terms(fault) => fault,
        other => panic!("{other}"),
    };
    assert_eq!(fault(WantedTerms::default()), TermsFault::NoReceiver);
    let passed = WantedTerms { deadline: Some(WantedTime::At(now)), ..to_finder() };
    assert_eq!(fault(passed), TermsFault::DeadlinePassed(now));
    let backwards = WantedTerms {
        not_before: Some(WantedTime::In(hours(2))),
        deadline: Some(WantedTime::In(hours(1))),
        ..to_finder()
    };
    assert_eq!(fault(backwards), TermsFault::DeadlineBeforeStart);
    let none = Some(Duration::from_micros(10));
    assert_eq!(fault(WantedTerms { timeout: none, ..to_finder() }), TermsFault::NoTime("the timeout"));
    let pick_up = WantedTerms { pick_up_within: none, ..to_finder() };
    assert_eq!(fault(pick_up), TermsFault::NoTime("the time to be claimed"));
    let acknowledge = WantedTerms { acknowledge_within: none, ..to_finder() };
    assert_eq!(fault(acknowledge), TermsFault::NoTime("the time to be acknowledged"));
    let endless = WantedTerms { max_retries: Some(u32::MAX), ..to_finder() };
    assert!(matches!(fault(endless), TermsFault::Retry(_)));
    let unnamed = WantedTerms { to: Some("  ".to_owned()), ..WantedTerms::default() };
    assert!(matches!(fault(unnamed), TermsFault::Receiver(_)));
}

#[tokio::test]
async fn the_same_request_under_the_same_key_is_the_same_handoff() {
    let bed = Bed::new();
    let terms = WantedTerms { key: Some("nightly".to_owned()), ..to_finder() };
    let mut existing = Vec::new();
    for _ in 0..2 {
        let accept = bed.accept(REQUEST, terms.clone()).unwrap();
        existing.push(bed.engine.send(vec![accept], &terms).await.unwrap().remove(0).existing);
    }
    assert_eq!(existing, [false, true]);
    let other = bed.accept(&with(REQUEST, "csv-07", "csv-08"), terms.clone()).unwrap();
    let taken = StoreError::Taken { what: "key", value: "nightly".to_owned(), existing: id("csv-07.research") };
    assert_eq!(bed.engine.send(vec![other], &terms).await, Err(Problem::Store(taken)));
}

#[tokio::test]
async fn a_duration_counts_from_the_first_time_that_a_request_was_sent() {
    let bed = Bed::new();
    let send = async |terms: &WantedTerms| {
        let accept = bed.accept(REQUEST, terms.clone()).unwrap();
        bed.engine.send(vec![accept], terms).await.map(|mut accepted| accepted.remove(0))
    };
    let within = |hours_left| WantedTerms { deadline: Some(WantedTime::In(hours(hours_left))), ..to_finder() };
    let first = send(&within(2)).await.unwrap();
    let deadline = first.handoff.terms.deadline;
    assert_eq!(deadline, Some(bed.now() + hours(2)));
    bed.clock.advance(hours(1));
    let again = send(&within(2)).await.unwrap();
    assert_eq!((again.existing, again.handoff.terms.deadline), (true, deadline));
    // Another duration is another request.
    let taken = StoreError::Taken { what: "id", value: "csv-07.research".to_owned(), existing: first.handoff.id };
    assert_eq!(send(&within(3)).await, Err(Problem::Store(taken)));
}

#[tokio::test]
async fn of_several_requests_all_are_sent_or_none() {
    let bed = Bed::new();
    bed.send(REQUEST, "finder").await;
    let new = bed.accept(&with(REQUEST, "csv-07", "csv-08"), to_finder()).unwrap();
    let taken = bed.accept(&with(REQUEST, "rows", "columns"), to_finder()).unwrap();
    let problem = bed.engine.send(vec![new, taken], &to_finder()).await.unwrap_err();
    assert!(matches!(problem, Problem::Store(StoreError::Taken { what: "id", .. })), "{problem}");
    assert!(matches!(bed.engine.resolve("csv-08").await, Err(Problem::Unknown { .. })));
}

#[test]
fn names_and_keys_are_plain_text() {
    assert_eq!(agent_name("@finder").unwrap(), "finder");
    for wrong in ["", " finder", "find\u{1b}er", &"x".repeat(129)] {
        assert!(agent_name(wrong).is_err(), "{wrong:?}");
    }
    assert!(plain_key(&"x".repeat(256)).is_ok());
    assert!(plain_key(&"x".repeat(257)).is_err());
}
