//! Handoffs over HTTP: every verb once right and once refused.

use serde_json::{Value, json};

use crate::client::{Client, Premises, report, request};

#[test]
fn request_is_sent_claimed_acknowledged_and_reported() {
    let premises = Premises::new();
    let server = premises.serve();
    let sent = server.post("/api/v1/handoffs", &request("csv-07", "finder"));
    assert_eq!(sent.header("location"), Some("/api/v1/handoffs/csv-07"));
    assert_eq!(sent.expect(201)["handoff"]["state"], "pending");
    let (id, fence) = server.claim();
    assert_eq!((id.as_str(), fence), ("csv-07", 1));
    let acknowledged = server.post("/api/v1/handoffs/csv-07/acknowledgment", &json!({ "fence": fence })).expect(200);
    assert_eq!(acknowledged["handoff"]["lease"]["acknowledged"], true);
    let beat = server.post("/api/v1/handoffs/csv-07/heartbeat", &json!({ "fence": fence, "lease": "5m" })).expect(200);
    assert_eq!(beat["handoff"]["lease"]["length_seconds"], 300.0);
    let body = json!({ "fence": fence, "document": report("csv-07", "complete") });
    let done = server.post("/api/v1/handoffs/csv-07/report", &body).expect(200);
    assert_eq!((&done["handoff"]["state"], &done["repeated"]), (&json!("completed"), &json!(false)));
    let again = server.post("/api/v1/handoffs/csv-07/report", &body).expect(200);
    assert_eq!(again["repeated"], true, "a report that is sent twice counts once");
}

#[test]
fn claim_has_the_prompt_and_the_request() {
    let premises = Premises::new();
    let server = premises.serve();
    server.send("csv-07");
    let claimed = server.post("/api/v1/claims", &json!({ "agent": "finder", "claimant": "w1" })).expect(200);
    let claim = &claimed["claims"][0];
    assert!(claim["prompt"].as_str().is_some_and(|prompt| prompt.contains("Find the writer of rows.")), "{claim:#}");
    assert_eq!(claim["request"]["dialect"], "native");
    assert_eq!(claim["handoff"]["lease"]["claimant"], "w1");
    let nothing = server.post("/api/v1/claims", &json!({ "agent": "finder" })).expect(200);
    assert_eq!(nothing["claims"], json!([]));
}

#[test]
fn claim_that_waits_is_woken_by_what_is_sent() {
    let premises = Premises::new();
    let server = premises.serve();
    let client = &server.client;
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| client.claim());
        server.send("csv-07");
        assert_eq!(waiting.join().expect("it claims").0, "csv-07");
    });
}

#[test]
fn same_key_gives_the_same_handoff_and_another_request_is_refused() {
    let premises = Premises::new();
    let server = premises.serve();
    let document = json!({ "baton": 1, "document": "request", "instructions": "Find the writer of rows." });
    let body = json!({ "to": "finder", "document": document, "deadline": "2h" }).to_string();
    let headers = [("Idempotency-Key", "nightly-1")];
    let first = server.ask("POST", "/api/v1/handoffs", &headers, &body).expect(201);
    let second = server.ask("POST", "/api/v1/handoffs", &headers, &body).expect(200);
    assert_eq!(first["handoff"]["id"], second["handoff"]["id"]);
    assert_eq!(second["existing"], true);
    let other = body.replace("writer", "reader");
    assert_eq!(server.ask("POST", "/api/v1/handoffs", &headers, &other).problem(409), "taken");
    let own_words = [("Idempotency-Key", "nächtlich-1")];
    assert_eq!(server.ask("POST", "/api/v1/handoffs", &own_words, &other).expect(201)["handoff"]["key"], "nächtlich-1");
}

#[test]
fn report_about_another_task_is_refused_also_where_the_request_has_no_id() {
    let premises = Premises::new();
    let server = premises.serve();
    let document = json!({ "baton": 1, "document": "request", "instructions": "Find the writer of rows." });
    server.post("/api/v1/handoffs", &json!({ "to": "finder", "id": "csv-07", "document": document })).expect(201);
    let (_, fence) = server.claim();
    let other = json!({ "fence": fence, "document": report("csv-08", "complete") });
    let refused = server.post("/api/v1/handoffs/csv-07/report", &other).expect(422);
    assert_eq!(refused["rule"], "report-echo-mismatch");
    let own = json!({ "fence": fence, "document": report("csv-07", "complete") });
    server.post("/api/v1/handoffs/csv-07/report", &own).expect(200);
}

