//! Which store the commands of the queue work on, and what they say when there is none.

use baton_testbed::state_home;
use insta::assert_snapshot;

use crate::documents::REQUEST;
use crate::queue_life::{done, with_one_sent};
use crate::sandbox::Sandbox;

#[test]
fn without_a_store_there_is_nothing_to_look_at() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.baton(&["list"]).to_string().replace(sandbox.path("").to_str().expect("UTF-8").trim_end_matches('/'), "SANDBOX"), @"
    --- stderr
    error: there is no store yet for SANDBOX
    hint: `baton run` or `baton send` makes one; --store or BATON_STORE names another
    --- exit 2
    ");
    for command in
        [&["show", "x"][..], &["wait", "x"], &["queue"], &["cancel", "x"], &["heartbeat", "x", "--fence", "1"]]
    {
        assert_eq!(sandbox.baton(command).code, Some(2), "{command:?}");
    }
    assert!(!sandbox.path(".baton").exists() && !state_home(&sandbox.path("")).exists());
}

#[test]
fn the_store_is_made_outside_of_the_project_and_found_from_below() {
    let sandbox = with_one_sent(&[]);
    assert!(sandbox.store().is_file() && !sandbox.path(".baton").exists());
    sandbox.folder("deep/down");
    let below = sandbox.baton_in("deep/down", &["list"]);
    assert!(below.stdout.contains("csv-07.research"), "{below}");
}

#[test]
fn option_goes_before_environment_before_configuration() {
    let sandbox = Sandbox::new();
    sandbox.write("request.json", REQUEST).write("baton.toml", "[store]\nurl = \"sqlite:configured.db\"\n");
    sandbox.folder("below");
    let send = ["send", "--to", "finder", "request.json"];
    done(&sandbox, &send);
    assert!(sandbox.path("configured.db").is_file() && !sandbox.store().exists());
    assert!(sandbox.baton_in("below", &["list"]).stdout.contains("csv-07"));
    let from_environment = sandbox.baton_with_variable("BATON_STORE", "named.db", &send);
    assert_eq!(from_environment.code, Some(0), "{from_environment}");
    assert!(sandbox.path("named.db").is_file());
    let option = [&send[..], &["--store", "given.db"]].concat();
    assert_eq!(sandbox.baton_with_variable("BATON_STORE", "named.db", &option).code, Some(0));
    assert!(sandbox.path("given.db").is_file());
}

#[test]
fn what_is_no_store_is_wrong_usage() {
    let sandbox = Sandbox::new();
    sandbox.write("request.json", REQUEST).folder("folder").write("text.db", "this is no database\n".repeat(99));
    let send = |store: &str| sandbox.baton(&["send", "--to", "finder", "request.json", "--store", store]);
    assert_snapshot!(send("mysql://host/queue"), @"
    --- stderr
    error: --store: unknown kind of store `mysql`: use a path, sqlite:PATH, postgres://… or https://…
    --- exit 2
    ");
    assert_snapshot!(send("folder"), @"
    --- stderr
    error: the store folder is a folder
    hint: name a file in it: folder/baton.db
    --- exit 2
    ");
    assert_snapshot!(send("no/such/folder/queue.db"), @"
    --- stderr
    error: the store no/such/folder/queue.db cannot be made: there is no folder no/such/folder
    hint: make the folder, or name another path
    --- exit 2
    ");
    assert_eq!(send("").code, Some(2));
    let damaged = send("text.db");
    assert_eq!(damaged.code, Some(2), "{damaged}");
    assert!(damaged.stderr.contains("the store is damaged: text.db"), "{damaged}");
    assert!(!sandbox.path("no").exists());
}

#[test]
fn a_store_of_a_newer_program_is_left_alone() {
    let sandbox = with_one_sent(&[]);
    let connection = rusqlite::Connection::open(sandbox.store()).expect("a database");
    connection.pragma_update(None, "user_version", 99).expect("it can be changed");
    drop(connection);
    let run = sandbox.baton(&["list"]);
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("but this program knows only"), "{run}");
    assert!(run.stderr.contains("hint: update baton, or use another store"), "{run}");
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_written_is_told() {
    let sandbox = Sandbox::new();
    sandbox.write("request.json", REQUEST).write(".baton", "a file");
    let run = sandbox.baton(&["send", "--to", "finder", "request.json", "--store", ".baton/baton.db"]);
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.starts_with("error: cannot make the folder .baton: "), "{run}");
}
