//! `baton dir`: what each verb does, says and answers.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::sandbox::{Run, Sandbox};

/// A sandbox with folders and something to work on.
pub(crate) fn folders() -> Sandbox {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.baton(&["dir", "init", "."]).code, Some(0));
    sandbox.write("task.json", r#"{"page": 1}"#).write("page.json", r#"{"title": "Tides"}"#);
    sandbox
}

/// Asks `@writer` for something under an id.
pub(crate) fn create(sandbox: &Sandbox, id: &str, more: &[&str]) -> Run {
    let usual = ["dir", "create", ".", "--from", "@lead", "--to", "@writer", "--input", "task.json", "--id", id];
    sandbox.baton(&[&usual[..], more].concat())
}

pub(crate) fn claim(sandbox: &Sandbox) -> Run {
    sandbox.baton(&["dir", "claim", ".", "--agent", "writer", "--json"])
}

/// Reads the file of a handoff.
pub(crate) fn document(sandbox: &Sandbox, folder: &str, id: &str) -> Value {
    serde_json::from_str(&sandbox.read(&format!("handoffs/{folder}/{id}.json"))).expect("the file is JSON")
}

#[test]
fn work_goes_there_and_comes_back() {
    let sandbox = Sandbox::new();
    sandbox.write("task.json", r#"{"page": 1}"#).write("page.json", "{}");
    assert_snapshot!(sandbox.baton(&["dir", "init", "w"]), @r"
    ready: w
    --- exit 0
    ");
    let create = ["dir", "create", "w", "--from", "@lead", "--to", "@writer", "--input", "task.json", "--id", "hoff-7"];
    assert_snapshot!(sandbox.baton(&create), @r"
    hoff-7
    --- exit 0
    ");
    assert_snapshot!(sandbox.baton(&["dir", "claim", "w", "--agent", "@writer"]), @r"
    hoff-7
    --- stderr
    attempt 1 of 4, 300 s; the request is w/handoffs/in-progress/hoff-7.json
    --- exit 0
    ");
    assert_snapshot!(sandbox.baton(&["dir", "claim", "w", "--agent", "@writer"]), @r"
    --- stderr
    nothing waits for @writer
    --- exit 1
    ");
    assert_snapshot!(sandbox.baton(&["dir", "complete", "w", "hoff", "--artifact", "page.json", "--type", "page"]), @r"
    completed hoff-7: artifacts/writer/artifact-hoff-7-1.json
    --- exit 0
    ");
    assert_snapshot!(sandbox.baton(&["dir", "wait", "w", "hoff-7"]), @r"
    completed hoff-7: artifacts/writer/artifact-hoff-7-1.json
    --- exit 0
    ");
    assert_snapshot!(sandbox.baton(&["dir", "status", "w"]), @r"
    0 pending, 0 in-progress, 1 completed, 0 failed
    --- exit 0
    ");
    assert_snapshot!(sandbox.baton(&["dir", "complete", "w", "hoff-7"]), @r"
    --- stderr
    error: handoff `hoff-7` is not in progress: it is completed
    --- exit 1
    ");
    let registry: Value = serde_json::from_str(&sandbox.read("w/artifacts/registry.json")).expect("JSON");
    let entry = &registry["artifacts"][0];
    assert_eq!(
        (&entry["artifact_id"], &entry["handoff_id"], &entry["type"], &entry["bytes"]),
        (&json!("artifact-hoff-7-1"), &json!("hoff-7"), &json!("page"), &json!(2))
    );
    assert_eq!(entry["sha256"], "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
    assert_eq!(sandbox.read("w/artifacts/writer/artifact-hoff-7-1.json"), "{}");
}

#[test]
fn every_file_on_the_way_is_valid() {
    let sandbox = folders();
    let check = || assert_snapshot_valid(&sandbox);
    create(&sandbox, "a", &["--retry-delay", "0", "--max-retries", "1"]);
    check();
    assert_eq!(claim(&sandbox).code, Some(0));
    check();
    assert_eq!(sandbox.baton(&["dir", "fail", ".", "a", "--message", "no ink"]).code, Some(0));
    check();
    assert_eq!(claim(&sandbox).json()["attempt"], 2);
    assert_eq!(sandbox.baton(&["dir", "fail", ".", "a", "--message", "no ink"]).code, Some(0));
    check();
    create(&sandbox, "b", &[]);
    claim(&sandbox);
    assert_eq!(sandbox.baton(&["dir", "complete", ".", "b", "--artifact", "page.json"]).code, Some(0));
    check();
}

fn assert_snapshot_valid(sandbox: &Sandbox) {
    let run = sandbox.baton(&["check", "--strict", "handoffs"]);
    assert_eq!(run.code, Some(0), "{run}");
}

#[test]
fn the_answer_has_both_spellings_of_its_time() {
    let sandbox = folders();
    create(&sandbox, "a", &[]);
    let claimed = claim(&sandbox).json();
    assert_eq!((&claimed["status"], &claimed["claimed_by"]), (&json!("in_progress"), &json!("writer")));
    assert!(claimed["started_at"].is_string());
    let done = sandbox.baton(&["dir", "complete", ".", "a", "--artifact", "page.json", "--json"]).json();
    assert_eq!(done["timestamp_completed"], done["completed_at"]);
    assert!(done["execution_time_seconds"].as_f64().is_some_and(|seconds| seconds >= 0.0));
    assert_eq!(done, document(&sandbox, "completed", "a"));
    assert_eq!(sandbox.baton(&["dir", "wait", ".", "a", "--json"]).json(), done);
}

#[test]
fn urgent_work_is_claimed_first_then_the_oldest() {
    let sandbox = folders();
    for (id, priority) in [("a", "low"), ("b", "normal"), ("c", "critical"), ("d", "high"), ("e", "normal")] {
        assert_eq!(create(&sandbox, id, &["--priority", priority]).code, Some(0));
    }
    let order: Vec<String> =
        (0..5).map(|_| claim(&sandbox).json()["handoff_id"].as_str().expect("an id").to_owned()).collect();
    assert_eq!(order, ["c", "d", "b", "e", "a"]);
}

#[test]
fn failed_attempt_is_tried_again_later() {
    let sandbox = folders();
    create(&sandbox, "a", &["--max-retries", "1", "--retry-delay", "3600"]);
    claim(&sandbox);
    let failed = sandbox.baton(&["dir", "fail", ".", "a", "--code", "TIMEOUT", "--message", "slow", "--json"]).json();
    assert_eq!((&failed["status"], &failed["retry_count"]), (&json!("pending"), &json!(1)));
    assert_eq!(claim(&sandbox).code, Some(1), "it is not due");
    let status = sandbox.baton(&["dir", "status", "."]);
    assert!(status.stdout.contains("pending in 59m  2"), "{status}");
    let json = sandbox.baton(&["dir", "status", ".", "--json"]).json();
    assert_eq!((&json["counts"]["pending"], &json["handoffs"][0]["error"]), (&json!(1), &json!("slow")));
}

#[test]
fn late_finisher_is_refused() {
    let sandbox = folders();
    create(&sandbox, "a", &["--retry-delay", "0", "--timeout", "0.001"]);
    assert_eq!(claim(&sandbox).json()["attempt"], 1);
    assert_eq!(sandbox.baton(&["dir", "sweep", "."]).stdout, "expired a\n");
    let late = ["dir", "complete", ".", "a", "--attempt", "1"];
    assert_snapshot!(sandbox.baton(&late), @r"
    --- stderr
    error: attempt 1 of handoff `a` has ended: attempt 2 is current
    hint: drop this result; the later attempt will answer
    --- exit 1
    ");
    assert_eq!(claim(&sandbox).json()["attempt"], 2);
    assert_eq!(sandbox.baton(&late).code, Some(1));
    let fail = ["dir", "fail", ".", "a", "--message", "x", "--attempt", "1"];
    assert_eq!(sandbox.baton(&fail).code, Some(1));
    assert_eq!(sandbox.baton(&["dir", "complete", ".", "a", "--attempt", "2"]).code, Some(0));
}

#[test]
fn failure_says_what_and_how_to_recover() {
    let sandbox = folders();
    create(&sandbox, "a", &[]);
    claim(&sandbox);
    let fail = ["dir", "fail", ".", "a", "--code", "OUT_OF_TOKENS", "--message", "too long", "--permanent"];
    assert_snapshot!(sandbox.baton(&fail), @r"
    failed a
    --- exit 0
    ");
    let failed = document(&sandbox, "failed", "a");
    assert_eq!(failed["error"]["code"], "OUT_OF_TOKENS");
    assert_eq!((&failed["retry_available"], &failed["max_retries"]), (&json!(false), &json!(3)));
    assert!(failed["recovery_actions"].as_array().is_some_and(|actions| !actions.is_empty()));
    assert_eq!(failed["timestamp_failed"], failed["failed_at"]);
    assert_snapshot!(sandbox.baton(&["dir", "wait", ".", "a"]), @r"
    failed a: OUT_OF_TOKENS: too long
    --- exit 1
    ");
}

#[test]
fn waiting_ends_when_the_time_is_up() {
    let sandbox = folders();
    create(&sandbox, "a", &[]);
    assert_snapshot!(sandbox.baton(&["dir", "wait", ".", "a", "--timeout", "0"]), @r"
    --- stderr
    error: handoff `a` was not finished within 0 s
    hint: it is pending; nothing was changed, wait again
    --- exit 1
    ");
    assert_eq!(sandbox.baton(&["dir", "claim", ".", "--agent", "nobody", "--wait", "0"]).code, Some(1));
}

#[test]
fn whoever_waits_takes_back_what_took_too_long() {
    let sandbox = folders();
    create(&sandbox, "a", &["--timeout", "0.01", "--max-retries", "0"]);
    claim(&sandbox);
    let run = sandbox.baton(&["dir", "wait", ".", "a", "--timeout", "60"]);
    assert!(run.code == Some(1) && run.stdout.starts_with("failed a: TIMEOUT"), "{run}");
}

#[test]
fn artifact_goes_where_the_request_wants_it() {
    let sandbox = folders();
    create(&sandbox, "a", &["--destination", "artifacts/pages/page-{timestamp}.json", "--output-type", "page"]);
    claim(&sandbox);
    let done = sandbox.baton(&["dir", "complete", ".", "a", "--artifact", "page.json", "--json"]).json();
    let path = done["output"]["artifact_path"].as_str().expect("a path");
    assert!(path.starts_with("artifacts/pages/page-1") && path.ends_with(".json"), "{path}");
    assert_eq!(done["output"]["artifact_type"], "page");
    assert_eq!(sandbox.read(path), r#"{"title": "Tides"}"#);
}

#[test]
fn artifact_that_is_in_its_place_already_is_recorded() {
    let sandbox = folders();
    create(&sandbox, "a", &["--destination", "artifacts/mine.json"]);
    claim(&sandbox);
    sandbox.write("artifacts/mine.json", "[]");
    let run = sandbox.baton(&["dir", "complete", ".", "a", "--artifact", "artifacts/mine.json"]);
    assert_eq!(run.stdout, "completed a: artifacts/mine.json\n", "{run}");
    assert_eq!(sandbox.read("artifacts/mine.json"), "[]");
}

#[test]
fn input_can_come_from_standard_input() {
    let sandbox = folders();
    let create = ["dir", "create", ".", "--from", "a", "--to", "b", "--input", "-", "--json"];
    let run = sandbox.baton_with_input(&create, b"[1, 2]");
    assert_eq!(run.json()["input"]["data"], json!([1, 2]), "{run}");
}
