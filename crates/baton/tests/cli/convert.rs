//! `baton convert`: into every dialect, and what is said about what was lost.

use insta::assert_snapshot;
use serde_json::Value;

use crate::documents::{ACKNOWLEDGMENT, BLOCK, FAILURE, PACKAGE, PHASE, REPORT, REQUEST, report_with, with};
use crate::sandbox::Sandbox;

/// One document of every kind and dialect, by file name.
const ALL: [(&str, &str); 7] = [
    ("block.md", BLOCK),
    ("phase.json", PHASE),
    ("package.yaml", PACKAGE),
    ("acknowledgment.yaml", ACKNOWLEDGMENT),
    ("request.json", REQUEST),
    ("report.json", REPORT),
    ("failure.json", FAILURE),
];

const DIALECTS: [&str; 6] = ["metadata-block", "phase-block", "package", "task", "mailbox", "native"];

fn everything() -> Sandbox {
    let sandbox = Sandbox::new();
    for (name, document) in ALL {
        sandbox.write(name, document);
    }
    sandbox
}

#[test]
fn every_document_goes_to_every_dialect_or_is_refused() {
    let sandbox = everything();
    let mut table = String::new();
    for (name, _) in ALL {
        for dialect in DIALECTS {
            let run = sandbox.baton(&["convert", "--to", dialect, name]);
            let said = match run.code {
                Some(0) => format!("{} lost", run.stderr.lines().count()),
                Some(1) if run.stdout.is_empty() => "refused".to_owned(),
                _ => panic!("{run}"),
            };
            assert!(run.stderr.lines().all(|line| line.contains(name)), "{run}");
            table.push_str(&format!("{name} to {dialect}: {said}\n"));
        }
    }
    assert_snapshot!(table, @"
    block.md to metadata-block: 0 lost
    block.md to phase-block: 0 lost
    block.md to package: 5 lost
    block.md to task: 7 lost
    block.md to mailbox: 5 lost
    block.md to native: 0 lost
    phase.json to metadata-block: 6 lost
    phase.json to phase-block: 0 lost
    phase.json to package: 9 lost
    phase.json to task: 13 lost
    phase.json to mailbox: 12 lost
    phase.json to native: 0 lost
    package.yaml to metadata-block: 6 lost
    package.yaml to phase-block: 5 lost
    package.yaml to package: 0 lost
    package.yaml to task: 6 lost
    package.yaml to mailbox: 3 lost
    package.yaml to native: 0 lost
    acknowledgment.yaml to metadata-block: refused
    acknowledgment.yaml to phase-block: refused
    acknowledgment.yaml to package: 0 lost
    acknowledgment.yaml to task: refused
    acknowledgment.yaml to mailbox: refused
    acknowledgment.yaml to native: 0 lost
    request.json to metadata-block: 8 lost
    request.json to phase-block: 8 lost
    request.json to package: 6 lost
    request.json to task: 0 lost
    request.json to mailbox: 4 lost
    request.json to native: 0 lost
    report.json to metadata-block: 7 lost
    report.json to phase-block: 6 lost
    report.json to package: 7 lost
    report.json to task: 0 lost
    report.json to mailbox: 7 lost
    report.json to native: 0 lost
    failure.json to metadata-block: 12 lost
    failure.json to phase-block: 12 lost
    failure.json to package: 11 lost
    failure.json to task: 11 lost
    failure.json to mailbox: 0 lost
    failure.json to native: 0 lost
    ");
}

#[test]
fn what_is_lost_is_named_with_place_and_pointer() {
    assert_snapshot!(everything().baton(&["convert", "--to", "package", "block.md"]), @r#"
    handoff:
      timestamp: "2026-03-02T09:41:17Z"
      from:
        agent: harbour-architect
      to:
        agent: harbour-developer
      context:
        summary: >-
          Implement sections 1 and 2 of architecture.md. Reuse Fetcher::get in
          src/fetch.rs; the cache holds 48 hours.
    --- stderr
    block.md:8:3: lost: /output_type has no place in package
    block.md:10:3: lost: /feature_directory has no place in package
    block.md:11:3: lost: /skills_invoked has no place in package
    block.md:12:3: lost: /source_files_verified has no place in package
    block.md:13:3: lost: /status has no place in package
    --- exit 0
    "#);
}

#[test]
fn the_json_form_has_document_and_losses() {
    assert_snapshot!(everything().baton(&["convert", "--to", "package", "--json", "block.md"]), @r#"
    {
      "version": 1,
      "path": "block.md",
      "from": "metadata-block",
      "to": "package",
      "document": {
        "handoff": {
          "timestamp": "2026-03-02T09:41:17Z",
          "from": {
            "agent": "harbour-architect"
          },
          "to": {
            "agent": "harbour-developer"
          },
          "context": {
            "summary": "Implement sections 1 and 2 of architecture.md. Reuse Fetcher::get in src/fetch.rs; the cache holds 48 hours."
          }
        }
      },
      "losses": [
        {
          "pointer": "/output_type",
          "line": 8,
          "column": 3
        },
        {
          "pointer": "/feature_directory",
          "line": 10,
          "column": 3
        },
        {
          "pointer": "/skills_invoked",
          "line": 11,
          "column": 3
        },
        {
          "pointer": "/source_files_verified",
          "line": 12,
          "column": 3
        },
        {
          "pointer": "/status",
          "line": 13,
          "column": 3
        }
      ]
    }
    --- exit 0
    "#);
}

#[test]
fn strict_fails_when_something_is_lost() {
    let sandbox = everything();
    let run = sandbox.baton(&["convert", "--strict", "--to", "package", "block.md"]);
    assert_eq!(run.code, Some(1), "{run}");
    assert!(run.stderr.contains("lost: /status"), "{run}");
    let run = sandbox.baton(&["convert", "--strict", "--json", "--to", "package", "block.md"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(1), ""));
    assert_eq!(sandbox.baton(&["convert", "--strict", "--to", "native", "block.md"]).code, Some(0));
}

#[test]
fn the_native_form_gives_every_document_back() {
    let sandbox = everything();
    let extended = with(&report_with("\"tokens_used\"", "\"meter\": {\"a/b\": [1]}, \"tokens_used\""), "912", "9.5");
    sandbox.write("extended.json", extended);
    let names = ALL.iter().map(|(name, _)| *name).chain(["extended.json"]);
    for name in names {
        let native = sandbox.baton(&["convert", "--strict", "--to", "native", name]);
        assert_eq!((native.code, native.stderr.as_str()), (Some(0), ""), "{native}");
        sandbox.write("native.json", &native.stdout);
        let dialect = dialect_of(&sandbox, name);
        let whole = |file: &str| {
            let run = sandbox.baton(&["convert", "--json", "--to", &dialect, file]);
            assert_eq!(run.json()["losses"], serde_json::json!([]), "{run}");
            run.json()["document"].clone()
        };
        assert_eq!(whole("native.json"), whole(name), "{name}");
        assert_eq!(sandbox.check_json(&["native.json"])["files"][0]["dialect"], "native");
    }
}

fn dialect_of(sandbox: &Sandbox, name: &str) -> String {
    sandbox.check_json(&[name])["files"][0]["dialect"].as_str().expect("a dialect").to_owned()
}

#[test]
fn writing_the_same_dialect_again_changes_nothing() {
    let sandbox = everything();
    for name in ["request.json", "report.json"] {
        let run = sandbox.baton(&["convert", "--strict", "--to", "task", name]);
        let (written, given): (Value, Value) =
            (run.json(), serde_json::from_str(&sandbox.read(name)).expect("the document is JSON"));
        assert_eq!(written, given, "{name}");
    }
}

#[test]
fn the_form_is_the_usual_one_of_the_dialect_unless_another_is_asked_for() {
    let sandbox = everything();
    let text = |arguments: &[&str]| sandbox.baton(&[&["convert"], arguments].concat()).stdout;
    assert!(text(&["--to", "metadata-block", "block.md"]).starts_with("```json\n{\n"));
    assert!(text(&["--to", "package", "package.yaml"]).starts_with("handoff:\n"));
    assert!(text(&["--to", "task", "report.json"]).starts_with("{\n"));
    let as_json = text(&["--to", "native", "--form", "json", "report.json"]);
    let as_block = text(&["--to", "native", "--form", "block", "report.json"]);
    assert_eq!(as_block, format!("```json\n{as_json}```\n"));
    sandbox.write("again.yaml", text(&["--to", "native", "--form", "yaml", "report.json"]));
    assert_eq!(text(&["--to", "native", "--form", "json", "again.yaml"]), as_json);
}

#[test]
fn what_was_converted_to_its_own_dialect_is_still_valid() {
    let sandbox = everything();
    for (name, _) in ALL {
        let dialect = dialect_of(&sandbox, name);
        let run = sandbox.baton(&["convert", "--to", &dialect, name]);
        let checked = sandbox.baton_with_input(&["check", "--dialect", &dialect, "-"], run.stdout.as_bytes());
        assert_eq!(checked.code, Some(0), "{name}\n{checked}");
    }
}

#[test]
fn standard_input_is_converted() {
    let run = Sandbox::new().baton_with_input(&["convert", "--to", "task", "-"], BLOCK.as_bytes());
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.stderr.lines().all(|line| line.starts_with("<stdin>:")), "{run}");
}

#[test]
fn a_status_that_is_not_known_is_never_turned_into_one_that_is() {
    let sandbox = Sandbox::new();
    sandbox.write("report.json", report_with("\"complete\"", "\"done\""));
    for dialect in DIALECTS {
        let run = sandbox.baton(&["convert", "--json", "--to", dialect, "report.json"]);
        let text = run.json()["document"].to_string();
        assert!(!text.contains("\"complete\"") && !text.contains("\"completed\""), "{run}");
    }
}
