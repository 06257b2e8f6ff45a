//! Receivers look whether the artifacts that they are given exist, where a workspace is known.

use insta::assert_snapshot;

use crate::documents::PACKAGE;
use crate::queue_life::done;
use crate::sandbox::Sandbox;

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("package.yaml", PACKAGE).folder("work");
    sandbox
}

#[test]
fn a_package_whose_artifacts_are_missing_is_not_sent() {
    let sandbox = sandbox();
    assert_snapshot!(sandbox.baton(&["send", "--workspace", "work", "package.yaml"]), @"
    --- stderr
    error[artifact-missing]: `docs/upload/architecture.md` does not exist in the workspace
      --> package.yaml:12:15
       |
    12 |       - path: docs/upload/architecture.md
       |               ^^^^^^^^^^^^^^^^^^^^^^^^^^^
       |
       = help: write the file, or name the path where it is, relative to the workspace

    package.yaml: package request, not valid
    failed: 0 of 1 file valid, 1 error, 0 warnings
    --- exit 1
    ");
    let listed = sandbox.baton(&["list", "--json"]);
    assert_eq!(listed.code, Some(2), "nothing was made: {listed}");
    sandbox.write("work/docs/upload/architecture.md", "# Upload\n");
    assert_eq!(done(&sandbox, &["send", "--workspace", "work", "package.yaml"]).stdout, "HO-2026-031\n");
}

#[test]
fn a_workspace_that_is_not_there_is_wrong_usage() {
    let sandbox = sandbox();
    for command in [&["send", "package.yaml"][..], &["claim", "--agent", "x"], &["worker", "--agent", "x", "--drain"]] {
        let end: &[&str] = if command[0] == "worker" { &["--", "true"] } else { &[] };
        let run = sandbox.baton(&[command, &["--workspace", "none"], end].concat());
        assert_eq!(run.code, Some(2), "{run}");
        assert!(run.stderr.contains("cannot open the workspace none"), "{run}");
    }
}

#[test]
fn a_claim_tells_what_is_missing_and_is_a_claim_all_the_same() {
    let sandbox = sandbox();
    done(&sandbox, &["send", "package.yaml"]);
    let claim = done(&sandbox, &["claim", "--agent", "security-review", "--workspace", "work"]);
    assert!(claim.stderr.contains("HO-2026-031: not in the workspace: `docs/upload/architecture.md`\n"), "{claim}");
    let sandbox = self::sandbox();
    done(&sandbox, &["send", "package.yaml"]);
    let claim = done(&sandbox, &["claim", "--agent", "security-review", "--workspace", "work", "--json"]).json();
    assert_eq!(claim["missing_artifacts"], serde_json::json!(["docs/upload/architecture.md"]));
    assert_eq!(claim["handoff"]["state"], "claimed");
}

#[test]
fn a_worker_tells_what_is_missing_and_works_all_the_same() {
    let sandbox = sandbox();
    done(&sandbox, &["send", "--max-retries", "0", "package.yaml"]);
    let worker = ["worker", "--agent", "security-review", "--once", "--workspace", "work", "--", "sh", "-c"];
    let run = sandbox.baton(&[&worker[..], &["pwd > place.txt"]].concat());
    assert!(run.stderr.contains("HO-2026-031: not in the workspace: `docs/upload/architecture.md`\n"), "{run}");
    assert!(sandbox.read("work/place.txt").trim().ends_with("/work"), "it works in the workspace");
}

#[test]
fn what_comes_next_must_have_its_artifacts() {
    let sandbox = crate::queue_life::with_one_claimed(&[]);
    sandbox.folder("work");
    let report = ["report", "csv-07.research", "--fence", "1", "report.json", "--workspace", "work"];
    let run = sandbox.baton(&[&report[..], &["--next", "package.yaml"]].concat());
    assert_eq!(run.code, Some(1), "{run}");
    assert!(run.stderr.contains("error[artifact-missing]"), "{run}");
    assert_eq!(crate::queue_life::state(&sandbox), "claimed", "all or nothing");
}
