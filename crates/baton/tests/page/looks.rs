//! How pages look: for people who cannot see, on a phone, in both themes, and when everything that is shown is hostile.

use serde_json::{Value, json};

use crate::browser::{Browser, Driver, Settings};
use crate::phone::fits;
use crate::stage::Stage;

/// Finds what people with disabilities cannot use. It is used by these tests only.
pub(crate) const AXE: &str = include_str!("axe.min.js");

/// Text that wants to be more than text: a script, markup, colours of a terminal, a turn of the direction of writing.
const HOSTILE: &str = "<script>window.isHurt=1</script><img src=x onerror=window.isHurt=1> \\u001b[31mred \\u202egnol";

const WORKFLOW: &str = "name: gates\n\
    agents: {dev: {command: [./dev.sh], retry: {max_retries: 0}}}\n\
    phases:\n\
    - {id: build, agent: dev, on_failure: stop, task: 'Build <script>window.isHurt=1</script>.'}\n\
    - {id: ok, gate: {name: '<script>window.isHurt=1</script>?', items: ['<img src=x onerror=window.isHurt=1>']}}\n\
    - {id: ship, agent: dev}\n\
    - {id: tell-everybody-who-asked-for-it, check: 'true'}\n\
    - {id: remove-what-nobody-needs-any-more, check: 'true'}\n";

/// Writes files and reports that are hostile in every field.
fn agent() -> String {
    let report = json!({
        "baton": 1, "document": "report", "id": "%s", "outcome": "complete",
        "summary": "HOSTILE is what the parser writes now.",
        "decisions": [{ "decision": "HOSTILE first", "rationale": "HOSTILE" }],
        "open_questions": [{ "question": "HOSTILE?" }],
        "artifacts": [{ "path": "notes.html" }],
        "next": { "context": "HOSTILE" },
    });
    let report = report.to_string().replace("HOSTILE", &HOSTILE.replace('\\', "\\\\"));
    format!(
        "printf '<script>window.isHurt=1</script>\\033[31m' | tee notes.html\n\
         case $BATON_HANDOFF_ID in bad*) echo '<script>window.isHurt=1</script>' >&2; exit 3;; esac\n\
         printf '{report}' \"$BATON_HANDOFF_ID\" > \"$BATON_REPORT_FILE\""
    )
}

/// A server with runs that wait, are done and have failed, hostile all over.
fn hostile() -> Stage {
    let stage = Stage::with(WORKFLOW, &agent());
    stage.asks("waits");
    let asked = stage.asks("done");
    let body = json!({ "decision": "approve", "shown": asked["digest"], "note": "<script>window.isHurt=1</script>" });
    stage.server.post("/api/v1/gates/done.ok.1/decision", &body).expect(200);
    stage.until_run_is("done", "completed");
    stage.start("bad");
    stage.until_run_is("bad", "failed");
    stage
}

/// Every kind of page.
const PAGES: [&str; 20] = [
    "/runs",
    "/runs/waits",
    "/runs/bad",
    "/runs/done",
    "/runs/done/flow",
    "/runs/done/handoffs",
    "/runs/done/journal",
    "/runs/done/handoffs/done.build.1",
    "/runs/bad/handoffs/bad.build.1",
    "/start",
    "/inbox",
    "/inbox/waits.ok.1",
    "/agents",
    "/agents/gates%2Fdev",
    "/check",
    "/rules",
    "/rules/vague-summary",
    "/compare?a=done&b=bad",
    "/login",
    "/nothing<script>window.isHurt=1</script>",
];

fn axe(browser: &Browser<'_>, page: &str) {
    browser.run(AXE);
    let found = browser
        .run_to_the_end("const done = arguments[arguments.length - 1]; axe.run().then(done, (e) => done(String(e)))");
    assert!(found["passes"].as_array().is_some_and(|passes| passes.len() > 10), "{page}: {found}");
    let violations = found["violations"].as_array().unwrap_or_else(|| panic!("{page}: {found}"));
    let told: Vec<String> = violations
        .iter()
        .map(|wrong| format!("{}: {}", wrong["id"], wrong["nodes"].as_array().map_or(&Value::Null, |nodes| &nodes[0])))
        .collect();
    assert_eq!(told, Vec::<String>::new(), "{page}");
}

