//! The command line as a client of a server: the same words as with a store of its own, for agents and for people.

use serde_json::json;

use crate::client::{LONG, Premises, Running};
use crate::remote_machine::{RemoteMachine, report, request};

/// Leaves out what differs from one store to the next: times.
fn without_times(text: &str) -> String {
    let is_time = |word: &&str| word.contains("2026-") || word.ends_with("ago") || word.contains("ago,");
    text.lines()
        .map(|line| line.split(' ').filter(|word| !is_time(word)).collect::<Vec<_>>().join(" ") + "\n")
        .collect()
}

#[test]
fn every_command_says_the_same_as_with_a_store_of_its_own() {
    let premises = Premises::new();
    let person = premises.token(&["--role", "approver", "--name", &baton_testbed::account()]);
    let server = premises.serve();
    let client = RemoteMachine::of(&server, Some(&person));
    let local = RemoteMachine::at("here.db", None);
    let digest = |machine: &RemoteMachine| {
        let inbox = machine.run(&["inbox", "--json"]).json();
        inbox["waiting"][0]["digest"].as_str().unwrap_or("000000000000").to_owned()
    };
    let script: Vec<Vec<&str>> = vec![
        vec!["send", "--to", "finder", "--priority", "high", "--timeout", "5m", "--max-retries", "2", "request.json"],
        vec!["send", "--to", "finder", "--priority", "high", "--timeout", "5m", "--max-retries", "2", "request.json"],
        vec!["send", "--to", "other", "request.json"],
        vec!["list"],
        vec!["queue", "list"],
        vec!["show", "csv"],
        vec!["show", "cvs-07"],
        vec!["claim", "--agent", "finder", "--claimant", "worker"],
        vec!["claim", "--agent", "finder", "--claimant", "worker"],
        vec!["claim", "--agent", "nobody", "--json"],
        vec!["heartbeat", "csv-07", "--fence", "1", "--lease", "5m"],
        vec!["heartbeat", "csv-07", "--fence", "9"],
        vec!["ack", "csv-07", "--fence", "1"],
        vec!["report", "csv-07", "--fence", "9", "report.json"],
        vec!["report", "csv-07", "--fence", "1", "request.json"],
        vec!["report", "csv-07", "--fence", "1", "review.json"],
        vec!["report", "csv-07", "--fence", "1", "review.json"],
        vec!["inbox"],
        vec!["approve", "csv-07"],
        vec!["answer", "csv-07", "yes", "--yes", "--shown", "DIGEST"],
        vec!["approve", "csv-07", "--yes", "--shown", "000000000000"],
        vec!["reject", "csv-07", "--reason", "too short", "--yes", "--shown", "DIGEST"],
        vec!["log", "csv-07"],
        vec!["claim", "--agent", "finder", "--claimant", "worker"],
        vec!["fail", "csv-07", "--fence", "2", "--code", "TIMEOUT", "--message", "too slow", "--permanent"],
        vec!["wait", "csv-07"],
        vec!["requeue", "csv-07", "--note", "once more"],
        vec!["requeue", "csv-07"],
        vec!["cancel", "csv-07", "--reason", "dropped"],
        vec!["cancel", "csv-07"],
        vec!["wait", "csv-07", "--json"],
        vec!["runs"],
        vec!["log", "nowhere"],
    ];
    for words in script {
        let told = [&client, &local].map(|machine| {
            let shown = if words.contains(&"DIGEST") { digest(machine) } else { String::new() };
            let words: Vec<&str> = words.iter().map(|word| if *word == "DIGEST" { &shown } else { *word }).collect();
            let ended = machine.run(&words);
            let store = machine.store.clone();
            let local = machine.scratch.path(&store).display().to_string();
            let plain = |text: &str| without_times(&text.replace(&local, "STORE").replace(&store, "STORE"));
            (ended.code, plain(&ended.stdout), plain(&ended.stderr))
        });
        let [client, local] = told;
        // The door is part of what is recorded, and a server records who sent what a claimant says.
        let as_local = |text: String| text.replace("; sent by root (http)", "").replace("http", "cli");
        assert_eq!((client.0, as_local(client.1), client.2), (local.0, as_local(local.1), local.2), "{words:?}");
    }
}

