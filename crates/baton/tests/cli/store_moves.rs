//! Stores that are not where they belong: in the project's own folder, or left behind when the project was moved.

use std::fs;
use std::process::Stdio;

use baton_testbed::Process;

use crate::documents::REQUEST;
use crate::queue_life::done;
use crate::run_letter::{run_letter, with_letter};
use crate::sandbox::{BATON, Run, Sandbox};
use crate::stocked::LONG;
use crate::store_places::{SEND, repository};

/// A project whose store lies in its own folder, as all of them once did.
fn with_old_store() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("request.json", REQUEST);
    done(&sandbox, &[&SEND[..], &["--store", ".baton/baton.db"]].concat());
    sandbox
}

fn lists(run: &Run) -> bool {
    run.code == Some(0) && run.stdout.contains("csv-07.research")
}

#[test]
fn old_store_is_used_until_it_is_moved_and_every_command_says_so_in_one_line() {
    let sandbox = with_old_store();
    sandbox.folder("deep").write("more.json", REQUEST.replace("csv-07", "csv-08"));
    let old = sandbox.path(".baton/baton.db");
    for folder in ["", "deep"] {
        let listed = sandbox.baton_in(folder, &["list"]);
        assert!(lists(&listed), "{listed}");
        let told =
            format!("agents can reach the store {}; move it to your state folder: baton store move\n", old.display());
        assert_eq!(listed.stderr, told);
    }
    done(&sandbox, &["send", "--to", "finder", "more.json"]);
    assert!(!sandbox.state().root().exists(), "there is one store only");
    let doctor = done(&sandbox, &["doctor"]).stdout;
    assert!(
        doctor.contains("! project") && doctor.contains("hint: move it to your state folder: baton store move"),
        "{doctor}"
    );
}

#[test]
fn old_store_is_moved_with_everything_in_it() {
    let sandbox = with_old_store();
    let moved = done(&sandbox, &["store", "move"]);
    assert_eq!(moved.stderr, format!("moved to {}\n", sandbox.store().display()));
    let left: Vec<_> =
        fs::read_dir(sandbox.path(".baton")).expect("a folder").map(|entry| entry.expect("read").file_name()).collect();
    assert_eq!(left, [".gitignore"]);
    let listed = done(&sandbox, &["list"]);
    assert!(lists(&listed) && listed.stderr.is_empty(), "{listed}");
    assert_eq!(sandbox.baton(&["audit", "verify", "--all"]).code, Some(0));
    let again = done(&sandbox, &["store", "move"]);
    assert_eq!(again.stderr, format!("nothing to move: the store is {}\n", sandbox.store().display()));
}

#[test]
fn old_store_that_a_run_has_named_is_moved_too() {
    let sandbox = with_old_store();
    sandbox.write("flow.yaml", "name: o\nphases: [{id: t, check: 'true'}]\n");
    done(&sandbox, &["run", "flow.yaml", "--id", "o", "--no-input", "--store", ".baton/baton.db"]);
    let moved = done(&sandbox, &["store", "move"]);
    assert_eq!(moved.stderr, format!("moved to {}\n", sandbox.store().display()));
    let listed = done(&sandbox, &["list"]);
    assert!(lists(&listed) && listed.stderr.is_empty(), "{listed}");
    assert!(done(&sandbox, &["runs"]).stdout.contains("o "), "{listed}");
}

#[test]
fn old_store_of_a_folder_above_the_repository_is_not_overlooked() {
    let sandbox = with_old_store();
    repository(&sandbox.path("team"));
    assert!(lists(&sandbox.baton_in("team", &["list"])));
}

#[test]
fn store_that_somebody_uses_is_not_moved() {
    let sandbox = with_old_store();
    let mut worker = sandbox.command(BATON);
    worker.args(["worker", "--agent", "finder", "--once", "--", "sh", "-c", "echo begun >&2; exec tail -f /dev/null"]);
    let mut worker = Process::spawn(worker.stderr(Stdio::piped()));
    worker.stderr.as_ref().expect("a pipe").find("begun", LONG).expect("it works");
    let refused = sandbox.baton(&["store", "move"]);
    assert_eq!(refused.code, Some(75), "{refused}");
    assert!(
        refused.stderr.contains("the store was not moved: ") && refused.stderr.contains("another program has it open"),
        "{refused}"
    );
    assert!(sandbox.path(".baton/baton.db").exists() && !sandbox.store().exists());
    worker.terminate();
    worker.kill_group();
    done(&sandbox, &["store", "move"]);
    assert!(lists(&sandbox.baton(&["list"])));
}

