//! `baton route`: what would follow from a document, without running anything.

use insta::assert_snapshot;

use crate::queue_life::done;
use crate::run_letter::with_letter;
use crate::sandbox::Sandbox;

/// The letter workflow with a document beside it.
fn with_document(document: &str) -> Sandbox {
    let sandbox = with_letter();
    sandbox.write("report.json", document);
    sandbox
}

/// Returns what is told before the prompt.
fn told(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let run = done(sandbox, &[&["route", "report.json", "--workflow", "flow"], arguments].concat());
    let (told, prompt) = run.stdout.split_once("\nprompt of ").unwrap_or((&run.stdout, ""));
    assert!(prompt.is_empty() || prompt.contains("## Task"), "{run}");
    assert!(!sandbox.state().root().exists(), "nothing was run");
    told.to_owned()
}

#[test]
fn complete_work_goes_on_whatever_the_agent_advises() {
    let sandbox = with_document(
        r#"{"baton": 1, "document": "report", "from": {"agent": "writer"}, "outcome": "complete",
        "summary": "letter.txt has three paragraphs.", "next": {"agent": "printer"}}"#,
    );
    assert_snapshot!(told(&sandbox, &["--phase", "write"]), @"
    report.json: native report of writer, valid

    phase     write
    outcome   complete, if the evidence says so
    goes      to review: review follows write
    advice    the agent suggested printer
    then      reviewer works in review
    ");
}

#[test]
fn blocked_work_is_delegated_with_the_question() {
    let sandbox = with_document(
        r#"{"baton": 1, "document": "report", "outcome": "blocked", "blocked_reason": "legal_question",
        "attempted": ["Read the law"], "summary": "May the letter promise a refund within 14 days?"}"#,
    );
    assert_snapshot!(told(&sandbox, &["--agent", "writer", "--phase", "write"]), @"
    report.json: native report of writer, valid

    phase     write
    outcome   blocked: legal_question
    goes      to lawyer: route 1 of the workflow leads to lawyer
    then      lawyer helps in write, and its answer comes back
    ");
    let run = done(&sandbox, &["route", "report.json", "--workflow", "flow", "--phase", "write"]);
    assert!(run.stdout.contains("May the letter promise a refund within 14 days?"), "{run}");
    let arguments = ["route", "report.json", "--workflow", "flow", "--phase", "write", "--json"];
    let next = &done(&sandbox, &arguments).json()["phases"][0]["next"];
    assert_eq!((&next["to"], &next["steps"][0]["kind"]), (&"lawyer".into(), &"delegation".into()));
}

#[test]
fn work_that_needs_review_goes_to_a_person_and_then_on() {
    let sandbox = with_document(
        r#"{"baton": 1, "document": "report", "from": {"agent": "writer"}, "outcome": "needs_review",
        "summary": "letter.txt promises a refund within 14 days."}"#,
    );
    assert_snapshot!(told(&sandbox, &["--phase", "write"]), @"
    report.json: native report of writer, valid

    phase     write
    outcome   needs review
    asks      a person: write: approve what writer has done?
    approved  if a person approves it:
    goes      to review: review follows write
    then      reviewer works in review
    ");
}

#[test]
fn a_verdict_sends_back() {
    let sandbox = with_document(
        r#"{"baton": 1, "document": "report", "from": {"agent": "reviewer"}, "outcome": "complete",
        "verdict": "CHANGES_REQUESTED", "summary": "letter.txt: the second paragraph repeats the first."}"#,
    );
    assert_snapshot!(told(&sandbox, &[]), @"
    report.json: native report of reviewer, valid

    phase     review
    outcome   complete, if the evidence says so
    goes      to write: reviewer says CHANGES_REQUESTED
    then      writer works in write
    ");
}

#[test]
fn every_phase_of_the_agent_is_answered_for() {
    let sandbox = with_document(
        r#"{"baton": 1, "document": "report", "from": {"agent": "writer"}, "outcome": "needs_clarification",
        "summary": "Two addresses are known.", "questions": ["Which address is the right one?"]}"#,
    );
    assert_snapshot!(told(&sandbox, &[]), @"
    report.json: native report of writer, valid

    phase     write
    outcome   needs clarification
    asks      a person: write: writer asks
    questions 1. Which address is the right one?

    phase     translate
    outcome   needs clarification
    asks      a person: translate: writer asks
    questions 1. Which address is the right one?
    ");
}

#[test]
fn what_is_not_valid_goes_nowhere() {
    let sandbox = with_document(r#"{"baton": 1, "document": "report", "outcome": "perhaps"}"#);
    let run = sandbox.baton(&["route", "report.json", "--workflow", "flow", "--agent", "writer"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""), "{run}");
    assert!(run.stderr.contains("unknown-status"), "{run}");
}

#[test]
fn whose_it_is_must_be_known() {
    let sandbox = with_document(
        r#"{"baton": 1, "document": "report", "outcome": "complete", "summary": "letter.txt has three paragraphs."}"#,
    );
    assert_snapshot!(sandbox.baton(&["route", "report.json", "--workflow", "flow"]), @"
    --- stderr
    error: the document does not say who wrote it
    hint: say it with --agent: writer, reviewer, lawyer
    --- exit 2
    ");
    assert_snapshot!(sandbox.baton(&["route", "report.json", "--workflow", "flow", "--agent", "printer"]), @"
    --- stderr
    error: no phase of letter belongs to printer
    hint: name one with --phase, or another agent with --agent: writer, reviewer, lawyer
    --- exit 2
    ");
    assert_snapshot!(sandbox.baton(&["route", "report.json", "--workflow", "flow", "--phase", "wirte"]), @"
    --- stderr
    error: the workflow letter has no phase `wirte`
    hint: did you mean `write`? known: write, review, translate, spelling, release
    --- exit 2
    ");
}

#[test]
fn what_a_run_accepts_without_a_time_is_routed_without_one() {
    let sandbox = with_document(
        r#"{"agent": "writer", "output_type": "letter", "status": "complete", "feature_directory": ".",
        "skills_invoked": [], "handoff": {"next_agent": null, "context": "letter.txt has three paragraphs."}}"#,
    );
    assert!(told(&sandbox, &["--phase", "write"]).contains("metadata-block report of writer, valid"));
}
