//! The anchor itself: which files it takes, what it says when it was lost or shared, and what stays of pruned runs.

use std::fs;
use std::process::Command;

use crate::record::{FILE, site, three};
use crate::site::{LONG, Site, end, listen};

impl Site {
    /// Changes the database with SQL.
    fn sql(&self, sql: &str) {
        let script =
            "import sqlite3, sys\nwith sqlite3.connect(sys.argv[1]) as database: database.execute(sys.argv[2])";
        let status = Command::new("python3").args(["-c", script]).arg(self.store()).arg(sql).status();
        assert!(status.expect("python3 is there").success(), "{sql}");
    }
}

#[test]
fn anchor_file_that_is_gone_is_a_finding_and_the_rest_is_verified() {
    let site = three(FILE);
    fs::remove_file(site.scratch.path("heads")).expect("our own file");
    assert_eq!(site.verified(&[]), ["anchor anchor-unreadable null"]);
    site.sql("UPDATE events SET detail = replace(detail, 'report', 'tropper') WHERE run = 'two'");
    let found = site.verified(&[]);
    assert!(found.len() > 1 && found.iter().any(|finding| finding.starts_with("run ")), "{found:?}");
    // Nobody begins anew in its place without a word.
    let anchored = site.baton(&["audit", "anchor"]);
    assert!(anchored.code == Some(1) && anchored.stderr.contains("9 lines were delivered to it"), "{anchored:?}");
    assert!(!site.scratch.path("heads").exists());
}

#[test]
fn anchor_that_was_configured_and_got_nothing_yet_is_not_missing() {
    let site = three("");
    site.scratch.write("baton.toml", FILE);
    assert!(site.verified(&[]).is_empty());
}

#[test]
fn anchor_of_another_store_gets_nothing_and_that_is_told() {
    let site = three(FILE);
    let before = site.anchor_lines();
    let other = end(&mut site.begin("other", &["--store", "other.db"]));
    assert!(other.code == Some(3) && other.stderr.contains("belongs to another store"), "{other:?}");
    assert_eq!(site.anchor_lines(), before);
    assert!(site.verified(&[]).is_empty());
    // What a crash has torn does not make it somebody else's.
    fs::write(site.scratch.path("heads"), format!("{}\n2026-11-16T0", before.join("\n"))).expect("our own file");
    site.approved("four", &[]);
    assert_eq!(site.anchor_lines().iter().filter(|line| line.contains(" four ")).count(), 3);
}

#[test]
fn anchor_that_is_a_file_of_baton_is_refused() {
    for (file, why) in [
        ("", "[anchor] file is empty"),
        ("baton.toml", "[anchor] file is the configuration"),
        ("allowed_signers", "[anchor] file is the file of approvers"),
        ("s.db", "[anchor] file is the store"),
        ("flow/workflow.yaml", "[anchor] file is the workflow"),
        ("flow/dev.py", "[anchor] file is the workflow, or one of its scripts"),
    ] {
        let configuration =
            format!("[approvers]\nfile = \"allowed_signers\"\n[store]\nurl = \"s.db\"\n[anchor]\nfile = \"{file}\"\n");
        let site = site(&configuration);
        site.scratch.write("allowed_signers", "");
        let ended = end(&mut site.begin("one", &[]));
        assert!(ended.code == Some(2) && ended.stderr.contains(why), "{why}: {ended:?}");
        assert_eq!(site.scratch.read("baton.toml"), configuration);
    }
    let site = site(FILE);
    site.scratch.write("heads", "my notes\n");
    let ended = end(&mut site.begin("one", &[]));
    assert!(ended.code == Some(3) && ended.stderr.contains("heads is not an anchor"), "{ended:?}");
    assert_eq!(site.scratch.read("heads"), "my notes\n");
}

#[test]
fn what_was_done_to_the_middle_of_the_ledger_is_named_as_such() {
    let site = three(FILE);
    site.sql("UPDATE ledger SET run = 'zwei' WHERE number = 5");
    let found = site.verified(&[]);
    assert!(found.contains(&"anchor entry-rewritten null".to_owned()), "{found:?}");
    let told = site.baton(&["audit", "verify", "--all"]).stdout;
    assert!(told.contains("the entry was changed: the anchor has `") && told.contains("[entry-rewritten]"), "{told}");
    let site = three(FILE);
    site.sql("DELETE FROM ledger WHERE number BETWEEN 4 AND 6");
    let found = site.verified(&[]);
    assert_eq!(found.iter().filter(|finding| *finding == "anchor entry-missing null").count(), 3, "{found:?}");
    site.sql("DROP TABLE ledger");
    let ended = site.baton(&["audit", "verify", "--all"]);
    assert!(ended.code != Some(70) && !ended.stderr.contains("internal error"), "{ended:?}");
}

#[test]
fn pruned_runs_are_named_and_told_as_such_later() {
    let site = three(FILE);
    let dry = site.baton(&["prune", "--older-than", "0", "--dry-run"]).stdout;
    assert!(dry.contains("one") && dry.contains("two") && dry.contains("three"), "{dry}");
    let pruned = site.baton(&["prune", "--older-than", "0", "--json"]).stdout;
    let pruned: serde_json::Value = serde_json::from_str(&pruned).expect("JSON");
    assert_eq!(pruned["names"].as_array().map(Vec::len), Some(3), "{pruned}");
    for command in ["show two", "show two.build.1", "audit verify two", "log two", "resume two"] {
        let ended = site.baton(&command.split(' ').collect::<Vec<_>>());
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.stderr.contains("error: the run two was pruned at 20"), "{command}: {ended:?}");
    }
}

#[test]
fn what_the_anchor_command_leaves_behind_is_ended_with_it() {
    let site = site("");
    let (pipe, go) = (site.pipe("held"), site.pipe("go"));
    let command =
        format!("cat >> heads; setsid sh -c 'exec 3> {pipe}; echo > {go}; exec sleep 1000' & read line < {go}");
    site.scratch.write("baton.toml", format!("[anchor]\ncommand = \"{command}\"\n"));
    let held = std::thread::spawn(move || listen(&pipe).rest(LONG));
    assert_eq!(end(&mut site.begin("one", &[])).code, Some(3));
    assert!(held.join().expect("it listens").expect("everybody has ended").is_empty());
}
