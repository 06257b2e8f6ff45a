//! The JSON forms of the queue. They are a promise: members are added, never changed.

use baton_engine::journal::{Event, Hash, Head};
use baton_engine::{HandoffId, RunId};
use baton_testbed::account;
use insta::assert_snapshot;
use serde_json::Value;

use crate::queue_life::{done, with_one_claimed, with_one_sent};
use crate::sandbox::Sandbox;

/// Writes JSON with what differs from run to run made the same.
fn still(mut value: Value) -> String {
    settle(&mut value);
    format!("{value:#}")
}

fn settle(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(settle),
        Value::Object(members) => {
            for (name, member) in members {
                match member {
                    Value::String(_) if name == "text" || name == "prompt" => *member = "TEXT".into(),
                    Value::Object(_) if name == "document" => *member = "DOCUMENT".into(),
                    Value::Object(_) if name == "detail" => *member = "DETAIL".into(),
                    other => settle(other),
                }
            }
        }
        Value::String(text) if text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
            *text = "DIGEST".to_owned();
        }
        Value::String(text) if *text == account() => *text = "ACCOUNT".to_owned(),
        Value::String(text) if text.starts_with("20") && text.ends_with('Z') => *text = "TIME".to_owned(),
        _ => {}
    }
}

#[test]
fn a_handoff_that_was_sent() {
    let sandbox = with_one_sent(&["--key", "k", "--priority", "high", "--timeout", "90s", "--deadline", "1h"]);
    assert_snapshot!(still(done(&sandbox, &["list", "--json"]).json()), @r#"
    {
      "version": 1,
      "handoffs": [
        {
          "id": "csv-07.research",
          "run": "csv-07.research",
          "from": "ACCOUNT",
          "to": "finder",
          "queue": "finder",
          "state": "pending",
          "priority": "high",
          "attempts": 0,
          "fence": 0,
          "version": 1,
          "ready_at": "TIME",
          "lease": null,
          "blocked_reason": null,
          "ask": null,
          "choices": [],
          "phase": null,
          "not_before": null,
          "deadline": "TIME",
          "timeout_seconds": 90.0,
          "acknowledge": false,
          "acknowledge_within_seconds": null,
          "pick_up_within_seconds": null,
          "retry": {
            "max_retries": 3,
            "retry_delay_seconds": 30.0,
            "backoff_multiplier": 2.0,
            "jitter": 0.0
          },
          "key": "k",
          "returns_to": null,
          "notes": [],
          "failure": null,
          "request_digest": "DIGEST",
          "report_digest": null,
          "accepted_at": "TIME",
          "changed_at": "TIME",
          "finished_at": null
        }
      ],
      "next": null
    }
    "#);
}

#[test]
fn a_claim() {
    let sandbox = with_one_sent(&[]);
    assert_snapshot!(still(done(&sandbox, &["claim", "--agent", "finder", "--claimant", "worker", "--json"]).json()), @r#"
    {
      "version": 1,
      "handoff": {
        "id": "csv-07.research",
        "run": "csv-07.research",
        "from": "ACCOUNT",
        "to": "finder",
        "queue": "finder",
        "state": "claimed",
        "priority": "normal",
        "attempts": 1,
        "fence": 1,
        "version": 2,
        "ready_at": null,
        "lease": {
          "claimant": "worker",
          "since": "TIME",
          "until": "TIME",
          "length_seconds": 60.0,
          "acknowledged": false,
          "acknowledge_by": null
        },
        "blocked_reason": null,
        "ask": null,
        "choices": [],
        "phase": null,
        "not_before": null,
        "deadline": null,
        "timeout_seconds": null,
        "acknowledge": false,
        "acknowledge_within_seconds": null,
        "pick_up_within_seconds": null,
        "retry": {
          "max_retries": 3,
          "retry_delay_seconds": 30.0,
          "backoff_multiplier": 2.0,
          "jitter": 0.0
        },
        "key": null,
        "returns_to": null,
        "notes": [],
        "failure": null,
        "request_digest": "DIGEST",
        "report_digest": null,
        "accepted_at": "TIME",
        "changed_at": "TIME",
        "finished_at": null
      },
      "fence": 1,
      "attempt": 1,
      "acknowledge_by": null,
      "notes": [],
      "request": {
        "dialect": "task",
        "text": "TEXT",
        "document": "DOCUMENT",
        "warnings": []
      },
      "prompt": "TEXT",
      "missing_artifacts": [],
      "traceparent": null
    }
    "#);
}

#[test]
fn what_was_sent_applied_and_waited_for() {
    let sandbox = with_one_claimed(&[]);
    let keys = |value: &Value| value.as_object().expect("an object").keys().cloned().collect::<Vec<_>>().join(" ");
    let sent = done(&sandbox, &["send", "package.yaml", "--json"]).json();
    assert_eq!(
        (keys(&sent), keys(&sent["accepted"][0])),
        ("version accepted".to_owned(), "existing handoff".to_owned())
    );
    let reported = done(&sandbox, &["report", "csv-07", "--fence", "1", "report.json", "--json"]).json();
    assert_eq!(keys(&reported), "version handoff repeated");
    let waited = done(&sandbox, &["wait", "csv-07", "--json"]).json();
    assert_eq!(
        (keys(&waited), keys(&waited["results"][0])),
        ("version results".to_owned(), "handoff report".to_owned())
    );
    assert_eq!(waited["results"][0]["report"]["document"]["task_id"], "csv-07");
    let requeued = sandbox.baton(&["requeue", "--all", "--agent", "finder", "--json"]).json();
    assert_eq!(keys(&requeued), "version handoffs");
}

#[test]
fn the_history_of_a_handoff() {
    let sandbox = with_one_claimed(&[]);
    let shown = done(&sandbox, &["show", "csv-07", "--json"]).json();
    assert_eq!(shown["request"]["dialect"], "task");
    assert_eq!(shown["report"], Value::Null);
    assert_snapshot!(still(shown["events"].clone()), @r#"
    [
      {
        "version": 1,
        "run": "csv-07.research",
        "seq": 1,
        "at": "TIME",
        "handoff": "csv-07.research",
        "handoff_version": 1,
        "phase": null,
        "event": "accepted",
        "detail": "DETAIL",
        "hash": "DIGEST"
      },
      {
        "version": 1,
        "run": "csv-07.research",
        "seq": 2,
        "at": "TIME",
        "handoff": "csv-07.research",
        "handoff_version": 2,
        "phase": null,
        "event": "claimed",
        "detail": "DETAIL",
        "hash": "DIGEST"
      }
    ]
    "#);
}

/// Returns the events that `baton log` writes, one by one.
fn logged(sandbox: &Sandbox, id: &str) -> Vec<Value> {
    let log = done(sandbox, &["log", id, "--json"]).stdout;
    log.lines().map(|line| serde_json::from_str(line).expect("an object")).collect()
}

#[test]
fn an_event_has_the_same_form_wherever_it_is_shown() {
    let sandbox = with_one_claimed(&[]);
    let shown = done(&sandbox, &["show", "csv-07", "--json"]).json()["events"].clone();
    assert_eq!(shown, Value::Array(logged(&sandbox, "csv-07")));
}

#[test]
fn the_record_of_a_handoff_has_the_letters_that_the_hashes_are_computed_from() {
    let sandbox = with_one_claimed(&[]);
    done(&sandbox, &["audit", "export", "--all"]);
    let path = ".project/07-audit/sessions/csv-07.research/journal/csv-07.research.yaml";
    let record: Value = serde_saphyr::from_str(&sandbox.read(path)).expect("YAML");
    let history = record["record"]["history"].as_array().expect("a list");
    let mut previous = Head::START.hash;
    for (written, shown) in history.iter().zip(logged(&sandbox, "csv-07")) {
        let text = |name: &str| written[name].as_str().expect("a text");
        let number = |name: &str| written[name].as_u64().expect("a number");
        let event = Event {
            run: RunId::parse(text("run")).expect("safe"),
            seq: number("seq"),
            handoff: HandoffId::parse(text("handoff")).expect("safe"),
            version: number("handoff_version"),
            at: text("at").parse().expect("a time"),
            kind: text("event").to_owned(),
            detail: text("detail").to_owned(),
            hash: Hash::parse(text("hash")).expect("a hash"),
        };
        assert_eq!(event.hash, event.hash_after(&previous), "{event:?}");
        previous = event.hash;
        let mut read = written.clone();
        read["detail"] = serde_json::from_str(&event.detail).expect("JSON");
        assert_eq!(read, shown, "everything else is as it is shown");
    }
    assert_eq!((history.len(), &record["record"]["head"]), (2, &previous.to_string().into()));
}

#[test]
fn the_queues() {
    let sandbox = with_one_claimed(&[]);
    assert_snapshot!(still(done(&sandbox, &["queue", "limit", "finder", "2", "--json"]).json()), @r#"
    {
      "version": 1,
      "queue": {
        "agent": "finder",
        "paused": false,
        "limit": 2
      }
    }
    "#);
    assert_snapshot!(still(done(&sandbox, &["queue", "list", "--json"]).json()), @r#"
    {
      "version": 1,
      "queues": [
        {
          "agent": "finder",
          "paused": false,
          "limit": 2,
          "handoffs": {
            "pending": 0,
            "claimed": 1,
            "verifying": 0,
            "blocked": 0,
            "awaiting_person": 0,
            "completed": 0,
            "failed": 0,
            "cancelled": 0
          }
        }
      ]
    }
    "#);
}

#[test]
fn a_claim_of_nothing_has_the_same_members() {
    let sandbox = with_one_sent(&[]);
    let claim = |options: &[&str]| sandbox.baton(&[&["claim", "--agent", "finder", "--json"], options].concat());
    let members = |value: Value| value.as_object().expect("an object").keys().cloned().collect::<Vec<_>>();
    let something = claim(&[]);
    let nothing = claim(&[]);
    assert_eq!((something.code, nothing.code), (Some(0), Some(1)));
    assert!(nothing.json()["handoff"].is_null() && nothing.json()["version"] == 1, "{nothing}");
    assert_eq!(members(something.json()), members(nothing.json()));
    assert_eq!(claim(&["--count", "2"]).json()["claims"], Value::Array(Vec::new()));
}
