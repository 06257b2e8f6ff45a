//! Starting runs with a form: for whoever may, with everything that the API takes, and with mistakes told in the form.

use serde_json::json;

use crate::browser::{Driver, Settings};
use crate::client::Premises;
use crate::person::{Person, csrf};
use crate::stage::Stage;

const FLOW: &str = "name: feature\ndescription: Builds a feature and ships it.\n\
    inputs:\n  feature: {required: true, description: What to build}\n  tries: {default: 2}\n  tags: {}\n\
    agents: {dev: {command: [./dev.sh]}}\n\
    phases: [{id: build, agent: dev}, {id: ok, gate: {name: 'Ship it?', items: [the parser]}}]\n";

/// What somebody typed: the names of fields, and what stands in them.
type Typed<'t> = &'t [(&'t str, &'t str)];

/// One letter more than an id may have.
const LONG_ID: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

#[test]
fn run_is_started_with_a_form_without_scripts() {
    let stage = Stage::with(FLOW, "report");
    let driver = Driver::start();
    let ana = driver.open("ana", &Settings { has_no_scripts: true, ..Settings::default() });
    ana.log_in(&stage.url("/runs"), &stage.ana);
    ana.click(".headline a.button");
    ana.until("h1", "Start feature");
    ana.until("main", "Builds a feature and ships it.");
    ana.until("form .field", "What to build");
    ana.write("textarea[name='input.feature']", "dates");
    ana.write("textarea[name='input.tags']", "[\"a\", \"b\"]");
    ana.write("input[name=workspace]", "dates");
    ana.write("input[name=id]", "t");
    ana.click("form .field ~ button.main");
    ana.until("h1", "t");
    assert_eq!(ana.address(), stage.url("/runs/t"));
    stage.server.until("/api/v1/runs/t", |run| run["waiting"][0]["id"] == "t.ok.1");
    let run = stage.server.get("/api/v1/runs/t").expect(200);
    assert_eq!(run["inputs"], json!({ "feature": "dates", "tries": 2, "tags": ["a", "b"] }));
    assert!(stage.premises.scratch.contains("workspace/dates/.baton"), "it works in its own folder");
    let begun = stage.journal("t")[0].to_string();
    assert!(begun.contains("ana"), "who has started it is recorded: {begun}");
}

#[test]
fn run_is_done_again_with_inputs_that_were_edited_in_its_form() {
    let stage = Stage::with(FLOW, "report");
    let driver = Driver::start();
    let ana = driver.open("ana", &Settings::default());
    ana.log_in(&stage.url("/runs"), &stage.ana);
    let begun = json!({ "workflow": "feature", "id": "t", "inputs": { "feature": "dates", "tags": ["a"] } });
    stage.server.post("/api/v1/runs", &begun).expect(201);
    stage.server.until("/api/v1/runs/t", |run| run["waiting"][0]["id"] == "t.ok.1");
    stage.server.post("/api/v1/handoffs/t/cancel", &json!({ "reason": "wrong feature" })).expect(200);
    ana.go(&stage.url("/runs/t"));
    ana.click("#retry summary");
    ana.write("#retry textarea[name=note]", "Times, not dates.");
    ana.click("#retry .inputs summary");
    ana.run("document.querySelector(\"textarea[name='input.feature']\").value = 'times'");
    ana.run("document.querySelector(\"textarea[name='input.tags']\").value = '[1,'");
    ana.click("#retry button");
    ana.until(".cause", "Not done: tags is not JSON");
    assert_eq!(
        ana.run("return document.querySelector(\"textarea[name='input.feature']\").value"),
        "times",
        "it is kept"
    );
    ana.run("document.querySelector(\"textarea[name='input.tags']\").value = ''");
    ana.click("#retry button");
    ana.until("#run-state", "waiting for a person");
    let run = stage.server.get("/api/v1/runs/t").expect(200);
    assert_eq!(run["inputs"], json!({ "feature": "times", "tries": 2, "tags": null }));
    let again = stage.server.post("/api/v1/runs/t/retry", &json!({ "from": "build", "inputs": { "feture": 1 } }));
    assert_eq!(again.problem(409), "driven", "nobody goes back past a driver");
    let journal = stage.journal("t");
    let edited = |event: &serde_json::Value| {
        event["detail"].as_str().is_some_and(|detail| detail.contains("\"feature\":\"times\""))
    };
    assert!(journal.iter().any(|event| event["event"] == "requeued" && edited(event)), "{journal:#?}");
}

