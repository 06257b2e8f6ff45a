//! Webhooks: signed, tried again, refused by private addresses, and never in the way of a run.

use serde_json::{Value, json};

use crate::listener::HttpListener;
use crate::site::{Ended, RUN, Site, end};

const FLOW: &str = "name: w\nagents: {}\nphases: [{id: ship, gate: {items: [the release]}}]\n";
const SECRET: &str = "a-secret-of-more-than-16-letters";

fn site(webhook: &str) -> Site {
    let site = Site::new().workflow(FLOW);
    let server = "[server]\npublic_url = \"https://baton.example/\"\n";
    site.scratch.write("baton.toml", format!("{server}[[notify.webhook]]\n{webhook}\n"));
    site
}

fn run(site: &Site, secret: Option<&str>) -> Ended {
    let arguments = ["run", "flow", "--workspace", "workspace", "--id", RUN, "--no-input"];
    let mut command = site.command(&arguments);
    secret.into_iter().for_each(|secret| _ = command.env("HOOK_SECRET", secret));
    let mut process = baton_testbed::Process::spawn(&mut command);
    process.close_input();
    let ended = end(&mut process);
    assert!(!format!("{ended:?}").contains(SECRET), "a secret is never printed");
    ended
}

#[test]
fn signed_request_says_what_waits_and_where_to_decide_and_is_tried_again() {
    let listener = HttpListener::answering(&["500 Internal Server Error", "204 No Content"]);
    let webhook = format!("url = \"{}/hook?x=1\"\nsecret_env = \"HOOK_SECRET\"\nallow_private = true", listener.url);
    let ended = run(&site(&webhook), Some(SECRET));
    assert_eq!((ended.code, ended.stderr.contains("warning")), (Some(3), false), "{}", ended.stderr);
    let (refused, taken) = (listener.next(), listener.next());
    refused.assert_signed(SECRET);
    taken.assert_signed(SECRET);
    assert_eq!((taken.path.as_str(), &refused.body), ("/hook?x=1", &taken.body));
    let mut body: Value = serde_json::from_str(&taken.body).expect("JSON");
    assert_eq!(body["digest"].take().as_str().map(str::len), Some(64));
    assert_eq!(
        body,
        json!({ "version": 1, "event": "person_awaited", "run": "t", "workflow": "w", "handoff": "t.ship.1", "phase": "ship",
            "kind": "gate", "title": "ship: approve?", "digest": null, "link": "https://baton.example/inbox/t.ship.1" })
    );
    assert!(listener.so_far().is_empty(), "what was taken is not sent again");
}

#[test]
fn private_address_is_refused_whatever_it_is_called() {
    for host in ["127.0.0.1", "localhost", "[::1]", "10.0.0.1", "169.254.169.254"] {
        let ended = run(&site(&format!("url = \"https://{host}/hook\"\nsecret_env = \"HOOK_SECRET\"")), Some(SECRET));
        assert_eq!(ended.code, Some(3), "the run does not depend on it: {}", ended.stderr);
        assert!(ended.stderr.contains("is not a public address; set allow_private = true"), "{}", ended.stderr);
    }
}

#[test]
fn redirect_is_not_followed_and_a_refusal_is_told() {
    let listener = HttpListener::answering(&["302 Found"]);
    let webhook = format!("url = \"{}/hook\"\nsecret_file = \"secret\"\nallow_private = true", listener.url);
    let site = site(&webhook);
    site.scratch.write("secret", format!("{SECRET}\n"));
    let ended = run(&site, None);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    assert!(ended.stderr.contains("failed: it answered 302 Found"), "{}", ended.stderr);
    assert!(!ended.stderr.contains("/hook"), "a path may be a secret: {}", ended.stderr);
    listener.next().assert_signed(SECRET);
    assert!(listener.so_far().is_empty());
}

#[test]
fn webhook_that_cannot_be_signed_or_read_is_a_mistake_before_anything_begins() {
    let hook = "url = \"https://hooks.example/\"\nsecret_env = \"HOOK_SECRET\"";
    let cases = [
        (hook, None, "the variable HOOK_SECRET, which [[notify.webhook]] names, is not set"),
        (hook, Some("short"), "has fewer than 16 characters"),
        ("url = \"https://hooks.example/\"", None, "a webhook has a `secret_env` or a `secret_file`"),
        ("url = \"http://hooks.example/\"\nsecret_env = \"X\"", None, "url must begin with https://"),
        ("url = \"https://a:b@hooks.example/\"\nsecret_env = \"X\"", None, "user name or password is not accepted"),
    ];
    for (webhook, secret, told) in cases {
        let site = site(webhook);
        let ended = run(&site, secret);
        assert_eq!(ended.code, Some(2), "{}", ended.stderr);
        assert!(ended.stderr.contains(told), "{}", ended.stderr);
    }
}

#[test]
fn agents_do_not_see_the_file_of_the_secret() {
    let flow = "name: w\nagents: {dev: {command: [./dev.py]}}\nphases: [{id: build, agent: dev}]\n";
    let body = "try: seen = open(os.path.join(os.path.dirname(workspace), 'secret')).read()\n\
        except OSError: seen = 'nothing'\nwrite('seen', seen)\nreport()";
    let site = Site::new().workflow(flow).agent("dev", body);
    site.scratch.write("secret", SECRET);
    site.scratch
        .write("baton.toml", "[[notify.webhook]]\nurl = \"https://hooks.example/\"\nsecret_file = \"secret\"\n");
    assert_eq!(run(&site, None).code, Some(0));
    assert!(["", "nothing"].contains(&site.scratch.read("workspace/seen").as_str()), "whatever the cage does");
}
