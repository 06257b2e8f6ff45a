//! `baton dir`: what is wrong is named, and nothing changes.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use insta::assert_snapshot;

use crate::dir_verbs::{claim, create, document, folders};
use crate::sandbox::Sandbox;

#[test]
fn missing_folder_is_named() {
    let sandbox = Sandbox::new();
    sandbox.write("task.json", "{}");
    assert_snapshot!(sandbox.baton(&["dir", "status", "nowhere"]), @"
    --- stderr
    error: no handoffs: nowhere/handoffs is not a folder
    hint: make the folders with `baton dir init DIR`
    --- exit 2
    ");
    for verb in [&["claim", "nowhere", "--agent", "a"][..], &["sweep", "nowhere"], &["wait", "nowhere", "x"]] {
        assert_eq!(sandbox.baton(&[&["dir"], verb].concat()).code, Some(2));
    }
    assert!(!sandbox.path("nowhere").exists());
}

#[test]
fn unsafe_ids_are_refused() {
    let sandbox = folders();
    for id in ["../x", "a/b", ".hidden", "NUL", "a\nb", ""] {
        assert_eq!(create(&sandbox, id, &[]).code, Some(2), "{id:?}");
    }
    assert_eq!(sandbox.baton(&["dir", "wait", ".", "../../etc/passwd"]).code, Some(2));
    assert_snapshot!(sandbox.baton(&["dir", "complete", ".", "../x"]), @"
    --- stderr
    error: `../x`: this id cannot safely be a file name: it begins with `.`
    hint: use letters, digits, `-`, `_` and `.`
    --- exit 2
    ");
}

#[test]
fn id_in_use_is_refused_in_every_folder() {
    let sandbox = folders();
    create(&sandbox, "a", &[]);
    assert_snapshot!(create(&sandbox, "a", &[]), @"
    --- stderr
    error: there is a handoff `a` in pending already
    hint: choose another id, or leave it out
    --- exit 1
    ");
    claim(&sandbox);
    assert_eq!(create(&sandbox, "a", &[]).code, Some(1));
    sandbox.baton(&["dir", "complete", ".", "a"]);
    assert_eq!(create(&sandbox, "a", &[]).code, Some(1));
    assert_eq!(sandbox.baton(&["dir", "status", "."]).stdout, "0 pending, 0 in-progress, 1 completed, 0 failed\n");
}

#[test]
fn unknown_id_gets_a_suggestion() {
    let sandbox = folders();
    create(&sandbox, "hoff-20260113", &[]);
    create(&sandbox, "hoff-20260114", &[]);
    assert_snapshot!(sandbox.baton(&["dir", "wait", ".", "hof-20260113"]), @"
    --- stderr
    error: there is no handoff `hof-20260113`
    hint: did you mean `hoff-20260113`?
    --- exit 2
    ");
    assert_snapshot!(sandbox.baton(&["dir", "wait", ".", "hoff-2"]), @"
    --- stderr
    error: `hoff-2` could be 2 handoffs: hoff-20260113, hoff-20260114
    hint: write more of the id
    --- exit 2
    ");
}

#[test]
fn what_cannot_be_read_yet_is_passed_over() {
    let sandbox = folders();
    sandbox.write("handoffs/pending/half.json", r#"{"handoff_id": "half", "target": {"agent_id": "@wri"#);
    sandbox.write("handoffs/pending/empty.json", "").write("handoffs/pending/list.json", "[]");
    sandbox.write("handoffs/pending/odd.json", r#"{"target": 7, "timestamp": {}, "priority": []}"#);
    sandbox.write("handoffs/pending/notes.txt", "hello");
    sandbox.write("handoffs/pending/-rf.json", "{}");
    assert_eq!(claim(&sandbox).code, Some(1));
    create(&sandbox, "a", &[]);
    assert_eq!(claim(&sandbox).json()["handoff_id"], "a");
    let swept = sandbox.baton(&["dir", "sweep", ".", "--json"]).json();
    assert_eq!(swept["problems"].as_array().map(Vec::len), Some(1), "{swept}");
    assert_eq!(sandbox.baton(&["dir", "status", "."]).code, Some(0));
    // Now the other side has finished writing.
    sandbox.write("handoffs/pending/half.json", r#"{"handoff_id": "half", "target": {"agent_id": "@writer"}}"#);
    assert_eq!(claim(&sandbox).json()["handoff_id"], "half");
}

#[test]
fn links_and_pipes_are_not_followed() {
    let sandbox = folders();
    sandbox.write("secret.json", r#"{"handoff_id": "link", "target": {"agent_id": "@writer"}}"#);
    symlink(sandbox.path("secret.json"), sandbox.path("handoffs/pending/link.json")).expect("a link");
    let made = std::process::Command::new("mkfifo").arg(sandbox.path("handoffs/pending/pipe.json")).status();
    assert!(made.expect("mkfifo runs").success());
    fs::create_dir(sandbox.path("handoffs/pending/folder.json")).expect("a folder");
    assert_eq!(claim(&sandbox).code, Some(1));
    let wait = sandbox.baton(&["dir", "wait", ".", "link", "--timeout", "0"]);
    assert!(wait.code == Some(2) && wait.stderr.contains("links are not followed"), "{wait}");
    let status = sandbox.baton(&["dir", "status", ".", "--json"]).json();
    assert_eq!(status["problems"].as_array().map(Vec::len), Some(3), "{status}");
}

#[test]
fn artifacts_stay_inside() {
    let (sandbox, outside) = (folders(), Sandbox::new());
    symlink(outside.path("."), sandbox.path("artifacts/out")).expect("a link");
    let wrong = ["../x.json", "/tmp/x.json", "a/../../x.json", "handoffs/completed/x.json", "artifacts/registry.json"];
    for (number, destination) in wrong.iter().chain(&["artifacts/out/x.json", "artifacts"]).enumerate() {
        let id = format!("h{number}");
        create(&sandbox, &id, &["--destination", destination]);
        claim(&sandbox);
        let run = sandbox.baton(&["dir", "complete", ".", &id, "--artifact", "page.json"]);
        assert_eq!(run.code, Some(1), "{destination}: {run}");
        assert!(sandbox.path(&format!("handoffs/in-progress/{id}.json")).exists(), "it is still in progress");
    }
    assert_eq!(fs::read_dir(outside.path(".")).expect("a folder").count(), 0);
}

#[test]
fn artifact_of_another_handoff_is_not_overwritten() {
    let sandbox = folders();
    for id in ["a", "b"] {
        create(&sandbox, id, &["--destination", "artifacts/page.json"]);
        claim(&sandbox);
    }
    assert_eq!(sandbox.baton(&["dir", "complete", ".", "a", "--artifact", "page.json"]).code, Some(0));
    assert_snapshot!(sandbox.baton(&["dir", "complete", ".", "b", "--artifact", "task.json"]), @"
    --- stderr
    error: the artifact cannot be written to `artifacts/page.json`: the artifact of another handoff is there
    hint: use a new path inside the folder
    --- exit 1
    ");
    assert_eq!(sandbox.read("artifacts/page.json"), sandbox.read("page.json"));
}

#[test]
fn broken_list_of_artifacts_is_not_overwritten() {
    let sandbox = folders();
    sandbox.write("artifacts/registry.json", "{oops");
    create(&sandbox, "a", &[]);
    claim(&sandbox);
    assert_eq!(sandbox.baton(&["dir", "complete", ".", "a", "--artifact", "page.json"]).code, Some(2));
    assert_eq!(sandbox.read("artifacts/registry.json"), "{oops");
    assert_eq!(document(&sandbox, "in-progress", "a")["attempt"], 1);
}

#[test]
fn missing_and_garbled_input_is_named() {
    let sandbox = folders();
    sandbox.write("task.json", "{");
    assert!(create(&sandbox, "a", &[]).stderr.starts_with("error: task.json is not JSON"));
    assert_eq!(create(&sandbox, "a", &["--priority", "urgent"]).code, Some(2));
    assert_eq!(create(&sandbox, "a", &["--timeout", "-1"]).code, Some(2));
    fs::remove_file(sandbox.path("task.json")).expect("it was there");
    assert_eq!(create(&sandbox, "a", &[]).code, Some(2));
    assert_eq!(sandbox.baton(&["dir", "fail", ".", "a", "--code", "lower", "--message", "x"]).code, Some(2));
    create(sandbox.write("task.json", "{}"), "a", &[]);
    claim(&sandbox);
    assert_eq!(sandbox.baton(&["dir", "complete", ".", "a", "--artifact", "gone.json"]).code, Some(2));
    assert_eq!(sandbox.baton(&["dir", "complete", ".", "a", "--artifact", "schemas"]).code, Some(2));
}

#[test]
fn folder_that_cannot_be_written_is_named() {
    let sandbox = folders();
    create(&sandbox, "a", &[]);
    let pending = sandbox.path("handoffs/pending");
    let mode = |mode: u32| fs::set_permissions(&pending, fs::Permissions::from_mode(mode)).expect("it is ours");
    mode(0o555);
    let refused = fs::write(pending.join("probe"), "").is_err();
    let run = create(&sandbox, "b", &[]);
    mode(0o755);
    // Who may write everywhere, such as root, is not refused.
    if refused {
        assert!(run.code == Some(2) && run.stderr.contains("the folder must be writable for you"), "{run}");
        assert!(!sandbox.path("handoffs/pending/b.json").exists());
    }
}
