//! What happens to attempts when a server is told to stop.

use serde_json::{Value, json};

use crate::client::{LONG, Premises, Running};

const FLOW: &str =
    "name: slow\nagents: {dev: {command: [./dev.sh]}}\nphases: [{id: build, agent: dev}, {id: ship, agent: dev}]\n";

/// Starts a server and a run, in which an agent works until there is the file `go`.
fn at_work(options: &[&str]) -> (Premises, Running) {
    let premises = Premises::new().workflow(FLOW, "touch begun; until test -e go; do :; done\nreport");
    let all = [&["--workflow", "flow", "--workspace", "workspace"], options].concat();
    premises.scratch.folder("workspace");
    let server = premises.serve_with(&all);
    server.post("/api/v1/runs", &json!({ "workflow": "slow", "id": "t" })).expect(201);
    let begun = std::time::Instant::now();
    while !premises.scratch.path("workspace/begun").exists() {
        assert!(begun.elapsed() < LONG, "nobody works");
        std::thread::yield_now();
    }
    (premises, server)
}

/// Returns what happened to a phase, in order.
fn happened(premises: &Premises, phase: &str) -> Vec<String> {
    let (_, shown, stderr) = premises.run(&["show", &format!("t.{phase}.1"), "--json"]);
    let shown: Value = serde_json::from_str(&shown).unwrap_or_else(|_| panic!("{stderr}"));
    let events = shown["events"].as_array().expect("events");
    let kinds = events.iter().filter_map(|event| event["event"].as_str()).filter(|kind| *kind != "extended");
    kinds.map(str::to_owned).collect()
}

#[test]
fn attempt_that_is_under_way_ends_before_its_server() {
    let (premises, mut server) = at_work(&[]);
    server.process.terminate();
    // It takes nothing new, and lets the agent end.
    let begun = std::time::Instant::now();
    while std::net::TcpStream::connect(&server.address).is_ok() {
        assert!(begun.elapsed() < LONG, "it still listens");
        std::thread::yield_now();
    }
    premises.scratch.write("workspace/go", "");
    assert_eq!(server.process.wait(LONG).expect("it ends").code(), Some(0));
    let build = happened(&premises, "build");
    assert!(build.contains(&"reported".to_owned()) && !build.contains(&"released".to_owned()), "{build:?}");
    let next = premises.serve_flow();
    next.until("/api/v1/runs/t", |run| run["state"] == "completed");
    let claims = |phase: &str| happened(&premises, phase).iter().filter(|kind| *kind == "claimed").count();
    assert_eq!(claims("build"), 1, "nothing is done twice");
}

#[test]
fn attempt_that_does_not_end_in_time_is_given_back() {
    let (premises, mut server) = at_work(&["--finish-within", "1ms"]);
    server.process.terminate();
    assert_eq!(server.process.wait(LONG).expect("it ends").code(), Some(0));
    assert_eq!(happened(&premises, "build").last().map(String::as_str), Some("released"));
    premises.scratch.write("workspace/go", "");
    let next = premises.serve_flow();
    next.until("/api/v1/runs/t", |run| run["state"] == "completed");
}

#[test]
fn second_signal_ends_a_server_at_once() {
    let (premises, mut server) = at_work(&["--finish-within", "10m"]);
    server.process.terminate();
    let begun = std::time::Instant::now();
    while std::net::TcpStream::connect(&server.address).is_ok() {
        assert!(begun.elapsed() < LONG, "it still listens");
        std::thread::yield_now();
    }
    server.process.terminate();
    assert_eq!(server.process.wait(LONG).expect("it ends").code(), Some(1));
    premises.scratch.write("workspace/go", "");
    let next = premises.serve_flow();
    next.until("/api/v1/runs/t", |run| run["state"] == "completed");
}
