//! `baton init` in any folder: a workflow that runs at once, or an example; nothing that is there is changed.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use insta::assert_snapshot;

use crate::init::{everything, init};
use crate::sandbox::Sandbox;

const EXAMPLES: [&str; 5] = ["integration", "mcp-wrapper", "web-agency", "feature", "react"];

#[test]
fn empty_folder_gets_a_workflow_that_runs_to_its_gate() {
    let sandbox = Sandbox::new();
    assert_snapshot!(init(&sandbox, &[]), @"
    created workflow.yaml
    created agents/writer.sh
    created agents/reviewer.sh
    created .baton/workflow.schema.json
    created .gitignore
    --- stderr
    next: baton run
    --- exit 0
    ");
    assert_snapshot!(sandbox.baton(&["workflow", "check", "--strict"]), @"
    ok: 1 of 1 file valid, 0 errors, 0 warnings
    --- exit 0
    ");
    let run = sandbox.baton(&["run", "--id", "first"]);
    assert_eq!(run.code, Some(3), "{run}");
    assert!(run.stderr.contains("done      review: reviewer"), "{run}");
    let shown =
        sandbox.baton(&["inbox", "--json"]).json()["waiting"][0]["digest"].as_str().expect("a digest").to_owned();
    let approved = sandbox.baton(&["approve", "first.publish.1", "--yes", "--shown", &shown]);
    assert_eq!(approved.code, Some(0), "{approved}");
    let resumed = sandbox.baton(&["resume", "first"]);
    assert_eq!(resumed.code, Some(0), "{resumed}");
    assert_eq!(sandbox.read("hello.md"), "Hello from the first agent of this team.\n");
}

#[test]
fn folder_that_is_not_there_is_made() {
    let sandbox = Sandbox::new();
    let dry = sandbox.baton(&["init", "new/team", "--dry-run"]);
    assert_eq!(dry.code, Some(0), "{dry}");
    assert!(dry.stdout.contains("would create workflow.yaml\n") && !sandbox.path("new").exists(), "{dry}");
    let made = sandbox.baton(&["init", "new/team"]);
    assert_eq!(made.code, Some(0), "{made}");
    assert!(made.stderr.ends_with("next: cd new/team && baton run\n"), "{made}");
    assert!(sandbox.path("new/team/workflow.yaml").exists());
    sandbox.write("file", "");
    let refused = sandbox.baton(&["init", "file/team"]);
    assert_eq!(refused.code, Some(2), "{refused}");
    let hooks = sandbox.baton(&["init", "nowhere", "--claude-code"]);
    assert_eq!(hooks.code, Some(2), "a project that is misspelled gets no hooks\n{hooks}");
}

#[test]
fn second_run_that_writes_the_same_is_as_safe_to_approve_as_the_first() {
    let sandbox = Sandbox::new();
    init(&sandbox, &[]);
    for (run, told) in [
        ("first", "`hello.md` was created, where it may write (sha256 "),
        ("second", "`hello.md` exists, 41 bytes, unchanged since before the work began (sha256 "),
    ] {
        let gate = format!("{run}.publish.1");
        let asked = sandbox.baton(&["run", "--id", run]);
        assert_eq!(asked.code, Some(3), "{asked}");
        let shown = sandbox.baton(&["show", &gate]);
        assert!(shown.stdout.contains("evidence  ✓ nothing outside `hello.md` was changed\n"), "{shown}");
        assert!(shown.stdout.contains(told), "{shown}");
        let file = sandbox.baton(&["show", &gate, "--file", "hello.md"]);
        assert_eq!(file.stdout, "Hello from the first agent of this team.\n", "{file}");
        let approve = || {
            let digest = sandbox.baton(&["show", &gate, "--json"]).json()["question"]["digest"].clone();
            let approved = sandbox.baton(&["approve", &gate, "--yes", "--shown", digest.as_str().expect("a digest")]);
            assert_eq!(approved.code, Some(0), "{approved}");
            sandbox.baton(&["resume", run])
        };
        sandbox.write("hello.md", "Somebody else was here.\n");
        let again = approve();
        assert_eq!(again.code, Some(3), "{again}");
        assert!(again.stderr.contains("`hello.md` has changed since it was shown"), "{again}");
        sandbox.write("hello.md", "Hello from the first agent of this team.\n");
        let restored = approve();
        assert_eq!(restored.code, Some(3), "it has changed once more\n{restored}");
        let ended = approve();
        assert_eq!(ended.code, Some(0), "{ended}");
    }
}

#[test]
fn schema_that_the_workflow_names_is_beside_it() {
    let sandbox = Sandbox::new();
    init(&sandbox, &[]);
    let workflow = sandbox.read("workflow.yaml");
    let named = workflow.lines().next().and_then(|line| line.strip_prefix("# yaml-language-server: $schema="));
    let schema: serde_json::Value = serde_json::from_str(&sandbox.read(named.expect("a schema"))).expect("JSON");
    let value: serde_json::Value = serde_saphyr::from_str(&workflow).expect("YAML");
    assert!(jsonschema::is_valid(&schema, &value));
}

#[test]
fn agents_are_short_and_anybody_who_may_read_them_may_run_them() {
    let sandbox = Sandbox::new();
    init(&sandbox, &[]);
    for agent in ["agents/writer.sh", "agents/reviewer.sh"] {
        assert!(sandbox.read(agent).lines().count() <= 10, "{agent}");
        let mode = fs::metadata(sandbox.path(agent)).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o111, (mode & 0o444) >> 2, "{agent}: {mode:o}");
    }
    let mode = fs::metadata(sandbox.path("workflow.yaml")).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o111, 0, "{mode:o}");
}

