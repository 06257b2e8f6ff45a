//! Handing in what came out of an attempt.

use std::time::Duration;

use baton_engine::engine::{HandedIn, NoAnswer, Problem, WantedTerms, Yardstick};
use baton_engine::handoff::{Ask, State, StateName};
use baton_engine::journal::Fact;
use baton_engine::lifecycle::Refusal;
use baton_engine::store::{ClaimedHandoff, StoreError};
use baton_protocol::Kind;
use baton_protocol::model::Document;

use crate::bed::{Bed, id, person, refused};
use crate::documents::{PACKAGE, REPORT, REQUEST, UNDERSTOOD, native, returned, stop, with};

#[tokio::test]
async fn a_complete_report_completes_and_saying_it_again_is_harmless() {
    let bed = Bed::new();
    let claimed = bed.claimed().await;
    let first = bed.report(&claimed, REPORT).await.unwrap();
    assert_eq!((first.handoff.state.name(), first.repeated), (StateName::Completed, false));
    let again = bed.report(&claimed, REPORT).await.unwrap();
    assert_eq!((again.handoff, again.repeated), (first.handoff, true));
    assert_eq!(bed.kinds(&claimed).await, ["accepted", "claimed", "reported"]);
}

#[tokio::test]
async fn another_report_of_the_same_claim_is_late_and_is_journalled() {
    let bed = Bed::new();
    let claimed = bed.claimed().await;
    bed.report(&claimed, REPORT).await.unwrap();
    let other = with(REPORT, "the only writer", "one of two writers");
    let over = Refusal::Over { given: claimed.fence, state: StateName::Completed };
    assert_eq!(bed.report(&claimed, &other).await, Err(refused(&claimed, over, StateName::Completed)));
    let last = bed.engine.store.history_of(&claimed.id).await.unwrap().pop().unwrap();
    let Fact::Refused(refused) = last.fact().unwrap() else { panic!("{}", last.kind) };
    assert_eq!(refused.document.unwrap().text, other);
}

#[tokio::test]
async fn the_report_of_an_older_claim_has_no_effect_and_is_journalled() {
    let bed = Bed::new();
    let first = bed.claimed().await;
    bed.clock.advance(Duration::from_secs(61));
    bed.engine.rescue().await.unwrap();
    bed.clock.advance(Duration::from_secs(3600));
    let second = bed.claim("finder").await;
    let stale = Refusal::Stale { given: first.fence, current: second.fence };
    assert_eq!(bed.report(&first, REPORT).await, Err(refused(&first, stale, StateName::Claimed)));
    assert_eq!(bed.kinds(&first).await, ["accepted", "claimed", "expired", "claimed", "refused"]);
    assert_eq!(bed.report(&second, REPORT).await.unwrap().handoff.state.name(), StateName::Completed);
}

#[tokio::test]
async fn a_token_that_nobody_was_given_is_refused_and_leaves_no_trace() {
    let bed = Bed::new();
    let mut claimed = bed.claimed().await;
    claimed.fence = claimed.fence.next();
    let refusal = Refusal::NeverGiven { given: claimed.fence };
    assert_eq!(bed.report(&claimed, REPORT).await, Err(refused(&claimed, refusal, StateName::Claimed)));
    assert_eq!(bed.kinds(&claimed).await, ["accepted", "claimed"]);
}

#[tokio::test]
async fn what_is_not_a_report_does_not_end_an_attempt() {
    let bed = Bed::new();
    let claimed = bed.claimed().await;
    let wrong = |found| Err(Problem::WrongKind { found, wanted: Kind::Report });
    assert_eq!(bed.report(&claimed, UNDERSTOOD).await, wrong(Kind::Acknowledgment));
    assert_eq!(bed.report(&claimed, REQUEST).await, wrong(Kind::Request));
    assert_eq!(bed.find(&claimed).await, claimed);
}

#[tokio::test]
async fn a_report_that_does_not_say_how_the_work_ended_is_not_guessed_to_be_complete() {
    let bed = Bed::new();
    let claimed = bed.claimed().await;
    let mut document = bed.valid(REPORT);
    let Document::Report(report) = &mut document.document else { panic!("a report") };
    report.outcome = None;
    let yardstick = Yardstick::of_project(&bed.engine.settings);
    let claimed = ClaimedHandoff { request: bed.engine.request(&claimed.id).await.unwrap(), handoff: claimed };
    let handed_in = HandedIn::of(&claimed, &yardstick, document);
    assert_eq!(bed.engine.report(handed_in, Vec::new(), &person()).await, Err(Problem::NoAnswer(NoAnswer::NoOutcome)));
}