#[test]
fn pages_are_accessible_in_both_themes_and_hostile_text_is_text() {
    let stage = hostile();
    let driver = Driver::start();
    for is_dark in [false, true] {
        let name = if is_dark { "dark" } else { "light" };
        let browser = driver.open(name, &Settings { is_dark, ..Settings::default() });
        browser.log_in(&stage.url("/runs"), &stage.ana);
        browser.until("h1", "Runs");
        for page in PAGES {
            browser.go(&stage.url(page));
            assert_eq!(browser.run("return window.isHurt ?? null"), Value::Null, "{page}");
            assert_eq!(browser.run("return document.querySelectorAll('img, main script').length"), 0, "{page}");
            // A page that is not there is told by its status, too.
            let complaints: Vec<String> =
                browser.complaints().into_iter().filter(|told| !told.contains("status of 404")).collect();
            assert_eq!(complaints, Vec::<String>::new(), "{page}");
            axe(&browser, page);
        }
        for (page, place) in [("/runs/done", "main"), ("/inbox/waits.ok.1", "main"), ("/runs/bad", "main")] {
            browser.go(&stage.url(page));
            browser.until(place, "<script>window.isHurt=1</script>");
        }
    }
}

#[test]
fn phone_shows_every_page_without_scrolling_sideways_and_fingers_hit_everything() {
    let stage = hostile();
    let driver = Driver::start();
    let phone = driver.open("phone", &Settings { width: Some(360), ..Settings::default() });
    phone.log_in(&stage.url("/runs"), &stage.ana);
    phone.until("h1", "Runs");
    for page in PAGES {
        phone.go(&stage.url(page));
        fits(&phone, page);
    }
}

#[test]
fn state_of_a_phase_stays_inside_of_its_row() {
    let stage = hostile();
    let driver = Driver::start();
    let browser = driver.open("wide", &Settings::default());
    browser.log_in(&stage.url("/runs/waits"), &stage.ana);
    browser.until("main", "waiting for a person");
    let ends = "[...document.querySelectorAll('.track-end')]";
    assert_ne!(browser.run(&format!("return {ends}.length")), 0);
    let wider = format!("return {ends}.filter((end) => end.scrollWidth > end.clientWidth).length");
    assert_eq!(browser.run(&wider), 0);
}

#[test]
fn keys_lead_through_a_list_and_to_a_decision() {
    let stage = Stage::new();
    stage.asks("a");
    stage.asks("b");
    let driver = Driver::start();
    let ana = driver.open("ana", &Settings::default());
    ana.log_in(&stage.url("/runs"), &stage.ana);
    ana.until("h1", "Runs");
    ana.write("body", "jj");
    assert_eq!(ana.run("return document.activeElement.textContent"), "a", "the second run of the list");
    ana.go(&stage.url("/inbox/a.ok.1"));
    ana.until(".decide", "Leads to ship.");
    ana.write("body", "r");
    assert_eq!(ana.run("return document.activeElement.closest('details').id"), "decide-reject");
}

#[test]
fn page_says_when_the_server_is_away_and_when_it_is_back() {
    let mut stage = Stage::new();
    let driver = Driver::start();
    let ana = driver.open("ana", &Settings::default());
    ana.log_in(&stage.url("/runs"), &stage.ana);
    ana.until("#runs-list", "No runs yet");
    assert_eq!(ana.text(".away"), "", "nothing to say while the server answers");
    let address = stage.server.address.clone();
    stage.server.process.kill();
    ana.until(".away", "The server does not answer.");
    let _back = stage.premises.serve_at(&address, &[]);
    ana.run_to_the_end(
        "const done = arguments[arguments.length - 1]; const sign = document.documentElement; \
         const look = () => sign.dataset.live === 'yes' ? done(true) : requestAnimationFrame(look); look();",
    );
    assert_eq!(ana.text(".away"), "");
}