#[test]
fn location_leads_to_what_was_made_whatever_its_id() {
    let premises = Premises::new();
    let server = premises.serve();
    for (id, location) in [("a%62", "a%2562"), ("a#b", "a%23b"), ("a b", "a%20b"), ("größe", "gr%C3%B6%C3%9Fe")] {
        for status in [201, 200] {
            let sent = server.post("/api/v1/handoffs", &request(id, "finder"));
            sent.expect(status);
            assert_eq!(sent.header("location"), Some(&*format!("/api/v1/handoffs/{location}")));
        }
        let found = server.get(&format!("/api/v1/handoffs/{location}")).expect(200);
        assert_eq!(found["handoff"]["id"], id);
    }
}

#[test]
fn document_that_is_not_valid_is_refused_with_rule_and_pointer() {
    let premises = Premises::new();
    let server = premises.serve();
    let document = json!({ "baton": 1, "document": "report", "id": "csv-07", "outcome": "blocked" });
    let answer = server.post("/api/v1/handoffs", &json!({ "to": "finder", "document": document }));
    assert_eq!(answer.problem(422), "invalid_document");
    let problem = answer.expect(422);
    assert!(problem["rule"].is_string() && problem["pointer"].is_string(), "{problem:#}");
    assert_eq!(problem["diagnostics"][0]["severity"], "error");
    server.send("csv-07");
    let (id, fence) = server.claim();
    let body = json!({ "fence": fence, "document": { "baton": 1, "document": "report", "id": id, "outcome": "done" } });
    assert_eq!(server.post("/api/v1/handoffs/csv-07/report", &body).problem(422), "invalid_document");
    let kept = server.get("/api/v1/handoffs/csv-07").expect(200);
    assert_eq!(kept["handoff"]["state"], "claimed", "an invalid report changes nothing");
}

#[test]
fn check_says_what_the_rules_say_and_changes_nothing() {
    let premises = Premises::new();
    let server = premises.serve();
    let valid = server.post("/api/v1/check", &json!({ "document": report("csv-07", "complete") })).expect(200);
    assert_eq!(
        (&valid["valid"], &valid["document"], &valid["dialect"]),
        (&json!(true), &json!("report"), &json!("native"))
    );
    let text = "---\nhandoff: {from: a, to: [\n";
    let invalid = server.post("/api/v1/check", &json!({ "document": text })).expect(200);
    assert_eq!((&invalid["valid"], &invalid["diagnostics"][0]["code"]), (&json!(false), &json!("unreadable")));
    let unknown = server.post("/api/v1/check", &json!({ "document": text, "dialect": "natve" }));
    assert_eq!(unknown.problem(422), "bad_value");
    assert_eq!(server.get("/api/v1/handoffs").expect(200)["handoffs"], json!([]));
}

#[test]
fn failed_attempt_is_tried_again_and_a_dead_letter_comes_back() {
    let premises = Premises::new();
    let server = premises.serve();
    server.send("csv-07");
    let (_, fence) = server.claim();
    let body = json!({ "fence": fence, "code": "DEPENDENCY_MISSING", "message": "no scanner", "transient": false });
    let failed = server.post("/api/v1/handoffs/csv-07/failure", &body).expect(200);
    assert_eq!(
        (&failed["handoff"]["state"], &failed["handoff"]["failure"]["code"]),
        (&json!("failed"), &json!("DEPENDENCY_MISSING"))
    );
    let back = server.post("/api/v1/handoffs/csv-07/requeue", &json!({ "note": "the scanner is up" })).expect(200);
    assert_eq!(back["handoff"]["state"], "pending");
    let cancelled = server.post("/api/v1/handoffs/csv-07/cancel", &json!({ "reason": "not needed" })).expect(200);
    assert_eq!(cancelled["handoff"]["state"], "cancelled");
    assert_eq!(server.post("/api/v1/handoffs/csv-07/cancel", &json!({})).expect(200)["repeated"], true);
}

#[test]
fn late_claimant_is_refused_with_the_fence_that_counts() {
    let premises = Premises::new();
    let server = premises.serve();
    let mut quick = request("csv-07", "finder");
    quick["retry_delay"] = json!("0s");
    server.post("/api/v1/handoffs", &quick).expect(201);
    server.post("/api/v1/claims", &json!({ "agent": "finder", "lease": "1ms" })).expect(200);
    let (_, fence) = server.claim();
    assert!(fence > 1, "the first lease has ended");
    let body = json!({ "fence": 1, "document": report("csv-07", "complete") });
    assert_eq!(server.post("/api/v1/handoffs/csv-07/report", &body).problem(409), "stale_fence");
    let never = json!({ "fence": 99, "document": report("csv-07", "complete") });
    assert_eq!(server.post("/api/v1/handoffs/csv-07/report", &never).problem(409), "unknown_fence");
}