#[tokio::test]
async fn a_package_can_be_the_result_but_not_the_request_itself() {
    let bed = Bed::new();
    bed.send(PACKAGE, "security-review").await;
    let claimed = bed.claim("security-review").await;
    let itself = Err(Problem::NoAnswer(NoAnswer::RequestItself));
    assert_eq!(bed.report(&claimed, PACKAGE).await, itself);
    // Other words between the same two are still the request.
    assert_eq!(bed.report(&claimed, &with(PACKAGE, "24 hours", "48 hours")).await, itself);
    assert_eq!(bed.report(&claimed, &returned()).await.unwrap().handoff.state.name(), StateName::Completed);
}

#[tokio::test]
async fn whoever_says_stop_outside_of_a_run_lets_a_person_look() {
    let bed = Bed::new();
    let claimed = bed.claimed().await;
    let waiting = bed.report(&claimed, &stop()).await.unwrap().handoff;
    assert_eq!(waiting.state, State::AwaitingPerson { ask: Ask::Review });
}

#[tokio::test]
async fn a_package_that_escalates_outside_of_a_run_asks_a_person() {
    let bed = Bed::new();
    bed.send(PACKAGE, "security-review").await;
    let claimed = bed.claim("security-review").await;
    let escalation =
        with(&returned(), "type: return", "type: escalation").replace("agent: architecture", "agent: human");
    let waiting = bed.report(&claimed, &escalation).await.unwrap().handoff;
    assert_eq!(waiting.state, State::AwaitingPerson { ask: Ask::Clarification });
}

#[tokio::test]
async fn a_report_of_failure_leads_to_another_attempt() {
    let bed = Bed::new();
    let claimed = bed.claimed().await;
    let failed = native(r#""summary": "The index is locked.", "id": "csv-07""#).replace("complete", "failed");
    let next = bed.report(&claimed, &failed).await.unwrap().handoff;
    assert_eq!((next.state.name(), next.attempts), (StateName::Pending, 1));
    assert_eq!(bed.kinds(&claimed).await, ["accepted", "claimed", "failed"]);
}

#[tokio::test]
async fn what_comes_next_is_sent_with_a_complete_report_and_with_no_other() {
    let bed = Bed::new();
    let claimed = bed.claimed().await;
    let terms = WantedTerms { to: Some("writer".to_owned()), ..WantedTerms::default() };
    let next = || vec![bed.accept(&with(REQUEST, "csv-07", "csv-08"), terms.clone()).unwrap()];
    assert_eq!(bed.report_and_send(&claimed, &stop(), next()).await, Err(Problem::NotComplete));
    assert!(matches!(bed.engine.resolve("csv-08").await, Err(Problem::Unknown { .. })));
    bed.report_and_send(&claimed, REPORT, next()).await.unwrap();
    assert_eq!(bed.engine.resolve("csv-08").await.unwrap().terms.to, "writer");
}

#[tokio::test]
async fn a_report_and_what_comes_next_are_one_transaction() {
    let bed = Bed::new();
    let claimed = bed.claimed().await;
    let terms = WantedTerms { to: Some("writer".to_owned()), ..WantedTerms::default() };
    // The id of the next one is taken.
    let next = vec![bed.accept(&with(REQUEST, "rows", "columns"), terms).unwrap()];
    let taken = StoreError::Taken { what: "id", value: "csv-07.research".to_owned(), existing: id("csv-07.research") };
    assert_eq!(bed.report_and_send(&claimed, REPORT, next).await, Err(Problem::Store(taken)));
    assert_eq!(bed.find(&claimed).await, claimed);
}

#[tokio::test]
async fn nothing_comes_next_after_a_late_report_which_is_journalled_all_the_same() {
    let bed = Bed::new();
    let claimed = bed.claimed().await;
    bed.report(&claimed, REPORT).await.unwrap();
    let terms = WantedTerms { to: Some("writer".to_owned()), ..WantedTerms::default() };
    let next = vec![bed.accept(&with(REQUEST, "csv-07", "csv-08"), terms).unwrap()];
    let other = with(REPORT, "the only writer", "one of two writers");
    let over = Refusal::Over { given: claimed.fence, state: StateName::Completed };
    let late = bed.report_and_send(&claimed, &other, next).await;
    assert_eq!(late, Err(refused(&claimed, over, StateName::Completed)));
    assert_eq!(bed.kinds(&claimed).await, ["accepted", "claimed", "reported", "refused"]);
    assert!(matches!(bed.engine.resolve("csv-08").await, Err(Problem::Unknown { .. })));
}
