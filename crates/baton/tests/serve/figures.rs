//! Figures of agents: the same in lists, alone, in the page and for Prometheus, whoever starts the agent.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::client::{Premises, Running, report, request};

/// A run of `flow` whose only phase fails for good when its id begins with `bad`.
fn ended(server: &Running, premises: &Premises, workflow: &str, id: &str) {
    premises.scratch.folder(format!("workspace/{id}"));
    server.post("/api/v1/runs", &json!({ "workflow": workflow, "id": id, "workspace": id })).expect(201);
    server.until(&format!("/api/v1/runs/{id}"), |run| !run["finished_at"].is_null());
}

fn text(server: &Running, path: &str) -> String {
    server.ask("GET", path, &[("Accept", "*/*")], "").text
}

/// Returns the lines of the figures for Prometheus, once one of them is as wanted. The server rings nobody for that, so we ask.
fn metrics(server: &Running, wanted: &str) -> String {
    let begun = std::time::Instant::now();
    loop {
        let figures = text(server, "/metrics");
        if figures.contains(wanted) {
            return figures;
        }
        assert!(begun.elapsed() < crate::client::LONG, "no {wanted}: {figures}");
        std::thread::yield_now();
    }
}

#[test]
fn agent_that_a_driver_starts_has_one_name_and_one_set_of_figures() {
    let flow = "name: team\nagents: {dev: {command: [./dev.sh], retry: {max_retries: 0}}}\n\
        phases: [{id: build, agent: dev, on_failure: stop}]\n";
    let premises =
        Premises::new().workflow(flow, "case $BATON_HANDOFF_ID in bad*) echo no luck >&2; exit 3;; esac\nreport");
    let server = premises.serve_flow();
    ended(&server, &premises, "team", "good-1");
    ended(&server, &premises, "team", "bad-1");
    let listed = server.get("/api/v1/agents").expect(200);
    let named = |agent: &&Value| agent["agent"] == "team/dev";
    let listed =
        listed["agents"].as_array().and_then(|agents| agents.iter().find(named)).cloned().expect("it is there");
    let alone = server.get("/api/v1/agents/team%2Fdev").expect(200)["agent"].clone();
    assert_eq!(listed["handoffs"], alone["handoffs"]);
    assert_eq!((&alone["handoffs"]["completed"], &alone["handoffs"]["failed"]), (&json!(1), &json!(1)));
    let recent = &alone["recent"];
    assert_eq!(
        (&recent["finished"], &recent["first_pass"], &recent["first_pass_share"]),
        (&json!(2), &json!(1), &json!(0.5))
    );
    assert!(
        text(&server, "/agents")
            .contains("team/dev  0 working · 0 queued\n  1 of 2 ended were completed, 1 the first time")
    );
    let figures = metrics(&server, r#"baton_finished_total{agent="team/dev",state="failed"} 1"#);
    for line in [
        r#"baton_handoffs{agent="team/dev",state="completed"} 1"#,
        r#"baton_first_pass_total{agent="team/dev"} 1"#,
        r#"baton_finished_total{agent="team/dev",state="completed"} 1"#,
    ] {
        assert!(figures.contains(line), "{line}: {figures}");
    }
    assert!(!figures.contains("@") && !figures.contains(r#"agent="dev""#), "no other name: {figures}");
    assert_eq!(server.get("/api/v1/agents/nobody").problem(404), "unknown");
    let hint = server.get("/api/v1/agents/dev").expect(404)["hint"].clone();
    assert_eq!(hint, "in workflows it is called team/dev");
    let own = text(&server, "/agents/team%2Fdev");
    assert!(own.contains("good-1.build.1") && own.contains("bad-1.build.1"), "{own}");
}

#[test]
fn work_that_was_sent_back_is_not_accepted_first_time() {
    let premises = Premises::new();
    let approver = premises.token(&["--role", "approver", "--name", "ana"]);
    let mut server = premises.serve();
    server.as_owner_of(&approver);
    server.post("/api/v1/handoffs", &request("csv-07", "finder")).expect(201);
    for decision in ["reject", "approve"] {
        let (_, fence) = server.claim();
        let body = json!({ "fence": fence, "document": report("csv-07", "needs_review") });
        server.post("/api/v1/handoffs/csv-07/report", &body).expect(200);
        let shown = server.get("/api/v1/gates/csv-07").expect(200)["gate"]["digest"].clone();
        let mut sent = json!({ "decision": decision, "shown": shown });
        if decision == "reject" {
            sent["text"] = "Name the column.".into();
        }
        server.post("/api/v1/gates/csv-07/decision", &sent).expect(200);
    }
    let recent = server.get("/api/v1/agents/finder").expect(200)["agent"]["recent"].clone();
    assert_eq!((&recent["completed"], &recent["first_pass"], &recent["attempts"]), (&json!(1), &json!(0), &json!(2)));
    let page = server.ask("GET", "/agents/finder", &[("Accept", "text/html")], "").text;
    assert!(page.contains("href=\"/runs/csv-07/handoffs/csv-07\""), "also what belongs to no run: {page}");
}

#[test]
fn what_failed_attempts_have_spent_is_counted_everywhere() {
    let flow = "name: spends\nsandbox: off\nagents: {dev: {profile: claude, retry: {max_retries: 0}}}\n\
        phases: [{id: build, agent: dev, on_failure: stop}]\n";
    let premises = Premises::new().workflow(flow, "");
    let said = r#"{"type":"result","subtype":"error_during_execution","is_error":true,"result":"No.","total_cost_usd":0.5,"usage":{"input_tokens":1000,"output_tokens":24}}"#;
    premises.scratch.write("bin/claude", format!("#!/bin/sh\ncat > /dev/null\necho '{said}'\nexit 1\n"));
    fs::set_permissions(premises.scratch.path("bin/claude"), fs::Permissions::from_mode(0o755)).expect("our own file");
    let server = premises.serve_flow();
    ended(&server, &premises, "spends", "t");
    let figures = metrics(&server, r#"baton_dollars_spent_total{agent="spends/dev"} 0.5"#);
    assert!(figures.contains(r#"baton_tokens_spent_total{agent="spends/dev"} 1024"#), "{figures}");
    let recent = server.get("/api/v1/agents/spends%2Fdev").expect(200)["agent"]["recent"].clone();
    assert_eq!(
        (&recent["cost_micros"], &recent["tokens"], &recent["failed"]),
        (&json!(500_000), &json!(1024), &json!(1))
    );
}
