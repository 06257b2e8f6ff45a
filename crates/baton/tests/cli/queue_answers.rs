//! `baton report` and `baton fail`: which documents are taken, and what they do.

use insta::assert_snapshot;

use crate::documents::{ACKNOWLEDGMENT, FAILURE, PACKAGE, REQUEST, report_with};
use crate::queue_life::{done, state, with_one_claimed};

#[test]
fn a_report_that_is_not_valid_changes_nothing() {
    let sandbox = with_one_claimed(&[]);
    sandbox.write("report.json", report_with("\"complete\"", "\"done\""));
    assert_snapshot!(sandbox.baton(&["report", "csv-07.research", "--fence", "1", "report.json"]), @r#"
    --- stderr
    error[unknown-status]: unknown status `done`
     --> report.json:4:13
      |
    4 |   "status": "done",
      |             ^^^^^^
      |
      = help: use one of: complete, partial, blocked

    report.json: task report, not valid
    failed: 0 of 1 file valid, 1 error, 0 warnings
    --- exit 1
    "#);
    let json = sandbox.baton(&["report", "csv-07.research", "--fence", "1", "report.json", "--json"]);
    assert_eq!((json.code, &json.json()["files"][0]["valid"]), (Some(1), &false.into()));
    assert_eq!(state(&sandbox), "claimed");
}

#[test]
fn a_report_answers_its_own_request_only() {
    let sandbox = with_one_claimed(&[]);
    sandbox.write("other.json", report_with("csv-07", "csv-99"));
    let run = sandbox.baton(&["report", "csv-07.research", "--fence", "1", "other.json"]);
    assert_eq!(run.code, Some(1), "{run}");
    assert!(run.stderr.contains("report-echo-mismatch"), "{run}");
    assert_eq!(state(&sandbox), "claimed");
}

#[test]
fn a_report_about_another_task_is_refused_also_where_the_request_has_no_id() {
    let sandbox = with_one_claimed(&[]);
    let nameless = r#"{"baton": 1, "document": "request", "instructions": "Find where rows are written today."}"#;
    sandbox.write("nameless.json", nameless);
    done(&sandbox, &["send", "--to", "finder", "--id", "own", "nameless.json"]);
    done(&sandbox, &["claim", "--agent", "finder"]);
    let run = sandbox.baton(&["report", "own", "--fence", "1", "report.json"]);
    assert_eq!(run.code, Some(1), "{run}");
    assert!(run.stderr.contains("this answers `csv-07`, but the request is `own`"), "{run}");
}

#[test]
fn claims_about_files_are_checked_against_the_workspace() {
    let sandbox = with_one_claimed(&[]);
    sandbox.folder("work");
    let report = ["report", "csv-07.research", "--fence", "1", "report.json"];
    let missing = sandbox.baton(&[&report[..], &["--workspace", "none"]].concat());
    assert_eq!(missing.code, Some(2), "{missing}");
    done(&sandbox, &[&report[..], &["--workspace", "work"]].concat());
}

#[test]
fn only_reports_are_reports_and_only_requests_are_sent() {
    let sandbox = with_one_claimed(&[]);
    sandbox.write("ack.yaml", ACKNOWLEDGMENT);
    assert_snapshot!(sandbox.baton(&["report", "csv-07.research", "--fence", "1", "request.json"]), @"
    --- stderr
    error: request.json: this is a request, not a report
    hint: `baton send` takes requests
    --- exit 1
    ");
    assert_snapshot!(sandbox.baton(&["send", "ack.yaml"]), @"
    --- stderr
    error: ack.yaml: this is an acknowledgment, not a request
    hint: `baton ack` takes acknowledgments
    --- exit 1
    ");
    assert_snapshot!(sandbox.baton(&["send", "report.json"]), @"
    --- stderr
    error: report.json: this is a report, not a request
    hint: `baton report` takes reports
    --- exit 1
    ");
    assert_eq!(sandbox.baton(&["ack", "csv-07.research", "--fence", "1", "report.json"]).code, Some(1));
    assert_eq!(state(&sandbox), "claimed");
}

#[test]
fn a_report_comes_through_standard_input() {
    let sandbox = with_one_claimed(&[]);
    let report = sandbox.read("report.json");
    let run = sandbox.baton_with_input(&["report", "csv-07.research", "--fence", "1", "-"], report.as_bytes());
    assert_eq!(run.code, Some(0), "{run}");
    let sent = sandbox.baton_with_input(&["send", "--to", "finder", "--id", "again", "-"], REQUEST.as_bytes());
    assert_eq!(sent.stdout, "again\n", "{sent}");
}

#[test]
fn a_report_of_failure_fails_with_its_code() {
    let sandbox = with_one_claimed(&[]);
    let failure = FAILURE.replace("hoff-20260317-0004", "HO-2026-031").replace("2026-03-17T", "2026-04-17T");
    sandbox.write("failure.json", failure);
    done(&sandbox, &["send", "package.yaml"]);
    done(&sandbox, &["claim", "--agent", "security-review"]);
    let run = sandbox.baton(&["report", "HO-2026-031", "--fence", "1", "failure.json"]);
    assert!(run.stdout.starts_with("HO-2026-031 failed"), "{run}");
    let shown = done(&sandbox, &["show", "HO-2026-031", "--json"]).json();
    assert_eq!(shown["handoff"]["failure"]["code"], "SCHEMA_VALIDATION_FAILED");
    assert_eq!(shown["handoff"]["failure"]["transient"], false);
}

#[test]
fn what_comes_next_needs_a_complete_report() {
    let sandbox = with_one_claimed(&[]);
    sandbox.write("stop.json", report_with("PROCEED", "STOP"));
    let next = |report: &str, next: &str| {
        sandbox.baton(&["report", "csv-07.research", "--fence", "1", report, "--next", next])
    };
    assert_eq!(next("stop.json", "package.yaml").code, Some(1));
    sandbox.write("broken.yaml", PACKAGE.replace("summary:", "sumary:"));
    assert_eq!(next("report.json", "broken.yaml").code, Some(1));
    assert_eq!(next("report.json", "none.yaml").code, Some(2));
    assert_eq!(next("report.json", "request.json").code, Some(2), "the next request says to nobody");
    assert_eq!(state(&sandbox), "claimed");
}
