//! Webhooks of a server: whoever is waited for hears of it, signed and again after a failure, and never at a private address.

use serde_json::{Value, json};

use crate::client::{LONG, Premises, Running};
use crate::listener::HttpListener;

const FLOW: &str = "name: release\nagents: {dev: {command: [./dev.sh]}}\n\
    phases: [{id: build, agent: dev}, {id: ok, gate: {name: 'Ship it?', items: [the parser]}}]\n";
const SECRET: &str = "a-secret-of-more-than-16-letters";

/// Starts a server with a webhook, and a run that asks a person.
fn asking(webhook: &str) -> (Premises, Running) {
    let premises = Premises::new().workflow(FLOW, "report");
    let server = "[server]\npublic_url = \"https://baton.example\"\n";
    premises.scratch.write("secret", SECRET);
    premises.scratch.write("baton.toml", format!("{server}[[notify.webhook]]\n{webhook}\nsecret_file = \"secret\"\n"));
    let token = premises.token(&["--role", "approver", "--name", "ana"]);
    let mut server = premises.serve_flow();
    server.as_owner_of(&token);
    server.post("/api/v1/runs", &json!({ "workflow": "release", "id": "t" })).expect(201);
    server.until("/api/v1/runs/t", |run| run["waiting"][0]["id"] == "t.ok.1");
    (premises, server)
}

#[test]
fn server_tells_who_is_waited_for_until_somebody_takes_it() {
    let listener = HttpListener::answering(&["500 Internal Server Error", "503 Service Unavailable", "204 No Content"]);
    let (_premises, server) = asking(&format!("url = \"{}/hook\"\nallow_private = true", listener.url));
    let tries = [listener.next(), listener.next(), listener.next()];
    for request in &tries {
        request.assert_signed(SECRET);
        assert_eq!((request.path.as_str(), &request.body), ("/hook", &tries[0].body));
    }
    let told: Value = serde_json::from_str(&tries[2].body).expect("JSON");
    let gate = server.get("/api/v1/gates/t.ok.1").expect(200);
    assert_eq!((&told["handoff"], &told["digest"]), (&json!("t.ok.1"), &gate["gate"]["digest"]), "{told:#}");
    assert_eq!(told["link"], "https://baton.example/inbox/t.ok.1");
    assert!(!tries[2].body.contains("baton_"), "no token: {}", tries[2].body);
    let decision = json!({ "decision": "approve", "shown": told["digest"] });
    server.post("/api/v1/gates/t.ok.1/decision", &decision).expect(200);
    server.until("/api/v1/runs/t", |run| run["state"] == "completed");
    assert!(listener.so_far().is_empty(), "what was taken is not sent again");
}

#[test]
fn private_address_is_refused_and_the_run_waits_all_the_same() {
    let listener = HttpListener::answering(&["204 No Content"]);
    let address = listener.url.replace("http://", "https://");
    let (_premises, server) = asking(&format!("url = \"{address}/hook\""));
    let log = server.process.stderr.as_ref().expect("piped");
    let told = log.find("is not a public address", LONG).expect("it is told");
    assert!(told.contains("allow_private = true") && !told.contains("/hook"), "{told}");
    assert!(listener.so_far().is_empty(), "nobody was connected to");
    assert_eq!(server.get("/api/v1/runs/t").expect(200)["waiting"][0]["id"], "t.ok.1");
}
