//! What strangers and mistakes run into: wrong tokens, keys of others, headers that make no sense, ids that are taken.

use serde_json::json;

use crate::client::{Premises, request};

#[test]
fn wrong_tokens_are_limited_and_a_right_one_is_never_refused() {
    let premises = Premises::new();
    let right = premises.token(&["--role", "viewer"]);
    let mut server = premises.serve();
    let wrong = format!("Bearer baton_{}", "0".repeat(64));
    let ask = |value: &str| server.ask("GET", "/api/v1/handoffs", &[("Authorization", value)], "");
    for _ in 0..10 {
        assert_eq!(ask(&wrong).problem(401), "unauthorized");
    }
    let limited = ask(&wrong);
    assert_eq!(limited.problem(429), "too_often");
    let wait: u64 = limited.header("retry-after").and_then(|seconds| seconds.parse().ok()).expect("a number");
    assert!((1..=60).contains(&wait), "{wait}");
    assert_eq!(ask("Bearer nonsense").problem(429), "too_often");
    assert_eq!(server.as_owner_of(&right).get("/api/v1/handoffs").status, 200);
}

#[test]
fn scheme_of_a_token_may_be_written_in_any_case() {
    let premises = Premises::new();
    let token = premises.token(&["--role", "viewer"]);
    let server = premises.serve();
    for scheme in ["Bearer", "bearer", "BEARER"] {
        let value = format!("{scheme} {token}");
        assert_eq!(server.ask("GET", "/api/v1/handoffs", &[("Authorization", &value)], "").status, 200, "{scheme}");
    }
    let basic = format!("Basic {token}");
    assert_eq!(server.ask("GET", "/api/v1/handoffs", &[("Authorization", &basic)], "").problem(401), "unauthorized");
}

#[test]
fn key_of_one_token_is_not_that_of_another() {
    let premises = Premises::new();
    let (ana, ben) = (premises.token(&["--role", "admin"]), premises.token(&["--role", "approver"]));
    let mut server = premises.serve();
    let body = |what: &str| {
        let document =
            json!({ "baton": 1, "document": "request", "instructions": format!("Find the {what} of rows.") });
        json!({ "to": "finder", "document": document }).to_string()
    };
    let key = [("Idempotency-Key", "nightly")];
    let first = server.as_owner_of(&ana).ask("POST", "/api/v1/handoffs", &key, &body("writer")).expect(201);
    assert_eq!(first["handoff"]["key"], "nightly", "it is shown as it was sent");
    // Neither the same request nor another one meets it.
    let same = server.as_owner_of(&ben).ask("POST", "/api/v1/handoffs", &key, &body("writer")).expect(201);
    assert_ne!(same["handoff"]["id"], first["handoff"]["id"]);
    let again = server.ask("POST", "/api/v1/handoffs", &key, &body("writer")).expect(200);
    assert_eq!(again["handoff"]["id"], same["handoff"]["id"]);
    let taken = server.ask("POST", "/api/v1/handoffs", &key, &body("reader"));
    assert_eq!(taken.problem(409), "taken");
    let own = same["handoff"]["id"].as_str().expect("an id");
    assert_eq!(taken.expect(409)["detail"], json!(format!("the key `nightly` belongs to another request: {own}")));
    let listed = server.get("/api/v1/handoffs").expect(200);
    assert_eq!(listed["handoffs"].as_array().map(Vec::len), Some(2));
}

#[test]
fn id_of_an_event_that_is_none_is_refused() {
    let premises = Premises::new();
    let server = premises.serve();
    server.send("csv-07");
    for path in ["/api/v1/events", "/api/v1/runs/csv-07/events"] {
        for wrong in ["abc", "-1", "1.5", "99999999999999999999999", "2"] {
            let answer = server.ask("GET", path, &[("Last-Event-ID", wrong)], "");
            assert_eq!(answer.problem(400), "bad_request", "{path} {wrong}");
        }
        assert_eq!(server.get(&format!("{path}?after=2")).problem(400), "bad_request", "{path}");
    }
    server.follow("/api/v1/events", &[("Last-Event-ID", "1")]);
}

