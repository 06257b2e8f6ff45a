//! A real server comes, goes, is killed and comes back with everything that was committed.

use std::process::{Command, Stdio};
use std::time::Duration;

use baton_testbed::{PostgresServer, Process, Silence, query};

const LONG: Duration = Duration::from_secs(60);

#[test]
fn committed_rows_survive_a_kill_and_a_stop() {
    let postgres = PostgresServer::start();
    assert_eq!(query(postgres.url(), "SHOW fsync"), "on");
    let url = postgres.new_database();
    query(&url, "CREATE TABLE handoff (id int); INSERT INTO handoff VALUES (1), (2)");
    let first = postgres.id().unwrap();

    postgres.kill();
    assert_eq!(postgres.id(), None);
    assert!(!answers(&url));
    postgres.restart();
    assert_ne!(postgres.id().unwrap(), first);
    assert_eq!(query(&url, "SELECT id FROM handoff ORDER BY id"), "1\n2");

    query(&url, "INSERT INTO handoff VALUES (3)");
    postgres.stop();
    assert!(!answers(&url));
    postgres.restart();
    assert_eq!(query(&url, "SELECT count(*), max(id) FROM handoff"), "3|3");
}

#[test]
fn kill_takes_the_sessions_with_it() {
    let postgres = PostgresServer::start_without_fsync();
    assert_eq!(query(postgres.url(), "SHOW fsync"), "off");
    let mut session = psql(postgres.url());
    session.send_line("SELECT 'connected';");
    session.stdout.find("connected", LONG).unwrap();
    session.send_line("SELECT pg_sleep(1000);");
    postgres.kill();
    // Only a server that is really gone ends the connection of somebody who waits.
    assert!(!session.wait(LONG).unwrap().success());
    // Killed and never started again: dropping still tidies up.
}

#[test]
fn new_databases_are_empty_and_apart() {
    let shared = PostgresServer::shared();
    let (one, other) = (shared.new_database(), shared.new_database());
    query(&one, "CREATE TABLE only_here (id int)");
    assert_eq!(query(&other, "SELECT count(*) FROM pg_tables WHERE tablename = 'only_here'"), "0");
    assert!(answers(shared.url()));
}

#[test]
fn server_does_not_outlive_a_killed_process() {
    let mut process = Process::spawn(&mut Command::new(env!("CARGO_BIN_EXE_throwaway-postgres")));
    let url = process.stdout.next(LONG).unwrap();
    let mut session = psql(&url);
    session.send_line("SHOW data_directory;");
    let folder = session.stdout.find("/data", LONG).unwrap();
    session.send_line("SELECT pg_sleep(1000);");
    process.kill();
    assert!(!session.wait(LONG).unwrap().success());
    wait_until_gone(folder.trim());
}

#[test]
fn closing_the_input_of_the_program_stops_its_server() {
    let mut process = Process::spawn(&mut Command::new(env!("CARGO_BIN_EXE_throwaway-postgres")));
    let url = process.stdout.next(LONG).unwrap();
    let folder = query(&url, "SHOW data_directory");
    process.close_input();
    assert!(process.wait(LONG).unwrap().success());
    assert!(!std::path::Path::new(&folder).exists());
    assert!(!answers(&url));
}

fn psql(url: &str) -> Process {
    Process::spawn(
        Command::new("psql").args(["-X", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", url]).stderr(Stdio::null()),
    )
}

fn answers(url: &str) -> bool {
    let output = Command::new("psql").args(["-X", "-d", url, "-c", "SELECT 1"]).output().expect("psql starts");
    output.status.success()
}

/// Waits in a shell, because nobody tells when a folder goes.
fn wait_until_gone(folder: &str) {
    let script = "while [ -e \"$0\" ]; do sleep 0.05; done";
    let process = Process::spawn(Command::new("sh").args(["-c", script, folder]));
    assert_eq!(process.stdout.next(LONG), Err(Silence::Ended));
}
