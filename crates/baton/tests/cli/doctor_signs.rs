//! `baton doctor`: what is wrong with a store, and what to do about it.

use std::fs;

use baton_engine::failure::{Code, Failure, Transience};
use baton_engine::lifecycle::{Command, Fail};
use baton_engine::queue::Queue;
use serde_json::Value;

use crate::sandbox::{Run, Sandbox};
use crate::stocked::Stocked;

/// Returns how something looks: `fine`, `warning` or `wrong`.
fn verdict(run: &Run, name: &str) -> String {
    let result = run.json();
    let signs = result["checks"].as_array().expect("checks").iter();
    let sign: Vec<&Value> = signs.filter(|sign| sign["name"] == name).collect();
    sign.first().map(|sign| sign["verdict"].as_str().expect("a word").to_owned()).unwrap_or_default()
}

#[test]
fn sound_store_is_fine() {
    let stocked = Stocked::new();
    stocked.accept("h");
    let run = stocked.sandbox.baton(&["doctor"]);
    assert_eq!(run.code, Some(0), "{run}");
    let marks: Vec<char> = run.stdout.lines().filter_map(|line| line.chars().next()).collect();
    assert!(marks.iter().all(|mark| ['✓', '!', ' '].contains(mark)) && marks.len() >= 8, "{run}");
}

#[test]
fn no_store_ends_with_2() {
    let sandbox = Sandbox::new();
    let run = sandbox.baton(&["doctor", "--json"]);
    assert_eq!((run.code, run.json()["reachable"].as_bool()), (Some(2), Some(false)), "{run}");
    let nowhere = sandbox.baton(&["doctor", "--store", "postgres://127.0.0.1:1/none"]);
    assert_eq!(nowhere.code, Some(2), "{nowhere}");
    assert!(nowhere.stdout.starts_with('✗') && !nowhere.stdout.contains("baton doctor"), "{nowhere}");
}

#[test]
fn expired_leases_dead_letters_and_paused_queues_are_warnings() {
    let stocked = Stocked::new();
    let dead = stocked.accept("dead");
    let fence = stocked.claim(60_000).fence;
    let mut failure = Failure::new(Code::timeout(), "no");
    failure.chance = Transience::Permanent;
    stocked.apply(&dead, Command::Fail(Fail::new(fence, failure, 0.0)));
    stocked.accept("stuck");
    stocked.claim(1);
    stocked.block_on(stocked.store().set_queue(&Queue { paused: true, ..Queue::open("b") })).expect("set");
    let run = stocked.sandbox.baton(&["doctor", "--json"]);
    assert_eq!(run.code, Some(0), "warnings are no faults: {run}");
    for name in ["leases", "dead letters", "queues"] {
        assert_eq!(verdict(&run, name), "warning", "{name}: {run}");
    }
}

#[test]
fn time_of_the_store_that_is_ahead_is_a_warning() {
    let stocked = Stocked::new();
    stocked.accept("h");
    stocked.sql("UPDATE events SET at = at + 3600000000");
    let run = stocked.sandbox.baton(&["doctor", "--json"]);
    assert_eq!((run.code, verdict(&run, "clock").as_str()), (Some(0), "warning"), "{run}");
}

#[test]
fn damaged_file_is_told() {
    let sandbox = Sandbox::new();
    sandbox.write("x.db", "this is no database, but it is long enough to be looked at as one".repeat(100));
    let run = sandbox.baton(&["doctor", "--json", "--store", "x.db"]);
    assert!(matches!(run.code, Some(1 | 2)), "{run}");
    assert_eq!(verdict(&run, "store"), "wrong", "{run}");
    assert!(!run.stdout.contains("baton doctor") && run.stdout.contains("backup"), "{run}");
}

#[test]
fn newer_database_is_told() {
    let stocked = Stocked::new();
    stocked.sql("PRAGMA user_version = 999");
    let run = stocked.sandbox.baton(&["doctor", "--json"]);
    assert!(run.code == Some(2) && run.stdout.contains("999"), "{run}");
    assert!(fs::metadata(stocked.database()).is_ok());
}

#[cfg(unix)]
#[test]
fn step_of_a_run_that_failed_is_resumed_and_not_requeued() {
    let sandbox = Sandbox::new();
    let flow = "name: f\nagents: {a: {command: ['false'], retry: {max_retries: 0}}}\nphases: [{id: p, agent: a}]\n";
    sandbox.write("flow.yaml", flow);
    let run = sandbox.baton(&["run", "flow.yaml", "--workspace", "desk", "--id", "r", "--no-input"]);
    assert_eq!(run.code, Some(3), "{run}");
    let looked = sandbox.baton(&["doctor"]);
    assert_eq!(looked.code, Some(0), "{looked}");
    assert!(looked.stdout.contains("a step of r has failed") && looked.stdout.contains("baton resume r`"), "{looked}");
    assert!(!looked.stdout.contains("requeue"), "{looked}");
}

#[cfg(unix)]
#[test]
fn gate_that_was_rejected_is_no_failure() {
    let sandbox = Sandbox::new();
    let flow = "name: f\nphases:\n  - {id: q, gate: {items: [the plan]}}\n  \
                - {id: p, gate: {items: [the rest]}, on_failure: q}\n";
    sandbox.write("flow.yaml", flow);
    sandbox.write("people.yaml", "- {phase: q, approve: true}\n- {phase: p, reject: not yet}\n");
    let run = sandbox.baton(&[
        "run",
        "flow.yaml",
        "--workspace",
        "desk",
        "--id",
        "r",
        "--no-input",
        "--answers",
        "people.yaml",
    ]);
    assert_eq!(run.code, Some(3), "{run}");
    let looked = sandbox.baton(&["doctor"]);
    assert!(looked.code == Some(0) && !looked.stdout.contains("has failed"), "{looked}");
}