#[test]
fn what_cannot_be_started_is_told_in_the_form_and_nothing_typed_is_lost() {
    let stage = Stage::with(FLOW, "report");
    let client = stage.stranger();
    let mut ana = Person::logged_in(&client, &stage.ana);
    let start = |ana: &mut Person<'_>, fields: &[(&str, &str)]| {
        let fields: Vec<(&str, &str)> = [("workflow", "feature")].iter().chain(fields).copied().collect();
        ana.send("/start", "/start", &fields)
    };
    let cases: [(Typed<'_>, u16, &str); 5] = [
        (&[], 422, "the workflow needs the input `feature`"),
        (&[("input.feature", "x"), ("input.tags", "[1,")], 422, "tags is not JSON"),
        (&[("input.feature", "x"), ("workspace", "../elsewhere")], 422, "a folder inside the server"),
        (&[("input.feature", "x"), ("id", "a/b")], 422, "Not started"),
        (&[("input.feature", "x"), ("id", LONG_ID)], 422, "at most 40 bytes"),
    ];
    for (fields, status, words) in cases {
        let page = start(&mut ana, fields);
        assert_eq!(page.status, status, "{words}");
        assert!(page.text.contains("Not started: ") && page.text.contains(words), "{words}: {}", page.text);
        for (_, typed) in fields.iter().filter(|(name, _)| *name != "workflow") {
            assert!(
                page.text.contains(&format!("\n{typed}</textarea>"))
                    || page.text.contains(&format!("value=\"{typed}\"")),
                "{typed}"
            );
        }
    }
    let begun = start(&mut ana, &[("input.feature", "x"), ("id", "t")]);
    assert_eq!((begun.status, begun.header("location")), (303, Some("/runs/t")));
    let held = start(&mut ana, &[("input.feature", "x")]);
    assert_eq!(held.status, 409);
    assert!(held.text.contains("run t holds the whole folder of the server"), "{}", held.text);
    assert_eq!(ana.send("/start", "/start", &[("workflow", "nothing")]).status, 404);
    assert_eq!(ana.get("/start?workflow=nothing").status, 404);
    assert_eq!(ana.post("/start", &[("workflow", "feature"), ("input.feature", "x")]).status, 403, "without its token");
    assert_eq!(stage.server.get("/api/v1/runs").expect(200)["runs"].as_array().map(Vec::len), Some(1));
}

#[test]
fn run_is_started_once_more_with_edited_inputs() {
    let flow = "name: gates\ninputs: {feature: {required: true}, size: {default: 3}}\n\
        agents: {dev: {command: [./dev.sh], retry: {max_retries: 0}}}\nphases: [{id: build, agent: dev, on_failure: stop}]\n";
    let stage = Stage::with(flow, "exit 3");
    let inputs = serde_json::json!({ "feature": "dates & <times>", "size": 7 });
    let body = serde_json::json!({ "workflow": "gates", "id": "t", "inputs": inputs });
    stage.server.post("/api/v1/runs", &body).expect(201);
    stage.until_run_is("t", "failed");
    let client = stage.stranger();
    let mut ana = Person::logged_in(&client, &stage.ana);
    assert!(ana.get("/runs/t").text.contains("href=\"/start?workflow=gates&amp;like=t\""));
    let form = ana.get("/start?workflow=gates&like=t").text;
    assert!(form.contains("\ndates &amp; &lt;times&gt;</textarea>") && form.contains("\n7</textarea>"), "{form}");
    assert!(!form.contains("Not started"), "{form}");
    assert_eq!(ana.get("/start?workflow=gates&like=nothing").status, 404);
}