/// Waits until the server has answered so often at an address.
fn answered(server: &Running, path: &str, times: u64) {
    let begun = std::time::Instant::now();
    let count = || -> u64 {
        let text = server.get("/metrics").text;
        let lines = text.lines().filter(|line| line.starts_with("baton_http_requests_total") && line.contains(path));
        lines.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).sum()
    };
    while count() < times {
        assert!(begun.elapsed() < LONG, "{}", count());
        std::thread::yield_now();
    }
}

#[test]
fn several_requests_are_sent_together_or_not_at_all() {
    let premises = Premises::new();
    let server = premises.serve();
    let client = RemoteMachine::of(&server, None);
    client.scratch.write("b.json", request("b")).write("other.json", request("csv-07").replace("writer", "reader"));
    client.does(&["send", "--to", "finder", "request.json"]);
    client
        .run(&["send", "--to", "finder", "b.json", "other.json"])
        .is(1, &["csv-07 was sent before with other content or options"]);
    client.run(&["show", "b"]).is(2, &["there is no handoff `b`"]);
    client.scratch.write("c.json", request("c"));
    assert_eq!(client.does(&["send", "--to", "finder", "b.json", "c.json"]).stdout, "b\nc\n");
    client.does(&["claim", "--agent", "finder"]);
    client.scratch.write("d.json", request("d"));
    client.does(&["report", "csv-07", "--fence", "1", "report.json", "--next", "d.json", "--to", "writer"]);
    assert_eq!(client.does(&["show", "d", "--json"]).json()["handoff"]["to"], "writer");
}

#[test]
fn waiting_ends_as_soon_as_something_happens_through_any_door() {
    let premises = Premises::new();
    let server = premises.serve();
    let client = RemoteMachine::of(&server, None);
    let mut claiming = client.start(&["claim", "--agent", "finder", "--wait", "--json"]);
    server.send("csv-07");
    let claimed = claiming.stdout.rest(LONG).expect("it claims").join("\n");
    assert!(claimed.contains("\"csv-07\"") && claiming.wait(LONG).is_some_and(|status| status.success()), "{claimed}");
    let mut waiting = client.start(&["wait", "csv-07"]);
    let mut following = client.start(&["log", "csv-07", "--follow"]);
    following.stdout.find("claimed", LONG).expect("it shows what was before");
    let body = json!({ "fence": 1, "document": crate::client::report("csv-07", "complete") });
    server.post("/api/v1/handoffs/csv-07/report", &body).expect(200);
    assert!(waiting.wait(LONG).is_some_and(|status| status.success()));
    assert!(waiting.stdout.rest(LONG).expect("it ends").join("").contains("write_row"));
    following.stdout.find("reported", LONG).expect("it shows what happens");
    assert!(following.wait(LONG).is_some_and(|status| status.success()));
}

#[test]
fn waiting_goes_on_while_the_server_is_away() {
    let premises = Premises::new();
    let mut server = premises.serve();
    let (address, client) = (server.address.clone(), RemoteMachine::of(&server, None));
    server.send("csv-07");
    let mut waiting = client.start(&["wait", "csv-07"]);
    let stderr = waiting.stderr.take().expect("a pipe");
    let mut following = client.start(&["claim", "--agent", "nobody", "--wait"]);
    let claiming = following.stderr.take().expect("a pipe");
    // Each has asked who it is, for its handoff or queue twice, and for changes: now both wait.
    answered(&server, "/api/v1/queries", 12);
    server.process.kill();
    stderr.find("cannot be reached", LONG).expect("it says so");
    claiming.find("cannot be reached", LONG).expect("it says so");
    let server = premises.serve_at(&address, &[]);
    stderr.find("answers again", LONG).expect("it says so");
    claiming.find("answers again", LONG).expect("it says so");
    let (_, fence) = server.claim();
    let body = json!({ "fence": fence, "document": crate::client::report("csv-07", "complete") });
    server.post("/api/v1/handoffs/csv-07/report", &body).expect(200);
    assert!(waiting.wait(LONG).is_some_and(|status| status.success()));
    following.kill();
}

