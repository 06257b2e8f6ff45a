//! Asking an agent about its work from the inbox, and deciding with its answer.

use crate::browser::{Driver, Settings};
use crate::stage::Stage;

const FLOW: &str = "name: gates\nagents: {dev: {command: [./dev.sh]}}\nphases: [{id: build, agent: dev}]\n";

/// Wants its work to be looked at; says more when it is asked.
const REVIEWED: &str = "summary='Wrote the parser for dates and its three tests.'\n\
    grep -q 'leap seconds' \"$BATON_NOTES_FILE\" && summary='Leap seconds are read, and refused with their line.'\n\
    printf '{\"baton\": 1, \"document\": \"report\", \"id\": \"%s\", \"outcome\": \"needs_review\", \"summary\": \"%s\"}' \"$BATON_HANDOFF_ID\" \"$summary\" > \"$BATON_REPORT_FILE\"";

#[test]
fn agent_is_asked_from_the_inbox_and_its_answer_is_decided_about() {
    let stage = Stage::with(FLOW, REVIEWED);
    let first = stage.asks("t");
    let driver = Driver::start();
    let ana = driver.open("ana", &Settings::default());
    ana.log_in(&stage.url("/inbox"), &stage.ana);
    ana.click("#inbox-list .card-name");
    ana.until("main", "Wrote the parser for dates");
    ana.click("#decide-ask summary");
    ana.until("#decide-ask", "its next report comes back here");
    ana.write("#decide-ask textarea", "What about leap seconds?");
    ana.click("#decide-ask button");
    ana.until("h1", "t");
    let is_asked_again = |run: &serde_json::Value| {
        run["waiting"].as_array().is_some_and(|waiting| waiting.iter().any(|one| one["digest"] != first["digest"]))
    };
    stage.server.until("/api/v1/runs/t", is_asked_again);
    ana.until("#inbox-badge", "1");
    ana.go(&stage.url("/inbox"));
    ana.click("#inbox-list .card-name");
    ana.until("main", "Leap seconds are read, and refused with their line.");
    ana.until("#since h2", "Since ana asked about it");
    ana.until("#since", "What about leap seconds?");
    ana.until("#since .plus", "Leap seconds are read");
    ana.click("#decide-approve button");
    ana.until("#run-state", "completed");
    assert_eq!(ana.complaints(), Vec::<String>::new());
}