#[test]
fn inputs_that_nobody_touched_stay_as_they_are() {
    let flow = "name: gates\ninputs: {a: {}, b: {}, c: {}, d: {}, e: {default: x}, f: {}, g: {}, h: {default: x}, i: {}, j: {}}\n\
        agents: {dev: {command: [./dev.sh], retry: {max_retries: 0}}}\nphases: [{id: build, agent: dev, on_failure: stop}]\n";
    let stage = Stage::with(flow, "exit 3");
    let inputs = json!({ "a": "5", "b": "[1,", "c": "a\r\nb\u{200d}", "d": "\u{1f468}\u{200d}\u{1f469}\u{202e}", "e": "",
        "f": " \"x\"\n", "g": ["\u{200d}", 1.0, null], "h": null, "i": null, "j": "null" });
    stage.server.post("/api/v1/runs", &json!({ "workflow": "gates", "id": "t", "inputs": inputs })).expect(201);
    stage.until_run_is("t", "failed");
    let driver = Driver::start();
    let ana = driver.open("ana", &Settings::default());
    ana.log_in(&stage.url("/start?workflow=gates&like=t"), &stage.ana);
    ana.write("input[name=id]", "u");
    ana.click("form .field ~ button.main");
    ana.until("h1", "u");
    stage.until_run_is("u", "failed");
    assert_eq!(stage.server.get("/api/v1/runs/u").expect(200)["inputs"], inputs);
    ana.go(&stage.url("/runs/u"));
    ana.click("#retry summary");
    ana.write("#retry textarea[name=note]", "Once more.");
    ana.click("#retry button");
    let again = |event: &serde_json::Value| event["event"] == "requeued" && event["handoff"] == "u";
    let journal = "/api/v1/runs/u/journal?limit=1000";
    let events =
        stage.server.until(journal, |journal| journal["events"].as_array().is_some_and(|all| all.iter().any(again)));
    let requeued = events["events"].as_array().and_then(|all| all.iter().find(|event| again(event)));
    assert!(requeued.is_some_and(|event| !event.to_string().contains("inputs")), "{requeued:#?}");
}

#[test]
fn form_of_another_session_or_another_site_starts_nothing() {
    let stage = Stage::with(FLOW, "report");
    let client = stage.stranger();
    let mut ana = Person::logged_in(&client, &stage.ana);
    let own = csrf(&ana.get("/start"));
    let others = csrf(&Person::logged_in(&client, &stage.ana).get("/start"));
    let visitors = csrf(&Person::at(&client).get("/login"));
    for csrf in ["", "0", &others, &visitors] {
        let refused = ana.post("/start", &[("csrf", csrf), ("workflow", "feature"), ("input.feature", "x")]);
        assert_eq!(refused.status, 403, "{csrf}");
        assert!(refused.text.contains("this form is not from your session"), "{}", refused.text);
    }
    let fields = [("csrf", own.as_str()), ("workflow", "feature"), ("input.feature", "x"), ("id", "t")];
    for origin in ["https://evil.example", "http://localhost:1", "null"] {
        assert_eq!(ana.post_with("/start", &fields, &[("Origin", origin)]).status, 403, "{origin}");
    }
    assert_eq!(stage.server.get("/api/v1/runs").expect(200)["runs"], json!([]));
    assert_eq!(ana.post("/start", &fields).status, 303, "its own form does");
}

#[test]
fn only_whoever_may_start_runs_sees_the_form() {
    let stage = Stage::with(FLOW, "report");
    let viewer = stage.premises.token(&["--role", "viewer", "--name", "vic"]);
    let agent = stage.premises.token(&["--role", "agent", "--agent", "dev"]);
    let client = stage.stranger();
    let mut vic = Person::logged_in(&client, &viewer);
    assert!(!vic.get("/runs").text.contains("Start a run"));
    assert_eq!(vic.get("/start").status, 403);
    let refused = vic.send("/runs", "/start", &[("workflow", "feature"), ("input.feature", "x")]);
    assert_eq!(refused.status, 403);
    assert!(refused.text.contains("needs an approver's token"), "{}", refused.text);
    let mut dev = Person::logged_in(&client, &agent);
    assert_eq!(dev.get("/start").status, 403);
    assert_eq!(stage.server.get("/api/v1/runs").expect(200)["runs"], json!([]));
    assert_eq!(Person::at(&client).get("/start").header("location"), Some("/login?back=%2Fstart"));
}

#[test]
fn server_without_tokens_and_workflows_says_what_to_do() {
    let premises = Premises::new();
    let server = premises.serve();
    let mut somebody = Person::at(&server);
    let page = somebody.get("/start");
    assert_eq!(page.status, 200);
    assert!(page.text.contains("baton serve --workflow PATH"), "{}", page.text);
    assert!(somebody.get("/runs").text.contains("Start a run"), "the API lets them start runs as well");
}