#[test]
fn log_is_followed_on_after_the_server_was_away() {
    let premises = Premises::new();
    let mut server = premises.serve();
    let (address, client) = (server.address.clone(), RemoteMachine::of(&server, None));
    server.send("csv-07");
    let mut following = client.start(&["log", "csv-07", "--follow"]);
    let stderr = following.stderr.take().expect("a pipe");
    following.stdout.find("accepted", LONG).expect("it shows what was before");
    server.process.kill();
    stderr.find("cannot be reached", LONG).expect("it says so");
    let server = premises.serve_at(&address, &[]);
    stderr.find("the store answers again", LONG).expect("it says so");
    let (_, fence) = server.claim();
    let body = json!({ "fence": fence, "document": crate::client::report("csv-07", "complete") });
    server.post("/api/v1/handoffs/csv-07/report", &body).expect(200);
    let rest = following.stdout.rest(LONG).expect("it ends").join("\n");
    assert!(rest.contains("claimed") && rest.contains("reported") && !rest.contains("accepted"), "{rest}");
    assert!(following.wait(LONG).is_some_and(|status| status.success()));
}

#[test]
fn server_that_is_away_is_told_as_a_store_that_is_away() {
    let premises = Premises::new();
    let mut server = premises.serve();
    let client = RemoteMachine::of(&server, None);
    server.process.kill();
    let ended = client.run(&["list"]);
    ended.is(75, &["the store cannot be reached", &client.store, "`baton serve` starts one"]);
    let nobody = RemoteMachine::at("http://127.0.0.1:9", None);
    nobody.run(&["send", "--to", "finder", "request.json"]).is(75, &["http://127.0.0.1:9"]);
}

#[test]
fn what_needs_the_database_says_so_and_changes_nothing() {
    let premises = Premises::new();
    let server = premises.serve();
    let client = RemoteMachine::of(&server, None);
    client.scratch.write("answers.yaml", "- phase: ok\n  approve: true\n");
    let needs: [&[&str]; 7] = [
        &["audit", "verify", "--all"],
        &["audit", "anchor"],
        &["prune", "--older-than", "1d"],
        &["token", "list"],
        &["token", "create", "--role", "admin"],
        &["serve"],
        &["inbox", "--answers", "answers.yaml"],
    ];
    for words in needs {
        let ended = client.run(words);
        ended.is(2, &["is a server, and this needs the database itself", "run it where the server runs"]);
        assert_eq!(ended.stdout, "", "{words:?}");
    }
    server.get("/api/v1/handoffs").expect(200);
}

#[test]
fn document_that_only_the_server_refuses_is_told_with_its_mistakes() {
    let premises = Premises::new();
    premises.scratch.write("baton.toml", "[rules]\nvague-summary = \"error\"\n");
    let server = premises.serve();
    let client = RemoteMachine::of(&server, None);
    client.scratch.write("baton.toml", "[rules]\nvague-summary = \"off\"\n");
    let vague =
        report("csv-07", "complete").replace("Found the writer of rows in src/csv.rs, function write_row.", "Done.");
    client.scratch.write("vague.json", vague);
    client.does(&["send", "--to", "finder", "request.json"]);
    client.does(&["claim", "--agent", "finder"]);
    let ended = client.run(&["report", "csv-07", "--fence", "1", "vague.json"]);
    assert_eq!(ended.code, Some(1), "{ended}");
    assert!(ended.stderr.contains("vague-summary"), "{ended}");
    client.does(&["report", "csv-07", "--fence", "1", "report.json"]);
}
