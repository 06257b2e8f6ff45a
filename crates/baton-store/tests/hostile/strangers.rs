//! Files of others, and stores of a newer program: refused, named, and left as they are.

use std::fs;
use std::path::Path;

use baton_engine::store::StoreError;
use baton_store::Location;
use baton_testbed::{PostgresServer, Scratch, query};

use crate::bed::{fill, id, open, request, run, settle, time};

#[test]
fn file_that_is_no_database_is_refused_and_left_alone() {
    let scratch = Scratch::new();
    let texts = ["# Notes\n\nBuy milk.\n".to_owned(), "x".repeat(100_000)];
    for (number, text) in texts.iter().enumerate() {
        let path = scratch.path(format!("{number}/notes.md"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        let why = damage(&path);
        assert!(why.contains("notes.md"), "{why}");
        assert_eq!(&fs::read_to_string(&path).unwrap(), text);
    }
}

#[test]
fn empty_file_becomes_a_store() {
    let scratch = Scratch::new();
    scratch.write("baton.db", "");
    run(async { fill(&*open(&scratch.path("baton.db")).await.unwrap(), 3).await });
}

#[test]
fn database_of_another_program_is_refused_and_left_alone() {
    let scratch = Scratch::new();
    let path = scratch.path("browser.sqlite");
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute_batch("CREATE TABLE bookmarks (url TEXT); INSERT INTO bookmarks VALUES ('a')").unwrap();
    drop(connection);
    let before = fs::read(&path).unwrap();
    let why = damage(&path);
    assert!(why.contains("another program") && why.contains("browser.sqlite"), "{why}");
    assert!(fs::read(&path).unwrap() == before, "it was changed");
}

#[test]
fn database_of_a_newer_program_is_refused_and_left_alone() {
    let scratch = Scratch::new();
    let path = scratch.path("baton.db");
    let known = run(async {
        let store = open(&path).await.unwrap();
        fill(&*store, 3).await;
        store.checkup().await.unwrap().migration_known
    });
    settle(&path);
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    drop(connection);
    settle(&path);
    let before = fs::read(&path).unwrap();
    assert_eq!(run(open(&path)).err(), Some(StoreError::TooNew { found: 99, known }));
    assert!(fs::read(&path).unwrap() == before, "it was changed");
}

#[test]
fn postgres_database_of_a_newer_program_is_refused() {
    let url = PostgresServer::shared().new_database();
    let location = Location::Postgres(url.clone());
    let known = run(async {
        let store = baton_store::open(&location).await.unwrap();
        fill(&*store, 3).await;
        store.checkup().await.unwrap().migration_known
    });
    query(&url, "INSERT INTO baton_migrations (number, name) VALUES (99, 'tomorrow')");
    let error = run(baton_store::open(&location)).err();
    assert_eq!(error, Some(StoreError::TooNew { found: 99, known }));
    assert_eq!(query(&url, "SELECT count(*) FROM handoffs"), "3");
}

#[test]
fn store_is_not_called_like_the_files_beside_it() {
    // The bell is cut back when it has grown: a store in its place would be lost.
    let scratch = Scratch::new();
    for name in ["baton.wake", "baton.lock"] {
        let error = run(open(&scratch.path(name))).err();
        let Some(StoreError::Unwritable(why)) = error else { panic!("{name}: {error:?}") };
        assert!(why.contains(name), "{why}");
    }
}

#[test]
fn store_may_have_any_other_name() {
    let scratch = Scratch::new();
    for name in ["baton", "baton.db-wal.db", ".baton", "with space & ümlaut?x=1#y%20.db"] {
        let path = scratch.path(format!("{}/{name}", name.len()));
        run(async {
            let store = open(&path).await.unwrap_or_else(|error| panic!("{name}: {error}"));
            store.accept(vec![request("one", 10)], time(0)).await.unwrap();
        });
        assert!(path.is_file(), "{name}");
        let found = run(async { open(&path).await.unwrap().find(&id("one")).await });
        assert!(matches!(found, Ok(Some(_))), "{name}: {found:?}");
    }
}

fn damage(path: &Path) -> String {
    match run(open(path)).err() {
        Some(StoreError::Damaged(why)) => why,
        other => panic!("{}: {other:?}", path.display()),
    }
}