#[test]
fn second_store_of_a_project_is_told_and_the_one_out_of_reach_is_used() {
    let sandbox = with_old_store();
    done(&sandbox, &["store", "move"]);
    let old = sandbox.path(".baton/baton.db");
    sandbox.write("more.json", REQUEST.replace("csv-07", "csv-08"));
    done(&sandbox, &["send", "--to", "finder", "more.json", "--store", ".baton/baton.db"]);
    let listed = sandbox.baton(&["list"]);
    assert!(lists(&listed) && !listed.stdout.contains("csv-08"), "{listed}");
    assert!(listed.stderr.starts_with(&format!("this project has another store, {}", old.display())), "{listed}");
    let refused = sandbox.baton(&["store", "move"]);
    assert!(refused.code == Some(2) && refused.stderr.contains("has two stores"), "{refused}");
    assert!(old.exists() && sandbox.store().exists());
}

#[cfg(target_os = "linux")]
#[test]
fn at_a_terminal_the_move_is_offered_and_only_yes_moves() {
    let at_terminal = |sandbox: &Sandbox, typed: &str| {
        let command = format!("{BATON} queue pause finder");
        sandbox.program_with_input("script", &["-qec", &command, "/dev/null"], format!("{typed}\n").as_bytes())
    };
    let sandbox = with_old_store();
    for no in ["", "n", "later"] {
        let Some(asked) = at_terminal(&sandbox, no) else { return };
        assert!(asked.code == Some(0) && asked.stdout.contains("Move it there now? [y/N]"), "{asked}");
        assert!(asked.stdout.contains("not moved") && !sandbox.store().exists(), "{asked}");
    }
    let asked = at_terminal(&sandbox, "y").expect("script is there");
    assert!(asked.code == Some(0) && asked.stdout.contains("moved to "), "{asked}");
    assert!(sandbox.store().exists() && !sandbox.path(".baton/baton.db").exists());
    assert!(lists(&sandbox.baton(&["list"])));
    let asked = at_terminal(&sandbox, "").expect("script is there");
    assert!(asked.code == Some(0) && !asked.stdout.contains("Move it"), "{asked}");
}

#[test]
fn configured_store_in_the_project_is_left_alone() {
    let sandbox = with_old_store();
    sandbox.write("baton.toml", "[store]\nurl = \".baton/baton.db\"\n");
    let listed = done(&sandbox, &["list"]);
    assert!(lists(&listed) && listed.stderr.is_empty(), "{listed}");
    let refused = sandbox.baton(&["store", "move"]);
    assert!(refused.code == Some(2) && refused.stderr.contains("as [store] url says"), "{refused}");
}

#[test]
fn renamed_project_says_what_it_was_and_takes_its_store_along() {
    let sandbox = Sandbox::new();
    repository(&sandbox.path("old name"));
    sandbox.write("old name/request.json", REQUEST).write("request.json", REQUEST);
    assert_eq!(sandbox.baton_in("old name", &SEND).code, Some(0));
    fs::rename(sandbox.path("old name"), sandbox.path("new")).expect("renamed");
    let before = sandbox.path("old name");
    for command in [&["list"][..], &["send", "--to", "finder", "request.json"]] {
        let refused = sandbox.baton_in("new", command);
        assert_eq!(refused.code, Some(2), "{refused}");
        assert!(refused.stderr.contains(&format!("was {} when its store was made", before.display())), "{refused}");
        let hint = format!("hint: move its store, too: baton store move '{}'\n", before.display());
        assert!(refused.stderr.ends_with(&hint), "{refused}");
    }
    let listed = done(&sandbox, &["store", "list"]).stdout;
    assert!(listed.contains("not there"), "{listed}");
    let moved = sandbox.baton_in("new", &["store", "move"]);
    assert_eq!(moved.code, Some(0), "{moved}");
    assert!(lists(&sandbox.baton_in("new", &["list"])));
    assert!(!sandbox.store_of("old name").exists() && sandbox.store_of("new").is_file());
}

