//! `baton dir`: many processes at once.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::process::Stdio;

use crate::dir_verbs::{claim, create, folders};
use crate::sandbox::{BATON, Sandbox};

/// Runs the same shell script in several processes at once and returns the lines that they write.
fn together(sandbox: &Sandbox, count: usize, script: &str) -> Vec<String> {
    let start = || {
        let mut command = sandbox.command("sh");
        command.args(["-c", script, BATON]);
        command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the shell starts")
    };
    let children: Vec<_> = (0..count).map(|_| start()).collect();
    let outputs = children.into_iter().map(|child| child.wait_with_output().expect("it ends"));
    outputs.flat_map(|output| output.stdout.lines().map_while(Result::ok).collect::<Vec<_>>()).collect()
}

#[test]
fn every_handoff_is_claimed_exactly_once() {
    let sandbox = folders();
    let ids: Vec<String> = (0..60).map(|number| format!("hoff-{number:02}")).collect();
    for id in &ids {
        sandbox.write(&format!("handoffs/pending/{id}.json"), r#"{"target": {"agent_id": "@writer"}}"#);
    }
    let mut claimed = together(&sandbox, 6, "while \"$0\" dir claim . --agent writer; do :; done");
    claimed.sort();
    assert_eq!(claimed, ids);
}

#[test]
fn of_many_finishers_one_wins() {
    let sandbox = folders();
    for round in 0..5 {
        let id = format!("a{round}");
        create(&sandbox, &id, &[]);
        claim(&sandbox);
        let script = format!(
            "\"$0\" dir complete . {id} --attempt 1 --artifact page.json; \
             \"$0\" dir fail . {id} --attempt 1 --message x --permanent"
        );
        let won = together(&sandbox, 5, &script);
        assert_eq!(won.len(), 1, "{won:?}");
    }
    let status = sandbox.baton(&["dir", "status", ".", "--json"]).json();
    let count = |name: &str| status["counts"][name].as_u64().expect("a count");
    assert_eq!(count("completed") + count("failed"), 5);
}

#[test]
fn artifacts_of_many_processes_are_all_listed() {
    let sandbox = folders();
    for number in 0..24 {
        sandbox.write(&format!("handoffs/pending/h{number}.json"), r#"{"target": {"agent_id": "@writer"}}"#);
    }
    let script = "while id=$(\"$0\" dir claim . --agent writer); do \
                  \"$0\" dir complete . $id --artifact page.json || echo lost; done";
    assert_eq!(together(&sandbox, 4, script).len(), 24);
    let registry: serde_json::Value = serde_json::from_str(&sandbox.read("artifacts/registry.json")).expect("JSON");
    let entries = registry["artifacts"].as_array().expect("a list");
    let paths: BTreeMap<_, _> = entries.iter().map(|entry| (entry["path"].to_string(), 1)).collect();
    assert_eq!((entries.len(), paths.len()), (24, 24));
}

#[test]
fn waiting_claimant_gets_what_is_created() {
    let sandbox = folders();
    let waiting = sandbox
        .command(BATON)
        .args(["dir", "claim", ".", "--agent", "writer", "--wait", "100"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    create(&sandbox, "late", &[]);
    let output = waiting.wait_with_output().expect("it ends");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "late\n");
}
