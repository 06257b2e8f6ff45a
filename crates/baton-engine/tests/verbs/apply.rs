//! What all verbs have in common: a command and how it is refused.

use baton_engine::engine::{AppliedCommand, Problem, WantedTerms};
use baton_engine::handoff::StateName;
use baton_engine::lifecycle::{Cancel, Claim, Command, Refusal};
use baton_engine::store::StoreError;
use baton_engine::{Code, Failure};

use crate::bed::{Bed, person, refused};
use crate::documents::{REPORT, REQUEST};

fn cancel() -> Command {
    Command::Cancel(Cancel { by: "ana".to_owned(), reason: None })
}

#[tokio::test]
async fn whatever_would_be_refused_can_be_foreseen_and_nothing_is_written() {
    let bed = Bed::new();
    let claimed = bed.claimed().await;
    assert_eq!(bed.engine.foresee(&claimed, cancel()), None);
    let wrong = Refusal::WrongState { state: StateName::Claimed, participle: "claimed" };
    let foreseen = bed.engine.foresee(&claimed, Command::Claim(Claim::by("somebody", 1_000)));
    assert_eq!(foreseen, Some(refused(&claimed, wrong, StateName::Claimed)));
    assert_eq!(bed.find(&claimed).await, claimed);
}

#[tokio::test]
async fn a_refusal_names_the_state_that_the_handoff_is_in_now() {
    let bed = Bed::new();
    // Somebody has claimed it since it was looked at.
    let looked_at = bed.send(REQUEST, "finder").await;
    bed.claim("finder").await;
    let claim = Command::Claim(Claim::by("somebody", 1_000));
    let problem = bed.engine.apply(&looked_at, claim, Vec::new(), &person()).await.unwrap_err();
    let wrong = Refusal::WrongState { state: StateName::Claimed, participle: "claimed" };
    assert_eq!(problem, refused(&looked_at, wrong, StateName::Claimed));
}

#[tokio::test]
async fn what_was_pruned_is_not_found() {
    let bed = Bed::new();
    let sent = bed.send(REQUEST, "finder").await;
    bed.engine.cancel(&sent, None, &person()).await.unwrap();
    bed.clock.advance(std::time::Duration::from_secs(1));
    bed.engine.store.remove_run(&sent.run, bed.now(), bed.now()).await.unwrap();
    let gone = bed.engine.apply(&sent, cancel(), Vec::new(), &person()).await.unwrap_err();
    assert_eq!(gone, Problem::Store(StoreError::NotFound(sent.id)));
}

const WORK: &str = "name: work\nagents: {dev: {command: [dev]}, qa: {queue: true}}\n\
    phases: [{id: build, agent: dev}]\n";

#[tokio::test]
async fn only_the_driver_reports_about_what_it_works_on() {
    let bed = Bed::new();
    let run = bed.begin("t", WORK).await;
    let work = bed.engine.resolve("t.build.1").await.unwrap();
    for handoff in [&run, &work] {
        let drivers: Result<AppliedCommand, Problem> =
            Err(Problem::DriversWork { id: handoff.id.clone(), run: run.run.clone() });
        let (fence, failure) = (handoff.fence, Failure::new(Code::timeout(), "late"));
        assert_eq!(bed.engine.heartbeat(handoff, fence, None, &person()).await, drivers);
        assert_eq!(bed.engine.acknowledge(handoff, fence, None, &person()).await, drivers);
        assert_eq!(bed.engine.fail(handoff, fence, failure, None, Vec::new(), &person()).await, drivers);
        assert_eq!(bed.engine.held(handoff, fence), drivers.clone().map(drop));
        assert_eq!(bed.report(handoff, REPORT).await, drivers);
        // Nor does anybody answer in place of whom its driver finds.
        let mut accept =
            bed.accept(REQUEST, WantedTerms { to: Some("qa".to_owned()), ..WantedTerms::default() }).unwrap();
        accept.terms.returns_to = Some(handoff.id.clone());
        assert_eq!(bed.engine.send(vec![accept], &WantedTerms::default()).await.map(drop), drivers.map(drop));
        assert_eq!(&bed.find(handoff).await, handoff, "nothing has changed");
    }
}
