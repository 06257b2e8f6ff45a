//! Places where nothing may be written: the error says so and names the place.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use baton_engine::store::StoreError;
use baton_testbed::{Process, Scratch};

use crate::bed::{fill, id, open, run, settle};
use crate::role::Role;

/// Root may write everywhere; without capabilities it may what the owner of a file may.
const POWERLESS: [&str; 4] = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--"];

#[test]
fn folder_that_may_not_be_written_is_named() {
    let scratch = Scratch::new();
    scratch.folder("shut");
    forbid(&scratch.path("shut"), 0o555);
    let why = refused(&scratch.path("shut/baton.db"));
    assert!(why.contains("shut/baton") && why.contains("ermission"), "{why}");
    let why = refused(&scratch.path("shut/deeper/baton.db"));
    assert!(why.contains("shut/deeper") && why.contains("ermission"), "{why}");
    forbid(&scratch.path("shut"), 0o755);
}

#[test]
fn database_that_may_not_be_written_is_named_and_stays_as_it_is() {
    let scratch = Scratch::new();
    let path = scratch.path("store/baton.db");
    run(async { fill(&*open(&path).await.unwrap(), 3).await });
    settle(&path);
    let before = fs::read(&path).unwrap();
    forbid(&path, 0o444);
    let why = refused(&path);
    assert!(why.contains("baton.db"), "{why}");
    forbid(&scratch.path("store"), 0o555);
    let why = refused(&path);
    assert!(why.contains("store/baton"), "{why}");
    assert!(fs::read(&path).unwrap() == before, "it was changed");

    forbid(&scratch.path("store"), 0o755);
    forbid(&path, 0o644);
    let found = run(async { open(&path).await.unwrap().find(&id("h2")).await });
    assert!(matches!(found, Ok(Some(_))), "{found:?}");
}

#[test]
fn folder_that_is_a_file_is_named() {
    let scratch = Scratch::new();
    scratch.write("file", "not a folder");
    for path in ["file/baton.db", "file/deeper/baton.db"] {
        let error = run(open(&scratch.path(path))).err();
        let Some(StoreError::Unwritable(why)) = error else { panic!("{error:?}") };
        assert!(why.contains("/file"), "{why}");
    }
}

#[test]
fn folder_in_the_place_of_the_database_is_named() {
    let scratch = Scratch::new();
    scratch.folder("baton.db");
    let error = run(open(&scratch.path("baton.db"))).err();
    let Some(StoreError::Unwritable(why)) = error else { panic!("{error:?}") };
    assert!(why.contains("baton.db"), "{why}");
}

/// Opens the store in a process without special powers; returns why it could not.
fn refused(path: &Path) -> String {
    let role = Role::Opener { path: path.to_owned() };
    let before: &[&str] = if rustix::process::geteuid().is_root() { &POWERLESS } else { &[] };
    let mut process = Process::spawn(&mut role.command(before));
    let lines = process.stdout.rest(Duration::from_secs(30)).expect("it ends");
    assert!(process.wait(Duration::from_secs(30)).is_some_and(|status| status.success()), "{lines:?}");
    let why = lines.iter().find_map(|line| line.strip_prefix("unwritable "));
    why.unwrap_or_else(|| panic!("{} was not refused: {lines:?}", path.display())).to_owned()
}

fn forbid(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("our own file");
}
