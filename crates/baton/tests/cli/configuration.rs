//! `baton.toml`: severities, permissions and words of a project, and what is said about its mistakes.

use insta::assert_snapshot;

use crate::documents::{BROKEN_BLOCK, BROKEN_PACKAGE, PHASE, REPORT, report_with, with};
use crate::sandbox::{Run, Sandbox, briefly, codes};

/// A sandbox with a configuration and a report that has an unknown field.
fn configured(toml: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("baton.toml", toml);
    sandbox.write("report.json", report_with("\"tokens_used\"", "\"tokens\": 3, \"tokens_used\""));
    sandbox
}

/// Checks with a wrong configuration, and takes the folder out of what is said.
fn mistake(toml: &str) -> String {
    let sandbox = configured(toml);
    let run = sandbox.baton(&["check", "report.json"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{run}");
    assert_eq!(run.stderr.matches("error: ").count(), 1, "{run}");
    let folder = std::fs::canonicalize(sandbox.path(".")).expect("the folder exists");
    run.stderr.replace(&format!("{}/", folder.display()), "")
}

#[test]
fn severities_can_be_raised_lowered_and_switched_off() {
    let check = |toml: &str| {
        let sandbox = configured(toml);
        (sandbox.baton(&["check", "report.json"]).code, briefly(&sandbox.check_json(&["report.json"])))
    };
    let (exit, said) = check("[rules]\nunknown-field = \"error\"\n");
    assert_eq!(exit, Some(1));
    assert_snapshot!(said, @"
    report.json task report not valid
      17:3 error unknown-field /tokens
    ");
    let (exit, said) = check("[rules]\nunknown-field = \"info\"\n");
    assert_eq!(exit, Some(0));
    assert_snapshot!(said, @"
    report.json task report valid
      17:3 info unknown-field /tokens
    ");
    assert_eq!(check("[rules]\nunknown-field = \"off\"\n"), (Some(0), "report.json task report valid\n".to_owned()));
}

#[test]
fn what_the_project_allows_is_shown_as_allowed() {
    let sandbox = configured("[rules]\nunknown-field = { allow = \"the meter adds its own\" }\n");
    assert_snapshot!(sandbox.baton(&["check", "--strict", "report.json"]), @"
    allowed: report.json:17: unknown-field (the meter adds its own)

    report.json: task report, valid
    ok: 1 of 1 file valid, 0 errors, 0 warnings, 1 allowed
    --- exit 0
    ");
    let result = sandbox.check_json(&["report.json"]);
    assert_snapshot!(format!("{:#}", result["files"][0]["allowed"]), @r#"
    [
      {
        "code": "unknown-field",
        "severity": "warning",
        "message": "`tokens` is not a field of this document",
        "pointer": "/tokens",
        "line": 17,
        "column": 3,
        "help": "did you mean `tokens_used`?",
        "reason": "the meter adds its own"
      }
    ]
    "#);
}

#[test]
fn the_project_may_allow_errors() {
    let sandbox = Sandbox::new();
    sandbox.write("package.yaml", BROKEN_PACKAGE);
    sandbox.write(
        "baton.toml",
        "[rules]\nimplicit-context = { allow = \"by phone\" }\ndelegation-without-deliverable = { allow = \"by phone\" }\n",
    );
    assert_eq!(sandbox.baton(&["check", "package.yaml"]).code, Some(0));
}

#[test]
fn reasons_and_phases_of_the_project_are_known() {
    let sandbox = Sandbox::new();
    sandbox.write("review.md", BROKEN_BLOCK).write("phase.json", with(PHASE, "\"review\"", "\"release\""));
    let before = codes(&sandbox.check_json(&["review.md", "phase.json"]));
    assert!(
        before.contains(&"unknown-reason".to_owned()) && before.contains(&"unknown-phase".to_owned()),
        "{before:?}"
    );
    sandbox.write("baton.toml", "[vocabulary]\nreasons = [\"tests_missing\"]\nphases = [\"release\"]\n");
    let after = codes(&sandbox.check_json(&["review.md", "phase.json"]));
    assert!(!after.contains(&"unknown-reason".to_owned()) && !after.contains(&"unknown-phase".to_owned()), "{after:?}");
}

#[test]
fn the_budget_of_a_summary_can_be_set() {
    let sandbox = Sandbox::new();
    sandbox.write("report.json", REPORT).write("baton.toml", "[check]\nsummary_tokens = 20\n");
    assert_snapshot!(sandbox.baton(&["check", "report.json"]), @r#"
    error[summary-over-budget]: the summary has 35 tokens (o200k_base), and the budget is 20
      --> report.json:16:22
       |
    16 | ...": "Rows are written through RowWriter in src/export/mod.rs; xlsx.rs is the only writer. A CSV writer fits in src/export/csv.rs and needs no d…
       |       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
       |
       = help: keep what the next agent needs, and refer to a file for the rest

    report.json: task report, not valid
    failed: 0 of 1 file valid, 1 error, 0 warnings
    --- exit 1
    "#);
}

#[test]
fn the_nearest_file_above_counts_unless_one_is_given() {
    let sandbox = configured("[rules]\nunknown-field = \"error\"\n");
    sandbox
        .write("deep/er/report.json", sandbox.read("report.json"))
        .write("off.toml", "[rules]\nunknown-field = \"off\"\n");
    // The file above the working directory counts, not one beside the document.
    sandbox.write("deep/baton.toml", "[rules]\nunknown-field = \"off\"\n");
    assert_eq!(sandbox.baton(&["check", "deep/er/report.json"]).code, Some(1));
    assert_eq!(sandbox.baton(&["check", "--config", "off.toml", "report.json"]).code, Some(0));
    assert_eq!(sandbox.baton(&["check", "--config", "deep/baton.toml", "report.json"]).code, Some(0));
}

#[test]
fn mistakes_have_a_place_and_a_suggestion() {
    assert_snapshot!(mistake("[rules]\nunknown-feild = \"off\"\n"), @"
    error: baton.toml:2:1: unknown rule `unknown-feild`
    hint: did you mean `unknown-field`?
    ");
    assert_snapshot!(mistake("# ours\n[rules]\n\"something-else\" = \"off\"\n"), @"
    error: baton.toml:3:1: unknown rule `something-else`
    hint: `baton explain` lists them
    ");
    assert_snapshot!(mistake("[rules]\nunknown-field = \"warn\"\n"), @"
    error: baton.toml:2:17: unknown severity `warn`
    hint: did you mean `warning`? known: off, info, warning, error
    ");
    assert_snapshot!(mistake("[rules]\nunknown-field = { allow = \"\" }\n"), @r#"
    error: baton.toml:2:17: a rule is allowed with a reason
    hint: write { allow = "why" }
    "#);
    assert_snapshot!(mistake("[rulez]\nunknown-field = \"off\"\n"), @"error: baton.toml:1:2: unknown field `rulez`, expected one of `rules`, `check`, `vocabulary`, `store`, `approvers`, `artifacts`, `anchor`, `notify`, `server`, `telemetry`, `hooks`");
    assert_snapshot!(mistake("[check]\nsummary_tokens = \"many\"\n"), @r#"error: baton.toml:2:18: invalid type: string "many", expected usize"#);
    assert_snapshot!(mistake("[check]\nfile_permissions = \"some\"\n"), @"error: baton.toml:2:20: `some` is not `none`, `warnings` or `all`");
    assert_snapshot!(mistake("[check]\ntokens = 3\n"), @"error: baton.toml:2:1: unknown field `tokens`, expected `file_permissions` or `summary_tokens`");
    assert_snapshot!(mistake("[rules\n"), @"error: baton.toml:1:7: unclosed table, expected `]`");
    assert_snapshot!(mistake("[rules]\nunknown-field = \"off\"\nunknown-field = \"info\"\n"), @"error: baton.toml:3:1: duplicate key");
}

#[test]
fn rules_without_which_nothing_could_be_trusted_cannot_be_changed() {
    assert_snapshot!(mistake("[rules]\nunreadable = \"off\"\n"), @"error: baton.toml:2:1: the rule `unreadable` cannot be changed: what cannot be read is never valid");
    assert_snapshot!(mistake("[rules]\nunknown-status = \"warning\"\n"), @"error: baton.toml:2:1: the rule `unknown-status` cannot be changed: what cannot be read is never valid");
    assert_snapshot!(mistake("[rules]\nunknown-dialect = { allow = \"we like surprises\" }\n"), @"error: baton.toml:2:1: the rule `unknown-dialect` cannot be changed: what cannot be read is never valid");
}

#[test]
fn a_report_without_a_status_stays_invalid_whatever_is_configured() {
    let sandbox = Sandbox::new();
    sandbox.write("report.json", report_with("  \"status\": \"complete\",\n", ""));
    sandbox.write("baton.toml", "[rules]\nmissing-field = { allow = \"we do not need one\" }\n");
    let run: Run = sandbox.baton(&["check", "report.json"]);
    assert_ne!(run.code, Some(0), "{run}");
}
