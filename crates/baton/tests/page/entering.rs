//! Who is let in, and what a form needs: cookies, their flags, tokens of forms, origins, limits.

use crate::client::{Premises, report};
use crate::person::{Person, csrf};
use crate::stage::Stage;
use baton_store::Location;
use serde_json::json;

#[test]
fn page_of_a_closed_server_leads_to_the_form_to_log_in_and_back() {
    let stage = Stage::new();
    let mut person = Person::at(&stage.server);
    let client = stage.stranger();
    let mut stranger = Person::at(&client);
    let sent = stranger.get("/inbox");
    assert_eq!((sent.status, sent.header("location")), (303, Some("/login?back=%2Finbox")));
    let form = stranger.get("/login?back=%2Finbox");
    assert!(form.text.contains("name=\"back\" value=\"/inbox\""), "{}", form.text);
    let wrong = stranger.send("/login", "/login", &[("token", "baton_nonsense"), ("back", "/inbox")]);
    assert_eq!(wrong.status, 401);
    assert!(wrong.text.contains("This token is not valid"), "{}", wrong.text);
    let entered = stranger.send("/login", "/login", &[("token", &stage.ana), ("back", "/inbox")]);
    assert_eq!((entered.status, entered.header("location")), (303, Some("/inbox")));
    assert!(stranger.get("/inbox").text.contains("Nothing waits for you"));
    let elsewhere = stranger.send("/login", "/login", &[("token", &stage.ana), ("back", "https://evil.example/")]);
    assert_eq!(elsewhere.header("location"), Some("/runs"), "nobody is led to another site");
    assert_eq!(person.get("/runs").status, 200, "a token in the request works as well");
}

#[test]
fn cookie_of_a_session_is_not_the_token_and_is_kept_from_scripts_and_other_sites() {
    let stage = Stage::new();
    let client = stage.stranger();
    let mut person = Person::at(&client);
    let answer = person.send("/login", "/login", &[("token", &stage.ana)]);
    let cookie = answer.header("set-cookie").expect("a cookie");
    let port = stage.server.address.rsplit(':').next().expect("a port");
    assert!(cookie.starts_with(&format!("baton_session_{port}=")), "{cookie}");
    for flag in ["; Path=/", "; HttpOnly", "; SameSite=Strict", "; Max-Age=43200"] {
        assert!(cookie.contains(flag), "{flag}: {cookie}");
    }
    assert!(!cookie.contains("Secure"), "plain HTTP on loopback: {cookie}");
    assert!(!cookie.contains(stage.ana.trim_start_matches("baton_")), "{cookie}");
    let (_, listed, _) = stage.premises.run(&["token", "list", "--json"]);
    assert!(listed.contains("session_of"), "{listed}");
    // A browser sends cookies on behalf of any page, so the API does not look at them.
    let api = person.ask("GET", "/api/v1/handoffs", &[], "");
    assert_eq!(api.problem(401), "unauthorized");
    let secret = person.cookies.iter().find(|(name, _)| name.starts_with("baton_session")).expect("kept").1.clone();
    let bearer = client.ask("GET", "/api/v1/handoffs", &[("Authorization", &format!("Bearer baton_{secret}"))], "");
    assert_eq!(bearer.problem(401), "unauthorized", "a session is no token");
}

#[test]
fn cookies_are_secure_behind_a_proxy() {
    let premises = Premises::new();
    let token = premises.token(&["--role", "viewer"]);
    let server = premises.serve_with(&["--behind-proxy"]);
    let mut person = Person::at(&server);
    let answer = person.send("/login", "/login", &[("token", &token)]);
    assert!(answer.header("set-cookie").is_some_and(|cookie| cookie.ends_with("; Secure")), "{:?}", answer.headers);
}

