//! Two servers on one PostgreSQL: whoever looks at one sees what the other does, and is not sent away when one of them dies.

use baton_testbed::PostgresServer;
use serde_json::json;

use crate::balancer::Balancer;
use crate::browser::{Driver, Settings};
use crate::client::Premises;
use crate::stage::{GATE, Stage};

const SLOW: &str = "name: slow\nagents: {dev: {command: [./dev.sh], retry: {max_retries: 5, delay: 0s}}}\n\
    phases: [{id: design, agent: dev}, {id: build, agent: dev}]\n";

/// Waits in each phase until a file is there that the test makes.
const WAITS: &str = "case $BATON_HANDOFF_ID in *.design.*) until test -e designed; do :; done;; *) until test -e built; do :; done;; esac\nreport";

fn on_postgresql(workflow: &str, agent: &str) -> Stage {
    Stage::on(Premises::with_store(&PostgresServer::shared().new_database()).workflow(workflow, agent))
}

#[test]
fn run_of_a_killed_server_goes_on_before_the_eyes_of_whoever_looks_at_the_other() {
    let mut stage = on_postgresql(SLOW, WAITS);
    stage.server.post("/api/v1/runs", &json!({ "workflow": "slow", "id": "t" })).expect(201);
    stage.server.until("/api/v1/runs/t", |run| run["going_on"][0]["phase"] == "design");
    let mut other = stage.premises.serve_flow();
    other.as_owner_of(&stage.ana);
    let driver = Driver::start();
    let ana = driver.open("ana", &Settings::default());
    ana.log_in(&format!("http://{}/runs/t", other.address), &stage.ana);
    ana.until("#run-state", "running");
    ana.run("window.isSamePage = true");
    stage.premises.scratch.write("workspace/designed", "");
    ana.until("#run-timeline", "build");
    stage.server.process.kill();
    other.until("/api/v1/runs/t", |run| run["going_on"][0]["attempt"] == 2);
    ana.until("#run-state", "running");
    stage.premises.scratch.write("workspace/built", "");
    ana.until("#run-state", "completed");
    assert_eq!(ana.run("return window.isSamePage"), true, "nothing was loaded again");
    assert_eq!(ana.text(".away"), "", "the server that is looked at was never away");
    ana.until("#run-timeline", "Wrote the parser for dates and its three tests.");
    assert_eq!(ana.complaints(), Vec::<String>::new());
}

#[test]
fn log_in_on_one_server_counts_on_the_other() {
    let mut stage = on_postgresql(GATE, "report");
    stage.asks("t");
    let other = stage.premises.serve_flow();
    let balancer = Balancer::before(&stage.server.address);
    let driver = Driver::start();
    let ana = driver.open("ana", &Settings::default());
    ana.log_in(&balancer.url("/inbox/t.ok.1"), &stage.ana);
    ana.until(".decide", "Leads to ship.");
    // The form was made by the first server; the second one takes it.
    balancer.lead_to(&other.address);
    stage.server.process.kill();
    ana.write("#decide-approve textarea", "Semicolons, please.");
    ana.click("#decide-approve button");
    ana.until("#run-state", "completed");
    ana.until(".who", "ana");
    stage.server.client.address.clone_from(&other.address);
    let decided = stage.decision("t");
    assert_eq!((&decided["by"], &decided["note"]), (&"ana".into(), &"Semicolons, please.".into()), "{decided:#}");
    // Whoever logs out at one is logged out everywhere.
    ana.click(".who form[action='/logout'] button");
    ana.until("h1", "Log in");
    ana.go(&balancer.url("/runs"));
    ana.until("h1", "Log in");
}