#[test]
fn report_sends_what_comes_next_in_the_same_run() {
    let premises = Premises::new();
    let server = premises.serve();
    server.send("csv-07");
    let (_, fence) = server.claim();
    let body =
        json!({ "fence": fence, "document": report("csv-07", "complete"), "next": [request("csv-08", "writer")] });
    server.post("/api/v1/handoffs/csv-07/report", &body).expect(200);
    let next = server.get("/api/v1/handoffs/csv-08").expect(200);
    assert_eq!((&next["handoff"]["run"], &next["handoff"]["from"]), (&json!("csv-07"), &json!("finder")));
    let journal = server.get("/api/v1/runs/csv-07/journal?limit=2").expect(200);
    assert_eq!((journal["events"].as_array().map(Vec::len), &journal["next"]), (Some(2), &json!(2)));
}

#[test]
fn list_has_filters_and_pages() {
    let premises = Premises::new();
    let server = premises.serve();
    for number in 1..=5 {
        server.send(&format!("h-{number}"));
    }
    server.claim();
    let page = server.get("/api/v1/handoffs?state=pending&limit=3").expect(200);
    let ids = |page: &serde_json::Value| -> Vec<String> {
        let handoffs = page["handoffs"].as_array().expect("a list");
        handoffs.iter().map(|handoff| handoff["id"].as_str().expect("an id").to_owned()).collect()
    };
    assert_eq!(ids(&page), ["h-5", "h-4", "h-3"]);
    let next = page["next"].as_str().expect("there are more");
    let last = server.get(&format!("/api/v1/handoffs?state=pending&limit=3&after={next}")).expect(200);
    assert_eq!((ids(&last), &last["next"]), (vec!["h-2".to_owned()], &json!(null)));
    assert_eq!(ids(&server.get("/api/v1/handoffs?agent=nobody").expect(200)).len(), 0);
    for wrong in ["state=pendng", "limit=0", "limit=x", "colour=red", "after=nowhere"] {
        let answer = server.get(&format!("/api/v1/handoffs?{wrong}"));
        assert!([400, 404].contains(&answer.status), "{wrong}: {}", answer.text);
    }
}

#[test]
fn handoff_is_sent_once_to_whoever_has_it() {
    let premises = Premises::new();
    let server = premises.serve();
    server.send("csv-07");
    let first = server.get("/api/v1/handoffs/csv-07");
    let tag = first.header("etag").expect("a tag").to_owned();
    let known = [("If-None-Match", tag.as_str())];
    let same = server.ask("GET", "/api/v1/handoffs/csv-07", &known, "");
    assert_eq!((same.status, same.text.as_str()), (304, ""));
    server.claim();
    let other = server.ask("GET", "/api/v1/handoffs/csv-07", &known, "");
    assert_eq!(other.status, 200, "it has changed");
    assert_eq!(server.get("/api/v1/handoffs/cvs-07").problem(404), "unknown");
}

