//! Servers that are killed: nothing that was accepted is lost, and another one goes on.

use baton_testbed::PostgresServer;
use serde_json::{Value, json};

use crate::client::{Client, LONG, Premises, report, request};

const SLOW: &str = "name: slow\nagents: {dev: {command: [./dev.sh], retry: {max_retries: 5, delay: 0s}}}\n\
    phases: [{id: a, agent: dev}, {id: b, agent: dev}]\n";

/// Waits in the first phase until a file is there that the test makes.
const WAITS: &str = "touch begun\ncase $BATON_HANDOFF_ID in *.a.*) until test -e go; do :; done;; esac\nreport";

fn numbers(server: &Client) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    let mut after = String::new();
    loop {
        let page = server.get(&format!("/api/v1/handoffs?limit=50{after}")).expect(200);
        let handoffs = page["handoffs"].as_array().expect("a list");
        ids.extend(handoffs.iter().filter_map(|handoff| handoff["id"].as_str()).map(str::to_owned));
        match page["next"].as_str() {
            Some(next) => after = format!("&after={next}"),
            None => return ids,
        }
    }
}

fn nothing_accepted_is_lost(premises: &Premises) {
    let mut server = premises.serve();
    let accepted: Vec<String> = std::thread::scope(|scope| {
        let sender = |worker: usize| {
            let client = &server.client;
            move || -> Vec<String> { (0..20).map(|number| client.send(&format!("h-{worker}-{number}"))).collect() }
        };
        let senders: Vec<_> = (0..4).map(|worker| scope.spawn(sender(worker))).collect();
        senders.into_iter().flat_map(|sender| sender.join().expect("it sends")).collect()
    });
    let (claimed, fence) = server.claim();
    server.process.kill();
    let server = premises.serve();
    let mut found = numbers(&server);
    let mut wanted = accepted.clone();
    found.sort();
    wanted.sort();
    assert_eq!(found, wanted);
    let body = json!({ "fence": fence, "document": report(&claimed, "complete") });
    let done = server.post(&format!("/api/v1/handoffs/{claimed}/report"), &body).expect(200);
    assert_eq!(done["handoff"]["state"], "completed", "a claim outlives the server that gave it");
}

#[test]
fn killed_server_on_sqlite_has_lost_nothing() {
    nothing_accepted_is_lost(&Premises::new());
}

#[test]
fn killed_server_on_postgresql_has_lost_nothing() {
    nothing_accepted_is_lost(&Premises::with_store(&PostgresServer::shared().new_database()));
}

#[test]
fn two_servers_on_one_postgresql_share_the_work() {
    let premises = Premises::with_store(&PostgresServer::shared().new_database());
    let (one, other) = (premises.serve(), premises.serve());
    let client = &other.client;
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| client.claim());
        one.send("csv-07");
        let (id, fence) = waiting.join().expect("it claims");
        let body = json!({ "fence": fence, "document": report(&id, "complete") });
        one.post("/api/v1/handoffs/csv-07/report", &body).expect(200);
    });
    let nothing = other.post("/api/v1/claims", &json!({ "agent": "finder" })).expect(200);
    assert_eq!(nothing["claims"], json!([]), "nobody gets it twice");
    assert_eq!(other.get("/api/v1/handoffs/csv-07").expect(200)["handoff"]["state"], "completed");
}

