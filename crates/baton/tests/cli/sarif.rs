//! `baton check --format sarif`, validated against the published JSON Schema of SARIF 2.1.0.
//!
//! `sarif-schema-2.1.0.json` is the schema of the OASIS SARIF technical committee, unchanged, as the crate
//! `serde-sarif` 0.8.0 (MIT) carries it; OASIS lets anyone copy it and use it to implement the standard.

use insta::assert_snapshot;
use jsonschema::Validator;
use serde_json::Value;

use crate::documents::{BROKEN_BLOCK, BROKEN_PACKAGE, FAILURE, REPORT, report_with, with};
use crate::sandbox::Sandbox;

fn published_schema() -> Validator {
    let mut schema: Value = serde_json::from_str(include_str!("sarif-schema-2.1.0.json")).expect("the schema is JSON");
    // A stray bracket makes the pattern of `language` no regular expression to a strict reader; we write none.
    for object in ["run", "toolComponent"] {
        let pattern = &mut schema["definitions"][object]["properties"]["language"]["pattern"];
        assert_eq!(pattern.take(), "^[a-zA-Z]{2}|^[a-zA-Z]{2}-[a-zA-Z]{2}]?$");
        *pattern = "^[a-zA-Z]{2}(-[a-zA-Z]{2})?$".into();
    }
    jsonschema::options().build(&schema).expect("the schema is one")
}

/// Runs a check and returns its log, which must satisfy the schema.
fn sarif(sandbox: &Sandbox, arguments: &[&str], exit: i32) -> Value {
    let run = sandbox.baton(&[&["check", "--format", "sarif"], arguments].concat());
    assert_eq!(run.code, Some(exit), "{run}");
    let log = run.json();
    let broken: Vec<String> =
        published_schema().iter_errors(&log).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert_eq!(broken, [""; 0]);
    log
}

#[test]
fn the_schema_does_refuse_what_is_no_sarif() {
    assert!(!published_schema().is_valid(&serde_json::json!({"version": "2.1.0", "runs": [{"tool": {}}]})));
}

#[test]
fn findings_in_every_form_are_valid_sarif() {
    let sandbox = Sandbox::new();
    sandbox.write("a b/review ü.md", BROKEN_BLOCK).write("package.yaml", BROKEN_PACKAGE).write("cut.json", "{");
    sandbox.write("empty.json", "").write("binary.json", b"\x00\x01").write("failed/hoff-20260317-0004.json", FAILURE);
    sandbox.write("crlf.json", REPORT.replace('\n', "\r\n")).write("bom.json", format!("\u{feff}{REPORT}"));
    sandbox
        .write("allowed.json", report_with("{\n", "{\n \"x\": 1, \"baton-allow\": {\"unknown-field\": \"ours\"},\n"));
    let log = sarif(&sandbox, &["."], 1);
    let results = log["runs"][0]["results"].as_array().expect("results");
    assert!(results.len() > 8, "{log:#}");
    for result in results {
        let rule = &log["runs"][0]["tool"]["driver"]["rules"][result["ruleIndex"].as_u64().expect("a number") as usize];
        assert_eq!(rule["id"], result["ruleId"]);
    }
    let uris: Vec<&str> = results
        .iter()
        .filter_map(|result| result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].as_str())
        .collect();
    assert!(uris.contains(&"a%20b/review%20%C3%BC.md"), "{uris:?}");
}

#[test]
fn one_result_in_full() {
    let sandbox = Sandbox::new();
    sandbox.write("report.json", report_with("\"complete\"", "\"done\""));
    let log = sarif(&sandbox, &["report.json"], 1);
    assert_eq!(log["runs"][0]["results"].as_array().map(Vec::len), Some(1));
    assert_snapshot!(format!("{:#}", log["runs"][0]["results"][0]), @r#"
    {
      "ruleId": "unknown-status",
      "ruleIndex": 4,
      "level": "error",
      "message": {
        "text": "unknown status `done`\nhelp: use one of: complete, partial, blocked"
      },
      "locations": [
        {
          "physicalLocation": {
            "artifactLocation": {
              "uri": "report.json"
            },
            "region": {
              "startLine": 4,
              "startColumn": 13,
              "endLine": 4,
              "endColumn": 19
            }
          },
          "logicalLocations": [
            {
              "fullyQualifiedName": "/status"
            }
          ]
        }
      ]
    }
    "#);
}

#[test]
fn what_is_allowed_is_suppressed_with_its_reason() {
    let sandbox = Sandbox::new();
    let extra = report_with("\"tokens_used\"", "\"tokens\": 3, \"tokens_used\"");
    sandbox.write("report.json", with(&extra, "{\n", "{\n  \"baton-allow\": {\"unknown-field\": \"ours\"},\n"));
    let log = sarif(&sandbox, &["report.json"], 0);
    assert_snapshot!(log["runs"][0]["results"][0]["suppressions"], @r#"[{"kind":"inSource","justification":"ours"}]"#);
}

#[test]
fn nothing_found_is_valid_sarif() {
    let sandbox = Sandbox::new();
    sandbox.write("report.json", REPORT);
    let log = sarif(&sandbox, &["report.json"], 0);
    assert_eq!(log["runs"][0]["results"], serde_json::json!([]));
    assert_eq!(log["runs"][0]["invocations"][0]["executionSuccessful"], true);
}

#[test]
fn a_path_that_cannot_be_read_is_a_notification() {
    let sandbox = Sandbox::new();
    sandbox.write("report.json", REPORT);
    let log = sarif(&sandbox, &["report.json", "none.json"], 2);
    assert_snapshot!(format!("{:#}", log["runs"][0]["invocations"]), @r#"
    [
      {
        "executionSuccessful": false,
        "toolExecutionNotifications": [
          {
            "level": "error",
            "message": {
              "text": "none.json: there is no such file or folder"
            }
          }
        ]
      }
    ]
    "#);
}

#[test]
fn standard_input_has_a_location_that_is_a_uri() {
    let sandbox = Sandbox::new();
    let run = sandbox.baton_with_input(&["check", "--format", "sarif", "-"], b"{");
    assert!(published_schema().is_valid(&run.json()), "{run}");
    assert!(run.stdout.contains("\"%3Cstdin%3E\""), "{run}");
}
