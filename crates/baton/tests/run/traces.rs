//! Spans of a run, as a collector gets them.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::listener::HttpListener;
use crate::site::{Ended, RUN, Site, end};

const FLOW: &str = "name: w\nagents: {dev: {command: [./dev.py], retry: {max_retries: 1, delay: 0s}}}\n\
    phases: [{id: build, agent: dev}]\n";

/// Fails the first time; tells the trace that it was given.
const FAILS_ONCE: &str = "with open('traces', 'a') as file: file.write(os.environ.get('TRACEPARENT', 'none') + '\\n')\n\
    if os.environ['BATON_ATTEMPT'] == '1': sys.exit(75)\nreport()";

fn run(site: &Site, variables: &[(&str, &str)]) -> Ended {
    let arguments = ["run", "flow", "--workspace", "workspace", "--id", RUN, "--no-input"];
    let mut command = site.command(&arguments);
    command.envs(variables.iter().copied());
    let mut process = baton_testbed::Process::spawn(&mut command);
    process.close_input();
    end(&mut process)
}

fn attribute<'s>(span: &'s Value, key: &str) -> Option<&'s str> {
    let found = span["attributes"].as_array()?.iter().find(|attribute| attribute["key"] == key)?;
    found["value"].as_object()?.values().next()?.as_str()
}

#[test]
fn collector_gets_the_tree_of_a_run_and_agents_are_told_where_they_are_in_it() {
    let collector = HttpListener::answering(&["503 Service Unavailable", "200 OK"]);
    let site = Site::new().workflow(FLOW).agent("dev", FAILS_ONCE);
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url.as_str()),
        ("OTEL_SERVICE_NAME", "ours"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "x-key=k%20y"),
    ];
    let ended = run(&site, &variables);
    assert_eq!((ended.code, ended.stderr.contains("warning")), (Some(0), false), "{}", ended.stderr);
    let mut spans: BTreeMap<String, Value> = BTreeMap::new();
    let requests = collector.so_far();
    assert!(requests.len() >= 2, "what was refused is sent again");
    for request in requests {
        assert_eq!((request.path.as_str(), request.header("content-type")), ("/v1/traces", "application/json"));
        assert_eq!(request.header("x-key"), "k y");
        let body: Value = serde_json::from_str(&request.body).expect("JSON");
        let sent = &body["resourceSpans"][0];
        assert_eq!(sent["resource"]["attributes"][0]["value"]["stringValue"], "ours");
        for span in sent["scopeSpans"][0]["spans"].as_array().expect("spans") {
            spans.insert(span["spanId"].as_str().expect("an id").to_owned(), span.clone());
        }
    }
    let named = |name: &str| -> Vec<&Value> { spans.values().filter(|span| span["name"] == name).collect() };
    let (root, phase) = (named("invoke_workflow w")[0], named("phase build")[0]);
    assert!(root.get("parentSpanId").is_none());
    assert_eq!(phase["parentSpanId"], root["spanId"]);
    let mut attempts = named("invoke_agent dev");
    attempts.sort_by_key(|span| span["startTimeUnixNano"].as_str().map(str::to_owned));
    assert_eq!((attempts.len(), spans.len()), (2, 4), "{spans:#?}");
    for attempt in &attempts {
        assert_eq!(attempt["parentSpanId"], phase["spanId"]);
        assert_eq!(attempt["traceId"], root["traceId"]);
        assert_eq!(attribute(attempt, "gen_ai.operation.name"), Some("invoke_agent"));
        assert_eq!(attribute(attempt, "gen_ai.agent.name"), Some("dev"));
    }
    assert_eq!((&attempts[0]["status"]["code"], &attempts[1]["status"]), (&Value::from(2), &serde_json::json!({})));
    assert!(attribute(attempts[0], "error.type").is_some());
    let told = |attempt: &Value| {
        let text = |key: &str| attempt[key].as_str().expect("hex").to_owned();
        format!("00-{}-{}-01", text("traceId"), text("spanId"))
    };
    let traces = site.scratch.read("workspace/traces");
    assert_eq!(traces.lines().collect::<Vec<_>>(), [told(attempts[0]), told(attempts[1])]);
}

#[test]
fn run_does_not_depend_on_a_collector_that_is_away_and_agents_know_nothing_without_one() {
    let site = Site::new().workflow(FLOW).agent("dev", FAILS_ONCE);
    // Nobody listens on this port.
    site.scratch.write("baton.toml", "[telemetry]\nendpoint = \"http://127.0.0.1:9\"\n");
    let ended = run(&site, &[]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stderr.contains("4 spans were not delivered"), "{}", ended.stderr);
    let site = Site::new().workflow(FLOW).agent("dev", FAILS_ONCE);
    let ended = run(&site, &[]);
    assert_eq!((ended.code, site.scratch.read("workspace/traces").as_str()), (Some(0), "none\nnone\n"));
    let site = Site::new().workflow(FLOW).agent("dev", FAILS_ONCE);
    let grpc = [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9"), ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")];
    let ended = run(&site, &grpc);
    assert_eq!(ended.code, Some(0));
    assert!(ended.stderr.contains("no spans are sent: OTLP over gRPC is not supported"), "{}", ended.stderr);
}