#[test]
fn second_start_says_that_everything_is_there() {
    let sandbox = Sandbox::new();
    init(&sandbox, &[]);
    let before = everything(&sandbox);
    assert_snapshot!(init(&sandbox, &[]), @"
    --- stderr
    already set up; nothing was changed
    next: baton run
    --- exit 0
    ");
    assert_eq!(everything(&sandbox), before);
}

#[test]
fn file_of_somebody_else_is_named_and_nothing_is_written() {
    let sandbox = Sandbox::new();
    sandbox.write("agents/writer.sh", "mine\n").write(".gitignore", "*.log");
    let before = everything(&sandbox);
    assert_snapshot!(sandbox.baton(&["init"]), @"
    --- stderr
    error: already exists with different content: agents/writer.sh
    hint: nothing was changed
    hint: `baton init` never overwrites a file; give it another folder: baton init DIR
    --- exit 2
    ");
    assert_eq!(everything(&sandbox), before);
}

#[test]
fn gitignore_gets_only_the_lines_that_it_lacks() {
    let sandbox = Sandbox::new();
    sandbox.write(".gitignore", "*.log\n/.baton");
    init(&sandbox, &["--from", "react"]);
    assert_eq!(sandbox.read(".gitignore"), "*.log\n/.baton\n__pycache__/\nwork/\n");
}

#[test]
fn rehearsal_writes_nothing_and_machines_get_the_whole_text() {
    let sandbox = Sandbox::new();
    let run = init(&sandbox, &["--dry-run"]);
    assert!(run.stdout.contains("would create workflow.yaml") && run.stderr.contains("nothing was changed"), "{run}");
    let told = init(&sandbox, &["--dry-run", "--json"]).json();
    assert_eq!((&told["next"], &told["files"][1]["path"]), (&"baton run".into(), &"agents/writer.sh".into()), "{told}");
    assert!(told["files"][1]["difference"].as_str().is_some_and(|text| text.starts_with("+ #!/bin/sh\n")), "{told}");
    assert_eq!(everything(&sandbox), []);
}

#[test]
fn every_example_can_be_started_from_and_runs_to_its_end() {
    for example in EXAMPLES {
        let sandbox = Sandbox::new();
        let told = init(&sandbox, &["--from", example]);
        let next = told.stderr.lines().find_map(|line| line.strip_prefix("next: baton ")).expect("the next command");
        let checked = sandbox.baton(&["workflow", "check"]);
        assert_eq!(checked.code, Some(0), "{example}: {checked}");
        let arguments: Vec<&str> = next.split(' ').chain(["--answers", "answers.yaml"]).collect();
        let run = sandbox.baton(&arguments);
        assert_eq!(run.code, Some(0), "{example}: {run}");
        assert!(init(&sandbox, &["--from", example]).stderr.contains("already set up"), "{example}");
    }
}

#[test]
fn every_file_of_an_example_is_in_the_program() {
    for example in EXAMPLES {
        let sandbox = Sandbox::new();
        init(&sandbox, &["--from", example]);
        let original = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(example);
        let mut paths = vec![original.clone()];
        while let Some(path) = paths.pop() {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let is_left_out = path == original.join("README.md") || name.starts_with("__pycache__");
            if path.is_dir() && !is_left_out {
                paths.extend(fs::read_dir(&path).expect("a folder").map(|entry| entry.expect("an entry").path()));
            } else if !is_left_out {
                let copy = sandbox.path(&path.strip_prefix(&original).expect("below").to_string_lossy());
                let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o100;
                assert_eq!(fs::read(&copy).ok(), fs::read(&path).ok(), "{}", path.display());
                assert_eq!(mode(&copy), mode(&path), "{}", path.display());
            }
        }
    }
}

#[test]
fn unknown_example_and_hooks_with_an_example_are_refused() {
    let sandbox = Sandbox::new();
    let unknown = sandbox.baton(&["init", "--from", "integratoin"]);
    assert!(unknown.code == Some(2) && unknown.stderr.contains("'integration'"), "{unknown}");
    assert_eq!(sandbox.baton(&["init", "--from", "react", "--codex"]).code, Some(2));
    assert_eq!(everything(&sandbox), []);
}
