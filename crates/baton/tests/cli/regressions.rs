//! Behaviour that was wrong once: each test asserts what is right.

use crate::documents::{BLOCK, BROKEN_PACKAGE, FAILURE, PACKAGE, REPORT, report_with, with};
use crate::sandbox::{Sandbox, codes};

#[test]
fn a_block_that_was_cut_off_at_its_very_beginning_is_not_replaced_by_an_earlier_one() {
    let sandbox = Sandbox::new();
    for (name, rest) in [("a.md", "```json\n{\n  \"ag"), ("b.md", "```json\n"), ("c.md", "```js"), ("d.md", "```\n{")] {
        sandbox.write(name, format!("{BLOCK}\n## Corrected\n\n{rest}"));
        let run = sandbox.baton(&["check", name]);
        assert_eq!(run.code, Some(1), "{name}\n{run}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_alias_of_a_long_text_is_within_the_budget_or_refused() {
    let sandbox = Sandbox::new();
    let (text, aliases) = ("a".repeat(1_000_000), vec!["*x"; 3000].join(", "));
    sandbox.write("bomb.yaml", format!("{PACKAGE}  note: &x \"{text}\\n\"\n  notes: [{aliases}]\n"));
    let run = sandbox.baton_within(400_000, &["check", "--json", "bomb.yaml"]);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert_eq!(codes(&run.json()), ["unreadable"]);
}

#[cfg(target_os = "linux")]
#[test]
fn anchors_inside_anchors_take_no_memory_for_each_other() {
    let sandbox = Sandbox::new();
    let (open, values): (String, _) = ((0..60).map(|level| format!("&a{level} [")).collect(), vec!["1"; 190_000]);
    sandbox.write("anchors.yaml", format!("{PACKAGE}  notes: {open}{}{}\n", values.join(", "), "]".repeat(60)));
    let run = sandbox.baton_within(300_000, &["check", "anchors.yaml"]);
    assert!(matches!(run.code, Some(0 | 1)), "{}", run.stderr);
}

#[cfg(unix)]
#[test]
fn a_pipe_in_the_workspace_is_not_read() {
    let sandbox = Sandbox::new();
    sandbox.folder("w").write("report.md", with(BLOCK, "src/tides.rs:1-40", "pipe:1-40"));
    let made = std::process::Command::new("mkfifo").arg(sandbox.path("w/pipe")).status();
    assert!(made.unwrap().success());
    assert_eq!(sandbox.baton(&["check", "--workspace", "w", "report.md"]).code, Some(1));
}

#[test]
fn a_folder_of_schemas_that_does_not_exist_is_wrong_usage() {
    let sandbox = Sandbox::new();
    sandbox.write("report.json", REPORT);
    assert_eq!(sandbox.baton(&["check", "--schemas", "none", "report.json"]).code, Some(2));
}

#[test]
fn strict_says_failed_when_it_fails() {
    let sandbox = Sandbox::new();
    sandbox.write("warning.json", report_with("\"tokens_used\"", "\"tokens\": 3, \"tokens_used\""));
    let run = sandbox.baton(&["check", "--strict", "warning.json"]);
    assert!(run.code == Some(1) && run.stdout.contains("failed: "), "{run}");
}

#[test]
fn a_byte_order_mark_moves_no_column() {
    let sandbox = Sandbox::new();
    sandbox.write("report.json", "\u{feff}{\"task_id\": \"csv-07\"} x");
    assert_eq!(sandbox.check_json(&["report.json"])["files"][0]["diagnostics"][1]["column"], 23);
    let run = sandbox.baton(&["check", "report.json"]);
    assert!(run.stdout.contains("report.json:1:23"), "{run}");
}

#[test]
fn the_list_of_rules_has_columns_and_whole_sentences() {
    let run = Sandbox::new().baton(&["explain"]);
    for line in run.stdout.lines().filter(|line| line.starts_with("  ")) {
        let columns: Vec<&str> = line.split_whitespace().collect();
        assert!(["error", "warning", "info"].contains(&columns[1]), "{line}");
        assert!(line.ends_with(['.', ':']), "{line}");
    }
}

#[test]
fn a_permission_in_the_configuration_has_a_reason_and_nothing_else() {
    let sandbox = Sandbox::new();
    sandbox.write("report.json", REPORT);
    sandbox.write("baton.toml", "[rules]\nvague-summary = { allow = \"x\", until = \"2027\" }\n");
    assert_eq!(sandbox.baton(&["check", "report.json"]).code, Some(2));
}

#[test]
fn a_pattern_below_a_folder_that_does_not_exist_is_one_error() {
    let run = Sandbox::new().baton(&["check", "none/*.json"]);
    assert_eq!((run.code, run.stderr.matches("error: ").count()), (Some(2), 1), "{run}");
}

#[test]
fn a_blocked_report_is_never_completed_or_pending() {
    let sandbox = Sandbox::new();
    let blocked =
        "\"status\": \"blocked\", \"blocked_reason\": \"unknown\", \"attempted\": [\"cargo test: 6 timeouts\"]";
    sandbox.write("report.md", with(BLOCK, "\"status\": \"complete\"", blocked));
    let run = sandbox.baton(&["convert", "--to", "mailbox", "report.md"]);
    sandbox.write("mailbox.json", &run.stdout);
    let again = sandbox.baton(&["convert", "--to", "mailbox", "--dialect", "mailbox", "mailbox.json"]);
    assert!(!run.stdout.contains("completed"), "{run}");
    assert!(!again.stdout.contains("pending"), "{again}");
}

#[test]
fn only_what_was_there_is_lost() {
    let sandbox = Sandbox::new();
    sandbox.write("failure.json", FAILURE);
    let run = sandbox.baton(&["convert", "--to", "task", "failure.json"]);
    assert!(run.stderr.contains("lost: /timestamp_failed") && !run.stderr.contains("/failed_at"), "{run}");
}

#[test]
fn a_package_on_standard_input_may_quote_code() {
    let quoted =
        "summary: |\n      The endpoint answers in 40 ms with 3 fields:\n      ```\n      curl /upload\n      ```";
    let package = with(PACKAGE, "summary: The upload service", &format!("{quoted}\n      The upload service"));
    let run = Sandbox::new().baton_with_input(&["check", "--dialect", "package", "-"], package.as_bytes());
    assert!(!run.stdout.contains("unreadable"), "{run}");
}

#[test]
fn what_the_project_allows_is_suppressed_outside_the_source() {
    let sandbox = Sandbox::new();
    sandbox.write("package.yaml", BROKEN_PACKAGE).write("baton.toml", "[rules]\nvague-summary = { allow = \"x\" }\n");
    let log = sandbox.baton(&["check", "--format", "sarif", "package.yaml"]).json();
    let results = log["runs"][0]["results"].as_array().unwrap();
    let allowed = results.iter().find(|result| result["ruleId"] == "vague-summary").unwrap();
    assert_eq!(allowed["suppressions"][0]["kind"], "external");
}

#[test]
fn a_file_is_read_once_whatever_it_is_called() {
    let sandbox = Sandbox::new();
    sandbox.write("report.json", REPORT);
    let result = sandbox.check_json(&["report.json", "./report.json"]);
    assert_eq!(result["files"].as_array().map(Vec::len), Some(1));
}

#[test]
fn too_deep_is_said_in_the_same_words_everywhere() {
    let sandbox = Sandbox::new();
    sandbox.write("deep.yaml", format!("{}{}", "[".repeat(100), "]".repeat(100)));
    let run = sandbox.baton(&["check", "deep.yaml"]);
    assert!(run.stdout.contains("nested more than 64 deep"), "{run}");
}

#[test]
fn the_manual_tells_the_real_limit_of_values() {
    let sandbox = Sandbox::new();
    sandbox.write("values.json", format!("[{}0]", "0,".repeat(600_000)));
    let message = sandbox.baton(&["check", "--format", "github", "values.json"]).stdout;
    let limit: String = message.split("more than ").nth(1).unwrap().chars().take_while(char::is_ascii_digit).collect();
    let manual = sandbox.baton(&["explain", "unreadable"]).stdout.replace([' ', '\n'], "");
    assert!(manual.contains(&format!("morethan{limit}values")), "{limit}");
}

#[test]
fn a_schema_that_cannot_be_used_is_not_told_as_missing() {
    let sandbox = Sandbox::new();
    let request = r#"{"handoff_id": "h-1", "timestamp": "2026-03-18T07:30:00Z", "status": "pending",
      "source": {"agent_id": "@a"}, "target": {"agent_id": "@b"},
      "input": {"schema": "x.schema.json", "data": {}}}"#;
    sandbox.write("request.json", request).write("ours/x.schema.json", r#"{"type": 3}"#);
    let run = sandbox.baton(&["check", "--schemas", "ours", "request.json"]);
    assert!(!run.stdout.contains("there is no schema"), "{run}");
}

#[test]
fn a_later_handoff_is_never_passed_over_for_an_earlier_one() {
    let sandbox = Sandbox::new();
    let blocked = "{\"agent\": \"a\", \"status\": \"blocked\", \"handoff\": {\"context\": \"x\"}}";
    for (name, rest) in [
        ("tag.md", format!("```json:handoff\n{blocked}\n```\n")),
        ("text.md", format!("```text\n{blocked}\n```\n")),
        ("untagged.md", "```\nagent: a\nstatus: blocked\nhandoff: {context: x}\n```\n".to_owned()),
        ("bare.md", format!("{blocked}\n")),
        ("indented.md", format!("    {blocked}\n")),
        ("broken.md", "```json\n{\"step\": \"one\",\n```\n".to_owned()),
        ("fence.md", "````sh\nls\n```\n".to_owned()),
    ] {
        sandbox.write(name, format!("{BLOCK}\n## Corrected\n\n{rest}"));
        let run = sandbox.baton(&["check", name]);
        assert_eq!(run.code, Some(1), "{name}\n{run}");
    }
}

#[test]
fn aliases_do_not_go_around_the_limit_of_nesting() {
    let sandbox = Sandbox::new();
    let level = |below: &str| format!("{}{below}{}", "[".repeat(20), "]".repeat(20));
    let lists = format!("a: &a {}\nb: &b {}\nc: &c {}\nd: {}\n", level("1"), level("*a"), level("*b"), level("*c"));
    sandbox.write("deep.yaml", format!("{PACKAGE}{lists}"));
    let run = sandbox.baton(&["check", "deep.yaml"]);
    assert!(run.code == Some(1) && run.stdout.contains("nested more than 64 deep"), "{run}");
}

#[test]
fn what_was_completed_carries_no_error() {
    let sandbox = Sandbox::new();
    let completed = r#"{"handoff_id": "h-1", "status": "completed", "completed_at": "2026-03-18T07:30:00Z",
      "source": {"agent_id": "@a"}, "target": {"agent_id": "@b"}, "output": {"artifact_path": "artifacts/x.json"},
      "error": {"code": "PROCESSING_ERROR", "message": "no memory"}}"#;
    sandbox.write("h-1.json", completed);
    assert_eq!(codes(&sandbox.check_json(&["h-1.json"])), ["proceed-with-failed-check"]);
}

#[test]
fn no_extension_of_a_native_document_changes_what_it_says() {
    let sandbox = Sandbox::new();
    let native = r#"{"baton": 1, "document": "report", "from": {"agent": "dev"}, "outcome": "blocked",
      "extensions": [{"dialect": "metadata-block", "fields": {"/status": "complete", "/agent": "other",
        "/handoff": {"next_agent": "deployer"}, "/status/x": 1, "/team": "kept"}}]}"#;
    sandbox.write("native.json", native);
    let run = sandbox.baton(&["convert", "--to", "metadata-block", "--form", "json", "native.json"]);
    let written = run.json();
    assert_eq!((&written["status"], &written["agent"]), (&"blocked".into(), &"dev".into()), "{run}");
    assert_eq!((&written["team"], &written["handoff"]), (&"kept".into(), &serde_json::Value::Null), "{run}");
}

#[test]
fn nothing_judged_is_never_ok() {
    let sandbox = Sandbox::new();
    sandbox.write("folder/package.json", "{\"name\": \"x\"}").folder("empty");
    for arguments in [["check", "--skip-unknown", "folder"].as_slice(), ["check", "empty"].as_slice()] {
        let run = sandbox.baton(arguments);
        assert!(run.code == Some(2) && !run.stdout.contains("ok:"), "{run}");
    }
}

#[test]
fn conflicts_in_quoted_code_are_no_conflicts_of_the_file() {
    let sandbox = Sandbox::new();
    sandbox.write("report.md", format!("```diff\n<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n```\n\n{BLOCK}"));
    assert_eq!(sandbox.baton(&["check", "report.md"]).code, Some(0));
}