#[test]
fn body_is_an_object_with_named_members() {
    let premises = Premises::new();
    let server = premises.serve();
    server.send("csv-07");
    let cases = [
        ("/api/v1/handoffs/csv-07/cancel", json!(["no reason"]), ""),
        ("/api/v1/handoffs", json!("finder"), ""),
        ("/api/v1/handoffs", json!(null), ""),
        ("/api/v1/batches", json!({ "requests": [request("a", "finder"), [{}, null]] }), "/requests/1"),
        ("/api/v1/claims", json!({ "agent": ["finder"] }), "/agent"),
    ];
    for (path, body, pointer) in cases {
        let problem = server.post(path, &body).expect(422);
        assert_eq!((&problem["code"], &problem["pointer"]), (&json!("bad_value"), &json!(pointer)), "{path}");
        let detail = problem["detail"].as_str().expect("words");
        assert!(!detail.contains("struct"), "{detail}");
        assert!(pointer == "/agent" || detail.contains("expected a JSON object"), "{detail}");
    }
    assert_eq!(server.get("/api/v1/handoffs/csv-07").expect(200)["handoff"]["state"], "pending");
}

#[test]
fn condition_that_is_not_looked_at_changes_nothing() {
    let premises = Premises::new();
    let server = premises.serve();
    server.send("csv-07");
    let tag = server.get("/api/v1/handoffs/csv-07").header("etag").expect("a tag").to_owned();
    let refused = server.ask("POST", "/api/v1/handoffs/csv-07/cancel", &[("If-Match", &tag)], "{}");
    assert_eq!(refused.problem(400), "bad_request");
    assert_eq!(server.get("/api/v1/handoffs/csv-07").expect(200)["handoff"]["state"], "pending");
}

#[test]
fn request_with_two_hosts_is_refused() {
    let premises = Premises::new();
    let server = premises.serve();
    let address = server.address.clone();
    let both = [("Host", address.as_str()), ("Host", "evil.example")];
    for hosts in [both, [both[1], both[0]]] {
        assert_eq!(server.ask("GET", "/api/v1/handoffs", &hosts, "").problem(400), "bad_request");
    }
}

const GATE: &str = "name: gates\nphases: [{id: ok, gate: {name: 'Ship it?', items: [the parser]}}]\n";

#[test]
fn run_cannot_be_called_last_nor_what_something_was_sent_below() {
    let premises = Premises::new().workflow(GATE, "report");
    let server = premises.serve_flow();
    let begin = |id: &str| server.post("/api/v1/runs", &json!({ "workflow": "gates", "id": id }));
    let last = begin("last").expect(422);
    assert!(last["detail"].as_str().is_some_and(|detail| detail.contains("`last` means the newest run")), "{last:#}");
    let sent = server.post("/api/v1/handoffs", &request("last", "finder")).expect(422);
    assert_eq!(sent["detail"], last["detail"], "a handoff neither");
    server.post("/api/v1/handoffs", &request("t.ok.1", "finder")).expect(201);
    let taken = begin("t");
    assert_eq!(taken.problem(409), "taken");
    let detail = taken.expect(409)["detail"].clone();
    assert!(detail.as_str().is_some_and(|detail| detail.contains("t.ok.1")), "{detail}");
    assert_eq!(server.get("/api/v1/runs").expect(200)["runs"], json!([]), "none has begun");
    // The command line says the same.
    for (id, told) in [("last", "`last` means the newest run"), ("t", "t.ok.1")] {
        let (code, _, stderr) = premises.run(&["run", "flow", "--id", id, "--workspace", "workspace"]);
        assert!(code.is_some_and(|code| code == 1 || code == 2) && stderr.contains(told), "{code:?} {stderr}");
    }
    begin("u").expect(201);
}

#[test]
fn run_does_not_work_inside_or_around_the_workspace_of_another() {
    let premises = Premises::new().workflow(GATE, "report");
    let server = premises.serve_flow();
    let begin = |id: &str, workspace: &str| {
        server.post("/api/v1/runs", &json!({ "workflow": "gates", "id": id, "workspace": workspace }))
    };
    begin("middle", "a/b").expect(201);
    for (id, workspace) in [("outer", "a"), ("same", "a/b"), ("inner", "a/b/c"), ("whole", "")] {
        let refused = begin(id, workspace);
        assert_eq!(refused.problem(409), "workspace_held", "{workspace}");
        assert_eq!(refused.expect(409)["run"], "middle");
        let hint = refused.expect(409)["hint"].to_string();
        assert!(hint.contains("a `workspace` beside that folder"), "{hint}");
    }
    begin("beside", "a/bc").expect(201);
}
