//! `baton dir`: input and output that must satisfy a schema.

use insta::assert_snapshot;
use serde_json::json;

use crate::dir_verbs::{claim, create, document, folders};
use crate::sandbox::Sandbox;

const PAGE: &str = r#"{"type": "object", "required": ["title"], "properties": {"title": {"type": "string"}}}"#;
const TASK: &str = r#"{"type": "object", "required": ["page"]}"#;

fn with_schemas() -> Sandbox {
    let sandbox = folders();
    sandbox.write("schemas/task.json", TASK).write("schemas/page.json", PAGE);
    sandbox.write("wrong.json", r#"{"title": 7}"#);
    sandbox
}

#[test]
fn input_that_breaks_its_schema_is_not_created() {
    let sandbox = with_schemas();
    let create = ["dir", "create", ".", "--from", "a", "--to", "b", "--input", "wrong.json", "--schema", "task.json"];
    assert_snapshot!(sandbox.baton(&create), @r#"
    --- stderr
    error: the input breaks its schema `task.json` in 1 place
      at /: "page" is a required property
    hint: correct it; nothing was written
    --- exit 1
    "#);
    assert_eq!(sandbox.baton(&["dir", "status", "."]).stdout, "0 pending, 0 in-progress, 0 completed, 0 failed\n");
}

#[test]
fn schema_of_the_agent_is_used_by_its_name() {
    let sandbox = with_schemas();
    sandbox.write("schemas/writer.input.schema.json", TASK).write("schemas/writer.output.schema.json", PAGE);
    assert_eq!(create(&sandbox, "a", &[]).code, Some(0));
    let request = document(&sandbox, "pending", "a");
    assert_eq!(request["input"]["schema"], "writer.input.schema.json");
    assert_eq!(request["expected_output"]["schema"], "writer.output.schema.json");
}

#[test]
fn input_of_others_that_breaks_its_schema_fails_when_claimed() {
    let sandbox = with_schemas();
    let request = json!({
        "handoff_id": "a", "timestamp": "2026-01-13T10:00:00.123456Z", "status": "pending",
        "source": {"agent_id": "@lead"}, "target": {"agent_id": "@writer"},
        "input": {"schema": "task.json", "data": {}}, "timeout_seconds": 300,
    });
    sandbox.write("handoffs/pending/a.json", request.to_string());
    create(&sandbox, "b", &[]);
    let run = claim(&sandbox);
    assert_eq!(run.json()["handoff_id"], "b");
    assert_eq!(
        run.stderr,
        "warning: `a` failed: the input breaks `task.json`: at /: \"page\" is a required property\n"
    );
    let failed = document(&sandbox, "failed", "a");
    assert_eq!(failed["error"]["code"], "SCHEMA_VALIDATION_FAILED");
    assert_eq!(failed["validation"]["errors"][0]["error"], "\"page\" is a required property");
    assert_eq!(failed["retry_available"], false);
}

#[test]
fn output_that_breaks_its_schema_can_be_corrected() {
    let sandbox = with_schemas();
    create(&sandbox, "a", &["--output-schema", "page.json"]);
    claim(&sandbox);
    assert_snapshot!(sandbox.baton(&["dir", "complete", ".", "a", "--artifact", "wrong.json"]), @r#"
    --- stderr
    error: the output breaks its schema `page.json` in 1 place
      at /title: 7 is not of type "string"
    hint: correct the artifact and complete again; the handoff is still in progress
    --- exit 1
    "#);
    assert_snapshot!(sandbox.baton(&["dir", "complete", ".", "a"]), @"
    --- stderr
    error: the output must satisfy `page.json`, but there is no artifact
    hint: correct the artifact and complete again; the handoff is still in progress
    --- exit 1
    ");
    sandbox.write("half.json", "{");
    assert_eq!(sandbox.baton(&["dir", "complete", ".", "a", "--artifact", "half.json"]).code, Some(1));
    assert_eq!(document(&sandbox, "in-progress", "a")["attempt"], 1);
    let done = sandbox.baton(&["dir", "complete", ".", "a", "--artifact", "page.json", "--json"]).json();
    assert_eq!(done["output"]["schema_compliance"], "valid");
    assert!(!sandbox.path("artifacts/registry.json.tmp").exists());
}

#[test]
fn missing_schema_is_a_warning_or_with_strict_an_error() {
    let sandbox = folders();
    assert_snapshot!(create(&sandbox, "a", &["--schema", "gone.json", "--strict"]), @"
    --- stderr
    error: the schema `gone.json` is not in ./schemas
    hint: add it, or omit --strict
    --- exit 1
    ");
    assert_snapshot!(create(&sandbox, "a", &["--schema", "gone.json", "--output-schema", "../gone.json"]), @"
    a
    --- stderr
    warning: the schema `gone.json` is not in ./schemas: not checked
    --- exit 0
    ");
    assert_eq!(sandbox.baton(&["dir", "claim", ".", "--agent", "writer", "--strict"]).code, Some(1));
    assert_eq!(document(&sandbox, "pending", "a")["status"], "pending");
    assert_eq!(claim(&sandbox).code, Some(0));
    assert_eq!(sandbox.baton(&["dir", "complete", ".", "a", "--artifact", "page.json", "--strict"]).code, Some(1));
    assert_eq!(sandbox.baton(&["dir", "complete", ".", "a", "--artifact", "page.json"]).code, Some(0));
}

#[test]
fn schema_that_is_none_is_an_error() {
    let sandbox = folders();
    sandbox.write("schemas/bad.json", r#"{"type": 7}"#);
    let run = create(&sandbox, "a", &["--schema", "bad.json"]);
    assert!(run.code == Some(2) && run.stderr.contains("schemas/bad.json is not a JSON Schema"), "{run}");
}

#[test]
fn request_with_an_unusable_schema_does_not_block_the_others() {
    let sandbox = folders();
    create(&sandbox, "a", &["--schema", "later.json", "--priority", "high"]);
    create(&sandbox, "b", &[]);
    sandbox.write("schemas/later.json", "{");
    let run = claim(&sandbox);
    assert_eq!(run.json()["handoff_id"], "b", "{run}");
    assert!(run.stderr.starts_with("warning: `a` is left alone: ./schemas/later.json is not a JSON Schema"), "{run}");
    assert_eq!(document(&sandbox, "pending", "a")["status"], "pending");
}