#[test]
fn project_on_another_disk_takes_its_store_along_when_told_where_it_was() {
    let sandbox = Sandbox::new();
    sandbox.write("old/baton.toml", "").write("old/request.json", REQUEST).write("new/baton.toml", "");
    assert_eq!(sandbox.baton_in("old", &SEND).code, Some(0));
    let still_there = sandbox.baton_in("new", &["store", "move", "../old"]);
    assert!(still_there.code == Some(2) && still_there.stderr.contains("is still there"), "{still_there}");
    fs::remove_dir_all(sandbox.path("old")).expect("removed");
    assert_eq!(sandbox.baton_in("new", &["store", "move"]).code, Some(2), "nobody can know that they are the same");
    let moved = sandbox.baton_in("new", &["store", "move", "../old"]);
    assert_eq!(moved.code, Some(0), "{moved}");
    assert!(lists(&sandbox.baton_in("new", &["list"])));
    let nothing = sandbox.baton_in("new", &["store", "move", "../never"]);
    assert!(nothing.code == Some(2) && nothing.stderr.contains("hint: `baton store list` shows all"), "{nothing}");
}

#[test]
fn workspaces_of_a_moved_project_find_their_runs_again() {
    let sandbox = with_letter();
    for name in ["flow", "desk", "answers.yaml"] {
        fs::create_dir_all(sandbox.path("project")).expect("a folder");
        fs::rename(sandbox.path(name), sandbox.path(&format!("project/{name}"))).expect("renamed");
    }
    sandbox.write("project/baton.toml", "");
    let run = ["run", "flow", "--workspace", "desk", "--id", "letter-1", "--answers", "answers.yaml"];
    assert_eq!(sandbox.baton_in("project", &run).code, Some(0));
    repository(&sandbox.path("project/desk"));
    fs::rename(sandbox.path("project"), sandbox.path("moved")).expect("renamed");
    assert_eq!(sandbox.baton_in("moved", &["store", "move"]).code, Some(0));
    for folder in ["moved", "moved/desk"] {
        let runs = sandbox.baton_in(folder, &["runs"]);
        assert!(runs.code == Some(0) && runs.stdout.contains("letter-1"), "{folder}: {runs}");
    }
}

#[test]
fn store_is_not_moved_onto_another_one() {
    let sandbox = with_letter();
    run_letter(&sandbox, &["--answers", "answers.yaml"]);
    sandbox.write("old/baton.toml", "").write("old/request.json", REQUEST);
    assert_eq!(sandbox.baton_in("old", &SEND).code, Some(0));
    fs::remove_dir_all(sandbox.path("old")).expect("removed");
    let refused = sandbox.baton(&["store", "move", "old"]);
    assert!(refused.code == Some(2) && refused.stderr.contains("this project has a store already"), "{refused}");
    assert!(done(&sandbox, &["runs"]).stdout.contains("letter-1") && sandbox.store_of("old").is_file());
}

#[test]
fn store_is_removed_only_if_somebody_says_so() {
    let sandbox = with_letter();
    run_letter(&sandbox, &["--answers", "answers.yaml"]);
    let refused = sandbox.baton(&["store", "remove"]);
    assert!(refused.code == Some(2) && refused.stderr.contains("--yes removes it for good"), "{refused}");
    assert!(sandbox.store().is_file());
    let removed = done(&sandbox, &["store", "remove", "--yes"]);
    assert!(removed.stderr.starts_with("removed the store of "), "{removed}");
    assert_eq!(fs::read_dir(sandbox.state().root()).expect("a folder").count(), 0);
    assert_eq!(sandbox.baton(&["runs"]).code, Some(2));
    assert!(sandbox.path("desk/.baton/runs/letter-1").is_dir(), "what people and agents see stays");
    assert_eq!(sandbox.baton(&["store", "remove", "--yes"]).code, Some(2), "there is none any more");
}

#[test]
fn store_of_a_deleted_project_is_removed_by_its_path() {
    let sandbox = Sandbox::new();
    sandbox.write("old/baton.toml", "").write("old/request.json", REQUEST);
    assert_eq!(sandbox.baton_in("old", &SEND).code, Some(0));
    fs::remove_dir_all(sandbox.path("old")).expect("removed");
    done(&sandbox, &["store", "remove", "old", "--yes"]);
    assert!(!sandbox.store_of("old").exists());
}
