//! People in front of a real browser: they log in, watch, approve, reject, answer, and come too late.

use crate::browser::{Driver, Settings};
use crate::person::Person;
use crate::stage::{GATE, Stage};

#[test]
fn run_is_watched_live_and_approved() {
    let stage = Stage::new();
    let driver = Driver::start();
    let ana = driver.open("ana", &Settings::default());
    ana.log_in(&stage.url("/runs"), &stage.ana);
    ana.until("#runs-list", "No runs yet");
    ana.run("window.isSamePage = true");
    stage.asks("t");
    ana.until("#runs-list", "ok: Ship it?");
    ana.until("#runs-list .progress", "1/3");
    ana.until("#inbox-badge", "1");
    assert_eq!(ana.run("return window.isSamePage"), true, "nothing was loaded again");
    ana.click("#runs-list .why a");
    ana.until("h1", "Ship it?");
    ana.until(".decide", "Leads to ship.");
    ana.write("#decide-approve textarea", "Semicolons, please.");
    ana.click("#decide-approve button");
    ana.until("#run-state", "completed");
    assert_eq!(ana.address(), stage.url("/runs/t"));
    let decided = stage.decision("t");
    assert_eq!((&decided["by"], &decided["door"]), (&"ana".into(), &"http".into()), "{decided:#}");
    assert!(decided.to_string().contains("tok-"), "the journal names the token: {decided:#}");
    assert!(decided.to_string().contains("Semicolons, please."), "{decided:#}");
    assert_eq!(ana.complaints(), Vec::<String>::new());
}

#[test]
fn page_of_a_run_changes_while_somebody_looks_and_shows_what_an_agent_writes() {
    let waits = "case $BATON_HANDOFF_ID in *.ship.*) echo uploading the first part; until test -e go; do :; done;; esac\nreport";
    let stage = Stage::with(GATE, waits);
    let asked = stage.asks("t");
    let driver = Driver::start();
    let ana = driver.open("ana", &Settings::default());
    ana.log_in(&stage.url("/runs/t"), &stage.ana);
    ana.until("#run-state", "waiting for a person");
    ana.run("window.isSamePage = true");
    let body = serde_json::json!({ "decision": "approve", "shown": asked["digest"] });
    stage.server.post("/api/v1/gates/t.ok.1/decision", &body).expect(200);
    ana.until("#run-state", "running");
    ana.until("#run-timeline", "ship");
    assert_eq!(ana.run("return window.isSamePage"), true, "nothing was loaded again");
    ana.go(&stage.url("/runs/t/handoffs/t.ship.1"));
    ana.until("#output", "uploading the first part");
    stage.premises.scratch.write("workspace/t/go", "");
    ana.until("#handoff h1", "completed");
    assert_eq!(ana.complaints(), Vec::<String>::new());
}

#[test]
fn work_is_rejected_with_feedback() {
    let stage = Stage::new();
    stage.asks("t");
    let driver = Driver::start();
    let ana = driver.open("ana", &Settings::default());
    ana.log_in(&stage.url("/inbox/t.ok.1"), &stage.ana);
    ana.click("#decide-reject summary");
    ana.write("#decide-reject textarea", "Leap years are wrong.");
    ana.click("#decide-reject button");
    ana.until("h1", "t");
    stage.server.until("/api/v1/runs/t", |run| run["waiting"][0]["id"] == "t.ok.2");
    assert!(stage.decision("t").to_string().contains("Leap years are wrong."));
    ana.until("#run-timeline", "Leap years are wrong.");
}

