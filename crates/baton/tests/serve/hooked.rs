//! Hooks of coding agents where the store is a server: it takes no handoffs of sessions, and that is told at once.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::client::Premises;
use crate::remote_machine::{Ended, RemoteMachine};

/// Calls the hook as a coding agent does when a subagent wants to end with these words.
fn ends(machine: &RemoteMachine, store: Option<&str>, words: &str) -> Ended {
    let told = json!({
        "session_id": "0199a3c2-7d51-7b10-9f6e-2f5d8c1e4a77", "transcript_path": "/nowhere/session.jsonl",
        "cwd": machine.scratch.root(), "permission_mode": "acceptEdits", "hook_event_name": "SubagentStop",
        "agent_id": "a-1", "agent_type": "developer", "agent_transcript_path": "/nowhere/agent.jsonl",
        "stop_hook_active": false, "last_assistant_message": words,
    });
    let mut command = machine.command(&["hook", "claude-code"]);
    store.into_iter().for_each(|store| _ = command.env("BATON_STORE", store));
    let mut process = command.stdin(Stdio::piped()).spawn().expect("the program starts");
    process.stdin.take().expect("piped").write_all(told.to_string().as_bytes()).expect("it reads");
    let output = process.wait_with_output().expect("it ends");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ended { code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) }
}

#[test]
fn hook_says_that_a_server_takes_no_handoffs_of_sessions_and_holds_nobody() {
    let premises = Premises::new();
    let token = premises.token(&["--role", "agent", "--agent", "developer"]);
    let person = premises.token(&["--role", "approver"]);
    let mut server = premises.serve();
    let machine = RemoteMachine::of(&server, Some(&token));
    machine.scratch.write("baton.toml", "[hooks.agents.developer]\n");
    let good = json!({ "baton": 1, "document": "report", "id": "x", "outcome": "complete",
        "summary": "Wrote the parser for dates and its three tests." });
    for words in ["Done.", &format!("```json\n{good}\n```")] {
        let told = ends(&machine, None, words);
        told.is(1, &["the store is a server", "`[store] url` in baton.toml", "the agent is not held"]);
        assert_eq!(told.stdout, "", "an answer would hold it: {told}");
    }
    let listed = server.as_owner_of(&person).get("/api/v1/handoffs").expect(200);
    assert_eq!(listed["handoffs"], json!([]));
    // With a database, the same hook judges.
    let database = machine.scratch.path("own.db").display().to_string();
    let refused = ends(&machine, Some(&database), "Done.");
    assert_eq!(refused.code, Some(0), "{refused}");
    let answer: Value = serde_json::from_str(&refused.stdout).expect("JSON");
    assert_eq!(answer["decision"], "block");
}
