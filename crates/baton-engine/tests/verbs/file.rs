//! Filing work that was done in a session which nobody here drives.

use baton_engine::engine::{Door, FiledEnd, FiledWork, RefusedText};
use baton_engine::evidence::{ClaimFinding, ExaminedClaim};
use baton_engine::handoff::{StateName, WrittenDocument};
use baton_engine::lifecycle::Decision;
use baton_engine::people::Response;
use baton_engine::{Handoff, RunId};
use baton_protocol::Dialect;

use crate::bed::{Bed, id, person};
use crate::documents::{NAMELESS, native, with};

fn refused(text: &str) -> RefusedText {
    RefusedText { document: WrittenDocument::new(Dialect::Native, text), why: "there is no block".to_owned() }
}

fn reported(bed: &Bed, text: &str, examined: Vec<ExaminedClaim>) -> FiledEnd {
    let document = Box::new(bed.valid(text));
    FiledEnd::Reported { document, examined, contents: Vec::new(), contents_bytes_max: 0 }
}

async fn file(bed: &Bed, texts: &[&str], end: FiledEnd) -> Handoff {
    let work = FiledWork {
        run: RunId::parse("session-1").unwrap(),
        agent: "Architect".to_owned(),
        from: "orchestrator".to_owned(),
        claimant: "claude-code".to_owned(),
        request: bed.valid(NAMELESS),
        refused: texts.iter().map(|text| refused(text)).collect(),
        end,
    };
    bed.engine.file(work, &person()).await.unwrap()
}

fn done() -> String {
    native(r#""summary": "Wrote the plan of the CSV writer with its three steps into plan.md.""#)
}

fn blocked() -> String {
    let why = r#""blocked", "blocked_reason": "missing_requirements", "attempted": ["read the specification"]"#;
    with(&done(), r#""complete""#, why)
}

#[tokio::test]
async fn work_of_a_session_is_filed_with_everything_that_was_refused_before() {
    let bed = Bed::new();
    let seen = ExaminedClaim::new("artifact-missing", ClaimFinding::Verified, "`a.md`", "is there");
    let filed = file(&bed, &["Done.", "Done!"], reported(&bed, &done(), vec![seen])).await;
    assert_eq!((filed.id.clone(), filed.state.name()), (id("session-1.architect.1"), StateName::Completed));
    let expected = ["accepted", "claimed", "failed", "claimed", "failed", "claimed", "reported", "verified"];
    assert_eq!(bed.kinds(&filed).await, expected);
}

#[tokio::test]
async fn agents_of_one_name_in_a_session_have_handoffs_of_their_own() {
    let bed = Bed::new();
    for number in 1..=2 {
        let filed = file(&bed, &[], reported(&bed, &done(), Vec::new())).await;
        assert_eq!(filed.id, id(&format!("session-1.architect.{number}")));
    }
}

#[tokio::test]
async fn what_is_blocked_waits_for_a_person_because_nobody_else_would_look() {
    let bed = Bed::new();
    let filed = file(&bed, &[], reported(&bed, &blocked(), Vec::new())).await;
    let inbox = bed.engine.inbox(None, None, 10).await.unwrap();
    assert_eq!(inbox.waiting[0].0.id, filed.id);
}

#[tokio::test]
async fn what_could_not_be_checked_waits_for_a_person() {
    let bed = Bed::new();
    let mut unchecked =
        ExaminedClaim::new("writes-outside", ClaimFinding::Unverifiable, "`baton.toml` was changed", "");
    unchecked.asks_person = true;
    let filed = file(&bed, &[], reported(&bed, &done(), vec![unchecked])).await;
    assert_eq!(filed.state.name(), StateName::AwaitingPerson);
}

#[tokio::test]
async fn text_that_was_let_go_is_a_failure_that_nobody_tries_again() {
    let bed = Bed::new();
    let filed = file(&bed, &["Done."], FiledEnd::LetGo(refused("Really done."))).await;
    assert_eq!(filed.state.name(), StateName::Failed);
    assert_eq!(filed.last_failure.unwrap().message, "there is no block");
}

#[tokio::test]
async fn what_a_person_answered_goes_on_in_the_same_handoff() {
    let bed = Bed::new();
    let asked = file(&bed, &[], reported(&bed, &blocked(), Vec::new())).await;
    let question = bed.engine.question(&asked).await.unwrap().unwrap();
    let decision = Decision::Answer { answers: "All columns are text.".to_owned() };
    let response = Response { decision, note: None, by: person().decider, door: Door::CommandLine };
    let answered = bed.engine.decide(&asked, question.decided(response), &person()).await.unwrap().handoff;
    assert_eq!(answered.state.name(), StateName::Pending);
    let done = file(&bed, &["Done.", "Done!"], reported(&bed, &done(), Vec::new())).await;
    assert_eq!((&done.id, done.state.name()), (&asked.id, StateName::Completed));
    assert_eq!(bed.engine.store.handoffs_of(&asked.run).await.unwrap().len(), 1, "nothing is left in a queue");
}
