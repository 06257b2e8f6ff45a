//! Spans of a run that a server drives: the tree of run, phases and attempts, also of agents that come for their work, who are
//! told where they are in it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::client::{LONG, Premises, Running, report};
use crate::listener::HttpListener;
use crate::remote_machine::RemoteMachine;

const FLOW: &str = "name: team\nagents: {dev: {command: [./dev.sh], retry: {max_retries: 1, delay: 0s}}, qa: {queue: true}}\n\
    phases: [{id: build, agent: dev}, {id: test, agent: qa}, {id: ship, agent: qa}]\n";

/// Fails the first time.
const FAILS_ONCE: &str = "echo \"${TRACEPARENT:-none}\" >> traces\ntest \"$BATON_ATTEMPT\" = 1 && exit 75\nreport";

const WORKS: &str = "cat > /dev/null\necho \"${TRACEPARENT:-none}\" > trace\n\
    printf '{\"baton\": 1, \"document\": \"report\", \"id\": \"%s\", \"outcome\": \"complete\", \
    \"summary\": \"Tried every date of the year, and found nothing.\"}' \"$BATON_HANDOFF_ID\" > \"$BATON_REPORT_FILE\"";

/// What the agents of a run were told.
struct Told {
    by_driver: Vec<String>,
    by_claim: Value,
    by_worker: String,
}

fn serve(configuration: &str) -> (Premises, Running) {
    let premises = Premises::new().workflow(FLOW, FAILS_ONCE);
    premises.scratch.write("baton.toml", configuration);
    let token = premises.token(&["--role", "approver"]);
    let mut server = premises.serve_flow();
    server.as_owner_of(&token);
    (premises, server)
}

/// Drives a run to its end: one phase is claimed over HTTP, another one by a worker on another machine.
fn run(premises: &Premises, server: &Running) -> Told {
    server.post("/api/v1/runs", &json!({ "workflow": "team", "id": "t" })).expect(201);
    let claimed = server.post("/api/v1/claims", &json!({ "agent": "team/qa", "wait": "60s" })).expect(200);
    let claim = &claimed["claims"][0];
    let body = json!({ "fence": claim["fence"], "document": report("t.test.1", "complete") });
    server.post("/api/v1/handoffs/t.test.1/report", &body).expect(200);
    let agent = premises.token(&["--role", "agent", "--agent", "qa"]);
    let machine = RemoteMachine::of(server, Some(&agent));
    let mut worker = machine.start(&["worker", "--agent", "team/qa", "--once", "--", "sh", "-c", WORKS]);
    assert!(
        worker.wait(LONG).is_some_and(|status| status.success()),
        "{:?}",
        worker.stderr.as_ref().map(|log| log.rest(LONG))
    );
    server.until("/api/v1/runs/t", |run| run["state"] == "completed");
    Told {
        by_driver: premises.scratch.read("workspace/traces").lines().map(str::to_owned).collect(),
        by_claim: claim["traceparent"].clone(),
        by_worker: machine.scratch.read("trace").trim().to_owned(),
    }
}

#[test]
fn collector_of_a_server_gets_the_tree_and_every_agent_its_place_in_it() {
    let collector = HttpListener::answering(&["503 Service Unavailable", "200 OK"]);
    let (premises, server) = serve(&format!("[telemetry]\nendpoint = \"{}\"\n", collector.url));
    let told = run(&premises, &server);
    let mut spans: BTreeMap<String, Value> = BTreeMap::new();
    let is_whole = |spans: &BTreeMap<String, Value>| spans.values().any(|span| span["name"] == "invoke_workflow team");
    while !is_whole(&spans) {
        let request = collector.next();
        assert_eq!((request.path.as_str(), request.header("content-type")), ("/v1/traces", "application/json"));
        let body: Value = serde_json::from_str(&request.body).expect("JSON");
        for span in body["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().expect("spans") {
            spans.insert(span["spanId"].as_str().expect("an id").to_owned(), span.clone());
        }
    }
    let named = |name: &str| -> Vec<&Value> { spans.values().filter(|span| span["name"] == name).collect() };
    let root = named("invoke_workflow team")[0];
    assert!(root.get("parentSpanId").is_none());
    let attempts_of = |phase: &str| -> Vec<String> {
        let phase = named(&format!("phase {phase}"))[0];
        assert_eq!(phase["parentSpanId"], root["spanId"]);
        let mut inside: Vec<&Value> = spans.values().filter(|span| span["parentSpanId"] == phase["spanId"]).collect();
        inside.sort_by_key(|span| span["startTimeUnixNano"].as_str().map(str::to_owned));
        let place = |span: &&Value| {
            assert!(span["name"].as_str().is_some_and(|name| name.starts_with("invoke_agent ")), "{span:#}");
            let text = |key: &str| span[key].as_str().expect("hex").to_owned();
            format!("00-{}-{}-01", text("traceId"), text("spanId"))
        };
        inside.iter().map(place).collect()
    };
    assert_eq!(attempts_of("build"), told.by_driver, "two attempts");
    assert_eq!(json!(attempts_of("test")), json!([told.by_claim]));
    assert_eq!(attempts_of("ship"), [told.by_worker]);
    assert!(spans.values().all(|span| span["traceId"] == root["traceId"]));
    assert_eq!(spans.len(), 8, "one run, three phases, four attempts: {spans:#?}");
}

#[test]
fn nobody_is_told_of_a_trace_that_nobody_collects() {
    let (premises, server) = serve("");
    let told = run(&premises, &server);
    assert_eq!((told.by_driver, told.by_worker.as_str()), (vec!["none".to_owned(); 2], "none"));
    assert_eq!(told.by_claim, Value::Null);
}