#[test]
fn session_ends_at_once_with_its_token_and_when_somebody_logs_out() {
    let stage = Stage::new();
    let ben = stage.premises.token(&["--role", "viewer", "--name", "ben"]);
    let client = stage.stranger();
    let mut person = Person::logged_in(&client, &ben);
    assert!(person.get("/runs").text.contains("log out"));
    let (_, listed, _) = stage.premises.run(&["token", "list", "--json"]);
    let listed: serde_json::Value = serde_json::from_str(&listed).expect("JSON");
    let tokens = listed["tokens"].as_array().expect("tokens");
    let own = tokens.iter().find(|token| token["name"] == "ben" && token["session_of"].is_null()).expect("a token");
    stage.premises.run(&["token", "revoke", own["id"].as_str().expect("an id")]);
    assert_eq!(person.get("/runs").status, 303, "the token was revoked");
    assert!(person.get("/login").text.contains("Your session has ended."));
    assert!(!Person::at(&client).get("/login").text.contains("Your session has ended."));
    let mut person = Person::logged_in(&client, &stage.ana);
    let stolen = person.cookies.clone();
    let out = person.send("/runs", "/logout", &[]);
    assert_eq!(out.header("location"), Some("/login"));
    let mut thief = Person::at(&client);
    thief.cookies = stolen;
    assert_eq!(thief.get("/runs").status, 303, "a session that was ended is of no use to anybody");
}

#[test]
fn form_without_its_token_or_from_another_origin_does_nothing() {
    let stage = Stage::new();
    let asked = stage.asks("t");
    let client = stage.stranger();
    let mut person = Person::logged_in(&client, &stage.ana);
    let page = person.get("/inbox/t.ok.1");
    let (right, shown) = (csrf(&page), asked["digest"].as_str().expect("a digest").to_owned());
    let approve =
        |csrf: &str| [("csrf", csrf.to_owned()), ("decision", "approve".to_owned()), ("shown", shown.clone())];
    let others = csrf(&Person::at(&client).get("/login"));
    for wrong in ["", "0", &"0".repeat(64), others.as_str()] {
        let fields = approve(wrong);
        let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let refused = person.post("/inbox/t.ok.1/decide", &fields);
        assert_eq!(refused.status, 403, "{wrong}");
        assert!(refused.text.contains("this form is not from your session"), "{}", refused.text);
    }
    let fields = approve(&right);
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let foreign = person.post_with("/inbox/t.ok.1/decide", &fields, &[("Origin", "https://evil.example")]);
    assert_eq!(foreign.status, 403);
    let renamed = person.post_with("/inbox/t.ok.1/decide", &fields, &[("Host", "evil.example")]);
    assert_eq!(renamed.status, 403, "a name that was made to mean this machine");
    assert!(stage.journal("t").iter().all(|event| event["event"] != "decided"));
    let own = format!("http://{}", stage.server.address);
    let taken = person.post_with("/inbox/t.ok.1/decide", &fields, &[("Origin", &own)]);
    assert_eq!((taken.status, taken.header("location")), (303, Some("/runs/t")));
    assert_eq!(stage.decision("t")["by"], "ana");
}

#[test]
fn sessions_that_are_over_are_removed_when_somebody_logs_in() {
    let stage = Stage::new();
    let client = stage.stranger();
    // The list of tokens shows only sessions that are open, so the store is asked.
    let path = stage.premises.scratch.path("baton.db");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let sessions = || {
        let tokens = runtime.block_on(async {
            let store = baton_store::open(&Location::Sqlite(path.clone())).await.expect("a store");
            store.tokens().await.expect("tokens")
        });
        tokens.into_iter().filter(|token| token.opened_by().is_some()).map(|token| token.id).collect::<Vec<String>>()
    };
    Person::logged_in(&client, &stage.ana).send("/runs", "/logout", &[]);
    let ended = sessions();
    assert_eq!(ended.len(), 1, "{ended:?}");
    Person::logged_in(&client, &stage.ana);
    let open = sessions();
    assert_eq!((open.len(), open.contains(&ended[0])), (1, false), "{open:?}");
}

#[test]
fn wrong_tokens_are_taken_ten_times_a_minute() {
    let stage = Stage::new();
    let client = stage.stranger();
    let mut person = Person::at(&client);
    let wrong = format!("baton_{}", "0".repeat(64));
    for _ in 0..10 {
        assert_eq!(person.send("/login", "/login", &[("token", &wrong)]).status, 401);
    }
    let limited = person.send("/login", "/login", &[("token", &wrong)]);
    assert_eq!(limited.status, 429);
    let wait: u64 = limited.header("retry-after").and_then(|seconds| seconds.parse().ok()).expect("a number");
    assert!((1..=60).contains(&wait), "{wait}");
    assert!(limited.text.contains("too many wrong tokens"), "{}", limited.text);
    let right = person.send("/login", "/login", &[("token", &stage.ana)]);
    assert_eq!(right.status, 303, "a right token is never refused");
}

