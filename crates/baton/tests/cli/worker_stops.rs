//! `baton worker`: timeouts, lost leases and signals; nothing that was started survives them.

use std::time::Duration;

use baton_engine::Fence;
use baton_engine::handoff::StateName;
use baton_engine::lifecycle::{Cancel, Command};
use baton_engine::retry;
use baton_testbed::{ChildLines, Process};
use rustix::process::Signal;

use crate::documents::REPORT;
use crate::stocked::{LONG, Stocked, now};

/// Hangs with a child; both hold a pipe for as long as they live.
const HANG: &str = "mkfifo alive; echo ready >&2; exec 9> alive; sleep 600 & echo hanging >&2; wait";

/// Waits until both hang. What is returned has an end when both are dead.
fn hanging(stocked: &Stocked, worker: &Process) -> ChildLines {
    says(worker, "ready");
    let alive = ChildLines::of(std::fs::File::open(stocked.sandbox.path("alive")).expect("a pipe"));
    says(worker, "hanging");
    alive
}

#[track_caller]
fn until_dead(alive: &ChildLines) {
    assert_eq!(alive.rest(LONG), Ok(Vec::new()), "everybody is dead");
}

fn says(worker: &Process, text: &str) -> String {
    worker.stderr.as_ref().expect("a pipe").find(text, LONG).unwrap_or_else(|_| panic!("it never said {text}"))
}

#[test]
fn command_that_hangs_is_killed_at_the_time_out() {
    let stocked = Stocked::new();
    let id = stocked.accept_with("h", "h", |terms| {
        terms.timeout_ms = Some(1_500);
        terms.retry = retry::Policy::NEVER;
    });
    let mut worker = stocked.worker(&["--once"], HANG);
    let alive = hanging(&stocked, &worker);
    assert_eq!(worker.wait(LONG).expect("it ends").code(), Some(1));
    until_dead(&alive);
    let failure = stocked.find(&id).expect("there").last_failure.expect("a failure");
    assert_eq!(failure.code.as_str(), "TIMEOUT", "{failure}");
}

#[test]
fn own_time_out_of_the_worker_counts_if_it_is_shorter() {
    let stocked = Stocked::new();
    let id = stocked.accept("h");
    let mut worker = stocked.worker(&["--once", "--timeout", "300ms"], "exec sleep 600");
    assert_eq!(worker.wait(LONG).expect("it ends").code(), Some(1));
    let handoff = stocked.find(&id).expect("there");
    assert_eq!(handoff.state.name(), StateName::Pending, "it is tried again");
    assert_eq!(
        handoff.last_failure.expect("a failure").to_string(),
        "TIMEOUT: the command did not finish within 300ms"
    );
}

#[test]
fn lost_lease_kills_the_group_and_reports_nothing() {
    let stocked = Stocked::new();
    let id = stocked.accept("h");
    let mut worker = stocked.worker(&["--once", "--lease", "600ms"], HANG);
    let alive = hanging(&stocked, &worker);
    stocked.apply(&id, Command::Cancel(Cancel { by: "ana".to_owned(), reason: None }));
    let line = says(&worker, "lost ");
    assert!(line.contains("the handoff is cancelled"), "{line}");
    worker.wait(LONG).expect("it ends");
    until_dead(&alive);
    assert_eq!(stocked.find(&id).expect("there").state.name(), StateName::Cancelled);
}

#[test]
fn heartbeats_keep_a_lease_that_is_shorter_than_the_work() {
    let stocked = Stocked::new();
    stocked.sandbox.write("report.json", REPORT);
    let id = stocked.accept("csv-07");
    let mut worker =
        stocked.worker(&["--once", "--lease", "500ms"], "mkfifo go; echo hanging >&2; read x < go; cat report.json");
    says(&worker, "hanging");
    // More heartbeats than the lease would have lived without them.
    stocked.until(&id, |handoff| handoff.version >= 8);
    stocked.sandbox.write("go", "go\n");
    assert_eq!(worker.wait(LONG).expect("it ends").code(), Some(0));
    assert_eq!(stocked.find(&id).expect("there").state.name(), StateName::Completed);
}

