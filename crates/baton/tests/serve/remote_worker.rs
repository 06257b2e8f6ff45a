//! `baton worker` on another machine: the prompt comes from the server, the command runs here, and a server that is killed
//! meanwhile is waited for.

use std::process::Command;

use serde_json::{Value, json};

use crate::client::{LONG, Premises, Running};
use crate::remote_machine::RemoteMachine;

const REPORTS: &str = "cat > prompt.txt\nprintf '{\"baton\": 1, \"document\": \"report\", \"id\": \"%s\", \"outcome\": \"complete\", \
    \"summary\": \"Wrote the parser for dates and its three tests.\"}' \"$BATON_HANDOFF_ID\" > \"$BATON_REPORT_FILE\"\n";

fn worker<'w>(more: &[&'w str], script: &'w str) -> Vec<&'w str> {
    [&["worker", "--agent", "finder"], more, &["--", "sh", "-c", script]].concat()
}

fn agent_of(premises: &Premises, server: &Running) -> RemoteMachine {
    RemoteMachine::of(server, Some(&premises.token(&["--role", "agent", "--agent", "finder"])))
}

#[test]
fn worker_claims_runs_and_reports() {
    let premises = Premises::new();
    let person = premises.token(&["--role", "approver"]);
    let mut server = premises.serve();
    server.as_owner_of(&person);
    let machine = agent_of(&premises, &server);
    let mut process = machine.start(&worker(&["--once"], REPORTS));
    server.send("csv-07");
    assert!(
        process.wait(LONG).is_some_and(|status| status.success()),
        "{:?}",
        process.stderr.take().map(|lines| lines.rest(LONG))
    );
    let shown = server.get("/api/v1/handoffs/csv-07").expect(200);
    assert_eq!((&shown["handoff"]["state"], &shown["handoff"]["attempts"]), (&json!("completed"), &json!(1)));
    let prompt = machine.scratch.read("prompt.txt");
    assert!(prompt.contains("Find the writer of rows.") && prompt.contains("BATON_REPORT_FILE"), "{prompt}");
}

#[test]
fn report_that_is_not_valid_is_a_failure_and_the_command_may_report_itself() {
    let premises = Premises::new();
    let person = premises.token(&["--role", "approver"]);
    let mut server = premises.serve();
    server.as_owner_of(&person);
    let machine = agent_of(&premises, &server);
    server.send("csv-07");
    let ended = machine.run(&worker(&["--once"], "echo done"));
    assert_eq!(ended.code, Some(1), "{ended}");
    let shown = server.get("/api/v1/handoffs/csv-07").expect(200);
    assert_eq!(shown["handoff"]["failure"]["code"], "VALIDATION_FAILED", "{shown}");
    server.post("/api/v1/handoffs/csv-07/cancel", &json!({})).expect(200);
    server.send("own");
    machine.scratch.write("own.json", crate::remote_machine::report("own", "complete"));
    let itself = format!("{} report own --fence \"$BATON_FENCE\" own.json >&2", env!("CARGO_BIN_EXE_baton"));
    let ended = machine.run(&worker(&["--once"], &itself));
    assert_eq!(ended.code, Some(0), "{ended}");
    assert_eq!(server.get("/api/v1/handoffs/own").expect(200)["handoff"]["state"], "completed");
}

#[test]
fn worker_outlives_a_server_that_is_killed_while_it_works() {
    let premises = Premises::new();
    let mut server = premises.serve();
    let (address, machine) = (server.address.clone(), RemoteMachine::of(&server, None));
    server.send("csv-07");
    server.send("csv-08");
    let pipe = machine.scratch.path("go-on");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs").success());
    let script = format!("echo begun >&2; test $BATON_HANDOFF_ID = csv-08 || read line < go-on\n{REPORTS}");
    let mut process = machine.start(&worker(&["--drain", "--json"], &script));
    let stderr = process.stderr.take().expect("a pipe");
    stderr.find("begun", LONG).expect("the command begins");
    server.process.kill();
    std::fs::write(&pipe, "go on\n").expect("the command goes on");
    stderr.find("cannot report yet", LONG).expect("the worker says so");
    let server = premises.serve_at(&address, &[]);
    assert!(process.wait(LONG).is_some_and(|status| status.success()), "{:?}", stderr.rest(LONG));
    for id in ["csv-07", "csv-08"] {
        let shown = server.get(&format!("/api/v1/handoffs/{id}")).expect(200);
        assert_eq!(
            (&shown["handoff"]["state"], &shown["handoff"]["attempts"]),
            (&json!("completed"), &json!(1)),
            "{id}"
        );
    }
}

const FLOW: &str = "name: flow\nagents: {finder: {queue: true}}\nphases: [{id: build, agent: finder, task: Build the parser for dates}]\n";

#[test]
fn agent_of_a_run_gets_its_prompt_without_reading_the_run() {
    let premises = Premises::new().workflow(FLOW, "exit 1");
    let person = premises.token(&["--role", "approver"]);
    let mut server = premises.serve_flow();
    server.as_owner_of(&person);
    server.post("/api/v1/runs", &json!({ "workflow": "flow", "id": "t" })).expect(201);
    let queue = server.until("/api/v1/agents", |agents| agents["agents"].as_array().is_some_and(|all| all.len() > 1));
    let names = queue["agents"].as_array().into_iter().flatten().filter_map(|agent| agent["agent"].as_str());
    let queue = names.into_iter().find(|name| name.ends_with("finder")).expect("a queue").to_owned();
    let machine = agent_of(&premises, &server);
    let script = format!("echo \"phase=$BATON_PHASE\" >&2\n{REPORTS}");
    let words: Vec<&str> = vec!["worker", "--agent", &queue, "--once", "--", "sh", "-c", &script];
    let ended = machine.run(&words);
    assert_eq!(ended.code, Some(0), "{ended}");
    assert!(ended.stderr.contains("phase=build"), "{ended}");
    assert!(machine.scratch.read("prompt.txt").contains("Build the parser for dates"));
    server.until("/api/v1/runs/t", |run: &Value| run["state"] == "completed");
    machine.run(&["log", "t"]).is(1, &["this token sees handoffs of finder only"]);
}

#[test]
fn token_of_a_person_is_not_handed_to_the_command() {
    let premises = Premises::new();
    let person = premises.token(&["--role", "approver"]);
    let mut server = premises.serve();
    server.as_owner_of(&person);
    let machine = RemoteMachine::of(&server, Some(&person));
    server.send("csv-07");
    let script = format!("echo \"token=${{BATON_TOKEN:-none}}\" >&2\n{REPORTS}");
    let ended = machine.run(&worker(&["--once"], &script));
    ended.is(0, &["the token of this worker can decide", "token=none"]);
}
