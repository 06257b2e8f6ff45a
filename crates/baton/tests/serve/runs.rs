//! Runs that a server drives: started, watched, decided, stopped and begun again over HTTP.

use serde_json::{Value, json};

use crate::client::{Client, LONG, Premises, Running};

const GATE: &str = "name: gates\ndescription: Builds and ships.\ninputs: {feature: {required: true}}\n\
    agents: {dev: {command: [./dev.sh]}}\n\
    phases: [{id: build, agent: dev}, {id: ok, gate: {name: 'Ship it?', items: [the parser]}}, {id: ship, agent: dev}]\n";

const FAILS: &str = "name: again\nagents: {dev: {command: [./dev.sh], retry: {max_retries: 0}}}\n\
    phases: [{id: design, agent: dev}, {id: build, agent: dev, on_failure: stop}]\n";

/// Makes a token of an approver, starts a server, and a run of the workflow `gates`.
fn started() -> (Premises, Running) {
    let premises = Premises::new().workflow(GATE, "report");
    let approver = premises.token(&["--role", "approver", "--name", "ana"]);
    let mut server = premises.serve_flow();
    server.as_owner_of(&approver);
    let body = json!({ "workflow": "gates", "id": "t", "inputs": { "feature": "dates" } });
    let begun = server.post("/api/v1/runs", &body);
    assert_eq!(begun.header("location"), Some("/api/v1/runs/t"));
    begun.expect(201);
    (premises, server)
}

fn is_asked(run: &Value) -> bool {
    run["waiting"].as_array().is_some_and(|waiting| !waiting.is_empty())
}

fn decide(server: &Client, gate: &str, decision: Value) -> Value {
    let asked = server.get(&format!("/api/v1/gates/{gate}")).expect(200);
    let mut body = decision;
    body["shown"] = asked["gate"]["digest"].clone();
    server.post(&format!("/api/v1/gates/{gate}/decision"), &body).expect(200)
}

#[test]
fn run_is_driven_waits_at_a_gate_and_goes_on_when_somebody_approves() {
    let (premises, server) = started();
    let waiting = server.until("/api/v1/runs/t", is_asked);
    assert_eq!((&waiting["workflow"], &waiting["waiting"][0]["id"]), (&json!("gates"), &json!("t.ok.1")));
    assert!(waiting["driven_by"].as_str().is_some_and(|driver| driver.starts_with("server ")), "{waiting:#}");
    let gates = server.get("/api/v1/gates").expect(200);
    assert_eq!(gates["waiting"][0]["title"], "Ship it?");
    decide(&server, "t.ok.1", json!({ "decision": "reject", "text": "Leap years are wrong." }));
    server.until("/api/v1/runs/t", |run| run["waiting"][0]["id"] == "t.ok.2");
    decide(&server, "t.ok.2", json!({ "decision": "approve" }));
    let done = server.until("/api/v1/runs/t", |run| run["state"] == "completed");
    assert_eq!(done["inputs"], json!({ "feature": "dates" }));
    let (_, shown, _) = premises.run(&["show", "t", "--json"]);
    let shown: Value = serde_json::from_str(&shown).expect("JSON");
    assert_eq!(shown["phases"], done["phases"], "the command line shows the same");
    let listed = server.get("/api/v1/runs").expect(200);
    assert_eq!((&listed["runs"][0]["run"], &listed["runs"][0]["state"]), (&json!("t"), &json!("completed")));
    server.until("/readyz", |ready| ready["runs_driven"] == 0);
    assert!(premises.scratch.contains("workspace/.baton/runs/t/record/summary.txt"), "the record is written");
}

