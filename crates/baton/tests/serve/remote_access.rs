//! Who a client of a server is: tokens and where they come from, what they let it see, TLS, and that no token is ever shown.

use std::fs;

use crate::client::{LONG, Premises};
use crate::remote_machine::{RemoteMachine, ended};

const CERTIFICATE: &str = include_str!("../fixtures/localhost.pem");
const KEY: &str = include_str!("../fixtures/localhost.key");

#[test]
fn token_comes_from_the_variable_a_file_or_the_configuration() {
    let premises = Premises::new();
    let token = premises.token(&["--role", "viewer"]);
    let server = premises.serve();
    let client = RemoteMachine::of(&server, None);
    client.scratch.write("token", format!("{token}\n"));
    client.run(&["list"]).is(2, &["a token is needed", "BATON_TOKEN", "--token-file"]);
    client.does(&["list", "--token-file", "token"]);
    client.with_token(&token).does(&["list"]);
    client
        .scratch
        .write("conf/baton.toml", format!("[store]\nurl = \"{}\"\ntoken_file = \"../token\"\n", client.store));
    let mut configured = client.command(&["list"]);
    configured.env_remove("BATON_STORE").current_dir(client.scratch.path("conf"));
    assert_eq!(ended(configured).code, Some(0));
    let wrong = RemoteMachine::at(&client.store, Some(&token));
    wrong.scratch.write("wrong", "baton_not-a-token");
    wrong.run(&["list", "--token-file", "wrong"]).is(2, &["wrong does not contain a token"]);
    wrong.run(&["list", "--token-file", "missing"]).is(2, &["cannot read the token file missing"]);
}

#[test]
fn token_that_does_not_count_is_told_and_nothing_happens() {
    let premises = Premises::new();
    let valid = premises.token(&["--role", "approver"]);
    let expired = premises.token(&["--role", "approver", "--expires", "1ms"]);
    let revoked = premises.token(&["--role", "approver"]);
    let listed = premises.run(&["token", "list", "--json"]).1;
    let listed: serde_json::Value = serde_json::from_str(&listed).expect("JSON");
    let last = listed["tokens"].as_array().and_then(|tokens| tokens.last()).expect("three");
    assert_eq!(premises.run(&["token", "revoke", last["id"].as_str().expect("an id")]).0, Some(0));
    let server = premises.serve();
    let unknown = format!("baton_{}", "7".repeat(64));
    for token in [&expired, &revoked, &unknown] {
        let client = RemoteMachine::of(&server, Some(token));
        let ended = client.run(&["send", "--to", "finder", "request.json"]);
        ended.is(2, &["this token is not valid", "BATON_TOKEN"]);
        assert!(!format!("{ended}").contains(token.as_str()), "{ended}");
    }
    let client = RemoteMachine::of(&server, Some("secret-but-no-token"));
    let ended = client.run(&["list"]);
    ended.is(2, &["BATON_TOKEN does not contain a token"]);
    assert!(!format!("{ended}").contains("secret-but"), "{ended}");
    let list = RemoteMachine::of(&server, Some(&valid)).does(&["list", "--json"]).json();
    assert_eq!(list["handoffs"], serde_json::json!([]));
}

