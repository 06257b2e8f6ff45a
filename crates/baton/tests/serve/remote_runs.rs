//! Runs that a server drives, begun and watched from another machine.

use crate::client::{LONG, Premises};
use crate::remote_machine::RemoteMachine;

const GATES: &str = "name: gates\ninputs: {feature: {required: true}}\nagents: {dev: {command: [./dev.sh]}}\n\
    phases: [{id: build, agent: dev}, {id: ok, gate: {items: [the parser]}}, {id: ship, agent: dev}]\n";

#[test]
fn run_is_begun_watched_decided_and_looked_at_from_elsewhere() {
    let premises = Premises::new().workflow(GATES, "report");
    let person = premises.token(&["--role", "approver", "--name", "ana"]);
    let server = premises.serve_flow();
    let ana = RemoteMachine::of(&server, Some(&person));
    ana.run(&["run", "gate"]).is(2, &["unknown workflow `gate`", "known here: gates"]);
    ana.run(&["run"]).is(2, &["name one: baton run NAME"]);
    ana.run(&["run", "gates"]).is(2, &["feature"]);
    let begun = ana.run(&["run", "gates", "--input", "feature=login", "--id", "t"]);
    begun.is(3, &["t is driven by the server", "t waits for a person: 1 question", "baton approve t.ok.1"]);
    assert!(begun.stdout.contains("build"), "{begun}");
    assert!(ana.does(&["runs"]).stdout.contains("gates"));
    assert!(ana.does(&["show", "t"]).stdout.contains("waits for a person"));
    assert!(ana.does(&["graph", "t"]).stdout.contains("build"));
    let inbox = ana.does(&["inbox", "--json"]).json();
    let digest = inbox["waiting"][0]["digest"].as_str().expect("a digest").to_owned();
    let mut watching = ana.start(&["resume", "t", "--wait", "--json"]);
    ana.does(&["approve", "t", "--yes", "--shown", &digest]);
    let told = watching.stdout.rest(LONG).expect("it ends");
    let end: serde_json::Value = serde_json::from_str(told.last().expect("a line")).expect("JSON");
    assert_eq!((end["event"].as_str(), end["end"].as_str()), (Some("ended"), Some("completed")), "{told:?}");
    assert!(watching.wait(LONG).is_some_and(|status| status.success()));
    let log = ana.does(&["log", "t"]).stdout;
    assert!(log.contains("ana") && log.contains("ship"), "{log}");
    ana.does(&["resume", "t"]).is(0, &["t is completed"]);
}

const FAILS: &str = "name: again\nagents: {dev: {command: [./dev.sh], retry: {max_retries: 0}}}\n\
    phases: [{id: design, agent: dev}, {id: build, agent: dev, on_failure: stop}]\n";

#[test]
fn failed_run_is_tried_again_and_one_is_called_off() {
    let premises =
        Premises::new().workflow(FAILS, "test -e tool || case $BATON_HANDOFF_ID in *.build.*) exit 1;; esac\nreport");
    let person = premises.token(&["--role", "approver"]);
    let server = premises.serve_flow();
    let ana = RemoteMachine::of(&server, Some(&person));
    let failed = ana.run(&["run", "again", "--id", "t"]);
    failed.is(1, &["t has failed"]);
    ana.run(&["resume", "t", "--from", "biuld"]).is(2, &["biuld"]);
    premises.scratch.write("workspace/tool", "");
    ana.does(&["retry", "t", "--note", "the tool is there"]).is(0, &["t is completed"]);
    ana.run(&["retry", "t"]).is(1, &[]);
    ana.run(&["cancel", "t"]).is(1, &["t"]);
}

#[test]
fn run_that_goes_on_can_be_called_off_from_elsewhere() {
    let premises = Premises::new().workflow(GATES, "report");
    let person = premises.token(&["--role", "approver"]);
    let server = premises.serve_flow();
    let ana = RemoteMachine::of(&server, Some(&person));
    ana.run(&["run", "gates", "--input", "feature=x", "--id", "t"]).is(3, &[]);
    assert!(ana.does(&["cancel", "t", "--reason", "dropped"]).stdout.starts_with("t cancelled"));
    assert!(ana.does(&["inbox"]).stderr.contains("nothing is waiting"));
}
