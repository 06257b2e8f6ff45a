//! Projects that are somewhere else than they were: their runs, their stores, and what is left behind.

use std::fs;
use std::process::Command;

use baton_testbed::Process;

use crate::site::{Ended, Site, end};

/// A project in a folder of its own, with a run that waits for a person.
fn waiting() -> Site {
    let site = Site::new();
    let flow = "name: w\nagents: {dev: {command: [./dev.sh]}}\n\
                phases: [{id: ok, gate: {items: [the plan]}}, {id: build, agent: dev}]\n";
    let report = r#"{"baton": 1, "document": "report", "id": "'$BATON_HANDOFF_ID'", "outcome": "complete", "summary": "Wrote the parser for dates and its three tests."}"#;
    site.scratch.write("old/baton.toml", "").write("old/flow/workflow.yaml", flow);
    site.scratch
        .write("old/flow/dev.sh", format!("#!/bin/sh\ncat > /dev/null\necho '{report}' > $BATON_REPORT_FILE\n"));
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(site.scratch.path("old/flow/dev.sh"), executable).expect("our own file");
    let ended = within(&site, "old", &["run", "flow", "--workspace", "work/space", "--id", "t", "--no-input"]);
    assert_eq!(ended.code, Some(3), "{ended:?}");
    site
}

fn within(site: &Site, folder: &str, arguments: &[&str]) -> Ended {
    let mut process = Process::spawn(site.command(arguments).current_dir(site.scratch.path(folder)));
    process.close_input();
    end(&mut process)
}

/// Finds the only store in the state folder.
fn store(site: &Site) -> String {
    let listed = within(site, "new", &["store", "list", "--json"]).stdout;
    let listed: serde_json::Value = serde_json::from_str(&listed).expect("JSON");
    listed.to_string().split('"').find(|text| text.ends_with("baton.db")).expect("a store").to_owned()
}

#[test]
fn open_run_of_a_moved_project_says_how_to_go_on() {
    let site = waiting();
    fs::rename(site.scratch.path("old"), site.scratch.path("new")).expect("our own folder");
    let doctor = within(&site, "new", &["doctor"]).stdout;
    assert!(doctor.contains("! project") && doctor.contains("move its store, too: baton store move"), "{doctor}");
    assert_eq!(within(&site, "new", &["store", "move"]).code, Some(0));
    let lost = within(&site, "new", &["resume", "t", "--no-input"]);
    assert_eq!(lost.code, Some(2), "{lost:?}");
    let workspace = site.scratch.path("old/work/space").display().to_string();
    assert!(lost.stderr.contains(&format!("error: the workspace of t is missing: {workspace}")), "{lost:?}");
    assert!(lost.stderr.contains("baton resume t --moved"), "{lost:?}");
    let elsewhere = within(&site, "workspace", &["resume", "t", "--moved", "--no-input", "--store", &store(&site)]);
    assert_eq!(elsewhere.code, Some(2), "{elsewhere:?}");
    assert!(elsewhere.stderr.contains("run this in the folder that the project was moved to"), "{elsewhere:?}");
    assert!(fs::symlink_metadata(site.scratch.path("old")).is_err(), "nothing was linked");
    let linked = within(&site, "new", &["resume", "t", "--moved", "--no-input"]);
    assert_eq!(linked.code, Some(3), "it waits for the person again: {linked:?}");
    assert_eq!(fs::read_link(site.scratch.path("old")).expect("a link"), site.scratch.path("new"));
    let again = within(&site, "new", &["resume", "t", "--moved", "--no-input"]);
    assert!(again.code == Some(2) && again.stderr.contains("is still there"), "{again:?}");
    let shown = within(&site, "new", &["show", "t.ok.1"]).stdout;
    let digest = shown.lines().find_map(|line| line.strip_prefix("digest")).expect("a digest").trim();
    assert_eq!(within(&site, "new", &["approve", "t.ok.1", "--yes", "--shown", digest]).code, Some(0));
    let ended = within(&site, "new", &["resume", "t", "--no-input"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
}

#[test]
fn copied_project_is_told_how_to_get_its_history_and_leaves_no_row_behind() {
    let site = waiting();
    let (old, new) = (site.scratch.path("old"), site.scratch.path("new"));
    assert!(Command::new("cp").arg("-r").args([&old, &new]).status().expect("cp runs").success());
    fs::remove_dir_all(&old).expect("our own folder");
    let runs = within(&site, "new", &["runs"]);
    assert!(runs.code == Some(2) && runs.stderr.contains("baton store move OLD-FOLDER"), "{runs:?}");
    assert_eq!(within(&site, "new", &["store", "move", &old.display().to_string()]).code, Some(0));
    assert!(within(&site, "new", &["runs"]).stdout.contains("t"));
    let listed = within(&site, "new", &["store", "list"]).stdout;
    assert!(!listed.contains("not there"), "{listed}");
}

#[test]
fn row_of_a_workspace_whose_store_is_gone_can_be_removed() {
    let site = waiting();
    let more = ["run", "flow", "--workspace", "../aside", "--id", "u", "--no-input", "--store", "../aside.db"];
    assert_eq!(within(&site, "old", &more).code, Some(3));
    for gone in ["aside.db", "aside.db-wal", "aside.db-shm", "aside.db-journal"] {
        let _ = fs::remove_file(site.scratch.path(gone));
    }
    fs::remove_dir_all(site.scratch.path("aside")).expect("our own folder");
    let aside = site.scratch.path("aside").display().to_string();
    assert!(within(&site, "old", &["store", "list"]).stdout.contains(&aside));
    assert_eq!(within(&site, "old", &["store", "remove", &aside]).code, Some(2), "only with --yes");
    let removed = within(&site, "old", &["store", "remove", &aside, "--yes"]);
    assert_eq!(removed.code, Some(0), "{removed:?}");
    assert!(!within(&site, "old", &["store", "list"]).stdout.contains(&aside));
    let used = within(&site, "old", &["store", "remove", "work/space", "--yes"]);
    assert_eq!(used.code, Some(2), "its runs are in the store of the project: {used:?}");
}
