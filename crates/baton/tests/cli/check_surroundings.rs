//! `baton check`: documents judged together with their request and their schemas.

use insta::assert_snapshot;

use crate::documents::{REPORT, REQUEST, report_with, with};
use crate::sandbox::{Sandbox, briefly, codes};

#[test]
fn a_report_is_judged_against_the_given_request() {
    let sandbox = Sandbox::new();
    sandbox.write("request.json", REQUEST).write("report.json", REPORT);
    sandbox.write("other.json", report_with("csv-07", "csv-08"));
    assert_snapshot!(sandbox.baton(&["check", "--request", "request.json", "other.json"]), @r#"
    error[report-echo-mismatch]: this answers `csv-08`, but the request is `csv-07`
     --> other.json:2:14
      |
    2 |   "task_id": "csv-08",
      |              ^^^^^^^^
      |
      = help: repeat the request's identifier, `csv-07`, or give the answer to the request that it belongs to

    other.json: task report, not valid
    failed: 0 of 1 file valid, 1 error, 0 warnings
    --- exit 1
    "#);
    assert_eq!(sandbox.baton(&["check", "--request", "request.json", "report.json"]).code, Some(0));
    assert_eq!(sandbox.baton(&["check", "other.json"]).code, Some(0));
}

#[test]
fn a_request_that_is_none_is_wrong_usage() {
    let sandbox = Sandbox::new();
    sandbox.write("report.json", REPORT).write("broken.json", "{");
    assert_snapshot!(sandbox.baton(&["check", "--request", "none.json", "report.json"]), @"
    --- stderr
    error: none.json: there is no such file or folder
    --- exit 2
    ");
    assert_snapshot!(sandbox.baton(&["check", "--request", "report.json", "report.json"]), @"
    --- stderr
    error: report.json is a report, not a request
    --- exit 2
    ");
    assert_snapshot!(sandbox.baton(&["check", "--request", "broken.json", "report.json"]), @"
    --- stderr
    error: broken.json cannot be read as a request
    hint: baton check broken.json says why
    --- exit 2
    ");
}

#[test]
fn a_report_is_judged_against_the_request_with_its_id_among_the_files() {
    let sandbox = Sandbox::new();
    sandbox.write("a-report.json", REPORT);
    sandbox.write("z-request.json", with(REQUEST, "structured_findings", "files_changed"));
    assert_eq!(codes(&sandbox.check_json(&["a-report.json"])), [""; 0]);
    assert_snapshot!(briefly(&sandbox.check_json(&["a-report.json", "z-request.json"])), @"
    a-report.json task report not valid
      6:15 error findings-shape /findings
    z-request.json task request valid
    ");
}

#[test]
fn a_request_with_another_id_or_phase_says_nothing_about_a_report() {
    let sandbox = Sandbox::new();
    let request = with(REQUEST, "structured_findings", "files_changed");
    sandbox.write("report.json", REPORT).write("other-id.json", with(&request, "csv-07", "csv-08"));
    sandbox.write("other-phase.json", with(&request, "\"research\"", "\"write\""));
    let result = sandbox.check_json(&["other-id.json", "report.json"]);
    assert_eq!(result["files"][1]["valid"], true, "{result}");
    let result = sandbox.check_json(&["other-phase.json", "report.json"]);
    assert_eq!(result["files"][1]["valid"], true, "{result}");
}

const MAILBOX_REQUEST: &str = r#"{
  "handoff_id": "hoff-20260318-0007",
  "timestamp": "2026-03-18T07:30:00Z",
  "status": "pending",
  "source": { "agent_id": "@dashboard-lead", "phase": 11 },
  "target": { "agent_id": "@chart-specialist", "phase": 13 },
  "context": { "project_id": "proj-energy" },
  "input": {
    "schema": "chart.input.schema.json",
    "data": { "charts": [] }
  },
  "expected_output": {
    "artifact_type": "chart-components",
    "schema": "chart.output.schema.json",
    "destination": "artifacts/charts/"
  },
  "timeout_seconds": 600,
  "priority": "high"
}
"#;

const MAILBOX_RESPONSE: &str = r#"{
  "handoff_id": "hoff-20260318-0007",
  "timestamp": "2026-03-18T07:30:00Z",
  "status": "completed",
  "completed_at": "2026-03-18T07:34:41Z",
  "source": { "agent_id": "@dashboard-lead", "phase": 11 },
  "target": { "agent_id": "@chart-specialist", "phase": 13 },
  "output": {
    "artifact_id": "artifact-charts-0007",
    "artifact_path": "artifacts/charts/charts.json",
    "artifact_type": "chart-components"
  }
}
"#;

const INPUT_SCHEMA: &str = r#"{"type": "object", "properties": {"charts": {"type": "array", "minItems": 1}}}"#;
const OUTPUT_SCHEMA: &str = r#"{"type": "object", "required": ["id"]}"#;

#[test]
fn schemas_stand_beside_the_handoffs() {
    let sandbox = Sandbox::new();
    sandbox.write("box/handoffs/pending/hoff-20260318-0007.json", MAILBOX_REQUEST);
    sandbox.write("box/schemas/chart.input.schema.json", INPUT_SCHEMA);
    sandbox.write("box/schemas/chart.output.schema.json", OUTPUT_SCHEMA);
    let run = sandbox.baton(&["check", "box/handoffs/pending/hoff-20260318-0007.json"]);
    assert_snapshot!(run, @r#"
    error[input-violates-schema]: [] has less than 1 item
      --> box/handoffs/pending/hoff-20260318-0007.json:10:25
       |
    10 |     "data": { "charts": [] }
       |                         ^
       |
       = help: make the data satisfy `chart.input.schema.json`

    box/handoffs/pending/hoff-20260318-0007.json: mailbox request, not valid
    failed: 0 of 1 file valid, 1 error, 0 warnings
    --- exit 1
    "#);
}

#[test]
fn schemas_are_taken_from_the_given_folder() {
    let sandbox = Sandbox::new();
    sandbox.write("request.json", MAILBOX_REQUEST).write("ours/chart.input.schema.json", INPUT_SCHEMA);
    assert_eq!(codes(&sandbox.check_json(&["request.json"])), [""; 0]);
    assert_snapshot!(briefly(&sandbox.check_json(&["--schemas", "ours", "request.json"])), @"
    request.json mailbox request not valid
      10:25 error input-violates-schema /input/data/charts
      14:15 warning schema-missing /expected_output/schema
    ");
}

#[test]
fn a_schema_name_does_not_lead_out_of_the_folder() {
    let sandbox = Sandbox::new();
    sandbox.write("request.json", with(MAILBOX_REQUEST, "chart.input", "../secret/chart.input"));
    sandbox.write("secret/chart.input.schema.json", INPUT_SCHEMA).folder("ours");
    let result = sandbox.check_json(&["--schemas", "ours", "request.json"]);
    assert!(!codes(&result).contains(&"input-violates-schema".to_owned()), "{result}");
}

#[test]
fn what_came_out_is_checked_against_the_schema_that_the_request_names() {
    let sandbox = Sandbox::new();
    let (request, response) =
        ("box/handoffs/pending/hoff-20260318-0007.json", "box/handoffs/completed/hoff-20260318-0007.json");
    sandbox.write(request, with(MAILBOX_REQUEST, "[]", "[1]")).write(response, MAILBOX_RESPONSE);
    sandbox.write("box/schemas/chart.input.schema.json", INPUT_SCHEMA);
    sandbox.write("box/schemas/chart.output.schema.json", OUTPUT_SCHEMA);
    sandbox.write("box/artifacts/charts/charts.json", r#"{"id": "artifact-charts-0007"}"#);
    assert_eq!(sandbox.baton(&["check", "--workspace", "box", "box"]).code, Some(0));
    sandbox.write("box/artifacts/charts/charts.json", r#"{"name": "charts"}"#);
    assert_snapshot!(sandbox.baton(&["check", "--workspace", "box", "box"]), @r#"
    error[output-violates-schema]: in `artifacts/charts/charts.json`: "id" is a required property
      --> box/handoffs/completed/hoff-20260318-0007.json:10:22
       |
    10 |     "artifact_path": "artifacts/charts/charts.json",
       |                      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
       |
       = help: make the artifact satisfy `chart.output.schema.json`

    box/handoffs/completed/hoff-20260318-0007.json: mailbox report, not valid
    box/handoffs/pending/hoff-20260318-0007.json: mailbox request, valid
    failed: 1 of 2 files valid, 1 error, 0 warnings
    --- exit 1
    "#);
}

#[test]
fn time_may_be_missing_where_somebody_else_knows_when_it_came() {
    let sandbox = Sandbox::new();
    let block = r#"{"agent": "csv-developer", "output_type": "design", "status": "complete", "feature_directory": ".",
        "skills_invoked": [], "handoff": {"next_agent": null, "context": "The reader splits at commas in src/csv.rs."}}"#;
    sandbox.write("request.json", REQUEST).write("report.json", block);
    let plain = sandbox.baton(&["check", "report.json"]);
    assert_eq!(plain.code, Some(1), "{plain}");
    assert!(plain.stdout.contains("error[missing-field]") && plain.stdout.contains("timestamp"), "{plain}");
    let answered = sandbox.baton(&["check", "--request", "request.json", "report.json"]);
    assert!(!answered.stdout.contains("missing-field"), "{answered}");
}