#[test]
fn agent_neither_decides_nor_sees_what_is_not_its_own() {
    let premises = Premises::new();
    let agent = premises.token(&["--role", "agent", "--agent", "finder"]);
    let viewer = premises.token(&["--role", "viewer"]);
    let person = premises.token(&["--role", "approver", "--name", "ana"]);
    let server = premises.serve();
    let ana = RemoteMachine::of(&server, Some(&person));
    let (agent, viewer) = (ana.with_token(&agent), ana.with_token(&viewer));
    ana.does(&["send", "--to", "finder", "request.json"]);
    ana.does(&["send", "--to", "other", "--id", "secret", "request.json"]);
    assert_eq!(ana.does(&["show", "secret", "--json"]).json()["handoff"]["from"], "ana", "the token says who sends");
    agent.run(&["show", "secret"]).is(2, &["there is no handoff `secret`"]);
    agent.run(&["show", "secre"]).is(2, &["there is no handoff `secre`"]);
    agent.run(&["cancel", "secret"]).is(2, &["there is no handoff `secret`"]);
    agent.run(&["claim", "--agent", "other"]).is(1, &["this token works for finder only"]);
    let listed = agent.does(&["list", "--json"]).json();
    assert_eq!(listed["handoffs"].as_array().map(Vec::len), Some(1), "{listed}");
    assert!(!agent.does(&["queue", "list"]).stdout.contains("other"));
    viewer.run(&["claim", "--agent", "finder"]).is(1, &["a viewer changes nothing"]);
    agent.does(&["claim", "--agent", "finder"]);
    agent.does(&["report", "csv-07", "--fence", "1", "review.json"]);
    let shown = ana.does(&["inbox", "--json"]).json();
    let digest = shown["waiting"][0]["digest"].as_str().expect("a digest");
    let decide = ["approve", "csv-07", "--yes", "--shown", digest];
    for (nobody, whose) in [(&agent, "this is an agent's"), (&viewer, "this is a viewer's")] {
        nobody.run(&decide).is(1, &["deciding needs an approver's token", whose, "use the token of an approver"]);
    }
    let done = ana.does(&["approve", "csv-07", "--yes", "--shown", digest, "--as", "Ana B."]);
    assert!(done.stdout.starts_with("csv-07 completed"), "{done}");
    ana.run(&decide).is(1, &["csv-07: already approved by ana (as \"Ana B.\") at ", "Z (through the server)"]);
    let log = ana.does(&["log", "csv-07"]).stdout;
    assert!(log.contains("ana (as \"Ana B.\")"), "{log}");
    ana.run(&["queue", "pause", "finder"]).is(1, &["this needs an admin"]);
    let admin = premises.token(&["--role", "admin"]);
    assert_eq!(ana.with_token(&admin).does(&["queue", "pause", "finder"]).stdout, "finder paused\n");
    agent.run(&["claim", "--agent", "finder"]).is(1, &["the queue of finder is paused"]);
}

#[test]
fn certificate_must_be_vouched_for() {
    let premises = Premises::new();
    premises.scratch.write("chain.pem", CERTIFICATE).write("key.pem", KEY);
    let token = premises.token(&["--role", "viewer"]);
    let server = premises.serve_with(&["--tls-cert", "chain.pem", "--tls-key", "key.pem"]);
    let port = server.address.rsplit(':').next().expect("a port").to_owned();
    let client = RemoteMachine::at(&format!("https://localhost:{port}"), Some(&token));
    client.run(&["list"]).is(2, &["its certificate does not count", "ca_file"]);
    client.scratch.write("ca.pem", CERTIFICATE).write("baton.toml", "[store]\nca_file = \"ca.pem\"\n");
    client.does(&["list"]);
    let other = RemoteMachine::at(&format!("https://127.0.0.1:{port}"), Some(&token));
    other.scratch.write("ca.pem", CERTIFICATE).write("baton.toml", "[store]\nca_file = \"ca.pem\"\n");
    let named = fs::read_to_string(other.scratch.path("ca.pem")).expect("our own file");
    assert!(named.contains("CERTIFICATE"));
    client.scratch.write("ca.pem", "nothing");
    client.run(&["list"]).is(2, &["there is no certificate in it"]);
    let plain = RemoteMachine::at(&format!("http://localhost:{port}"), Some(&token));
    assert_ne!(plain.run(&["list"]).code, Some(0), "what is not encrypted is not understood there");
}

#[test]
fn what_is_not_encrypted_stays_on_this_machine() {
    let secret = format!("baton_{}", "a".repeat(64));
    let client = RemoteMachine::at("http://baton.example:4848", Some(&secret));
    client.run(&["list"]).is(2, &["BATON_STORE: http:// is not encrypted", "use https://"]);
    let client = RemoteMachine::at("https://ana:secret@baton.example", None);
    let ended = client.run(&["list"]);
    ended.is(2, &["put the token into BATON_TOKEN"]);
    assert!(!format!("{ended}").contains("secret"), "{ended}");
}

#[test]
fn token_is_never_shown() {
    let premises = Premises::new();
    let token = premises.token(&["--role", "agent", "--agent", "finder"]);
    let server = premises.serve();
    let client = RemoteMachine::of(&server, Some(&token));
    client.does(&["send", "--to", "finder", "request.json"]);
    let words: [&[&str]; 7] = [
        &["list"],
        &["show", "csv-07"],
        &["doctor"],
        &["claim", "--help"],
        &["claim", "--agent", "other"],
        &["approve", "csv-07", "--yes", "--shown", "000000000000"],
        &["runs"],
    ];
    for words in words {
        let ended = client.run(words);
        assert!(!format!("{ended}").contains(&token), "{words:?}: {ended}");
    }
    let mut waiting = client.start(&["wait", "csv-07"]);
    let arguments = fs::read_to_string(format!("/proc/{}/cmdline", waiting.id())).expect("it runs");
    assert!(!arguments.contains(&token), "{arguments}");
    client.does(&["cancel", "csv-07"]);
    waiting.wait(LONG).expect("it ends");
}
