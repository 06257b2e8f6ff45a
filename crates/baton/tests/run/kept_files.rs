//! Files that reports name are kept: they can be looked at elsewhere, are part of the audit, and go into the archive.

use std::path::PathBuf;

use crate::site::{Site, find};

const GATED: &str = "name: gates\nagents: {dev: {command: [./dev.py]}, ops: {command: [./ops.py]}}\n\
    phases: [{id: build, agent: dev}, {id: ok, gate: {items: [the migration]}}, {id: ship, agent: ops}]\n";

/// Runs to a gate about what an agent leaves.
fn asked_about(body: &str) -> Site {
    let site = Site::new().workflow(GATED).agent("dev", body).agent("ops", "report()");
    let asked = site.run(&[]);
    assert_eq!(asked.code, Some(3), "{}", asked.stderr);
    site
}

fn change_store(site: &Site, sql: &str) {
    let store = rusqlite::Connection::open(site.store()).expect("the store opens");
    assert!(store.execute(sql, []).expect("it is SQL") > 0);
}

#[test]
fn files_in_an_approved_folder_are_shown_where_the_workspace_is_not() {
    let body = "os.makedirs('d/e')\nwrite('d/e/f', 'deep')\nwrite('d/g', 'flat')\nreport(artifacts=['d'])";
    let site = asked_about(body);
    std::fs::remove_dir_all(site.scratch.path("workspace")).expect("removed");
    for (path, content) in [("d/e/f", "deep"), ("./d/g", "flat")] {
        let shown = site.baton(&["show", "t.ok.1", "--file", path]);
        assert_eq!((shown.code, shown.stdout.as_str()), (Some(0), content), "{}", shown.stderr);
    }
    let listed = site.baton(&["show", "t.ok.1", "--file", "d"]);
    assert!(listed.stdout.contains("e/f") && listed.stdout.contains("g"), "{listed:?}");
    let missing = site.baton(&["show", "t.ok.1", "--file", "d/e/h"]);
    assert_eq!(missing.code, Some(1));
    assert!(missing.stderr.contains("there was no e/h in the folder d"), "{}", missing.stderr);
}

#[test]
fn audit_names_a_kept_file_that_was_changed_or_removed() {
    let body = "write('migration.sql', 'CREATE TABLE users')\nreport(artifacts=['migration.sql'])";
    for (sql, code, told, shown) in [
        (
            "UPDATE contents SET bytes = CAST('DROP TABLE users' AS BLOB)",
            "file-changed",
            "the store has another file in its place",
            "its copy of migration.sql was changed",
        ),
        (
            "DELETE FROM contents",
            "file-missing",
            "is not in the store",
            "migration.sql was kept, and is not in the store any more",
        ),
    ] {
        let site = asked_about(body);
        assert_eq!(site.baton(&["audit", "verify", "t"]).code, Some(0));
        change_store(&site, sql);
        let audit = site.baton(&["audit", "verify", "t"]);
        assert_eq!(audit.code, Some(1), "{audit:?}");
        assert!(audit.stdout.contains("migration.sql was kept") && audit.stdout.contains(told), "{}", audit.stdout);
        assert!(site.baton(&["audit", "verify", "t", "--json"]).stdout.contains(code));
        let file = site.baton(&["show", "t.ok.1", "--file", "migration.sql"]);
        assert_eq!(file.code, Some(1), "{file:?}");
        assert!(file.stderr.contains(shown) && file.stderr.contains("baton audit verify t"), "{}", file.stderr);
        site.scratch.folder("archive");
        assert_eq!(site.baton(&["audit", "export", "t", "--to", "archive"]).code, Some(1));
    }
}

#[test]
fn archive_has_the_kept_files() {
    let body =
        "os.mkdir('d')\nwrite('d/f', 'deep')\nwrite('m.sql', 'CREATE TABLE users')\nreport(artifacts=['d', 'm.sql'])";
    let site = asked_about(body);
    let contents = |archive: &str| -> Vec<String> {
        let folder: PathBuf = site.scratch.path(format!("{archive}/.project/07-audit/sessions/t/files"));
        let files = std::fs::read_dir(folder).expect("the archive has files");
        let mut texts: Vec<String> = files.map(|file| site.read(file.expect("an entry").path())).collect();
        texts.sort();
        texts
    };
    site.scratch.folder("export");
    assert_eq!(site.baton(&["audit", "export", "t", "--to", "export"]).code, Some(0));
    let exported = contents("export");
    assert!(
        exported.contains(&"CREATE TABLE users".to_owned()) && exported.contains(&"deep".to_owned()),
        "{exported:?}"
    );
    let record = site.read(site.scratch.path("export/.project/07-audit/sessions/t/journal/t.build.1.yaml"));
    assert!(record.contains("looked_at") && record.contains("path: m.sql"), "{record}");
    assert_eq!(site.baton(&["cancel", "t"]).code, Some(0));
    site.scratch.folder("pruned");
    let pruned = site.baton(&["prune", "--older-than", "0s", "--to", "pruned"]);
    assert_eq!(pruned.code, Some(0), "{}", pruned.stderr);
    assert_eq!(contents("pruned"), exported);
}

#[test]
fn what_was_not_kept_says_why() {
    let body = "write('small', 'x' * 1000)\nwrite('large', 'z' * 3000)\nreport(artifacts=['small', 'large'])";
    let site = Site::new().workflow(GATED).agent("dev", body).agent("ops", "report()");
    let reason = |run_kib: u32| {
        site.scratch.write("baton.toml", format!("[artifacts]\nfile_kib = 2\nrun_kib = {run_kib}\n"));
        site.run(&[]);
        site.baton(&["show", "t.ok.1", "--file", "large"]).stderr
    };
    let large = reason(100);
    assert!(large.contains("larger than the 2 KiB that are kept of a file"), "{large}");
    let body = "write('a', 'x' * 1500)\nwrite('b', 'y' * 1500)\nreport(artifacts=['a', 'b'])";
    let site = Site::new().workflow(GATED).agent("dev", body).agent("ops", "report()");
    site.scratch.write("baton.toml", "[artifacts]\nfile_kib = 2\nrun_kib = 2\n");
    assert_eq!(site.run(&[]).code, Some(3));
    let full = site.baton(&["show", "t.ok.1", "--file", "b"]).stderr;
    assert!(full.contains("its run already uses 1 of 2 KiB"), "{full}");
}

#[test]
fn file_is_found_by_whoever_names_the_run_or_another_phase() {
    let site = asked_about("write('m.sql', 'x')\nreport(artifacts=['m.sql'])");
    let of_run = site.baton(&["show", "t", "--file", "m.sql"]);
    assert_eq!(of_run.code, Some(1));
    assert!(of_run.stderr.contains("t is a run") && of_run.stderr.contains("t.build.1, t.ok.1"), "{}", of_run.stderr);
    let path = find(&site.told(), "build.1").told.as_ref().expect("a report").written.path.clone().expect("a file");
    let report = site.baton(&["show", "t.ok.1", "--file", &path]);
    assert!(report.code == Some(0) && report.stdout.contains("Wrote the parser"), "{report:?}");
}