#[test]
fn run_that_is_started_twice_is_one_run_by_its_key_and_by_its_id() {
    let premises = Premises::new().workflow(GATE, "report");
    let approver = premises.token(&["--role", "approver", "--name", "ana"]);
    let other = premises.token(&["--role", "approver", "--name", "ben"]);
    let mut server = premises.serve_flow();
    server.as_owner_of(&approver);
    let body = json!({ "workflow": "gates", "inputs": { "feature": "dates" }, "workspace": "a" });
    let start = |server: &Client, key: &str, body: &Value| {
        server.ask("POST", "/api/v1/runs", &[("Idempotency-Key", key)], &body.to_string())
    };
    let first = start(&server, "nightly", &body);
    let run = first.expect(201)["run"].as_str().expect("a run").to_owned();
    let location = format!("/api/v1/runs/{run}");
    // The answer was lost, and the run holds its workspace.
    let again = start(&server, "nightly", &body);
    assert_eq!((again.expect(200)["run"].as_str(), again.header("location")), (Some(&*run), Some(&*location)));
    assert_eq!((&first.expect(201)["existing"], &again.expect(200)["existing"]), (&json!(false), &json!(true)));
    for (member, value) in [("inputs", json!({ "feature": "times" })), ("workspace", json!("b")), ("id", json!("own"))]
    {
        let mut another = body.clone();
        another[member] = value;
        assert_eq!(start(&server, "nightly", &another).status, 409, "{member}");
    }
    // Each token has its own keys.
    let theirs = json!({ "workflow": "gates", "inputs": { "feature": "dates" }, "workspace": "c" });
    server.as_owner_of(&other);
    assert_ne!(start(&server, "nightly", &theirs).expect(201)["run"], run.as_str());
    server.as_owner_of(&approver);
    server.until(&location, is_asked);
    server.post(&format!("{location}/cancel"), &json!({})).expect(200);
    assert_eq!(start(&server, "nightly", &body).expect(200)["run"], run.as_str(), "it does not run again");
    let named = json!({ "workflow": "gates", "inputs": { "feature": "dates" }, "workspace": "d", "id": "t" });
    server.post("/api/v1/runs", &named).expect(201);
    assert_eq!(server.post("/api/v1/runs", &named).expect(200)["existing"], true);
    assert_eq!(server.as_owner_of(&other).post("/api/v1/runs", &named).problem(409), "taken", "it is not theirs");
}

#[test]
fn run_that_is_started_six_times_at_the_same_moment_is_one_run() {
    let premises = Premises::new().workflow(GATE, "report");
    let approver = premises.token(&["--role", "approver", "--name", "ana"]);
    let mut server = premises.serve_flow();
    server.as_owner_of(&approver);
    for (headers, id) in [(vec![("Idempotency-Key", "nightly")], None), (Vec::new(), Some("own"))] {
        let workspace = id.unwrap_or("keyed");
        let body = json!({ "workflow": "gates", "inputs": { "feature": "dates" }, "workspace": workspace, "id": id });
        let (client, body, ready) = (&server.client, body.to_string(), std::sync::Barrier::new(6));
        let start = || {
            ready.wait();
            client.ask("POST", "/api/v1/runs", &headers, &body)
        };
        let answers: Vec<_> = std::thread::scope(|scope| {
            let starts: Vec<_> = (0..6).map(|_| scope.spawn(start)).collect();
            starts.into_iter().map(|start| start.join().expect("an answer")).collect()
        });
        let mut statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 200, 200, 200, 200, 201], "{answers:#?}");
        let place = answers[0].header("location");
        assert!(place.is_some() && answers.iter().all(|answer| answer.header("location") == place), "{answers:#?}");
    }
    assert_eq!(server.get("/api/v1/runs").expect(200)["runs"].as_array().map(Vec::len), Some(2));
}

#[test]
fn run_can_be_drawn() {
    let (_premises, server) = started();
    server.until("/api/v1/runs/t", is_asked);
    let graph = server.get("/api/v1/runs/t/graph").expect(200);
    let nodes = graph["nodes"].as_array().expect("nodes");
    let build = nodes.iter().find(|node| node["path"] == "build").expect("a phase");
    assert_eq!(build["progress"], "done");
    let svg = server.get("/api/v1/runs/t/graph?format=svg");
    assert_eq!(svg.header("content-type"), Some("image/svg+xml"));
    assert!(svg.text.starts_with("<svg"), "{}", &svg.text[..40]);
    assert_eq!(server.get("/api/v1/runs/t/graph?format=png").problem(400), "bad_query");
}

#[test]
fn run_is_called_off_by_a_person() {
    let (premises, mut server) = started();
    server.until("/api/v1/runs/t", is_asked);
    let agent = premises.token(&["--role", "agent", "--agent", "dev"]);
    let approver = server.token.clone().expect("a token");
    assert_eq!(
        server.as_owner_of(&agent).post("/api/v1/handoffs/t.build.1/cancel", &json!({})).problem(403),
        "not_a_person"
    );
    assert_eq!(server.post("/api/v1/runs/t/cancel", &json!({})).problem(404), "unknown");
    server.as_owner_of(&approver).post("/api/v1/runs/t/cancel", &json!({ "reason": "dropped" })).expect(200);
    assert_eq!(server.get("/api/v1/runs/t").expect(200)["state"], "cancelled");
}

