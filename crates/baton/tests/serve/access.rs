//! Tokens and roles: who may do what, and what does not exist for whom.

use serde_json::{Value, json};

use crate::client::{Client, LONG, Premises, report, request};

#[test]
fn without_any_token_loopback_is_open_except_for_decisions() {
    let premises = Premises::new();
    let server = premises.serve();
    server.send("csv-07");
    let (_, fence) = server.claim();
    server
        .post(
            "/api/v1/handoffs/csv-07/report",
            &json!({ "fence": fence, "document": report("csv-07", "needs_review") }),
        )
        .expect(200);
    let gate = server.get("/api/v1/gates/csv-07").expect(200);
    let decision = json!({ "decision": "approve", "shown": gate["gate"]["digest"] });
    let answer = server.post("/api/v1/gates/csv-07/decision", &decision);
    assert_eq!(answer.problem(401), "unauthorized");
    assert_eq!(server.post("/api/v1/runs/t/retry", &json!({})).problem(401), "unauthorized", "also a person's");
    assert!(answer.header("www-authenticate").is_some_and(|value| value.starts_with("Bearer")));
    assert_eq!(
        server.get("/api/v1/gates/csv-07").expect(200)["gate"]["digest"],
        gate["gate"]["digest"],
        "it still waits"
    );
}

#[test]
fn with_a_token_nobody_is_let_in_without_one() {
    let premises = Premises::new();
    let token = premises.token(&["--role", "viewer"]);
    let mut server = premises.serve();
    assert_eq!(server.get("/healthz").status, 200, "this needs none");
    assert_eq!(server.get("/api/v1/handoffs").problem(401), "unauthorized");
    assert_eq!(server.get("/metrics").problem(401), "unauthorized");
    for wrong in [
        "Bearer nonsense",
        "Basic YTpi",
        &format!("Bearer {}", token.to_uppercase()),
        &format!("Bearer baton_{}", "0".repeat(64)),
    ] {
        let answer = server.ask("GET", "/api/v1/handoffs", &[("Authorization", wrong)], "");
        assert_eq!(answer.problem(401), "unauthorized", "{wrong}");
    }
    assert_eq!(server.as_owner_of(&token).get("/api/v1/handoffs").status, 200);
}

