//! `baton report --next`: what follows is sent with the report or not at all.

use crate::queue_life::{done, state, with_one_claimed};
use crate::sandbox::{Run, Sandbox};

fn report(sandbox: &Sandbox, more: &[&str]) -> Run {
    sandbox.baton(&[&["report", "csv-07.research", "--fence", "1", "report.json"], more].concat())
}

/// The next phase of the task, which says to nobody whom it is for.
fn with_a_next_phase() -> Sandbox {
    let sandbox = with_one_claimed(&[]);
    let next = sandbox
        .read("request.json")
        .replace("\"research\"", "\"write\"")
        .replace("structured_findings", "files_changed");
    sandbox.write("write.json", next);
    sandbox
}

#[test]
fn a_task_request_follows_to_a_named_agent() {
    let sandbox = with_a_next_phase();
    let terms = ["--next", "write.json", "--to", "writer", "--priority", "high", "--max-retries", "1", "--key", "w1"];
    let run = report(&sandbox, &terms);
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.stderr.contains("sent csv-07.write"), "{run}");
    let next = &done(&sandbox, &["show", "csv-07.write", "--json"]).json()["handoff"];
    assert_eq!((&next["to"], &next["from"], &next["state"]), (&"writer".into(), &"finder".into(), &"pending".into()));
    assert_eq!((&next["priority"], &next["retry"]["max_retries"]), (&"high".into(), &1.into()));
    assert_eq!(next["run"], "csv-07.research", "it stands in the same journal");
    let again = report(&sandbox, &terms);
    assert_eq!(again.code, Some(0), "saying it twice does no harm: {again}");
}

#[test]
fn without_a_receiver_nothing_is_done() {
    let sandbox = with_a_next_phase();
    let run = report(&sandbox, &["--next", "write.json"]);
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("give --to AGENT"), "{run}");
    assert_eq!(state(&sandbox), "claimed");
}

#[test]
fn terms_without_anything_next_are_wrong_usage() {
    let sandbox = with_a_next_phase();
    let run = report(&sandbox, &["--to", "writer"]);
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("hint: name it: --next FILE"), "{run}");
    let two = report(&sandbox, &["--next", "write.json", "package.yaml", "--to", "writer", "--key", "k"]);
    assert_eq!(two.code, Some(2), "a key stands for one request: {two}");
    assert_eq!(state(&sandbox), "claimed");
}

#[test]
fn documents_over_the_limits_leave_everything_as_it_was() {
    let sandbox = with_a_next_phase();
    let large = sandbox.read("write.json").replace("csv-export", &"x".repeat(8 * 1024 * 1024));
    let values = sandbox.read("write.json").replace("\"no new dependencies\"", &["1"; 100_001].join(","));
    sandbox.write("large.json", large).write("values.json", values);
    for file in ["large.json", "values.json"] {
        let next = report(&sandbox, &["--next", file, "--to", "writer"]);
        assert_eq!((next.code, next.stderr.matches("error[").count()), (Some(1), 1), "{next}");
        let handed_in = sandbox.baton(&["report", "csv-07.research", "--fence", "1", file]);
        assert_eq!((handed_in.code, handed_in.stderr.matches("error[").count()), (Some(1), 1), "{handed_in}");
        let sent = sandbox.baton(&["send", file, "--to", "writer"]);
        assert_eq!((sent.code, sent.stderr.matches("error[").count()), (Some(1), 1), "{sent}");
    }
    assert_eq!(state(&sandbox), "claimed");
    assert_eq!(done(&sandbox, &["list", "--json"]).json()["handoffs"].as_array().map(Vec::len), Some(1));
}
