//! Judging what comes in: by the project, or by the workflow of its run.

use baton_engine::engine::{IncomingDocument, JudgedDocument, Problem, Yardstick};
use baton_engine::handoff::Handoff;
use baton_protocol::{Dialect, Kind};

use crate::bed::Bed;
use crate::documents::{NAMELESS, PACKAGE, REPORT, REQUEST, native, with};

fn codes(judged: &JudgedDocument) -> Vec<String> {
    judged.judgement.diagnostics.iter().map(|found| found.code.to_string()).collect()
}

/// Judges a document by what a handoff asks for, and by its run.
async fn judged(bed: &Bed, handoff: &Handoff, text: &str) -> JudgedDocument {
    let request = bed.engine.request(&handoff.id).await.unwrap();
    let definition = bed.engine.definition_of(handoff).await.unwrap();
    let yardstick = Yardstick::of_handoff(handoff, Some(&request), definition.as_ref(), &bed.engine.settings);
    yardstick.judge(&IncomingDocument::of(text.as_bytes()))
}

/// Begins a run with one phase; returns the handoff of it.
async fn step(bed: &Bed, agent: &str, limits: &str) -> Handoff {
    let workflow =
        format!("name: w\nagents: {{dev: {agent}}}\nlimits: {limits}\nphases: [{{id: build, agent: dev}}]\n");
    bed.begin("r", &workflow).await;
    bed.engine.resolve("r.build.1").await.unwrap()
}

#[tokio::test]
async fn a_valid_document_is_read_and_kept_as_it_was_written() {
    let bed = Bed::new();
    let sent = bed.send(REQUEST, "finder").await;
    let judged = judged(&bed, &sent, REPORT).await;
    assert_eq!((judged.dialect, judged.kind), (Some(Dialect::Task), Some(Kind::Report)));
    let valid = judged.valid.unwrap();
    assert_eq!(valid.written.text, REPORT);
    assert_eq!(valid.of_kind(Kind::Report).unwrap().dialect, Dialect::Task);
}

#[tokio::test]
async fn a_document_of_another_kind_than_the_wanted_one_is_refused() {
    let bed = Bed::new();
    let problem = bed.valid(REPORT).of_kind(Kind::Request).unwrap_err();
    assert_eq!(problem, Problem::WrongKind { found: Kind::Report, wanted: Kind::Request });
}

#[tokio::test]
async fn what_cannot_be_read_is_not_valid_and_is_never_guessed() {
    let bed = Bed::new();
    let yardstick = Yardstick::of_project(&bed.engine.settings);
    for bytes in [&b"{\"task_id\": "[..], b"", b"\xff\xfe\x00", b"All done!"] {
        let judged = yardstick.judge(&IncomingDocument::of(bytes));
        assert!(judged.valid.is_none() && !judged.judgement.valid, "{bytes:?}");
    }
    let too_large = yardstick.judge_too_large(1 << 40);
    assert!(too_large.valid.is_none() && !too_large.judgement.valid);
    assert_eq!(codes(&too_large), ["unreadable"]);
}

#[tokio::test]
async fn a_report_about_another_task_is_not_an_answer() {
    let bed = Bed::new();
    let sent = bed.send(REQUEST, "finder").await;
    let judged = judged(&bed, &sent, &with(REPORT, "csv-07", "csv-99")).await;
    assert_eq!((codes(&judged), judged.valid.is_none()), (vec!["report-echo-mismatch".to_owned()], true));
}

#[tokio::test]
async fn a_request_without_an_id_is_answered_under_that_of_its_handoff() {
    let bed = Bed::new();
    let sent = bed.send(NAMELESS, "finder").await;
    let about = |id: &str| native(&format!(r#""id": "{id}", "summary": "Rows go through RowWriter in src/export.""#));
    let other = judged(&bed, &sent, &about("csv-99")).await;
    assert_eq!((codes(&other), other.valid.is_none()), (vec!["report-echo-mismatch".to_owned()], true));
    assert!(judged(&bed, &sent, &about(sent.id.as_str())).await.valid.is_some());
    // On another machine the same counts.
    let request = bed.engine.request(&sent.id).await.unwrap();
    let here = Yardstick::of_handoff(&sent, Some(&request), None, &bed.engine.settings);
    let elsewhere = Yardstick::of_json(&here.json(), &sent, Some(&request));
    let text = about("csv-99");
    assert_eq!(codes(&elsewhere.judge(&IncomingDocument::of(text.as_bytes()))), ["report-echo-mismatch"]);
}

#[tokio::test]
async fn the_place_in_which_a_report_lay_can_say_what_it_answers() {
    let bed = Bed::new();
    let sent = bed.send(REQUEST, "finder").await;
    let request = bed.engine.request(&sent.id).await.unwrap();
    let yardstick = Yardstick::of_handoff(&sent, Some(&request), None, &bed.engine.settings);
    let text = with(REPORT, "csv-07", "csv-99");
    let lay = IncomingDocument { answers: Some("csv-99"), ..IncomingDocument::of(text.as_bytes()) };
    assert!(yardstick.judge(&lay).valid.is_some());
}

#[tokio::test]
async fn a_summary_over_the_budget_is_judged_by_the_workflow_of_its_run() {
    let bed = Bed::new();
    let long = "Every one of the archives was opened, its index compared, and its pages counted twice. ".repeat(60);
    let text = native(&format!(r#""summary": "{long}""#));
    let strict = step(&bed, "{queue: true}", "{summary_tokens: 500}").await;
    assert!(codes(&judged(&bed, &strict, &text).await).contains(&"summary-over-budget".to_owned()));
    let bed = Bed::new();
    let generous = step(&bed, "{queue: true}", "{summary_tokens: 5000}").await;
    assert!(!codes(&judged(&bed, &generous, &text).await).contains(&"summary-over-budget".to_owned()));
}

#[tokio::test]
async fn what_comes_next_anyway_is_whoever_asked_where_there_is_no_workflow() {
    let bed = Bed::new();
    let sent = bed.send(PACKAGE, "security-review").await;
    let alone = Yardstick::of_handoff(&sent, None, None, &bed.engine.settings);
    assert_eq!((alone.following, alone.dialect), (vec!["architecture".to_owned()], None));
}

#[tokio::test]
async fn the_workflow_says_how_its_agent_writes_unless_the_sender_does() {
    let bed = Bed::new();
    let handoff = step(&bed, "{queue: true, dialect: task}", "{}").await;
    let definition = bed.engine.definition_of(&handoff).await.unwrap();
    let yardstick = Yardstick::of_handoff(&handoff, None, definition.as_ref(), &bed.engine.settings);
    assert_eq!(yardstick.dialect, Some(Dialect::Task));
    let text = native(r#""summary": "Rows go through RowWriter.""#);
    let as_agent = yardstick.judge(&IncomingDocument::of(text.as_bytes()));
    assert_eq!(as_agent.dialect, Some(Dialect::Task));
    let said = IncomingDocument { dialect: Some(Dialect::Native), ..IncomingDocument::of(text.as_bytes()) };
    assert_eq!(yardstick.judge(&said).dialect, Some(Dialect::Native));
}
