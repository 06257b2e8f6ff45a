//! What all verbs have in common: a command and how it is refused.

use baton_engine::engine::Problem;
use baton_engine::handoff::StateName;
use baton_engine::lifecycle::{Cancel, Claim, Command, Refusal};
use baton_engine::store::StoreError;

use crate::bed::{Bed, person, refused};
use crate::documents::REQUEST;

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
    let problem = bed.engine.apply(&looked_at, claim, Vec::new()).await.unwrap_err();
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
    let gone = bed.engine.apply(&sent, cancel(), Vec::new()).await.unwrap_err();
    assert_eq!(gone, Problem::Store(StoreError::NotFound(sent.id)));
}
