//! `baton worker` while somebody else holds the store: what was done in time counts when it can be written.

use std::process::Command;

use baton_engine::handoff::StateName;
use baton_engine::retry;
use rustix::process::Signal;

use crate::documents::REPORT;
use crate::held_store::stopped_while_holding;
use crate::stocked::{LONG, Stocked};

#[test]
fn result_that_came_in_time_counts_although_the_store_was_held_for_longer() {
    let stocked = Stocked::new();
    // Nobody waits longer than ten seconds for the lock, so the time is up before the worker says that it waits.
    let id = stocked.accept_with("csv-07", "csv-07", |terms| {
        terms.timeout_ms = Some(8_000);
        terms.retry = retry::Policy::NEVER;
    });
    stocked.sandbox.write("report.json", REPORT);
    let pipe = stocked.sandbox.path("go-on");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs").success());
    let mut worker = stocked.worker(&["--once"], "echo begun >&2; read line < go-on; cat report.json");
    let stderr = worker.stderr.take().expect("a pipe");
    stderr.find("begun", LONG).expect("the command begins");
    let mut holder = stopped_while_holding(&stocked.sandbox, "lock");
    std::fs::write(&pipe, "go on\n").expect("the command goes on");
    stderr.find("cannot report yet", LONG).expect("the worker says so");
    holder.signal(Signal::KILL);
    assert_eq!(worker.wait(LONG).expect("it ends").code(), Some(0), "{:?}", stocked.find(&id));
    let handoff = stocked.find(&id).expect("there");
    assert_eq!((handoff.state.name(), handoff.attempts), (StateName::Completed, 1));
}

#[test]
fn worker_whose_store_was_removed_says_so_and_ends() {
    let stocked = Stocked::new();
    stocked.accept("csv-07");
    stocked.sandbox.write("report.json", REPORT);
    let path = stocked.database();
    let mut worker = stocked.worker(&[], &format!("rm {}; cat report.json", path.display()));
    let stderr = worker.stderr.take().expect("a pipe");
    let ended = worker.wait(LONG).expect("it ends");
    let told = stderr.rest(LONG).expect("all of it").join("\n");
    assert_eq!(ended.code(), Some(2), "{told}");
    assert!(told.contains("the file was removed or renamed after it was opened"), "{told}");
    assert!(!path.exists(), "nobody makes an empty one in its place");
}