#[test]
fn viewer_looks_at_everything_and_changes_nothing() {
    let premises = Premises::new();
    let (viewer, admin) = (premises.token(&["--role", "viewer"]), premises.token(&["--role", "admin"]));
    let mut server = premises.serve();
    server.as_owner_of(&admin).send("csv-07");
    server.as_owner_of(&viewer);
    for path in
        ["/api/v1/handoffs/csv-07", "/api/v1/gates", "/api/v1/runs", "/api/v1/agents", "/api/v1/workflows", "/metrics"]
    {
        assert_eq!(server.get(path).status, 200, "{path}");
    }
    let changes = [
        ("/api/v1/handoffs", request("csv-08", "finder")),
        ("/api/v1/claims", json!({ "agent": "finder" })),
        ("/api/v1/handoffs/csv-07/heartbeat", json!({ "fence": 1 })),
        ("/api/v1/handoffs/csv-07/acknowledgment", json!({ "fence": 1 })),
        ("/api/v1/handoffs/csv-07/report", json!({ "fence": 1, "document": report("csv-07", "complete") })),
        ("/api/v1/handoffs/csv-07/failure", json!({ "fence": 1, "code": "TIMEOUT", "message": "late" })),
        ("/api/v1/handoffs/csv-07/cancel", json!({})),
        ("/api/v1/handoffs/csv-07/requeue", json!({})),
        ("/api/v1/gates/csv-07/decision", json!({ "decision": "approve", "shown": "0" })),
        ("/api/v1/runs", json!({ "workflow": "none" })),
    ];
    for (path, body) in changes {
        let code = server.post(path, &body).problem(403);
        assert!(["forbidden", "not_a_person"].contains(&code.as_str()), "{path}: {code}");
    }
    assert_eq!(server.ask("PATCH", "/api/v1/agents/finder", &[], r#"{"paused": true}"#).problem(403), "forbidden");
    assert_eq!(server.get("/api/v1/handoffs/csv-07").expect(200)["handoff"]["version"], 1, "nothing has happened");
}

#[test]
fn agent_works_for_itself_only_and_what_is_others_does_not_exist() {
    let premises = Premises::new();
    let admin = premises.token(&["--role", "admin"]);
    let agent = premises.token(&["--role", "agent", "--agent", "finder"]);
    let mut server = premises.serve();
    server.as_owner_of(&admin).send("mine");
    server.post("/api/v1/handoffs", &request("others", "writer")).expect(201);
    server.as_owner_of(&agent);
    let listed = server.get("/api/v1/handoffs").expect(200);
    assert_eq!(listed["handoffs"].as_array().map(Vec::len), Some(1), "{listed:#}");
    for path in ["/api/v1/handoffs/others", "/api/v1/handoffs/oth", "/api/v1/gates/others", "/api/v1/agents/writer"] {
        let code = server.get(path).problem(404);
        assert_eq!(code, "unknown", "{path}");
    }
    for verb in ["cancel", "requeue"] {
        assert_eq!(server.post(&format!("/api/v1/handoffs/others/{verb}"), &json!({})).problem(404), "unknown");
    }
    assert_eq!(server.post("/api/v1/claims", &json!({ "agent": "writer" })).problem(403), "forbidden");
    for path in ["/api/v1/runs", "/api/v1/gates", "/api/v1/events", "/metrics"] {
        assert_eq!(server.get(path).problem(403), "forbidden", "{path}");
    }
    let (id, fence) = server.claim();
    assert_eq!(id, "mine");
    server
        .post("/api/v1/handoffs/mine/report", &json!({ "fence": fence, "document": report("mine", "needs_review") }))
        .expect(200);
    let sent = json!({ "from": "ana", "to": "writer", "document": { "baton": 1, "document": "request", "id": "next", "instructions": "Write the rows." } });
    let sent = server.post("/api/v1/handoffs", &sent).expect(201);
    assert_eq!(sent["handoff"]["from"], "finder", "it cannot speak for others");
}

#[test]
fn agent_never_decides_and_an_approver_does_and_the_journal_knows_who() {
    let premises = Premises::new();
    let agent = premises.token(&["--role", "agent", "--agent", "finder"]);
    let approver = premises.token(&["--role", "approver", "--name", "ana"]);
    let mut server = premises.serve();
    server.as_owner_of(&approver).send("csv-07");
    server.as_owner_of(&agent);
    let (_, fence) = server.claim();
    server
        .post(
            "/api/v1/handoffs/csv-07/report",
            &json!({ "fence": fence, "document": report("csv-07", "needs_review") }),
        )
        .expect(200);
    let digest = server.get("/api/v1/gates/csv-07").expect(200)["gate"]["digest"].clone();
    let approve = json!({ "decision": "approve", "shown": digest, "note": "fine" });
    assert_eq!(server.post("/api/v1/gates/csv-07/decision", &approve).problem(403), "not_a_person");
    server.as_owner_of(&approver);
    let stale = json!({ "decision": "approve", "shown": "0".repeat(64) });
    assert_eq!(server.post("/api/v1/gates/csv-07/decision", &stale).problem(409), "changed");
    let wrong = json!({ "decision": "answer", "text": "yes", "shown": digest });
    assert_eq!(server.post("/api/v1/gates/csv-07/decision", &wrong).problem(422), "other_question");
    let silent = json!({ "decision": "reject", "shown": digest });
    let told = server.post("/api/v1/gates/csv-07/decision", &silent).expect(422);
    assert_eq!((&told["pointer"], &told["detail"]), (&json!("/text"), &json!("csv-07: the reason is missing")));
    let done = server.post("/api/v1/gates/csv-07/decision", &approve).expect(200);
    assert_eq!(done["handoff"]["state"], "completed");
    let events = server.get("/api/v1/handoffs/csv-07").expect(200)["events"].clone();
    let decided = events
        .as_array()
        .and_then(|events| events.iter().find(|event| event["event"] == "decided"))
        .expect("a decision");
    assert_eq!((&decided["detail"]["by"], &decided["detail"]["door"]), (&json!("ana"), &json!("http")));
    assert!(decided["detail"]["known"]["token"].as_str().is_some_and(|id| id.starts_with("tok-")), "{decided:#}");
    let second = server.post("/api/v1/gates/csv-07/decision", &approve);
    assert_eq!(second.problem(409), "wrong_state");
    assert_eq!(second.expect(409)["decided"]["by"], "ana", "whoever comes second learns who was first");
}

#[test]
fn revoked_and_expired_tokens_open_nothing() {
    let premises = Premises::new();
    premises.token(&["--role", "admin"]);
    let expired = premises.token(&["--role", "viewer", "--expires", "1ms"]);
    let viewer = premises.token(&["--role", "viewer", "--name", "bo"]);
    let mut server = premises.serve();
    assert_eq!(server.as_owner_of(&expired).get("/api/v1/handoffs").problem(401), "unauthorized");
    assert_eq!(server.as_owner_of(&viewer).get("/api/v1/handoffs").status, 200);
    let (_, listed, _) = premises.run(&["token", "list", "--json"]);
    assert!(!listed.contains(&viewer) && !listed.contains("digest"), "a token is never shown again");
    let listed: serde_json::Value = serde_json::from_str(&listed).expect("JSON");
    let tokens = listed["tokens"].as_array().expect("a list");
    let states: Vec<&str> = tokens.iter().filter_map(|token| token["state"].as_str()).collect();
    assert_eq!(states, ["valid", "expired", "valid"]);
    let id = tokens[2]["id"].as_str().expect("an id");
    assert_eq!(premises.run(&["token", "revoke", id]).0, Some(0));
    assert_eq!(server.get("/api/v1/handoffs").problem(401), "unauthorized", "at once");
    assert_eq!(premises.run(&["token", "revoke", "tok-none"]).0, Some(2));
}

#[test]
fn loopback_stays_closed_when_the_last_token_has_ended() {
    let started = json!({ "workflow": "none" });
    let ends: [fn(&Premises); 2] = [
        |premises| {
            premises.token(&["--role", "viewer", "--expires", "1ms"]);
        },
        |premises| {
            premises.token(&["--role", "admin"]);
            revoke(premises, |token| token["role"] == "admin");
        },
    ];
    for end in ends {
        let premises = Premises::new();
        let server = premises.serve();
        assert_eq!(server.get("/api/v1/runs").status, 200, "there was never a token");
        end(&premises);
        assert_eq!(server.get("/api/v1/runs").problem(401), "unauthorized");
        assert_eq!(server.post("/api/v1/runs", &started).problem(401), "unauthorized");
        let paused = server.ask("PATCH", "/api/v1/agents/finder", &[], r#"{"paused": true}"#);
        assert_eq!(paused.problem(401), "unauthorized");
    }
}

#[test]
fn tokens_are_made_only_as_they_make_sense() {
    let premises = Premises::new();
    let said = |arguments: &[&str]| {
        let (code, _, stderr) = premises.run(arguments);
        assert_eq!(code, Some(2), "{stderr}");
        stderr
    };
    assert!(said(&["token", "create", "--role", "agent"]).contains("--agent"));
    assert!(said(&["token", "create", "--role", "admin", "--agent", "finder"]).contains("role agent"));
    assert!(said(&["token", "create", "--role", "boss"]).contains("approver"));
}

#[test]
fn pages_of_other_origins_and_other_names_are_refused() {
    let premises = Premises::new();
    let server = premises.serve();
    let body = request("csv-07", "finder").to_string();
    let foreign = [("Origin", "https://evil.example")];
    assert_eq!(server.ask("POST", "/api/v1/handoffs", &foreign, &body).problem(403), "forbidden");
    let own = format!("http://{}", server.address);
    assert_eq!(server.ask("POST", "/api/v1/handoffs", &[("Origin", &own)], &body).status, 201);
    let rebound = [("Host", "evil.example:4848")];
    assert_eq!(server.ask("GET", "/api/v1/handoffs", &rebound, "").problem(403), "forbidden");
}

const QUEUE: &str = "name: queued\nagents: {qa: {queue: true}}\nphases: [{id: look, agent: qa}]\n";

#[test]
fn token_works_for_the_queue_of_an_agent_in_a_workflow_by_both_of_its_names() {
    let premises = Premises::new().workflow(QUEUE, "report");
    let approver = premises.token(&["--role", "approver"]);
    let mut server = premises.serve_flow();
    for agent in ["qa", "queued/qa"] {
        let token = premises.token(&["--role", "agent", "--agent", agent]);
        let begun = server.as_owner_of(&approver).post("/api/v1/runs", &json!({ "workflow": "queued" })).expect(201);
        let run = begun["run"].as_str().or(begun["id"].as_str()).expect("an id").to_owned();
        server.as_owner_of(&token);
        let claimed = server.post("/api/v1/claims", &json!({ "agent": "queued/qa", "wait": "60s" })).expect(200);
        let id = claimed["claims"][0]["handoff"]["id"].as_str().expect("a claim").to_owned();
        let body = json!({ "fence": claimed["claims"][0]["fence"], "document": report(&id, "complete") });
        server.post(&format!("/api/v1/handoffs/{id}/report"), &body).expect(200);
        server.as_owner_of(&approver).until(&format!("/api/v1/runs/{run}"), |run| run["state"] == "completed");
    }
}

#[test]
fn what_an_agent_sends_next_comes_from_that_agent() {
    let premises = Premises::new();
    let (admin, agent) =
        (premises.token(&["--role", "admin"]), premises.token(&["--role", "agent", "--agent", "finder"]));
    let mut server = premises.serve();
    server.as_owner_of(&admin).send("csv-07");
    server.post("/api/v1/handoffs", &request("secret-1", "other")).expect(201);
    server.as_owner_of(&agent);
    let (_, fence) = server.claim();
    let mut next = request("csv-08", "other");
    next["from"] = json!("approver");
    next["returns_to"] = json!("secret-1");
    let mut body = json!({ "fence": fence, "document": report("csv-07", "complete"), "next": [next] });
    assert_eq!(server.post("/api/v1/handoffs/csv-07/report", &body).status, 404, "it does not see secret-1");
    body["next"][0]["returns_to"].take();
    server.post("/api/v1/handoffs/csv-07/report", &body).expect(200);
    assert_eq!(server.get("/api/v1/handoffs/csv-08").expect(200)["handoff"]["from"], "finder");
}

/// Takes back the token that is wanted.
fn revoke(premises: &Premises, wanted: impl Fn(&Value) -> bool) {
    let (_, listed, _) = premises.run(&["token", "list", "--json"]);
    let listed: Value = serde_json::from_str(&listed).expect("JSON");
    let token = listed["tokens"].as_array().and_then(|tokens| tokens.iter().find(|token| wanted(token)));
    let id = token.and_then(|token| token["id"].as_str()).expect("there is such a token");
    assert_eq!(premises.run(&["token", "revoke", id]).0, Some(0));
}

/// Waits until somebody waits for something to happen. The server rings nobody for that, so we ask.
fn until_listened_to(client: &Client) {
    let begun = std::time::Instant::now();
    while client.get("/metrics").text.contains("baton_listeners 0\n") {
        assert!(begun.elapsed() < LONG, "nobody listens");
        std::thread::yield_now();
    }
}

#[test]
fn token_that_is_taken_back_gets_no_work_that_it_waited_for() {
    let premises = Premises::new();
    let (admin, agent) =
        (premises.token(&["--role", "admin"]), premises.token(&["--role", "agent", "--agent", "finder"]));
    let mut server = premises.serve();
    let client = server.as_owner_of(&agent);
    let waits = Client { address: client.address.clone(), token: client.token.clone() };
    let waiting =
        std::thread::spawn(move || waits.post("/api/v1/claims", &json!({ "agent": "finder", "wait": "50s" })));
    // It was let in, and waits.
    until_listened_to(server.as_owner_of(&admin));
    revoke(&premises, |token| token["agent"] == "finder");
    server.send("csv-07");
    assert_eq!(waiting.join().expect("an answer").problem(401), "unauthorized");
    assert_eq!(server.get("/api/v1/handoffs/csv-07").expect(200)["handoff"]["state"], "pending");
}

#[test]
fn stream_of_a_token_that_is_taken_back_ends() {
    let premises = Premises::new();
    let (admin, viewer) = (premises.token(&["--role", "admin"]), premises.token(&["--role", "viewer"]));
    let mut server = premises.serve();
    let mut stream = server.as_owner_of(&viewer).follow("/api/v1/events", &[]);
    until_listened_to(server.as_owner_of(&admin));
    server.send("before");
    assert_eq!(stream.next().expect("an event").data["handoff"], "before");
    revoke(&premises, |token| token["role"] == "viewer");
    // What happens is told with a valid token only.
    let ended = std::thread::spawn(move || stream.count());
    let begun = std::time::Instant::now();
    for number in 0.. {
        if ended.is_finished() {
            break;
        }
        server.send(&format!("after-{number}"));
        assert!(begun.elapsed() < LONG, "it goes on");
    }
    assert!(ended.join().is_ok());
}

#[test]
fn whoever_only_waits_is_sent_away_when_their_token_is_taken_back() {
    let premises = Premises::new();
    let (admin, viewer) = (premises.token(&["--role", "admin"]), premises.token(&["--role", "viewer"]));
    let agent = premises.token(&["--role", "agent", "--agent", "finder"]);
    let mut server = premises.serve();
    let mut of_all = server.as_owner_of(&viewer).follow("/api/v1/events", &[]);
    server.as_owner_of(&admin).send("csv-07");
    let (csv, _) = server.claim();
    // A claim rings for nobody, so the server may hear of it a second later.
    assert!(of_all.next().is_some() && of_all.next().is_some(), "what happened");
    let mut of_run = server.as_owner_of(&viewer).follow(&format!("/api/v1/runs/{csv}/events"), &[]);
    assert!(of_run.next().is_some() && of_run.next().is_some(), "what was before");
    let waits = Client { address: server.address.clone(), token: Some(agent) };
    let begun = std::time::Instant::now();
    let waiting =
        std::thread::spawn(move || waits.post("/api/v1/claims", &json!({ "agent": "finder", "wait": "60s" })));
    server.as_owner_of(&admin);
    while !server.get("/metrics").text.contains("baton_listeners 3\n") {
        assert!(begun.elapsed() < LONG, "all three wait");
        std::thread::yield_now();
    }
    revoke(&premises, |token| token["role"] == "viewer");
    revoke(&premises, |token| token["agent"] == "finder");
    // Nothing happens any more, and nobody else can end them.
    assert_eq!(waiting.join().expect("an answer").problem(401), "unauthorized");
    assert_eq!((of_all.count(), of_run.count()), (0, 0));
    assert!(begun.elapsed().as_secs() < 50, "they did not wait to the end");
}

#[test]
fn parties_that_are_not_agents_get_no_token() {
    let premises = Premises::new();
    for name in ["orchestrator", "human"] {
        let (code, _, stderr) = premises.run(&["token", "create", "--role", "agent", "--agent", name]);
        assert!(code == Some(2) && stderr.contains(&format!("`{name}` is not an agent")), "{stderr}");
    }
}

/// The token of a person may do what an agent does, in the name of any agent: the journal says whose it was.
#[test]
fn journal_says_who_claimed_reported_failed_and_gave_signs_of_life() {
    let premises = Premises::new();
    let approver = premises.token(&["--role", "approver", "--name", "ana"]);
    let agent = premises.token(&["--role", "agent", "--agent", "finder", "--name", "laptop"]);
    let mut server = premises.serve();
    server.as_owner_of(&approver).send("csv-07");
    let claimed = server.post("/api/v1/claims", &json!({ "agent": "finder", "claimant": "finder" })).expect(200);
    let fence = claimed["claims"][0]["fence"].clone();
    let said = |server: &Client, verb: &str, body: &Value| {
        server.post(&format!("/api/v1/handoffs/csv-07/{verb}"), body).expect(200);
    };
    said(&server, "acknowledgment", &json!({ "fence": fence }));
    said(&server, "heartbeat", &json!({ "fence": fence }));
    said(&server, "failure", &json!({ "fence": fence, "code": "TIMEOUT", "message": "no", "transient": false }));
    said(&server, "requeue", &json!({}));
    server.as_owner_of(&agent);
    let (_, second) = server.claim();
    said(&server, "report", &json!({ "fence": second, "document": report("csv-07", "complete") }));
    // What comes too late is kept with its author as well.
    let late = json!({ "fence": fence, "document": report("csv-07", "partial") });
    assert_eq!(server.post("/api/v1/handoffs/csv-07/report", &late).problem(409), "stale_fence");
    let events = server.get("/api/v1/handoffs/csv-07").expect(200)["events"].clone();
    let authors: Vec<String> = events
        .as_array()
        .expect("events")
        .iter()
        .map(|event| {
            let author = &event["detail"]["author"];
            let has_token = author["known"]["token"].as_str().is_some_and(|id| id.starts_with("tok-"));
            format!("{} {} {} {has_token}", event["event"], author["name"], author["door"]).replace('"', "")
        })
        .collect();
    let expected = [
        "accepted null null false",
        "claimed ana http true",
        "acknowledged ana http true",
        "extended ana http true",
        "failed ana http true",
        "requeued null null false",
        "claimed laptop http true",
        "reported laptop http true",
        "refused laptop http true",
    ];
    assert_eq!(authors, expected, "{events:#}");
    let (code, shown, stderr) = premises.run(&["show", "csv-07"]);
    assert_eq!(code, Some(0), "{stderr}");
    for line in ["by finder for 60 s; sent by ana (http)", "complete; sent by laptop (http)"] {
        assert!(shown.contains(line), "{shown}");
    }
    let (code, logged, stderr) = premises.run(&["log", "csv-07"]);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(logged.contains("sent by ana (http)") && logged.contains("sent by laptop (http)"), "{logged}");
}
