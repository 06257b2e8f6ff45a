//! Deciding on a phone: every step with a thumb on a screen of 360 pixels, nothing wider than it, nothing too small to hit.

use serde_json::{Value, json};

use crate::browser::{Browser, Driver, Settings};
use crate::looks::AXE;
use crate::stage::Stage;

/// Asks before it builds, and hands in a long line.
const AGENT: &str = "case $BATON_HANDOFF_ID in asks*) grep -q semicolon \"$BATON_NOTES_FILE\" || {\n\
    printf '{\"baton\": 1, \"document\": \"report\", \"id\": \"%s\", \"outcome\": \"needs_clarification\", \"summary\": \"Two separators are possible.\", \
    \"questions\": [{\"question\": \"Which separator?\", \"options\": [\"semicolon\", \"comma\"]}]}' \"$BATON_HANDOFF_ID\" > \"$BATON_REPORT_FILE\"; exit; };; esac\n\
    seq 1 400 | tr '\\n' ';' > notes.txt; echo \"visit of $BATON_HANDOFF_ID\" >> notes.txt\n\
    printf '{\"baton\": 1, \"document\": \"report\", \"id\": \"%s\", \"outcome\": \"complete\", \"summary\": \"Wrote the notes of %s.\", \
    \"artifacts\": [{\"path\": \"notes.txt\"}]}' \"$BATON_HANDOFF_ID\" \"$BATON_HANDOFF_ID\" > \"$BATON_REPORT_FILE\"";

const FLOW: &str = "name: gates\nagents: {dev: {command: [./dev.sh]}}\n\
    phases: [{id: build, agent: dev}, {id: ok, gate: {name: 'Ship it?', items: [the notes]}, on_failure: build}]\n";

/// Looks whether a page fits on the screen of a phone, and whether fingers hit what can be touched: at least 24 pixels, or as
/// much room around it, or a link in a sentence.
pub(crate) fn fits(phone: &Browser<'_>, page: &str) {
    let widths =
        phone.run("const page = document.scrollingElement; return [page.scrollWidth, page.clientWidth, innerWidth]");
    assert_eq!((&widths[0], &widths[2]), (&widths[1], &json!(360)), "{page} is wider than the screen");
    phone.run(AXE);
    let found = phone.run_to_the_end(
        "const done = arguments[arguments.length - 1]; axe.run({ runOnly: ['target-size'] }).then(done, (e) => done(String(e)))",
    );
    assert!(found["passes"][0]["nodes"].as_array().is_some_and(|hit| !hit.is_empty()), "{page}: {found}");
    let violations = found["violations"].as_array().unwrap_or_else(|| panic!("{page}: {found}"));
    let nodes = violations.iter().flat_map(|wrong| wrong["nodes"].as_array().into_iter().flatten());
    let told: Vec<String> = nodes.map(|node| format!("{}: {}", node["html"], node["failureSummary"])).collect();
    assert_eq!(told, Vec::<String>::new(), "{page}");
}

#[test]
fn work_is_decided_about_on_a_phone() {
    let stage = Stage::with(FLOW, AGENT);
    stage.asks("t");
    let driver = Driver::start();
    let phone = driver.open("phone", &Settings { width: Some(360), ..Settings::default() });
    phone.log_in(&stage.url("/inbox"), &stage.ana);
    phone.until("#inbox-list", "t: Ship it?");
    fits(&phone, "the inbox");
    phone.click("#inbox-list .card-name");
    phone.until("main", "Wrote the notes of t.build.1.");
    fits(&phone, "the question");
    phone.click(".to-decision");
    let seen = "const box = document.querySelector('#decision').getBoundingClientRect(); return box.top >= 0 && box.top < innerHeight";
    assert_eq!(phone.run(seen), true, "the button leads to the decision");
    phone.click("#decide-reject summary");
    phone.write("#decide-reject textarea", "Shorter, please.");
    fits(&phone, "the question with an open form");
    phone.click("#decide-reject button");
    phone.until("h1", "t");
    stage.server.until("/api/v1/runs/t", |run| run["waiting"][0]["id"] == "t.ok.2");
    phone.until("#run-head", "Ship it?");
    fits(&phone, "the run");
    phone.click("#run-head .lead a");
    phone.until("#since", "Shorter, please.");
    fits(&phone, "the question that is asked again");
    phone.write("#decide-approve textarea", "Much better.");
    phone.click("#decide-approve button");
    phone.until("#run-state", "completed");
    fits(&phone, "the run that is done");
    let decided: Vec<Value> = stage.journal("t").into_iter().filter(|event| event["event"] == "decided").collect();
    assert_eq!(decided.len(), 2, "{decided:#?}");
    assert!(decided[0].to_string().contains("Shorter, please."), "{decided:#?}");
    assert!(decided[1].to_string().contains("Much better."), "{decided:#?}");
    assert_eq!(phone.complaints(), Vec::<String>::new());
}

#[test]
fn agent_is_answered_on_a_phone() {
    let stage = Stage::with(FLOW, AGENT);
    stage.asks("asks");
    let driver = Driver::start();
    let phone = driver.open("phone", &Settings { width: Some(360), ..Settings::default() });
    phone.log_in(&stage.url("/inbox"), &stage.ana);
    phone.click("#inbox-list .card-name");
    phone.until("main", "Which separator?");
    fits(&phone, "the question");
    phone.click("input[value=semicolon]");
    phone.click("#decide-answer button");
    phone.until("#run-head", "Ship it?");
    fits(&phone, "the run");
    assert!(stage.decision("asks").to_string().contains("semicolon"));
    assert_eq!(phone.complaints(), Vec::<String>::new());
}
