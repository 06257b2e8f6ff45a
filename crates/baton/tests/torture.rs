//! Torture: real processes send, claim and report while others kill and stop them, and the server, at random moments.
//!
//! Whatever was acknowledged before a kill must be there after it, and must have had its effect exactly once. Each test
//! runs for a moment with a fixed seed; `cargo xtask torture --minutes N [--seed S]` runs all of them for longer. The
//! processes are this program again, started with a role.
#![expect(clippy::print_stdout, reason = "the torture prints its seed and what it has counted")]

#[path = "torture/crowd.rs"]
mod crowd;
#[path = "torture/folder_race.rs"]
mod folder_race;
#[path = "torture/folder_roles.rs"]
mod folder_roles;
#[path = "torture/folder_torture.rs"]
mod folder_torture;
#[path = "torture/folder_verdict.rs"]
mod folder_verdict;
#[path = "torture/ledger.rs"]
mod ledger;
#[path = "torture/role.rs"]
mod role;
#[path = "torture/sender.rs"]
mod sender;
#[path = "torture/settings.rs"]
mod settings;
#[path = "torture/store_torture.rs"]
mod store_torture;
#[path = "torture/verdict.rs"]
mod verdict;
#[path = "torture/worker.rs"]
mod worker;

use baton_store::Location;
use baton_testbed::{PostgresServer, Scratch};

use settings::Settings;
use store_torture::torture;

#[test]
fn process_plays_the_role_that_it_was_started_for() {
    role::play();
}

#[test]
fn nothing_is_lost_or_done_twice_when_processes_on_sqlite_are_killed() {
    let scratch = Scratch::new();
    let location = Location::Sqlite(scratch.path("store/baton.db"));
    torture(&Settings::read("SQLite", 1), &location, None);
}

#[test]
fn nothing_is_lost_or_done_twice_when_processes_on_postgres_and_the_server_are_killed() {
    let server = PostgresServer::start();
    let location = Location::Postgres(server.new_database());
    torture(&Settings::read("PostgreSQL", 2), &location, Some(&server));
}

#[test]
fn nothing_is_lost_or_done_twice_when_processes_on_folders_are_killed() {
    let scratch = Scratch::new();
    folder_torture::torture(&Settings::read("folders", 3), &scratch.path("exchange"));
}

#[test]
fn creator_is_not_told_that_its_own_handoff_exists_already() {
    let scratch = Scratch::new();
    let refused = folder_race::refused_creations(&scratch.path("exchange"), 300);
    assert!(refused.is_empty(), "{} of 300 were created and refused: {:?}", refused.len(), refused.first());
}
