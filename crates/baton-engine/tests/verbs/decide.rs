//! Deciding what waits for a person.

use baton_engine::Handoff;
use baton_engine::engine::{AppliedCommand, Caller, Door, GivenDecision, Problem};
use baton_engine::handoff::{Digest, StateName};
use baton_engine::known::Decider;
use baton_engine::lifecycle::{Decide, Decision, Refusal};
use baton_engine::people::Response;
use baton_engine::token::AccessRole;

use crate::bed::{Bed, agent, id, person, refused};
use crate::documents::{NOT_UNDERSTOOD, stop};

/// A handoff whose report a person must approve.
async fn waiting(bed: &Bed) -> Handoff {
    let claimed = bed.claimed().await;
    bed.report(&claimed, &stop()).await.unwrap().handoff
}

/// The decision of somebody who was shown what is there.
async fn decision(bed: &Bed, handoff: &Handoff, decision: Decision) -> Decide {
    let question = bed.engine.question(handoff).await.unwrap().unwrap();
    question.decided(Response { decision, note: None, by: person().decider, door: Door::CommandLine })
}

async fn decide(bed: &Bed, handoff: &Handoff, decide: Decide, caller: &Caller) -> Result<AppliedCommand, Problem> {
    bed.engine.decide(handoff, decide, caller).await
}

#[tokio::test]
async fn a_person_approves_what_was_shown() {
    let bed = Bed::new();
    let waiting = waiting(&bed).await;
    let approve = decision(&bed, &waiting, Decision::Approve).await;
    let done = decide(&bed, &waiting, approve, &person()).await.unwrap().handoff;
    assert_eq!(done.state.name(), StateName::Completed);
}

#[tokio::test]
async fn a_token_decides_only_if_it_is_that_of_a_person() {
    let bed = Bed::new();
    let waiting = waiting(&bed).await;
    let owner =
        |role| Caller { decider: Decider::token("bo", "tok-1"), door: Door::Http, role: Some(role), ..person() };
    for role in [AccessRole::Viewer, AccessRole::Agent] {
        let approve = decision(&bed, &waiting, Decision::Approve).await;
        assert_eq!(decide(&bed, &waiting, approve, &owner(role)).await, Err(Problem::NotAPerson(role)));
    }
    let approve = Decide { by: "bo".to_owned(), ..decision(&bed, &waiting, Decision::Approve).await };
    let done = decide(&bed, &waiting, approve, &owner(AccessRole::Approver)).await.unwrap().handoff;
    assert_eq!(done.state.name(), StateName::Completed);
}

#[tokio::test]
async fn a_rejection_sends_the_work_back_with_the_reason() {
    let bed = Bed::new();
    let waiting = waiting(&bed).await;
    let reject = decision(&bed, &waiting, Decision::Reject { feedback: "Name the trait.".to_owned() }).await;
    let back = decide(&bed, &waiting, reject, &person()).await.unwrap().handoff;
    assert_eq!((back.state.name(), back.notes[0].text.as_str()), (StateName::Pending, "Name the trait."));
}

#[tokio::test]
async fn an_answer_goes_to_whoever_asked() {
    let bed = Bed::new();
    let claimed = bed.claimed().await;
    let asked = bed
        .engine
        .acknowledge(&claimed, claimed.fence, Some(bed.valid(NOT_UNDERSTOOD)), &person())
        .await
        .unwrap()
        .handoff;
    let answer = decision(&bed, &asked, Decision::Answer { answers: "Yes, it is.".to_owned() }).await;
    let back = decide(&bed, &asked, answer, &person()).await.unwrap().handoff;
    assert_eq!((back.state.name(), back.notes[0].text.as_str()), (StateName::Pending, "Yes, it is."));
    assert_eq!(back.notes[0].question.as_deref(), Some("Is the virus scanner itself part of the path?"));
}

#[tokio::test]
async fn nobody_decides_from_inside_the_work_on_a_handoff() {
    let bed = Bed::new();
    let waiting = waiting(&bed).await;
    let approve = decision(&bed, &waiting, Decision::Approve).await;
    let inside = decide(&bed, &waiting, approve, &agent()).await;
    assert_eq!(inside, Err(Problem::InsideWork(id("some.other.work"))));
    assert_eq!(bed.find(&waiting).await, waiting);
}