#[test]
fn failed_run_begins_again_from_a_phase() {
    let premises =
        Premises::new().workflow(FAILS, "test -e tool || case $BATON_HANDOFF_ID in *.build.*) exit 1;; esac\nreport");
    let approver = premises.token(&["--role", "approver"]);
    let mut server = premises.serve_flow();
    server.as_owner_of(&approver);
    server.post("/api/v1/runs", &json!({ "workflow": "again", "id": "t" })).expect(201);
    server.until("/api/v1/runs/t", |run| run["state"] == "failed");
    let unknown = server.post("/api/v1/runs/t/retry", &json!({ "from": "biuld" }));
    assert_eq!(unknown.problem(422), "unknown_phase");
    premises.scratch.write("workspace/tool", "");
    let again = server.post("/api/v1/runs/t/retry", &json!({ "from": "design", "note": "the tool is there" }));
    assert_eq!((again.status, again.header("location")), (202, Some("/api/v1/runs/t")));
    server.until("/api/v1/runs/t", |run| run["state"] == "completed");
    assert_eq!(server.post("/api/v1/runs/t/retry", &json!({})).problem(409), "no_way_back");
}

#[test]
fn what_cannot_be_started_is_refused_with_what_is_known() {
    let (premises, server) = started();
    let workflows = server.get("/api/v1/workflows").expect(200);
    assert_eq!(workflows["workflows"][0]["phases"], json!(["build", "ok", "ship"]));
    let workflow = server.get("/api/v1/workflows/gates").expect(200);
    assert_eq!(workflow["workflow"]["inputs"]["feature"]["required"], true);
    assert_eq!(server.get("/api/v1/workflows/none").problem(404), "unknown");
    let unknown = server.post("/api/v1/runs", &json!({ "workflow": "gate" })).expect(404);
    assert_eq!(unknown["hint"], "known here: gates");
    let without = server.post("/api/v1/runs", &json!({ "workflow": "gates", "workspace": "other" }));
    assert!(without.expect(422)["detail"].as_str().is_some_and(|detail| detail.contains("feature")));
    assert_eq!(without.expect(422)["hint"], "give it in `inputs`; it has feature");
    for outside in ["../elsewhere", "/etc", "a/../../b", ".hidden"] {
        let body = json!({ "workflow": "gates", "inputs": { "feature": "x" }, "workspace": outside });
        assert_eq!(server.post("/api/v1/runs", &body).problem(422), "bad_value", "{outside}");
    }
    let held = server.post("/api/v1/runs", &json!({ "workflow": "gates", "inputs": { "feature": "x" } }));
    assert_eq!(held.problem(409), "workspace_held");
    let told = held.expect(409);
    let folder = premises.scratch.path("workspace").canonicalize().expect("it is there");
    let detail = format!("run t holds the whole folder of the server, {}", folder.display());
    assert_eq!((&told["detail"], &told["run"]), (&json!(detail), &json!("t")));
    assert!(told["hint"].as_str().is_some_and(|hint| hint.contains("cancel it: baton cancel t")), "{told}");
}

#[test]
fn refused_decision_says_what_to_send_and_nothing_of_the_store() {
    let (_premises, server) = started();
    server.until("/api/v1/runs/t", is_asked);
    let path = "/api/v1/gates/t.ok.1/decision";
    let without = server.post(path, &json!({ "decision": "approve" })).expect(422);
    assert_eq!(without["pointer"], "/shown");
    assert_eq!(without["hint"], "send the `digest` of GET /api/v1/gates/t.ok.1 as `shown`");
    let shown = server.get("/api/v1/gates/t.ok.1").expect(200)["gate"]["digest"].clone();
    let body = json!({ "decision": "approve", "shown": shown });
    server.post(path, &body).expect(200);
    let again = server.post(path, &body).expect(409);
    assert_eq!((&again["decided"]["by"], &again["fault"]), (&json!("ana"), &Value::Null), "{again:#}");
}

