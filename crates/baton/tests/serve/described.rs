//! What the OpenAPI description says about answers is what the server answers: no member more, and none less.

use serde_json::{Value, json};

use crate::client::{Premises, report, request};

/// Forbids members that are not described, so that an answer cannot have them in silence.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if members.contains_key("properties") {
                members.insert("additionalProperties".to_owned(), json!(false));
            }
            members.values_mut().for_each(close);
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

/// The description of a server.
struct Described(Value);

impl Described {
    /// Compares an answer with the form that is described for it.
    fn agrees(&self, method: &str, path: &str, status: &str, answer: &Value) {
        let content = &self.0["paths"][path][method]["responses"][status]["content"];
        let form = content["application/json"]["schema"]["$ref"].as_str();
        let form = form.or_else(|| content["application/problem+json"]["schema"]["$ref"].as_str());
        let form = form.unwrap_or_else(|| panic!("{method} {path} {status} has no form"));
        let schema = json!({ "$ref": form, "components": self.0["components"] });
        let validator = jsonschema::validator_for(&schema).expect("a schema");
        let wrong: Vec<String> =
            validator.iter_errors(answer).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(wrong.is_empty(), "{method} {path}: {wrong:#?}\n{answer:#}");
    }
}

#[test]
fn answers_have_the_members_that_are_described() {
    let flow = "name: gates\ndescription: Builds.\ninputs: {feature: {default: dates}}\nagents: {dev: {command: [./dev.sh]}, qa: {queue: true}}\n\
        phases: [{id: build, agent: dev}, {id: ok, gate: {name: 'Ship it?', items: [the parser]}}, {id: test, agent: qa}]\n";
    let premises = Premises::new().workflow(flow, "report");
    let approver = premises.token(&["--role", "admin", "--name", "ana"]);
    let mut server = premises.serve_flow();
    server.as_owner_of(&approver);
    let mut description = server.get("/api/openapi.json").expect(200);
    close(&mut description["components"]);
    let described = Described(description);
    let get = |path: &str, form: &str| described.agrees("get", form, "200", &server.get(path).expect(200));
    let post = |path: &str, form: &str, status: u16, body: &Value| {
        let answer = server.post(path, body).expect(status);
        described.agrees("post", form, &status.to_string(), &answer);
        answer
    };
    post("/api/v1/handoffs", "/api/v1/handoffs", 201, &request("csv-07", "finder"));
    post("/api/v1/handoffs", "/api/v1/handoffs", 200, &request("csv-07", "finder"));
    post("/api/v1/handoffs", "/api/v1/handoffs", 422, &json!({ "to": "finder", "document": report("a", "blocked") }));
    let claimed = post("/api/v1/claims", "/api/v1/claims", 200, &json!({ "agent": "finder", "wait": "20s" }));
    let fence = &claimed["claims"][0]["fence"];
    let beat = json!({ "fence": fence });
    post("/api/v1/handoffs/csv-07/acknowledgment", "/api/v1/handoffs/{id}/acknowledgment", 200, &beat);
    post("/api/v1/handoffs/csv-07/heartbeat", "/api/v1/handoffs/{id}/heartbeat", 200, &beat);
    get("/api/v1/handoffs/csv-07", "/api/v1/handoffs/{id}");
    let failed = json!({ "fence": fence, "code": "TIMEOUT", "message": "late", "transient": false });
    post("/api/v1/handoffs/csv-07/failure", "/api/v1/handoffs/{id}/failure", 200, &failed);
    post("/api/v1/handoffs/csv-07/requeue", "/api/v1/handoffs/{id}/requeue", 200, &json!({ "note": "once more" }));
    let again = post("/api/v1/claims", "/api/v1/claims", 200, &json!({ "agent": "finder", "wait": "20s" }));
    let handed_in = json!({ "fence": again["claims"][0]["fence"], "document": report("csv-07", "needs_review") });
    post("/api/v1/handoffs/csv-07/report", "/api/v1/handoffs/{id}/report", 200, &handed_in);
    post("/api/v1/runs", "/api/v1/runs", 201, &json!({ "workflow": "gates", "id": "t" }));
    server.until("/api/v1/runs/t", |run| run["waiting"].as_array().is_some_and(|waiting| !waiting.is_empty()));
    get("/api/v1/gates", "/api/v1/gates");
    get("/api/v1/gates/t.ok.1", "/api/v1/gates/{id}");
    get("/api/v1/handoffs/t.build.1", "/api/v1/handoffs/{id}");
    get("/api/v1/handoffs/t.ok.1", "/api/v1/handoffs/{id}");
    let shown = server.get("/api/v1/gates/t.ok.1").expect(200)["gate"]["digest"].clone();
    let approve = json!({ "decision": "approve", "shown": shown });
    post("/api/v1/gates/t.ok.1/decision", "/api/v1/gates/{id}/decision", 200, &approve);
    server.until("/api/v1/agents/gates%2Fqa", |agent| agent["agent"]["handoffs"]["pending"] == 1);
    for (path, form) in [
        ("/api/v1/handoffs", "/api/v1/handoffs"),
        ("/api/v1/runs", "/api/v1/runs"),
        ("/api/v1/runs/t", "/api/v1/runs/{id}"),
        ("/api/v1/runs/t/journal", "/api/v1/runs/{id}/journal"),
        ("/api/v1/agents", "/api/v1/agents"),
        ("/api/v1/agents/gates%2Fdev", "/api/v1/agents/{agent}"),
        ("/api/v1/workflows", "/api/v1/workflows"),
        ("/api/v1/workflows/gates", "/api/v1/workflows/{name}"),
    ] {
        get(path, form);
    }
    let set = server.ask("PATCH", "/api/v1/agents/finder", &[], r#"{"paused": true}"#).expect(200);
    described.agrees("patch", "/api/v1/agents/{agent}", "200", &set);
    post("/api/v1/check", "/api/v1/check", 200, &json!({ "document": report("csv-07", "complete") }));
    post("/api/v1/runs/t/resume", "/api/v1/runs/{id}/resume", 202, &json!({}));
    post("/api/v1/runs/t/cancel", "/api/v1/runs/{id}/cancel", 200, &json!({ "reason": "no" }));
    post("/api/v1/runs/t/retry", "/api/v1/runs/{id}/retry", 202, &json!({}));
}

#[test]
fn run_that_waits_at_a_gate_is_not_sent_again_to_whoever_has_it() {
    let flow = "name: gates\nagents: {dev: {command: [./dev.sh]}}\nphases: [{id: build, agent: dev}, {id: ok, gate: {name: 'Ship it?', items: [the parser]}}]\n";
    let premises = Premises::new().workflow(flow, "report");
    let approver = premises.token(&["--role", "approver"]);
    let mut server = premises.serve_flow();
    server.as_owner_of(&approver);
    server.post("/api/v1/runs", &json!({ "workflow": "gates", "id": "t" })).expect(201);
    server.until("/api/v1/runs/t", |run| run["waiting"].as_array().is_some_and(|waiting| !waiting.is_empty()));
    let tag = server.get("/api/v1/runs/t").header("etag").expect("a tag").to_owned();
    for _ in 0..3 {
        let again = server.ask("GET", "/api/v1/runs/t", &[("If-None-Match", &tag)], "");
        assert_eq!((again.status, again.text.as_str()), (304, ""), "only the time has changed");
    }
    server.post("/api/v1/runs/t/cancel", &json!({ "reason": "no" })).expect(200);
    assert_eq!(server.ask("GET", "/api/v1/runs/t", &[("If-None-Match", &tag)], "").status, 200, "it was cancelled");
}