/// One server knows a run from a claim, the other takes it on: whoever claims at the first is told what came in at the second.
#[test]
fn claim_at_one_server_is_briefed_with_what_was_handed_over_at_the_other() {
    let flow = "name: relay\nagents: {one: {queue: true}, two: {queue: true}, three: {queue: true}}\n\
        phases: [{id: design, agent: one}, {id: build, agent: two}, {id: review, agent: three}]\n";
    let premises = Premises::with_store(&PostgresServer::shared().new_database()).workflow(flow, "");
    let (knows, drives) = (premises.serve(), premises.serve_flow());
    drives.post("/api/v1/runs", &json!({ "workflow": "relay", "id": "t" })).expect(201);
    let claimed = |agent: &str| {
        let wanted = json!({ "agent": format!("relay/{agent}"), "wait": "40s" });
        knows.post("/api/v1/claims", &wanted).expect(200)["claims"][0].clone()
    };
    let handed_in = |claim: &Value, summary: &str| {
        let id = claim["handoff"]["id"].as_str().expect("an id");
        let mut document = report(id, "complete");
        document["summary"] = summary.into();
        let body = json!({ "fence": claim["fence"], "document": document });
        drives.post(&format!("/api/v1/handoffs/{id}/report"), &body).expect(200);
    };
    let prompt = |claim: &Value| claim["prompt"].as_str().expect("a prompt").to_owned();
    let (first, second) = ("Designed a parser with seven states.", "Built the seven states in src/parser.rs.");
    let design = claimed("one");
    assert!(!prompt(&design).contains(first));
    handed_in(&design, first);
    let build = claimed("two");
    assert!(prompt(&build).contains(first), "{}", prompt(&build));
    handed_in(&build, second);
    let review = claimed("three");
    assert!(prompt(&review).contains(second), "{}", prompt(&review));
}

fn goes_on_elsewhere(premises: &Premises) {
    let mut one = premises.serve_flow();
    one.post("/api/v1/runs", &json!({ "workflow": "slow", "id": "t" })).expect(201);
    one.until("/api/v1/runs/t", |run| run["going_on"][0]["phase"] == "a");
    let other = premises.serve_flow();
    one.process.kill();
    let is_taken = |run: &Value| run["driven_by"].as_str().is_some_and(|driver| driver.starts_with("server "));
    other.until("/api/v1/runs/t", is_taken);
    premises.scratch.write("workspace/go", "");
    let done = other.until("/api/v1/runs/t", |run| run["state"] == "completed");
    assert_eq!(done["phases"].as_array().map(Vec::len), Some(2));
}

#[test]
fn run_of_a_killed_server_goes_on_in_another_on_sqlite() {
    goes_on_elsewhere(&Premises::new().workflow(SLOW, WAITS));
}

#[test]
fn run_of_a_killed_server_goes_on_in_another_on_postgresql() {
    goes_on_elsewhere(&Premises::with_store(&PostgresServer::shared().new_database()).workflow(SLOW, WAITS));
}

/// SQLite itself goes on with a file that has no name any more: what is accepted then is nowhere after the last process has ended.
#[test]
fn server_whose_store_was_removed_or_replaced_says_so_and_does_nothing_any_more() {
    let premises = Premises::new();
    let server = premises.serve();
    server.send("csv-07");
    let (path, kept) = (premises.scratch.path("baton.db"), premises.scratch.path("kept.db"));
    let nothing_goes = || {
        assert_eq!(server.post("/api/v1/handoffs", &request("csv-08", "finder")).problem(503), "store_gone");
        assert_eq!(server.post("/api/v1/claims", &json!({ "agent": "finder" })).problem(503), "store_gone");
        assert_eq!(server.get("/api/v1/handoffs/csv-07").problem(503), "store_gone");
        assert_eq!(server.get("/readyz").problem(503), "store_gone");
        assert_eq!(server.get("/runs").status, 503);
    };
    std::fs::rename(&path, &kept).expect("it is there");
    nothing_goes();
    let stderr = server.process.stderr.as_ref().expect("a pipe");
    stderr.find("the file was removed or renamed after it was opened", LONG).expect("the server says so");
    std::fs::write(&path, "another file").expect("our own folder");
    nothing_goes();
    std::fs::rename(&kept, &path).expect("it is back");
    stderr.find("the store can be used again", LONG).expect("the server says so");
    assert_eq!(server.get("/api/v1/handoffs/csv-07").expect(200)["handoff"]["state"], "pending");
}