#[test]
fn file_that_a_report_named_is_kept_and_sent_as_text() {
    let agent = r#"echo '<script>alert(1)</script>' > page.html
printf '{"baton": 1, "document": "report", "id": "%s", "outcome": "complete", "summary": "Wrote the page with the dates.", "artifacts": [{"path": "page.html"}]}' "$BATON_HANDOFF_ID" > "$BATON_REPORT_FILE""#;
    let premises = Premises::new()
        .workflow("name: w\nagents: {dev: {command: [./dev.sh]}}\nphases: [{id: a, agent: dev}]\n", agent);
    let server = premises.serve_flow();
    server.post("/api/v1/runs", &json!({ "workflow": "w", "id": "t" })).expect(201);
    server.until("/api/v1/runs/t", |run| run["state"] == "completed");
    let shown = server.get("/api/v1/handoffs/t.a.1").expect(200);
    let examined = shown["examined"].as_array().expect("claims");
    let digest = examined.iter().find_map(|claim| claim["sha256"].as_str()).unwrap_or_else(|| panic!("{examined:#?}"));
    let file = server.get(&format!("/api/v1/runs/t/artifacts/{digest}"));
    assert_eq!((file.status, file.text.trim()), (200, "<script>alert(1)</script>"));
    assert_eq!(file.header("content-type"), Some("text/plain; charset=utf-8"));
    assert_eq!(file.header("x-content-type-options"), Some("nosniff"));
    assert!(file.header("content-security-policy").is_some_and(|policy| policy.contains("sandbox")));
    assert_eq!(server.get(&format!("/api/v1/runs/t/artifacts/{}", "0".repeat(64))).problem(404), "unknown");
}

#[test]
fn server_that_is_told_to_stop_gives_its_runs_back_and_the_next_one_goes_on() {
    let (premises, mut server) = started();
    server.until("/api/v1/runs/t", is_asked);
    let token = server.token.clone().expect("a token");
    // What is refused does not make it forget what it drives.
    assert_eq!(server.post("/api/v1/runs/t/retry", &json!({})).problem(409), "driven");
    let taken = json!({ "workflow": "gates", "id": "t", "inputs": { "feature": "another" } });
    assert_eq!(server.post("/api/v1/runs", &taken).status, 409);
    server.process.terminate();
    let ended = server.process.wait(LONG).expect("it ends");
    assert_eq!(ended.code(), Some(0));
    let (_, shown, _) = premises.run(&["show", "t", "--json"]);
    let shown: Value = serde_json::from_str(&shown).expect("JSON");
    assert_eq!((&shown["state"], &shown["driven_by"]), (&json!("waiting"), &json!(null)));
    let mut next = premises.serve_flow();
    next.as_owner_of(&token);
    decide(&next, "t.ok.1", json!({ "decision": "approve" }));
    next.until("/api/v1/runs/t", |run| run["state"] == "completed");
}

#[test]
fn nobody_reports_over_http_about_what_a_driver_works_on() {
    let (_premises, server) = started();
    server.until("/api/v1/runs/t", is_asked);
    // The phase that waits for a person is claimed by nobody; the one before it has ended.
    for (id, status, code) in
        [("t", 403, "forbidden"), ("t.ok.1", 409, "unknown_fence"), ("t.build.1", 409, "claim_over")]
    {
        let body = json!({ "fence": 1, "document": crate::client::report(id, "complete") });
        assert_eq!(server.post(&format!("/api/v1/handoffs/{id}/report"), &body).problem(status), code, "{id}");
    }
    let beat = json!({ "fence": 1, "lease": "1s" });
    assert_eq!(server.post("/api/v1/handoffs/t/heartbeat", &beat).problem(403), "forbidden");
    let failure = json!({ "fence": 1, "code": "TIMEOUT", "message": "no" });
    assert_eq!(server.post("/api/v1/handoffs/t/failure", &failure).problem(403), "forbidden");
    assert!(is_asked(&server.get("/api/v1/runs/t").expect(200)), "it still waits at its gate");
}

#[test]
fn ids_below_a_run_belong_to_its_phases() {
    let (_premises, server) = started();
    assert_eq!(server.post("/api/v1/handoffs", &crate::client::request("t.ship.1", "qa")).problem(409), "taken");
    server.until("/api/v1/runs/t", is_asked);
    decide(&server, "t.ok.1", json!({ "decision": "approve" }));
    server.until("/api/v1/runs/t", |run| run["state"] == "completed");
}

#[test]
fn link_in_the_workspace_of_a_server_does_not_lead_a_run_out_of_it() {
    let (premises, server) = started();
    premises.scratch.folder("outside");
    let outside = premises.scratch.path("outside");
    std::os::unix::fs::symlink(&outside, premises.scratch.path("workspace/link")).expect("a link");
    for workspace in ["link", "link/sub"] {
        let body = json!({ "workflow": "gates", "inputs": { "feature": "x" }, "workspace": workspace });
        let answer = server.post("/api/v1/runs", &body);
        assert_eq!(answer.expect(422)["pointer"], "/workspace", "{workspace}");
    }
    assert_eq!(std::fs::read_dir(&outside).expect("a folder").count(), 0);
}
