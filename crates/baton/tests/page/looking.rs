//! What is answered at the addresses of the page, to the letter: headers, text for programs, problems, fragments, streams.

use serde_json::json;

use crate::person::Person;
use crate::stage::Stage;

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types baton";

#[test]
fn pages_carry_the_headers_that_protect_a_reader() {
    let stage = Stage::new();
    stage.asks("t");
    let mut person = Person::at(&stage.server);
    for path in ["/runs", "/runs/t", "/runs/t/flow", "/runs/t/handoffs", "/runs/t/journal", "/inbox/t.ok.1", "/nothing"]
    {
        let page = person.get(path);
        assert_eq!(page.header("content-security-policy"), Some(POLICY), "{path}");
        assert_eq!(page.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert_eq!(page.header("referrer-policy"), Some("same-origin"), "{path}");
        assert_eq!(page.header("cache-control"), Some("no-store"), "{path}");
        assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"), "{path}");
    }
    let home = person.get("/");
    assert_eq!((home.status, home.header("location")), (303, Some("/runs")));
    let page = person.get("/runs").text;
    let style = page.split_once("href=\"/static/").and_then(|(_, rest)| rest.split('"').next()).expect("a file");
    let style = person.get(&format!("/static/{style}"));
    assert_eq!(style.header("cache-control"), Some("public, max-age=31536000, immutable"));
    assert_eq!(person.get("/static/baton-000000000000.css").status, 404);
}

#[test]
fn file_of_a_report_is_shown_and_cannot_run_anything() {
    let agent = "printf '<script>alert(1)</script>' > notes.html\nprintf '{\"baton\": 1, \"document\": \"report\", \"id\": \"%s\", \
        \"outcome\": \"complete\", \"summary\": \"Wrote the notes of the release.\", \"artifacts\": [{\"path\": \"notes.html\"}]}' \
        \"$BATON_HANDOFF_ID\" > \"$BATON_REPORT_FILE\"";
    let stage = Stage::with(crate::stage::GATE, agent);
    stage.asks("t");
    let mut person = Person::at(&stage.server);
    let page = person.get("/inbox/t.ok.1").text;
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "its preview: {page}");
    let address = page.split_once("href=\"/artifacts/").and_then(|(_, rest)| rest.split('"').next()).expect("a link");
    let file = person.get(&format!("/artifacts/{address}"));
    assert_eq!((file.status, file.text.as_str()), (200, "<script>alert(1)</script>"));
    assert_eq!(file.header("content-security-policy"), Some("default-src 'none'; sandbox"));
    assert_eq!(file.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(file.header("content-type"), Some("text/plain; charset=utf-8"));
}

#[test]
fn programs_get_text() {
    let stage = Stage::new();
    stage.asks("t");
    let wanted = [
        ("/runs", "ok: Ship it?"),
        ("/runs/t", "workflow  gates"),
        ("/runs/t", "handoffs  2 handoffs, 1 attempt"),
        ("/runs/t", "started   "),
        ("/check", "baton check FILE"),
        ("/runs/last", "run       t"),
        ("/inbox", "gate          t.ok.1 · run t"),
        ("/inbox/t.ok.1", "baton show t.ok.1"),
        ("/runs/t/handoffs/t.build.1", "Wrote the parser for dates"),
        ("/runs/t/journal", "accepted"),
        ("/runs/t/flow", "flowchart"),
        ("/agents", "dev  0 working · 0 queued"),
        ("/compare?a=t&b=t", "both went the same way: 2 steps"),
        ("/start", "phases: build → ok → ship"),
        ("/rules", "vague-summary"),
        ("/rules/vague-summary", "## Why it matters"),
    ];
    for (path, words) in wanted {
        let answer = stage.server.ask("GET", path, &[("Accept", "*/*")], "");
        assert_eq!(answer.header("content-type"), Some("text/plain; charset=utf-8"), "{path}");
        assert!(answer.text.contains(words), "{path}: {}", answer.text);
    }
    let missing = stage.server.ask("GET", "/runs/nothing", &[("Accept", "*/*")], "");
    assert_eq!((missing.status, missing.header("content-type")), (404, Some("text/plain; charset=utf-8")));
    assert!(missing.text.starts_with("not found: "), "{}", missing.text);
}

#[test]
fn problems_are_pages_that_say_what_to_do() {
    let stage = Stage::new();
    stage.asks("t");
    let mut person = Person::at(&stage.server);
    for (path, status, words) in [
        ("/runs/tt", 404, "Not found"),
        ("/nothing/here", 404, "there is nothing at this address"),
        ("/rules/nonsense", 404, "Not found"),
        ("/runs/t/handoffs/t.ship.9", 404, "Not found"),
        ("/compare?a=t&b=", 404, "Not found"),
        ("/inbox?after=nonsense", 422, "Not understood"),
    ] {
        let page = person.get(path);
        assert_eq!(page.status, status, "{path}");
        assert!(page.text.contains(words) && page.text.contains("href=\"/runs\""), "{path}: {}", page.text);
    }
    assert_eq!(person.ask("DELETE", "/runs", &[("Accept", "text/html")], "").status, 405);
    assert_eq!(stage.server.get("/api/v1/nothing").problem(404), "unknown", "the API answers in its own form");
}

#[test]
fn list_is_filtered_by_its_address() {
    let stage =
        Stage::with(crate::stage::GATE, "case $BATON_HANDOFF_ID in bad*) echo no luck >&2; exit 3;; esac\nreport");
    stage.asks("good-1");
    stage.asks("good-2");
    stage.start("bad-1");
    stage.until_run_is("bad-1", "failed");
    let runs = |path: &str| -> Vec<String> {
        let text = stage.server.ask("GET", path, &[("Accept", "*/*")], "").text;
        text.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
    };
    assert_eq!(runs("/runs"), ["bad-1", "good-2", "good-1"]);
    assert_eq!(runs("/runs?state=failed"), ["bad-1"]);
    assert_eq!(runs("/runs?state=waiting&text=good-2"), ["good-2"]);
    assert_eq!(runs("/runs?workflow=other"), ["no"]);
    assert_eq!(runs("/runs?after=good-2"), ["good-1"]);
    assert_eq!(runs("/runs?text=NO%20LUCK"), ["bad-1"], "words of a failure");
    assert_eq!(runs("/runs?text=parser%20for%20dates").len(), 2, "words of a summary");
    let page = Person::at(&stage.server).get("/runs?state=failed").text;
    assert!(page.contains("waiting for a person <span class=\"count\">2</span>"), "{page}");
    assert!(page.contains("no luck"), "why it failed stands in the list: {page}");
    let mut person = Person::at(&stage.server);
    person.get("/runs?state=failed&text=bad");
    let run = person.get("/runs/bad-1").text;
    assert!(run.contains("href=\"/runs?state=failed&amp;text=bad\""), "the way back keeps the filter: {run}");
    person.cookies.retain(|(name, _)| !name.starts_with("baton_list"));
    person.cookies.push(("baton_list".to_owned(), "https://evil.example/".to_owned()));
    assert!(!person.get("/runs/bad-1").text.contains("evil.example"));
}

#[test]
fn fragments_are_given_alone_and_streams_name_them() {
    let stage = Stage::new();
    stage.asks("t");
    let mut person = Person::at(&stage.server);
    let part = person.get("/runs/t?fragment=run-state%20inbox-badge").text;
    assert!(part.starts_with("<span id=\"run-state\">") && part.contains("id=\"inbox-badge\""), "{part}");
    assert_eq!(person.get("/runs/t?fragment=nonsense").status, 404);
    let last = stage.journal("t").last().and_then(|event| event["seq"].as_u64()).expect("a number");
    let told = stage.server.follow("/runs/t/events?after=1", &[]).next().expect("an event");
    assert_eq!(told.name, "fragments");
    assert!(told.data.as_str().is_some_and(|names| names.starts_with("runs-list run-state ")), "{told:?}");
    assert!(told.id.is_some_and(|id| id >= last), "everything that had happened is one event: {told:?}");
    let seen = person.get("/runs/t");
    assert!(!seen.text.contains("Since you last looked"));
    person.send(
        "/inbox/t.ok.1",
        "/inbox/t.ok.1/decide",
        &[
            ("decision", "approve"),
            (
                "shown",
                stage.server.get("/api/v1/gates/t.ok.1").expect(200)["gate"]["digest"].as_str().expect("a digest"),
            ),
        ],
    );
    stage.until_run_is("t", "completed");
    let news = person.get("/runs/t").text;
    assert!(news.contains("Since you last looked") && news.contains("approved by ana"), "{news}");
    let last = stage.journal("t").len().to_string();
    let over = stage.server.ask("GET", "/runs/t/events", &[("Last-Event-ID", &last)], "");
    assert_eq!(over.status, 204, "browsers do not come again");
}

#[test]
fn pasted_document_is_judged_and_not_stored() {
    let stage = Stage::new();
    let mut person = Person::at(&stage.server);
    let document = "{\"baton\": 1, \"document\": \"report\", \"id\": \"a\", \"outcome\": \"finished\"}";
    let page = person.send("/check", "/check", &[("document", document)]);
    assert_eq!(page.status, 200);
    assert!(page.text.contains("not valid") && page.text.contains("href=\"/rules/"), "{}", page.text);
    let rule = page.text.split_once("href=\"/rules/").and_then(|(_, rest)| rest.split('"').next()).expect("a rule");
    assert!(person.get(&format!("/rules/{rule}")).text.contains("What it checks"));
    assert_eq!(stage.server.get("/api/v1/handoffs").expect(200)["handoffs"], serde_json::json!([]));
}

#[test]
fn agents_of_known_workflows_are_listed_before_they_have_work() {
    let flow = "name: team\nagents: {dev: {command: [./dev.sh]}, qa: {queue: true}}\n\
        phases: [{id: build, agent: dev}, {id: test, agent: qa}]\n";
    let stage = Stage::with(flow, "report");
    let listed = stage.server.get("/api/v1/agents").expect(200);
    let agents = listed["agents"].as_array().expect("agents");
    let names: Vec<&str> = agents.iter().filter_map(|agent| agent["agent"].as_str()).collect();
    assert_eq!(names, ["team/dev", "team/qa"]);
    assert!(agents.iter().all(|agent| agent["handoffs"]["pending"] == 0 && agent["handoffs"]["completed"] == 0));
    let page = Person::at(&stage.server).get("/agents").text;
    assert!(page.contains("team/qa") && page.contains("No work so far."), "{page}");
    assert!(!page.contains("Refuted claims"), "nothing has no figures: {page}");
    let text = stage.server.ask("GET", "/agents", &[("Accept", "*/*")], "").text;
    assert!(text.contains("team/qa  0 working · 0 queued\n  0 of 0 ended were completed"), "{text}");
    let qa = stage.premises.token(&["--role", "agent", "--agent", "qa"]);
    let mut client = stage.stranger();
    let own = client.as_owner_of(&qa).get("/api/v1/agents").expect(200);
    assert_eq!(own["agents"].as_array().map(Vec::len), Some(1), "others do not exist for it: {own}");
}

#[test]
fn list_and_agents_say_that_a_run_waits_for_a_worker() {
    let stage = Stage::with("name: team\nagents: {qa: {queue: true}}\nphases: [{id: test, agent: qa}]\n", "");
    stage.server.post("/api/v1/runs", &serde_json::json!({ "workflow": "team", "id": "t" })).expect(201);
    stage.server.until("/api/v1/agents/team%2Fqa", |agent| agent["agent"]["handoffs"]["pending"] == 1);
    let text = |path: &str| stage.server.ask("GET", path, &[("Accept", "*/*")], "").text;
    assert!(text("/runs").contains("test waits for a worker of team/qa, sent "), "{}", text("/runs"));
    assert!(text("/agents").contains("team/qa  0 working · 1 queued, the oldest sent "), "{}", text("/agents"));
}

#[test]
fn questions_of_several_runs_are_told_apart_by_run_and_inputs() {
    let flow =
        "name: gates\ninputs: {feature: {required: true}}\nphases: [{id: ok, gate: {name: 'Ship it?', items: [it]}}]\n";
    let stage = Stage::with(flow, "");
    for (id, feature) in [("t", "dates"), ("u", "times")] {
        let body = json!({ "workflow": "gates", "id": id, "workspace": id, "inputs": { "feature": feature } });
        stage.server.post("/api/v1/runs", &body).expect(201);
        stage.server.until(&format!("/api/v1/runs/{id}"), |run| run["waiting"][0]["id"] == format!("{id}.ok.1"));
    }
    let page = Person::at(&stage.server).get("/inbox").text;
    for (id, feature) in [("t", "dates"), ("u", "times")] {
        assert!(page.contains(&format!("href=\"/inbox/{id}.ok.1\">{id}: Ship it?</a>")), "{page}");
        assert!(page.contains(&format!("<p class=\"purpose\">feature: {feature}</p>")), "{page}");
    }
    let text = stage.server.ask("GET", "/inbox", &[("Accept", "*/*")], "").text;
    assert!(text.contains("  Ship it?\n  feature: times\n"), "{text}");
}