#[tokio::test]
async fn whoever_was_shown_something_else_decides_nothing() {
    let bed = Bed::new();
    let waiting = waiting(&bed).await;
    let approve = decision(&bed, &waiting, Decision::Approve).await;
    let blind = Decide { shown: Digest::of(b"an older report"), ..approve };
    let changed = Refusal::Changed { current: waiting.shown() };
    let problem = decide(&bed, &waiting, blind, &person()).await.unwrap_err();
    assert_eq!(problem, refused(&waiting, changed, StateName::AwaitingPerson));
}

#[tokio::test]
async fn what_was_asked_for_approval_is_not_answered_in_words() {
    let bed = Bed::new();
    let waiting = waiting(&bed).await;
    let answer = decision(&bed, &waiting, Decision::Answer { answers: "Fine.".to_owned() }).await;
    let problem = decide(&bed, &waiting, answer, &person()).await.unwrap_err();
    assert!(matches!(problem, Problem::Refused { refusal: Refusal::OtherQuestion { .. }, .. }), "{problem}");
}

#[tokio::test]
async fn what_is_decided_is_not_decided_again() {
    let bed = Bed::new();
    let waiting = waiting(&bed).await;
    let approve = decision(&bed, &waiting, Decision::Approve).await;
    decide(&bed, &waiting, approve.clone(), &person()).await.unwrap();
    let problem = decide(&bed, &waiting, approve, &person()).await.unwrap_err();
    let Problem::AlreadyDecided { decided, refusal, state, .. } = &problem else { panic!("{problem}") };
    assert_eq!((decided.decision.clone(), *state), (Decision::Approve, StateName::Completed));
    assert_eq!(refusal, &Refusal::WrongState { state: StateName::Completed, participle: "decided about" });
}

/// A decision as a door has it, of somebody who was shown what is there.
fn given(handoff: &Handoff, decision: Decision) -> GivenDecision {
    let shown = handoff.shown().map(|shown| shown.0).unwrap_or_default();
    GivenDecision { decision, shown, note: Some("  ".to_owned()), label: None, signature: None }
}

#[tokio::test]
async fn words_mean_what_was_offered_and_a_blank_note_is_none() {
    let bed = Bed::new();
    let claimed = bed.claimed().await;
    let text = r#"{"baton": 1, "document": "report", "id": "csv-07", "outcome": "needs_clarification",
        "summary": "Found two functions in src/csv.rs that write rows, write_row and put_row.",
        "questions": [{"question": "Which of the two?", "options": ["write_row", "put_row"]}]}"#;
    let asked = bed.report(&claimed, text).await.unwrap().handoff;
    let question = bed.engine.question(&asked).await.unwrap();
    let decision = |words: &str| {
        let given = given(&asked, Decision::Answer { answers: words.to_owned() });
        bed.engine.decision(&asked, question.as_ref(), given, &person())
    };
    for (words, meant) in [("2", "put_row"), (" Write_Row\n", "write_row"), (" both ", "both"), ("3", "3")] {
        let decide = decision(words).unwrap();
        assert_eq!((decide.decision.words(), decide.note), (Some(meant), None), "{words}");
    }
    let silent = Problem::NothingSaid { id: asked.id.clone(), what: "the answer" };
    assert_eq!(decision(" \n"), Err(silent.clone()));
    // Whoever makes the record without asking what it means says nothing either.
    let mut blank = decision("both").unwrap();
    blank.decision = Decision::Answer { answers: " ".to_owned() };
    assert_eq!(bed.engine.decide(&asked, blank, &person()).await, Err(silent));
}

#[tokio::test]
async fn the_beginning_of_a_digest_names_it_unless_it_is_too_short() {
    let bed = Bed::new();
    let waiting = waiting(&bed).await;
    let whole = waiting.shown().unwrap();
    let question = bed.engine.question(&waiting).await.unwrap();
    let decision = |letters: usize| {
        let given = GivenDecision { shown: whole.0[..letters].to_uppercase(), ..given(&waiting, Decision::Approve) };
        bed.engine.decision(&waiting, question.as_ref(), given, &person())
    };
    assert_eq!(decision(12).unwrap().shown, whole);
    assert!(matches!(decision(11), Err(Problem::ShownTooShort { .. })));
}
