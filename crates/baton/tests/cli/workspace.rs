//! `baton check --workspace`: claims about files against the files.

use insta::assert_snapshot;

use crate::documents::{PHASE, with};
use crate::sandbox::{Sandbox, briefly};

/// A workspace where everything that `PHASE` claims is true.
fn honest() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox
        .write("w/src/index.ts", "a\nb\nc")
        .write("w/src/suggest.ts", "x\n")
        .write("w/out/measurements.md", "6 ms\n");
    sandbox.write("report.json", PHASE).write("secret.md", "not yours\n");
    sandbox
}

#[test]
fn what_is_there_as_claimed_is_valid() {
    let run = honest().baton(&["check", "--workspace", "w", "report.json"]);
    assert_eq!(run.code, Some(0), "{run}");
}

#[test]
fn without_a_workspace_nothing_is_looked_at() {
    let sandbox = Sandbox::new();
    sandbox.write("report.json", PHASE);
    assert_eq!(sandbox.baton(&["check", "report.json"]).code, Some(0));
}

#[test]
fn a_missing_artifact_is_shown() {
    let sandbox = honest();
    std::fs::remove_file(sandbox.path("w/out/measurements.md")).unwrap();
    assert_snapshot!(sandbox.baton(&["check", "--workspace", "w", "report.json"]), @r#"
    error[artifact-missing]: `out/measurements.md` does not exist in the workspace
      --> report.json:12:17
       |
    12 |   "artifacts": ["out/measurements.md"],
       |                 ^^^^^^^^^^^^^^^^^^^^^
       |
       = help: write the file, or name the path where it is, relative to the workspace

    report.json: phase-block report, not valid
    failed: 0 of 1 file valid, 1 error, 0 warnings
    --- exit 1
    "#);
}

#[test]
fn artifacts_that_are_empty_or_outside_are_found() {
    let sandbox = honest();
    sandbox.write("w/out/empty.md", "").folder("w/out/nothing");
    let absolute = sandbox.path("secret.md");
    let claims =
        format!(r#""out/empty.md", "out/nothing", "../secret.md", "out/../../secret.md", "{}""#, absolute.display());
    sandbox.write("report.json", with(PHASE, "\"out/measurements.md\"", &claims));
    // The columns behind the absolute path depend on the machine; it stands last.
    assert_snapshot!(briefly(&sandbox.check_json(&["--workspace", "w", "report.json"])), @"
    report.json phase-block report not valid
      12:17 error artifact-empty /artifacts/0
      12:33 error artifact-empty /artifacts/1
      12:48 error artifact-outside-workspace /artifacts/2
      12:64 error artifact-outside-workspace /artifacts/3
      12:87 error artifact-outside-workspace /artifacts/4
      12:87 warning absolute-path /artifacts/4
    ");
}

#[cfg(unix)]
#[test]
fn a_link_does_not_lead_outside() {
    use std::os::unix::fs::symlink;
    let sandbox = honest();
    symlink("../secret.md", sandbox.path("w/link.md")).unwrap();
    symlink("../..", sandbox.path("w/out/up")).unwrap();
    symlink("out", sandbox.path("w/same")).unwrap();
    let claims = r#""link.md", "out/up/secret.md", "same/measurements.md""#;
    sandbox.write("report.json", with(PHASE, "\"out/measurements.md\"", claims));
    assert_snapshot!(briefly(&sandbox.check_json(&["--workspace", "w", "report.json"])), @"
    report.json phase-block report not valid
      12:17 error artifact-outside-workspace /artifacts/0
      12:28 error artifact-outside-workspace /artifacts/1
    ");
}

#[cfg(unix)]
#[test]
fn a_workspace_may_be_reached_through_a_link() {
    let sandbox = honest();
    std::os::unix::fs::symlink("w", sandbox.path("alias")).unwrap();
    assert_eq!(sandbox.baton(&["check", "--workspace", "alias", "report.json"]).code, Some(0));
}

#[test]
fn lines_that_a_source_file_does_not_have_are_found() {
    let sandbox = honest();
    let claims = r#""src/index.ts:1-3", "src/index.ts:2-5", "src/none.ts:1-2""#;
    sandbox.write("report.json", with(PHASE, "\"src/index.ts:1-3\"", claims));
    assert_snapshot!(sandbox.baton(&["check", "--workspace", "w", "report.json"]), @r#"
    error[source-lines-missing]: `src/index.ts` has 3 lines, but line 5 is claimed
     --> report.json:7:49
      |
    7 |   "source_files_verified": ["src/index.ts:1-3", "src/index.ts:2-5", "src/none.ts:1-2"],
      |                                                 ^^^^^^^^^^^^^^^^^^
      |
      = help: name the lines that were read, as the file has them now, relative to the workspace

    error[source-lines-missing]: `src/none.ts` does not exist in the workspace
     --> report.json:7:69
      |
    7 |   "source_files_verified": ["src/index.ts:1-3", "src/index.ts:2-5", "src/none.ts:1-2"],
      |                                                                     ^^^^^^^^^^^^^^^^^
      |
      = help: name the lines that were read, as the file has them now, relative to the workspace

    report.json: phase-block report, not valid
    failed: 0 of 1 file valid, 2 errors, 0 warnings
    --- exit 1
    "#);
}

#[test]
fn a_workspace_that_is_no_folder_is_wrong_usage() {
    let sandbox = honest();
    let run = sandbox.baton(&["check", "--workspace", "none", "report.json"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""));
    assert!(run.stderr.starts_with("error: cannot open the workspace none: "), "{run}");
    let run = sandbox.baton(&["check", "--workspace", "report.json", "report.json"]);
    assert_snapshot!(run, @"
    --- stderr
    error: the workspace report.json is not a folder
    --- exit 2
    ");
}
