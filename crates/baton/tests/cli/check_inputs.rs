//! `baton check`: which files are read, and how the options change that.

use insta::assert_snapshot;

use crate::documents::{BLOCK, BROKEN_BLOCK, FAILURE, PACKAGE, PHASE, REPORT, report_with};
use crate::sandbox::{Sandbox, briefly, codes};

#[test]
fn a_folder_is_searched_for_documents_but_not_where_none_are() {
    let sandbox = Sandbox::new();
    sandbox.write("work/b/report.json", REPORT).write("work/a/block.md", BLOCK).write("work/package.yml", PACKAGE);
    sandbox.write("work/notes.txt", "no document").write("work/node_modules/x/package.json", "{}");
    sandbox.write("work/.git/x.json", "{}").write("work/target/x.json", "{}").write("work/UPPER.JSON", PHASE);
    assert_snapshot!(briefly(&sandbox.check_json(&["work"])), @"
    work/UPPER.JSON phase-block report valid
    work/a/block.md metadata-block report valid
    work/b/report.json task report valid
    work/package.yml package request valid
    ");
}

#[test]
fn beside_the_handoffs_of_a_mailbox_stand_other_things() {
    let sandbox = Sandbox::new();
    sandbox.folder("box/handoffs/pending").write("box/handoffs/failed/hoff-20260317-0004.json", FAILURE);
    sandbox
        .write("box/schemas/x.schema.json", "{}")
        .write("box/artifacts/a.json", "[]")
        .write("box/context/c.json", "1");
    assert_snapshot!(briefly(&sandbox.check_json(&["box"])), @"box/handoffs/failed/hoff-20260317-0004.json mailbox report valid");
    sandbox.write("elsewhere/schemas/report.json", REPORT);
    assert_snapshot!(briefly(&sandbox.check_json(&["elsewhere"])), @"elsewhere/schemas/report.json task report valid");
}

#[test]
fn a_quoted_glob_is_expanded() {
    let sandbox = Sandbox::new();
    sandbox.write("runs/1/report.json", REPORT).write("runs/2/report.json", REPORT).write("runs/2/other.json", "{}");
    sandbox.write("runs/2/deep/report.json", REPORT);
    assert_snapshot!(briefly(&sandbox.check_json(&["runs/*/report.json"])), @"
    runs/1/report.json task report valid
    runs/2/report.json task report valid
    ");
    assert_snapshot!(briefly(&sandbox.check_json(&["runs/**/re*.json"])), @"
    runs/1/report.json task report valid
    runs/2/deep/report.json task report valid
    runs/2/report.json task report valid
    ");
    let run = sandbox.baton(&["check", "runs/*/nothing*.json"]);
    assert_snapshot!(run, @"
    --- stderr
    error: runs/*/nothing*.json: no file matches this pattern
    --- exit 2
    ");
}

#[test]
fn several_files_are_sorted_and_each_is_read_once() {
    let sandbox = Sandbox::new();
    sandbox.write("b.json", REPORT).write("a.md", BROKEN_BLOCK).write("c.yaml", PACKAGE);
    assert_snapshot!(briefly(&sandbox.check_json(&["c.yaml", "b.json", "a.md", "b.json"])), @"
    a.md metadata-block report not valid
      7:16 warning invented-timestamp /timestamp
      10:13 error blocked-without-attempts /status
      11:21 warning unknown-reason /blocked_reason
      13:19 error blocked-names-next-agent /handoff/next_agent
    b.json task report valid
    c.yaml package request valid
    ");
    assert_eq!(sandbox.baton(&["check", "c.yaml", "b.json", "a.md"]).code, Some(1));
    assert_eq!(sandbox.baton(&["check", "c.yaml", "b.json"]).code, Some(0));
}

#[test]
fn standard_input_has_no_name_so_its_form_is_told_from_the_text() {
    let sandbox = Sandbox::new();
    for document in [REPORT, PACKAGE, BLOCK] {
        let run = sandbox.baton_with_input(&["check", "-"], document.as_bytes());
        assert_eq!(run.code, Some(0), "{run}");
    }
    let run = sandbox.baton_with_input(&["check", "-"], report_with("\"complete\"", "\"done\"").as_bytes());
    assert_snapshot!(run, @r#"
    error[unknown-status]: unknown status `done`
     --> <stdin>:4:13
      |
    4 |   "status": "done",
      |             ^^^^^^
      |
      = help: use one of: complete, partial, blocked

    <stdin>: task report, not valid
    failed: 0 of 1 file valid, 1 error, 0 warnings
    --- exit 1
    "#);
}

#[test]
fn nothing_on_standard_input_is_not_valid() {
    assert_snapshot!(Sandbox::new().baton(&["check", "-"]), @"
    error[unreadable]: the file is empty
    --> <stdin>:1:1
     = help: an agent that hands over nothing has not finished

    failed: 0 of 1 file valid, 1 error, 0 warnings
    --- exit 1
    ");
}

#[test]
fn strict_fails_on_warnings_but_not_on_what_is_only_worth_knowing() {
    let sandbox = Sandbox::new();
    sandbox.write("warning.json", report_with("\"tokens_used\"", "\"tokens\": 3, \"tokens_used\""));
    sandbox.write("info.json", REPORT.replace('\n', "\r\n"));
    assert_eq!(sandbox.baton(&["check", "warning.json"]).code, Some(0));
    assert_eq!(sandbox.baton(&["check", "--strict", "warning.json"]).code, Some(1));
    assert_eq!(sandbox.baton(&["check", "--strict", "info.json"]).code, Some(0));
}

#[test]
fn a_given_dialect_replaces_the_recognised_one() {
    let sandbox = Sandbox::new();
    sandbox.write("half.json", r#"{"id": "csv-07", "status": "complete"}"#).write("report.json", REPORT);
    assert_snapshot!(briefly(&sandbox.check_json(&["half.json"])), @"
    half.json ? ? not valid
      1:1 error unknown-dialect
    ");
    assert_snapshot!(briefly(&sandbox.check_json(&["--dialect", "task", "half.json"])), @"
    half.json task report not valid
      1:1 error missing-field
      1:1 error missing-field
      1:1 error missing-field
      1:1 error missing-field
      1:1 error missing-field
      1:2 warning unknown-field /id
    ");
    assert_snapshot!(briefly(&sandbox.check_json(&["--dialect", "mailbox", "report.json"])), @"
    report.json mailbox report not valid
      1:1 error missing-field
      1:1 error missing-field
      1:1 error missing-field
      1:1 error response-without-request /handoff_id
      2:3 warning unknown-field /task_id
      3:3 warning unknown-field /phase
      4:13 error unknown-status /status
      5:3 warning unknown-field /decision
      6:3 warning unknown-field /findings
      16:3 warning unknown-field /context_summary
      17:3 warning unknown-field /tokens_used
      18:3 warning unknown-field /issues
    ");
    assert_eq!(briefly(&sandbox.check_json(&["--dialect", "Task", "report.json"])), "report.json task report valid\n");
}

#[test]
fn what_is_no_handoff_is_left_out_on_demand() {
    let sandbox = Sandbox::new();
    sandbox.write("README.md", "# Read me\n\n```json\n{\"status\": \"ok\"}\n```\n").write("package.json", "{}");
    sandbox.write("report.json", REPORT).write("broken.json", "{").write("conf.yaml", "a: 1\n");
    assert_snapshot!(sandbox.baton(&["check", "--skip-unknown", "."]), @"
    error[unreadable]: the JSON ends in the middle: it was cut off
     --> broken.json:1:1
      |
    1 | {
      | ^
      |
      = help: ask the agent for its whole output; a half handoff is not read

    report.json: task report, valid
    failed: 1 of 2 files valid, 1 error, 0 warnings, 3 files without a handoff
    --- exit 1
    ");
    assert_eq!(sandbox.baton(&["check", "."]).code, Some(1));
    let result = sandbox.check_json(&["--skip-unknown", "README.md", "package.json", "conf.yaml", "report.json"]);
    assert_eq!((&result["skipped"], result["files"].as_array().map(Vec::len)), (&3.into(), Some(1)));
}

#[test]
fn a_damaged_handoff_is_not_left_out() {
    let sandbox = Sandbox::new();
    sandbox.write("cut.md", BLOCK.trim_end().trim_end_matches('`')).write("cut.json", &REPORT[..200]);
    let result = sandbox.check_json(&["--skip-unknown", "cut.md", "cut.json"]);
    assert_eq!(codes(&result), ["unreadable", "unreadable"]);
}

#[test]
fn a_path_that_cannot_be_read_is_told_beside_the_results() {
    let sandbox = Sandbox::new();
    sandbox.write("report.json", REPORT);
    assert_snapshot!(sandbox.baton(&["check", "report.json", "none.json"]), @"
    report.json: task report, valid
    failed: 1 of 1 file valid, 0 errors, 0 warnings
    --- stderr
    error: none.json: there is no such file or folder
    --- exit 2
    ");
    let result = sandbox.check_json(&["report.json", "none.json"]);
    assert_snapshot!(result["problems"], @r#"[{"path":"none.json","message":"there is no such file or folder"}]"#);
}

#[cfg(unix)]
#[test]
fn a_folder_without_permission_is_a_problem() {
    use std::fs::{Permissions, read_dir, set_permissions};
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::new();
    sandbox.write("closed/report.json", REPORT).write("open/report.json", REPORT);
    let closed = sandbox.path("closed");
    set_permissions(&closed, Permissions::from_mode(0o000)).unwrap();
    let (may_read, run) = (read_dir(&closed).is_ok(), sandbox.baton(&["check", "closed", "open"]));
    set_permissions(&closed, Permissions::from_mode(0o755)).unwrap();
    // Root reads what it likes.
    if !may_read {
        assert_eq!(run.stderr, "error: closed: permission denied\n");
        assert_eq!(run.code, Some(2), "{run}");
    }
}