#[test]
fn token_of_an_agent_sees_its_own_and_never_decides() {
    let stage = Stage::new();
    stage.asks("t");
    stage.server.send("csv-07");
    let finder = stage.premises.token(&["--role", "agent", "--agent", "finder"]);
    let client = stage.stranger();
    let mut person = Person::logged_in(&client, &finder);
    let own = person.get("/runs/csv-07/handoffs/csv-07");
    assert_eq!(own.status, 200, "{}", own.text);
    assert!(own.text.contains("Find the writer of rows."));
    for path in ["/runs/t", "/runs/t/handoffs/t.build.1", "/inbox/t.ok.1", "/runs/nothing", "/runs/t/handoffs"] {
        assert_eq!(person.get(path).status, 404, "{path}");
    }
    for path in ["/runs", "/inbox", "/compare?a=t&b=t", "/events", "/runs/t/events", "/runs/t/journal"] {
        assert_eq!(person.get(path).status, 403, "{path}");
    }
    let agents = person.get("/agents").text;
    assert!(agents.contains(">finder<") && !agents.contains(">dev<"), "only its own queue: {agents}");
    let refused = person.send("/check", "/inbox/t.ok.1/decide", &[("decision", "approve"), ("shown", "0")]);
    assert_eq!(refused.status, 404);
    let (_, fence) = stage.server.claim();
    let body = json!({ "fence": fence, "document": report("csv-07", "needs_review") });
    stage.server.post("/api/v1/handoffs/csv-07/report", &body).expect(200);
    let page = person.get("/inbox/csv-07");
    assert!(page.text.contains("You can look, but not decide"), "{}", page.text);
    let shown = stage.server.get("/api/v1/gates/csv-07").expect(200)["gate"]["digest"].clone();
    let fields = [("decision", "approve"), ("shown", shown.as_str().expect("a digest"))];
    assert_eq!(person.send("/check", "/inbox/csv-07/decide", &fields).status, 403);
    assert_eq!(stage.server.get("/api/v1/handoffs/csv-07").expect(200)["handoff"]["state"], "awaiting_person");
}

#[test]
fn viewer_looks_and_changes_nothing() {
    let stage = Stage::new();
    let asked = stage.asks("t");
    let viewer = stage.premises.token(&["--role", "viewer", "--name", "vera"]);
    let client = stage.stranger();
    let mut person = Person::logged_in(&client, &viewer);
    for path in ["/runs", "/runs/t", "/inbox", "/inbox/t.ok.1", "/agents", "/check", "/rules", "/compare?a=t&b=t"] {
        assert_eq!(person.get(path).status, 200, "{path}");
    }
    let shown = asked["digest"].as_str().expect("a digest");
    let changes: [(&str, &[(&str, &str)]); 4] = [
        ("/inbox/t.ok.1/decide", &[("decision", "approve"), ("shown", shown)]),
        ("/runs/t/cancel", &[("reason", "no")]),
        ("/runs/t/resume", &[]),
        ("/runs/t/retry", &[("from", "build")]),
    ];
    for (action, fields) in changes {
        assert_eq!(person.send("/check", action, fields).status, 403, "{action}");
    }
    assert_eq!(stage.server.get("/api/v1/runs/t").expect(200)["waiting"][0]["id"], "t.ok.1", "it still waits");
}

#[test]
fn without_any_token_pages_are_open_and_say_how_somebody_becomes_an_approver() {
    let premises = Premises::new();
    let server = premises.serve();
    server.send("csv-07");
    let (_, fence) = server.claim();
    let body = json!({ "fence": fence, "document": report("csv-07", "needs_review") });
    server.post("/api/v1/handoffs/csv-07/report", &body).expect(200);
    let mut person = Person::at(&server);
    assert_eq!(person.get("/runs").status, 200);
    let page = person.get("/inbox/csv-07");
    assert!(page.text.contains("baton token create --role approver"), "{}", page.text);
    assert!(!page.text.contains("/inbox/csv-07/decide"), "no form decides");
    let shown = server.get("/api/v1/gates/csv-07").expect(200)["gate"]["digest"].clone();
    let fields = [("decision", "approve"), ("shown", shown.as_str().expect("a digest"))];
    let refused = person.send("/check", "/inbox/csv-07/decide", &fields);
    assert_eq!(refused.status, 401, "{}", refused.text);
    assert_eq!(server.get("/api/v1/handoffs/csv-07").expect(200)["handoff"]["state"], "awaiting_person");
}