#[test]
fn question_that_is_asked_again_shows_first_what_has_changed_since_the_last_decision() {
    let flow = "name: gates\nagents: {dev: {command: [./dev.sh]}}\n\
        phases: [{id: build, agent: dev}, {id: ok, gate: {name: 'Ship it?', items: [the notes]}, on_failure: build}]\n";
    let agent = "case $BATON_HANDOFF_ID in *.1) word=first; echo no more > old.txt;; *) word=second; echo news > new.txt; rm old.txt;; esac\n\
        printf 'title\\nthe %s draft\\n' $word > notes.txt; echo same > same.txt\n\
        files='{\"path\": \"notes.txt\"}, {\"path\": \"same.txt\"}'; test -e new.txt && files=\"$files, {\\\"path\\\": \\\"new.txt\\\"}\"\n\
        printf '{\"baton\": 1, \"document\": \"report\", \"id\": \"%s\", \"outcome\": \"complete\", \
        \"summary\": \"Wrote the %s draft of the notes.\", \"artifacts\": [%s]}' \"$BATON_HANDOFF_ID\" $word \"$files\" > \"$BATON_REPORT_FILE\"";
    let stage = Stage::with(flow, agent);
    stage.asks("t");
    let driver = Driver::start();
    let ana = driver.open("ana", &Settings::default());
    ana.log_in(&stage.url("/inbox/t.ok.1"), &stage.ana);
    ana.until("main", "the first draft");
    assert_eq!(ana.count("#since"), 0, "nobody has decided before");
    ana.click("#decide-reject summary");
    ana.write("#decide-reject textarea", "A second draft, please.");
    ana.click("#decide-reject button");
    stage.server.until("/api/v1/runs/t", |run| run["waiting"][0]["id"] == "t.ok.2");
    ana.go(&stage.url("/inbox/t.ok.2"));
    ana.until("#since h2", "Since ana rejected it");
    for words in ["A second draft, please.", "-the first draft", "+the second draft", "news", "1 file as before"] {
        ana.until("#since", words);
    }
    ana.until("#since", "- summary: Wrote the first draft of the notes.");
    let is_first = "return document.querySelector('.decision-page section') === document.querySelector('#since')";
    assert_eq!(ana.run(is_first), true);
    assert_eq!(ana.complaints(), Vec::<String>::new());
    let text = |path: &str| stage.server.ask("GET", path, &[("Accept", "*/*")], "");
    let told = text("/inbox/t.ok.2").text;
    assert!(told.contains("since ana rejected it: 3 files changed, 1 as before; see /inbox/t.ok.2/since\n"), "{told}");
    let changes = text("/inbox/t.ok.2/since").text;
    assert!(changes.contains("-the first draft\n+the second draft\n") && !changes.contains("same.txt"), "{changes}");
    assert!(text("/inbox/t.ok.2/since?path=new.txt").text.ends_with("news\n"));
    assert_eq!(text("/inbox/t.ok.2/since?path=same.txt").status, 404, "it has not changed");
}

#[test]
fn approval_of_what_has_changed_meanwhile_is_asked_again_with_the_change() {
    let agent = "echo first > notes.txt\nprintf '{\"baton\": 1, \"document\": \"report\", \"id\": \"%s\", \"outcome\": \"complete\", \
        \"summary\": \"Wrote the notes of the release.\", \"artifacts\": [{\"path\": \"notes.txt\"}]}' \
        \"$BATON_HANDOFF_ID\" > \"$BATON_REPORT_FILE\"";
    let stage = Stage::with(GATE, agent);
    let asked = stage.asks("t");
    stage.premises.scratch.write("workspace/t/notes.txt", "second\n");
    let body = serde_json::json!({ "decision": "approve", "shown": asked["digest"] });
    stage.server.post("/api/v1/gates/t.ok.1/decision", &body).expect(200);
    let digest = asked["digest"].clone();
    stage.server.until("/api/v1/runs/t", |run| {
        let asked = &run["waiting"][0]["digest"];
        asked.is_string() && *asked != digest
    });
    let page = Person::at(&stage.server).get("/inbox/t.ok.1").text;
    let since = page.split_once("id=\"since\"").and_then(|(_, rest)| rest.split_once("</section>")).expect("changes").0;
    assert!(since.contains("Since ana approved it"), "{since}");
    assert!(since.contains(">-first</span>") && since.contains(">+second</span>"), "{since}");
}