#[test]
fn worker_that_stood_still_for_longer_than_its_lease_keeps_its_work() {
    let stocked = Stocked::new();
    stocked.sandbox.write("report.json", REPORT);
    let id = stocked.accept("csv-07");
    // The command goes on while the worker stands still, for much longer than the lease.
    let script = "mkfifo go; echo hanging >&2; sleep 2; mkfifo awake; echo awake > awake; read x < go; cat report.json";
    let mut worker = stocked.worker(&["--lease", "500ms"], script);
    says(&worker, "hanging");
    worker.signal(Signal::STOP);
    let started = std::time::Instant::now();
    while !stocked.sandbox.path("awake").exists() {
        assert!(started.elapsed() < LONG, "the command goes on");
        std::thread::yield_now();
    }
    std::fs::read_to_string(stocked.sandbox.path("awake")).expect("the command has written");
    worker.signal(Signal::CONT);
    stocked.until(&id, |handoff| handoff.version > 2);
    stocked.sandbox.write("go", "go\n");
    stocked.until(&id, |handoff| handoff.state.name() == StateName::Completed);
    assert_eq!(stocked.find(&id).expect("there").fence, Fence(1), "nobody took it away, not even the worker itself");
}

#[test]
fn first_signal_drains() {
    let stocked = Stocked::new();
    stocked.sandbox.write("report.json", REPORT);
    let (first, second) = (stocked.accept("csv-07"), stocked.accept("other"));
    let mut worker = stocked.worker(&[], "mkfifo go; echo hanging >&2; read x < go; cat report.json");
    says(&worker, "hanging");
    worker.terminate();
    says(&worker, "stopping");
    stocked.sandbox.write("go", "go\n");
    assert_eq!(worker.wait(LONG).expect("it ends").code(), Some(0));
    assert_eq!(stocked.find(&first).expect("there").state.name(), StateName::Completed);
    assert_eq!(stocked.find(&second).expect("there").fence, Fence(0), "nothing more was claimed");
}

#[test]
fn second_signal_kills_and_reports_nothing() {
    let stocked = Stocked::new();
    let id = stocked.accept("h");
    let mut worker = stocked.worker(&[], HANG);
    let alive = hanging(&stocked, &worker);
    worker.terminate();
    says(&worker, "stopping");
    worker.terminate();
    assert_eq!(worker.wait(LONG).expect("it ends").code(), Some(1));
    until_dead(&alive);
    assert_eq!(stocked.find(&id).expect("there").state.name(), StateName::Claimed, "the lease expires by itself");
}

#[test]
fn idle_worker_ends_at_once_and_takes_what_comes_until_then() {
    let stocked = Stocked::new();
    stocked.sandbox.write("report.json", REPORT);
    let mut worker = stocked.worker(&[], "cat report.json");
    says(&worker, "working");
    let id = stocked.accept("csv-07");
    stocked.until_state(&id, StateName::Completed);
    worker.terminate();
    assert_eq!(worker.wait(Duration::from_secs(10)).expect("it ends").code(), Some(0));
}

#[test]
fn expired_lease_of_a_dead_worker_is_rescued_by_the_next() {
    let stocked = Stocked::new();
    stocked.sandbox.write("report.json", REPORT);
    let id = stocked.accept_with("csv-07", "csv-07", |terms| terms.retry.delay_ms = 0);
    let mut dead = stocked.worker(&["--lease", "300ms"], "mkfifo go; echo hanging >&2; read x < go");
    says(&dead, "hanging");
    dead.kill();
    let mut worker = stocked.worker(&["--once"], "cat report.json");
    assert_eq!(worker.wait(LONG).expect("it ends").code(), Some(0));
    let handoff = stocked.find(&id).expect("there");
    assert_eq!((handoff.state.name(), handoff.fence), (StateName::Completed, Fence(2)));
    // What a worker leaves behind that was killed with SIGKILL lives on; documented in docs/operations.md.
    stocked.sandbox.write("go", "go\n");
}

#[test]
fn result_of_a_worker_that_stood_still_for_too_long_is_kept_in_the_journal() {
    let stocked = Stocked::new();
    let id = stocked.accept("h");
    stocked.sandbox.write("report.json", REPORT);
    let pipe = stocked.sandbox.path("go-on");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs").success());
    let mut worker = stocked.worker(&["--once"], "echo begun >&2; read line < go-on; cat report.json");
    says(&worker, "begun");
    worker.signal(Signal::STOP);
    std::fs::write(&pipe, "go on\n").expect("the command ends meanwhile");
    let later = now() + Duration::from_secs(3_600);
    let rescued = stocked.block_on(stocked.store().rescue(10, 0.0, later)).expect("written");
    assert_eq!(rescued.len(), 1, "nobody had heard of it");
    worker.signal(Signal::CONT);
    assert_eq!(worker.wait(LONG).expect("it ends").code(), Some(1));
    let history = stocked.block_on(stocked.store().history_of(&id)).expect("read");
    let refused: Vec<&str> =
        history.iter().filter(|event| event.kind == "refused").map(|event| &*event.detail).collect();
    assert!(refused.len() == 1 && refused[0].contains(r#""command":"report""#), "{history:#?}");
}
