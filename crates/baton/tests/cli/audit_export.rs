//! `baton audit export`: the archive of a project, as the seed of packages wants it.

use serde_json::Value;

use crate::documents::{PACKAGE, REPORT, REQUEST, UNDERSTOOD};
use crate::sandbox::Sandbox;

const SESSIONS: &str = ".project/07-audit/sessions";

/// Sends a document with these options; returns the id of its handoff.
fn send(sandbox: &Sandbox, file: &str, document: &str, options: &[&str]) -> String {
    sandbox.write(file, document);
    let sent = sandbox.baton(&[&["send", "--json", file], options].concat());
    assert_eq!(sent.code, Some(0), "{sent}");
    sent.json()["accepted"][0]["handoff"]["id"].as_str().expect("an id").to_owned()
}

fn exported(sandbox: &Sandbox, arguments: &[&str]) -> crate::sandbox::Run {
    let run = sandbox.baton(&[&["audit", "export"], arguments].concat());
    assert_eq!(run.code, Some(0), "{run}");
    run
}

#[test]
fn package_is_archived_as_it_was_and_checks_strictly() {
    let sandbox = Sandbox::new();
    let id = send(&sandbox, "package.yaml", PACKAGE, &[]);
    sandbox.write("ack.yaml", UNDERSTOOD);
    assert_eq!(sandbox.baton(&["claim", "--agent", "security-review"]).code, Some(0));
    let acknowledged = sandbox.baton(&["ack", &id, "--fence", "1", "ack.yaml"]);
    assert_eq!(acknowledged.code, Some(0), "{acknowledged}");
    let run = exported(&sandbox, &["--all"]);
    assert_eq!(run.stderr, "", "{run}");

    let folder = format!("{SESSIONS}/{id}/handoffs");
    let checked = sandbox.baton(&["check", "--strict", &folder]);
    assert_eq!(checked.code, Some(0), "{checked}");
    let back = sandbox.baton(&["convert", "--to", "native", &format!("{folder}/{id}.yaml")]);
    let original = sandbox.baton(&["convert", "--to", "native", "package.yaml"]);
    assert_eq!(back.json(), original.json());

    let journal = sandbox.read(&format!("{SESSIONS}/{id}/journal/{id}.yaml"));
    for told in ["record:", "acknowledgments:", "understood: true", "event: acknowledged", "hash: ", "head: "] {
        assert!(journal.contains(told), "{told}:\n{journal}");
    }
    let current: Value = serde_json::from_str(&sandbox.read("state/current.json")).expect("JSON");
    let entry = &current["handoffs"][0];
    assert_eq!((entry["id"].as_str(), entry["status"].as_str()), (Some(id.as_str()), Some("claimed")));
    assert_eq!((entry["from"].as_str(), entry["to"].as_str()), (Some("architecture"), Some("security-review")));
}

#[test]
fn task_becomes_a_package_and_its_losses_are_named_and_kept() {
    let sandbox = Sandbox::new();
    let id = send(&sandbox, "request.json", REQUEST, &["--to", "researcher"]);
    sandbox.write("report.json", REPORT);
    assert_eq!(sandbox.baton(&["claim", "--agent", "researcher"]).code, Some(0));
    assert_eq!(sandbox.baton(&["report", &id, "--fence", "1", "report.json"]).code, Some(0));
    let run = exported(&sandbox, &[&id, "--to", "."]);
    assert!(run.stderr.starts_with(&format!("{id}: no place in a package for: /phase, ")), "{run}");

    let result = sandbox.check_json(&[".project"]);
    let file = &result["files"][0];
    assert_eq!((file["dialect"].as_str(), file["valid"].as_bool()), (Some("package"), Some(true)), "{result}");
    let journal = sandbox.read(&format!("{SESSIONS}/{id}/journal/{id}.yaml"));
    for told in ["original:", "structured_findings", "ending: complete", "event: reported", "PROCEED"] {
        assert!(journal.contains(told), "{told}:\n{journal}");
    }
}

#[test]
fn newest_handoff_is_last_and_exporting_again_changes_nothing() {
    let sandbox = Sandbox::new();
    for id in ["z1", "a2"] {
        send(&sandbox, "request.json", REQUEST, &["--to", "b", "--id", id]);
    }
    exported(&sandbox, &["--all"]);
    let first = sandbox.read("state/current.json");
    let archived = sandbox.read(&format!("{SESSIONS}/z1/journal/z1.yaml"));
    exported(&sandbox, &["--all"]);
    assert_eq!(
        (sandbox.read("state/current.json"), sandbox.read(&format!("{SESSIONS}/z1/journal/z1.yaml"))),
        (first.clone(), archived)
    );
    let current: Value = serde_json::from_str(&first).expect("JSON");
    let ids: Vec<&str> =
        current["handoffs"].as_array().expect("a list").iter().filter_map(|entry| entry["id"].as_str()).collect();
    assert_eq!(ids, ["z1", "a2"]);
}

#[test]
fn folder_that_is_not_there_is_wrong_usage() {
    let sandbox = Sandbox::new();
    send(&sandbox, "request.json", REQUEST, &["--to", "b"]);
    assert_eq!(sandbox.baton(&["audit", "export", "--all", "--to", "nowhere"]).code, Some(2));
}