#[test]
fn question_of_an_agent_is_answered() {
    let asks = "grep -q semicolon \"$BATON_NOTES_FILE\" && { report; exit; }\n\
        printf '{\"baton\": 1, \"document\": \"report\", \"id\": \"%s\", \"outcome\": \"needs_clarification\", \"summary\": \"Two separators are possible.\", \
        \"questions\": [{\"question\": \"Which separator?\", \"options\": [\"semicolon\", \"comma\"]}]}' \"$BATON_HANDOFF_ID\" > \"$BATON_REPORT_FILE\"";
    let stage =
        Stage::with("name: gates\nagents: {dev: {command: [./dev.sh]}}\nphases: [{id: build, agent: dev}]\n", asks);
    stage.asks("t");
    let driver = Driver::start();
    let ana = driver.open("ana", &Settings::default());
    ana.log_in(&stage.url("/inbox"), &stage.ana);
    ana.click("#inbox-list .card-name");
    ana.until("main", "Which separator?");
    ana.click("input[value=semicolon]");
    ana.click("#decide-answer button");
    ana.until("#run-state", "completed");
    assert!(stage.decision("t").to_string().contains("semicolon"));
}

#[test]
fn whoever_comes_second_is_told_who_was_first_and_keeps_their_words() {
    let stage = Stage::new();
    stage.asks("t");
    let ben = stage.premises.token(&["--role", "approver", "--name", "ben"]);
    let driver = Driver::start();
    let (first, second) = (driver.open("ana", &Settings::default()), driver.open("ben", &Settings::default()));
    first.log_in(&stage.url("/inbox/t.ok.1"), &stage.ana);
    second.log_in(&stage.url("/inbox/t.ok.1"), &ben);
    second.click("#decide-reject summary");
    second.write("#decide-reject textarea", "Wait for the audit.");
    first.click("#decide-approve button");
    first.until("#run-state", "completed");
    second.until("#question-state", "Already approved by ana");
    second.click("#decide-reject button");
    second.until("h1", "Already decided");
    second.until("main", "approved by ana");
    second.until("main", "Wait for the audit.");
    assert_eq!(stage.decision("t")["by"], "ana");
}

#[test]
fn everything_works_without_scripts() {
    let stage = Stage::new();
    stage.asks("t");
    let driver = Driver::start();
    let ana = driver.open("ana", &Settings { has_no_scripts: true, ..Settings::default() });
    ana.log_in(&stage.url("/runs"), &stage.ana);
    ana.until("#runs-list", "ok: Ship it?");
    ana.click("#runs-list .why a");
    ana.until("main", "Without JavaScript this page stays as it is.");
    ana.click("#decide-approve button");
    ana.until("h1", "t");
    stage.until_run_is("t", "completed");
    assert_eq!(stage.decision("t")["by"], "ana");
    ana.go(&stage.url("/runs/t"));
    ana.until("#run-state", "completed");
    ana.click(".who form button");
    ana.until("#run-state", "completed");
}

#[test]
fn run_is_called_off_and_done_again() {
    let stage = Stage::new();
    stage.asks("t");
    let driver = Driver::start();
    let ana = driver.open("ana", &Settings::default());
    ana.log_in(&stage.url("/runs/t"), &stage.ana);
    ana.click("#cancel summary");
    ana.write("#cancel textarea", "The customer has changed their mind.");
    ana.click("#cancel button");
    ana.until("#run-state", "cancelled");
    assert!(stage.journal("t").iter().any(|event| event.to_string().contains("changed their mind")));
    ana.click("#retry summary");
    ana.write("#retry textarea", "And back again.");
    ana.click("#retry button");
    ana.until("#run-state", "waiting for a person");
}
