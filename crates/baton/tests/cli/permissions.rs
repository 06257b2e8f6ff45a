//! What a document may allow itself: warnings by default, and what the project lets it.

use insta::assert_snapshot;

use crate::documents::{BLOCK, BROKEN_PACKAGE, report_with, with};
use crate::sandbox::{Sandbox, codes};

/// A block with an absolute path, which is a warning.
fn block_with_path() -> String {
    with(BLOCK, "src/tides.rs:1-40", "/srv/harbour/src/tides.rs:1-40")
}

#[test]
fn a_comment_in_markdown_permits() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "report.md",
        format!("<!-- baton: allow absolute-path: built in a container -->\n\n{}", block_with_path()),
    );
    assert_snapshot!(sandbox.baton(&["check", "--strict", "report.md"]), @"
    allowed: report.md:14: absolute-path (built in a container)

    report.md: metadata-block report, valid
    ok: 1 of 1 file valid, 0 errors, 0 warnings, 1 allowed
    --- exit 0
    ");
    sandbox.write(
        "after.md",
        format!("{}\n<!-- baton: allow absolute-path: built in a container -->\n", block_with_path()),
    );
    assert_eq!(codes(&sandbox.check_json(&["after.md"])), [""; 0]);
}

#[test]
fn code_and_quoted_text_permit_nothing() {
    let sandbox = Sandbox::new();
    sandbox.write("code.md", format!("```html\n<!-- baton: allow absolute-path: x -->\n```\n\n{}", block_with_path()));
    sandbox.write("text.yaml", with(BROKEN_PACKAGE, "Finished the work", "'Finished # baton: allow vague-summary: x'"));
    assert_eq!(codes(&sandbox.check_json(&["code.md"])), ["absolute-path"]);
    assert!(sandbox.check_json(&["text.yaml"])["files"][0]["allowed"].as_array().is_some_and(Vec::is_empty));
}

#[test]
fn a_comment_in_yaml_permits_warnings_but_no_errors() {
    let sandbox = Sandbox::new();
    let summary = "summary: Finished the work # baton: allow vague-summary: said by phone";
    let allowed = with(BROKEN_PACKAGE, "summary: Finished the work", summary);
    sandbox.write("package.yaml", format!("# baton: allow implicit-context: said by phone\n{allowed}"));
    assert_snapshot!(sandbox.baton(&["check", "package.yaml"]), @"
    error[implicit-context]: the summary says that something was done, but not what, and there is nothing else to start from
      --> package.yaml:10:14
       |
    10 |     summary: Finished the work # baton: allow vague-summary: said by phone
       |              ^^^^^^^^^^^^^^^^^
       |
       = help: say what was done and with what result, and list the artifacts, decisions and open questions; only the project can allow this, in baton.toml

    error[delegation-without-deliverable]: the delegation does not say what to deliver
      --> package.yaml:12:5
       |
    12 |     success_criteria:
       |     ^
       |
       = help: add `expectations.deliverable`: what must come back

    warning[unmeasurable-criterion]: this criterion asks for a quality without saying how to check it
      --> package.yaml:13:9
       |
    13 |       - Write clean code
       |         ^^^^^^^^^^^^^^^^
       |
       = help: name a number, a command that passes, a file that exists or an event that anyone can see

    allowed: package.yaml:10: vague-summary (said by phone)

    package.yaml: package request, not valid
    failed: 0 of 1 file valid, 2 errors, 1 warning, 1 allowed
    --- exit 1
    ");
}

#[test]
fn a_member_in_json_permits() {
    let sandbox = Sandbox::new();
    let extra = report_with("\"tokens_used\"", "\"tokens\": 3, \"tokens_used\"");
    sandbox.write("report.json", with(&extra, "{\n", "{\n  \"baton-allow\": {\"unknown-field\": \"our meter\"},\n"));
    assert_snapshot!(sandbox.baton(&["check", "report.json"]), @"
    allowed: report.json:18: unknown-field (our meter)

    report.json: task report, valid
    ok: 1 of 1 file valid, 0 errors, 0 warnings, 1 allowed
    --- exit 0
    ");
}

#[test]
fn a_permission_that_is_wrong_is_an_error() {
    let sandbox = Sandbox::new();
    sandbox.write("unknown.md", format!("<!-- baton: allow absolut-path: x -->\n\n{BLOCK}"));
    sandbox.write("reason.md", format!("<!-- baton: allow absolute-path -->\n\n{BLOCK}"));
    sandbox.write("fixed.md", format!("<!-- baton: allow unreadable: x -->\n\n{BLOCK}"));
    sandbox.write("shape.json", report_with("{\n", "{\n  \"baton-allow\": [\"unknown-field\"],\n"));
    for name in ["unknown.md", "reason.md", "fixed.md", "shape.json"] {
        assert_eq!(codes(&sandbox.check_json(&[name])), ["bad-allow"], "{name}");
    }
    assert_snapshot!(sandbox.baton(&["check", "unknown.md"]), @"
    error[bad-allow]: unknown rule `absolut-path`
     --> unknown.md:1:1
      |
    1 | <!-- baton: allow absolut-path: x -->
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: write `baton: allow RULE: reason`

    unknown.md: metadata-block report, not valid
    failed: 0 of 1 file valid, 1 error, 0 warnings
    --- exit 1
    ");
}

#[test]
fn the_project_decides_how_far_permissions_of_a_file_go() {
    let sandbox = Sandbox::new();
    let all = ["vague-summary", "implicit-context", "delegation-without-deliverable", "unmeasurable-criterion"];
    let comments: String = all.iter().map(|rule| format!("# baton: allow {rule}: said by phone\n")).collect();
    sandbox.write("package.yaml", format!("{comments}{BROKEN_PACKAGE}"));
    let left = |permissions: &str| {
        sandbox.write("baton.toml", format!("[check]\nfile_permissions = \"{permissions}\"\n"));
        (sandbox.baton(&["check", "package.yaml"]).code, codes(&sandbox.check_json(&["package.yaml"])).len())
    };
    assert_eq!(left("all"), (Some(0), 0));
    assert_eq!(left("warnings"), (Some(1), 2));
    assert_eq!(left("none"), (Some(1), 4));
}

#[test]
fn even_all_permissions_do_not_make_an_unknown_status_valid() {
    let sandbox = Sandbox::new();
    sandbox.write("baton.toml", "[check]\nfile_permissions = \"all\"\n");
    let report = report_with("\"complete\"", "\"done\"");
    sandbox.write("report.json", with(&report, "{\n", "{\n  \"baton-allow\": {\"unknown-status\": \"x\"},\n"));
    assert_eq!(sandbox.baton(&["check", "report.json"]).code, Some(1));
}