#[test]
fn what_is_not_json_or_not_known_or_too_large_is_refused() {
    let premises = Premises::new();
    let server = premises.serve();
    let plain = [("Content-Type", "text/plain")];
    assert_eq!(server.ask("POST", "/api/v1/check", &plain, "{}").problem(415), "not_json");
    assert_eq!(server.ask("POST", "/api/v1/check", &[], "{\"document\"").problem(400), "not_json");
    let typo = server.ask("POST", "/api/v1/handoffs", &[], r#"{"document": {}, "t0": "finder"}"#);
    assert_eq!(typo.problem(422), "bad_value");
    let wrong = server.ask("POST", "/api/v1/claims", &[], r#"{"agent": "finder", "count": "many"}"#);
    assert_eq!(wrong.expect(422)["pointer"], "/count");
    assert_eq!(
        server.post("/api/v1/claims", &json!({ "agent": "finder", "lease": "soon" })).expect(422)["pointer"],
        "/lease"
    );
    assert_eq!(server.get("/api/v1/nowhere").problem(404), "unknown");
    assert_eq!(server.get("/api/v1/handoffs/%FF").problem(404), "unknown");
    assert_eq!(server.ask("DELETE", "/api/v1/handoffs", &[], "").problem(405), "wrong_method");
    let announced = [("Content-Length", "21000000")];
    assert_eq!(server.ask("POST", "/api/v1/check", &announced, "").problem(413), "too_large");
}

#[test]
fn agents_have_queues_that_can_be_paused_and_figures_with_counts() {
    let premises = Premises::new();
    let server = premises.serve();
    server.send("csv-07");
    let (_, fence) = server.claim();
    server
        .post("/api/v1/handoffs/csv-07/report", &json!({ "fence": fence, "document": report("csv-07", "complete") }))
        .expect(200);
    server.send("csv-08");
    let agents = server.get("/api/v1/agents").expect(200);
    assert_eq!(agents["agents"][0]["handoffs"]["pending"], 1);
    let agent = server.get("/api/v1/agents/finder").expect(200);
    assert_eq!(
        (&agent["agent"]["recent"]["first_pass"], &agent["agent"]["recent"]["finished"]),
        (&json!(1), &json!(1))
    );
    let paused = server.ask("PATCH", "/api/v1/agents/finder", &[], r#"{"paused": true, "limit": 2}"#).expect(200);
    assert_eq!(paused["agent"], json!({ "agent": "finder", "paused": true, "limit": 2 }));
    let nothing = server.post("/api/v1/claims", &json!({ "agent": "finder" })).expect(200);
    assert_eq!((&nothing["claims"], &nothing["held"]), (&json!([]), &json!("paused")));
}

#[test]
fn description_names_every_address_and_figures_can_be_scraped() {
    let premises = Premises::new();
    let server = premises.serve();
    let description = server.get("/api/openapi.json").expect(200);
    assert_eq!(description["openapi"], "3.1.0");
    for path in ["/api/v1/handoffs", "/api/v1/claims", "/api/v1/gates/{id}/decision", "/api/v1/runs/{id}/events"] {
        assert!(description["paths"][path].is_object(), "{path}");
    }
    let operations = description["paths"]
        .as_object()
        .expect("paths")
        .values()
        .flat_map(|path| path.as_object().expect("a path").values());
    let names: Vec<&str> = operations.map(|operation| operation["operationId"].as_str().expect("a name")).collect();
    assert_eq!(
        names.iter().collect::<std::collections::BTreeSet<_>>().len(),
        names.len(),
        "names are unique: {names:?}"
    );
    server.send("csv-07");
    let figures = server.get("/metrics");
    assert!(figures.text.contains(r#"baton_handoffs{agent="finder",state="pending"} 1"#), "{}", figures.text);
    assert!(figures.text.ends_with("# EOF\n"));
}

#[test]
fn whoever_makes_its_own_prompts_gets_none() {
    let premises = Premises::new();
    let server = premises.serve();
    let claimed = |id: &str, body: &Value| {
        server.send(id);
        server.post("/api/v1/claims", body).expect(200)["claims"][0].clone()
    };
    let usual = claimed("a", &json!({ "agent": "finder" }));
    assert!(usual["prompt"].as_str().is_some_and(|prompt| prompt.contains("Find the writer of rows.")));
    let bare = claimed("b", &json!({ "agent": "finder", "prompt": false }));
    assert_eq!((&bare["prompt"], &bare["no_prompt"]), (&Value::Null, &Value::Null));
    assert_eq!(bare["request"]["dialect"], "native");
    let body = json!({ "fence": bare["fence"], "document": report("b", "complete") });
    assert_eq!(server.post("/api/v1/handoffs/b/report", &body).expect(200)["handoff"]["state"], "completed");
}

/// The server remembers what it has handed out: neither an older claim nor somebody else's counts because of that.
#[test]
fn report_with_the_fence_of_an_older_claim_is_refused_where_it_was_claimed() {
    let premises = Premises::new();
    let (first, second) = (premises.serve(), premises.serve());
    let mut sent = request("csv-07", "finder");
    sent["retry_delay"] = "0s".into();
    first.post("/api/v1/handoffs", &sent).expect(201);
    let claim = |server: &Client, lease: &str| {
        let wanted = json!({ "agent": "finder", "lease": lease, "wait": "40s" });
        server.post("/api/v1/claims", &wanted).expect(200)["claims"][0]["fence"].clone()
    };
    let old = claim(&first, "1s");
    // The lease ends, and the other server hands it out again.
    let new = claim(&second, "60s");
    let handed_in = |server: &Client, fence: &Value| {
        server.post(
            "/api/v1/handoffs/csv-07/report",
            &json!({ "fence": fence, "document": report("csv-07", "complete") }),
        )
    };
    assert_eq!(handed_in(&first, &old).status, 409);
    assert_eq!(handed_in(&first, &new).expect(200)["handoff"]["state"], "completed");
}
