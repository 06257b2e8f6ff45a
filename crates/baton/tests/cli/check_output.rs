//! `baton check`: what people, scripts and GitHub get to see.

use insta::assert_snapshot;
use serde_json::Value;

use crate::documents::{BLOCK, BROKEN_BLOCK, BROKEN_PACKAGE, PACKAGE, REPORT, report_with, with};
use crate::sandbox::Sandbox;

#[test]
fn a_markdown_block_is_shown_with_excerpt_caret_and_help() {
    let sandbox = Sandbox::new();
    sandbox.write("review.md", BROKEN_BLOCK);
    assert_snapshot!(sandbox.baton(&["check", "review.md"]), @r#"
    warning[invented-timestamp]: `2026-03-04T00:00:00Z` is exactly midnight, which looks invented
     --> review.md:7:16
      |
    7 |   "timestamp": "2026-03-04T00:00:00Z",
      |                ^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: take the time from a clock: date -u +%Y-%m-%dT%H:%M:%SZ

    error[blocked-without-attempts]: the report is blocked, but `attempted` does not say what was tried
      --> review.md:10:13
       |
    10 |   "status": "blocked",
       |             ^^^^^^^^^
       |
       = help: list what was tried and with what result, so that it is not tried again

    warning[unknown-reason]: `tests_missing` is not a reason that can be routed
      --> review.md:11:21
       |
    11 |   "blocked_reason": "tests_missing",
       |                     ^^^^^^^^^^^^^^^
       |
       = help: use one of: security_concern, architecture_decision, test_failures, missing_requirements, unknown, missing_test_plan, implementation_unclear, architecture_change_needed, out_of_scope, schema_discovery_failed; any other goes to a person

    error[blocked-names-next-agent]: the report is blocked, but names `harbour-developer` as the next agent
      --> review.md:13:19
       |
    13 |     "next_agent": "harbour-developer",
       |                   ^^^^^^^^^^^^^^^^^^^
       |
       = help: write null: the orchestrator routes by `blocked_reason`

    review.md: metadata-block report, not valid
    failed: 0 of 1 file valid, 2 errors, 2 warnings
    --- exit 1
    "#);
}

#[test]
fn yaml_is_shown_with_excerpt_caret_and_help() {
    let sandbox = Sandbox::new();
    sandbox.write("package.yaml", BROKEN_PACKAGE);
    assert_snapshot!(sandbox.baton(&["check", "package.yaml"]), @"
    error[implicit-context]: the summary says that something was done, but not what, and there is nothing else to start from
     --> package.yaml:9:14
      |
    9 |     summary: Finished the work
      |              ^^^^^^^^^^^^^^^^^
      |
      = help: say what was done and with what result, and list the artifacts, decisions and open questions

    warning[vague-summary]: the summary says that something was done, but not what
     --> package.yaml:9:14
      |
    9 |     summary: Finished the work
      |              ^^^^^^^^^^^^^^^^^
      |
      = help: name what was done and with what result: files, numbers, decisions

    error[delegation-without-deliverable]: the delegation does not say what to deliver
      --> package.yaml:11:5
       |
    11 |     success_criteria:
       |     ^
       |
       = help: add `expectations.deliverable`: what must come back

    warning[unmeasurable-criterion]: this criterion asks for a quality without saying how to check it
      --> package.yaml:12:9
       |
    12 |       - Write clean code
       |         ^^^^^^^^^^^^^^^^
       |
       = help: name a number, a command that passes, a file that exists or an event that anyone can see

    package.yaml: package request, not valid
    failed: 0 of 1 file valid, 2 errors, 2 warnings
    --- exit 1
    ");
}

#[test]
fn json_is_shown_with_excerpt_caret_and_help() {
    let sandbox = Sandbox::new();
    let report = report_with("\"complete\"", "\"done\"");
    sandbox.write("report.json", with(&report, "\"tokens_used\"", "\"tokens\": 3, \"tokens_used\""));
    assert_snapshot!(sandbox.baton(&["check", "report.json"]), @r#"
    error[unknown-status]: unknown status `done`
     --> report.json:4:13
      |
    4 |   "status": "done",
      |             ^^^^^^
      |
      = help: use one of: complete, partial, blocked

    warning[unknown-field]: `tokens` is not a field of this document
      --> report.json:17:3
       |
    17 |   "tokens": 3, "tokens_used": 912,
       |   ^^^^^^^^
       |
       = help: did you mean `tokens_used`?

    report.json: task report, not valid
    failed: 0 of 1 file valid, 1 error, 1 warning
    --- exit 1
    "#);
}

#[test]
fn what_is_valid_is_told_in_one_line() {
    let sandbox = Sandbox::new();
    sandbox.write("report.json", REPORT);
    assert_snapshot!(sandbox.baton(&["check", "report.json"]), @"
    report.json: task report, valid
    ok: 1 of 1 file valid, 0 errors, 0 warnings
    --- exit 0
    ");
}

#[test]
fn the_json_form_is_the_promised_one() {
    let sandbox = Sandbox::new();
    sandbox.write("package.yaml", PACKAGE);
    sandbox.write("report.json", report_with("\"complete\"", "\"compleet\""));
    assert_snapshot!(sandbox.baton(&["check", "--format", "json", "package.yaml", "report.json"]), @r#"
    {
      "version": 1,
      "files": [
        {
          "path": "package.yaml",
          "dialect": "package",
          "document": "request",
          "valid": true,
          "diagnostics": [],
          "allowed": []
        },
        {
          "path": "report.json",
          "dialect": "task",
          "document": "report",
          "valid": false,
          "diagnostics": [
            {
              "code": "unknown-status",
              "severity": "error",
              "message": "unknown status `compleet`",
              "pointer": "/status",
              "line": 4,
              "column": 13,
              "help": "did you mean `complete`? known: complete, partial, blocked"
            }
          ],
          "allowed": []
        }
      ],
      "problems": [],
      "skipped": 0,
      "errors": 1,
      "warnings": 0
    }
    --- exit 1
    "#);
}

#[test]
fn every_promised_member_has_its_type() {
    let sandbox = Sandbox::new();
    sandbox.write("review.md", BROKEN_BLOCK).write("empty.json", "").write("report.json", REPORT);
    let result = sandbox.check_json(&["review.md", "empty.json", "report.json"]);
    let names = |value: &Value| value.as_object().expect("an object").keys().cloned().collect::<Vec<_>>();
    assert_eq!(result["version"], 1);
    for name in ["version", "files", "errors", "warnings"] {
        assert!(names(&result).contains(&name.to_owned()), "{name}");
    }
    let files = result["files"].as_array().expect("files");
    assert_eq!(files.len(), 3);
    for file in files {
        assert!(file["path"].is_string() && file["valid"].is_boolean(), "{file}");
        assert_eq!(file["dialect"].is_string(), file["path"] != "empty.json", "{file}");
        assert_eq!(file["document"].is_string(), file["path"] != "empty.json", "{file}");
        for found in file["diagnostics"].as_array().expect("diagnostics") {
            let promised = ["code", "severity", "message", "pointer", "line", "column", "help"];
            assert_eq!(names(found), promised, "{found}");
            assert!(["error", "warning", "info"].contains(&found["severity"].as_str().expect("text")), "{found}");
            assert!(found["line"].as_u64() >= Some(1) && found["column"].as_u64() >= Some(1), "{found}");
        }
    }
    let count = |severity: &str| {
        let all = files.iter().flat_map(|file| file["diagnostics"].as_array().expect("diagnostics"));
        all.filter(|found| found["severity"] == severity).count()
    };
    assert_eq!((&result["errors"], &result["warnings"]), (&count("error").into(), &count("warning").into()));
}

#[test]
fn the_short_option_gives_the_same_as_the_long_one() {
    let sandbox = Sandbox::new();
    sandbox.write("review.md", BROKEN_BLOCK);
    let (short, long) =
        (sandbox.baton(&["check", "--json", "review.md"]), sandbox.baton(&["check", "--format", "json", "review.md"]));
    assert_eq!(short.to_string(), long.to_string());
    assert_eq!(short.code, Some(1));
}

#[test]
fn github_commands_are_escaped() {
    let sandbox = Sandbox::new();
    let report = report_with("\"complete\"", "\"50%\\r\\n::error::x\"");
    sandbox.write("a,b: 100%.json", with(&report, "\"tokens_used\"", "\"tokens\": 3, \"tokens_used\""));
    let run = sandbox.baton(&["check", "--format", "github", "a,b: 100%.json"]);
    assert!(run.stdout.lines().all(|line| line.starts_with("::")), "{run}");
    assert_snapshot!(run, @"
    ::error file=a%2Cb%3A 100%25.json,line=4,col=13,title=baton unknown-status::unknown status `50%25  ::error::x`%0Ahelp: use one of: complete, partial, blocked
    ::warning file=a%2Cb%3A 100%25.json,line=17,col=3,title=baton unknown-field::`tokens` is not a field of this document%0Ahelp: did you mean `tokens_used`?
    --- exit 1
    ");
}

#[test]
fn github_hears_notices_of_what_is_only_worth_knowing() {
    let sandbox = Sandbox::new();
    sandbox.write("report.json", REPORT.replace('\n', "\r\n"));
    assert_snapshot!(sandbox.baton(&["check", "--format", "github", "report.json"]), @"
    ::notice file=report.json,line=1,col=2,title=baton carriage-return::the lines end in CRLF%0Ahelp: write LF line ends
    --- exit 0
    ");
}

#[test]
fn a_document_cannot_write_to_the_terminal() {
    let sandbox = Sandbox::new();
    let evil = report_with("\"complete\"", "\"\\u001b[31mred\\u0007\"");
    sandbox.write("report.json", &evil).write("plain.json", evil.replace("\\u001b", "\u{1b}"));
    sandbox.write("permission.json", report_with("{\n", "{\n  \"baton-allow\": {\"\\u001b[2J\": \"x\"},\n"));
    for format in ["human", "json", "sarif", "github"] {
        let run = sandbox.baton(&["check", "--format", format, "report.json", "plain.json", "permission.json"]);
        assert_eq!(run.code, Some(1), "{run}");
        let sent = |text: &str| text.chars().any(|character| character.is_control() && character != '\n');
        assert!(!sent(&run.stdout) && !sent(&run.stderr), "{format}: {:?}", run.stdout);
    }
}

#[test]
fn columns_count_characters_in_every_format() {
    let sandbox = Sandbox::new();
    let block = with(BLOCK, "\"status\": \"complete\"", "\"größe\": \"日本\", \"status\": \"fertig\"");
    sandbox.write("report.md", block);
    let result = sandbox.check_json(&["report.md"]);
    let found = &result["files"][0]["diagnostics"][1];
    assert_eq!((&found["code"], &found["line"], &found["column"]), (&"unknown-status".into(), &13.into(), &28.into()));
    let run = sandbox.baton(&["check", "report.md"]);
    assert!(run.stdout.contains("report.md:13:28"), "{run}");
    let run = sandbox.baton(&["check", "--format", "github", "report.md"]);
    assert!(run.stdout.contains("line=13,col=28"), "{run}");
}
