//! The queue from the shell: the whole life of a handoff, retries, dead letters, pausing.

use baton_testbed::account;
use insta::assert_snapshot;

use crate::documents::{BLOCK, PACKAGE, REPORT, REQUEST, with};
use crate::sandbox::{Run, Sandbox};

/// Runs a command that must succeed.
pub(crate) fn done(sandbox: &Sandbox, arguments: &[&str]) -> Run {
    let run = sandbox.baton(arguments);
    assert_eq!(run.code, Some(0), "baton {arguments:?}\n{run}");
    run
}

/// A sandbox with the documents, in which [`REQUEST`] was sent to `finder`.
pub(crate) fn with_one_sent(terms: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("request.json", REQUEST).write("report.json", REPORT).write("package.yaml", PACKAGE);
    done(&sandbox, &[&["send", "--to", "finder", "request.json"], terms].concat());
    sandbox
}

/// The same, claimed by `worker`.
pub(crate) fn with_one_claimed(terms: &[&str]) -> Sandbox {
    let sandbox = with_one_sent(terms);
    done(&sandbox, &["claim", "--agent", "finder", "--claimant", "worker"]);
    sandbox
}

/// Returns the state of the handoff that was sent.
pub(crate) fn state(sandbox: &Sandbox) -> String {
    let shown = done(sandbox, &["show", "csv-07.research", "--json"]).json();
    shown["handoff"]["state"].as_str().expect("a state").to_owned()
}

#[test]
fn a_handoff_is_sent_claimed_reported_and_waited_for() {
    let sandbox = Sandbox::new();
    sandbox.write("request.json", REQUEST).write("report.json", REPORT);
    assert_snapshot!(sandbox.baton(&["send", "--to", "finder", "request.json"]), @"
    csv-07.research
    --- exit 0
    ");
    let claim = sandbox.baton(&["claim", "--agent", "finder", "--claimant", "worker"]);
    assert_eq!(claim.stdout, REQUEST);
    assert_snapshot!(claim.stderr, @"
    csv-07.research claimed by worker with fence 1, lease ends in 1m
    then: baton report csv-07.research --fence 1 FILE
    ");
    assert_snapshot!(sandbox.baton(&["ack", "csv-07.research", "--fence", "1"]), @"
    csv-07.research claimed by worker with fence 1, lease ends in 1m
    --- exit 0
    ");
    assert_snapshot!(sandbox.baton(&["heartbeat", "csv-07.research", "--fence", "1", "--lease", "5m"]), @"
    csv-07.research claimed by worker with fence 1, lease ends in 5m
    --- exit 0
    ");
    let report = sandbox.baton(&["report", "csv-07.research", "--fence", "1", "report.json"]);
    assert!(report.stdout.starts_with("csv-07.research completed\n"), "{report}");
    let waited = done(&sandbox, &["wait", "csv-07.research"]);
    assert_eq!(waited.stdout, REPORT);
    let shown = done(&sandbox, &["show", "csv-07"]).stdout;
    let kinds: Vec<&str> = shown.lines().filter_map(|line| line.split("Z  ").nth(1)).collect();
    assert_snapshot!(kinds.join("\n").replace(&format!("from {} ", account()), "from ACCOUNT "), @"
    accepted      from ACCOUNT to finder (task request)
    claimed       by worker for 60 s
    acknowledged  understood
    extended      fence 1
    reported      complete
    ");
}

#[test]
fn nothing_to_claim_is_no() {
    let sandbox = with_one_claimed(&[]);
    assert_snapshot!(sandbox.baton(&["claim", "--agent", "finder"]), @"
    --- stderr
    nothing is ready for finder
    --- exit 1
    ");
    assert_eq!(sandbox.baton(&["claim", "--agent", "nobody", "--wait", "10ms"]).code, Some(1));
    let none = sandbox.baton(&["claim", "--agent", "finder", "--count", "2", "--json"]);
    assert_eq!((none.code, none.json()["claims"].as_array().map(Vec::len)), (Some(1), Some(0)));
}

#[test]
fn the_same_report_again_is_already_recorded() {
    let sandbox = with_one_claimed(&[]);
    let report = ["report", "csv-07.research", "--fence", "1", "report.json"];
    done(&sandbox, &report);
    let again = done(&sandbox, &report);
    assert_eq!(again.stderr, "csv-07.research: already recorded\n");
    assert_eq!(done(&sandbox, &[&report[..], &["--json"]].concat()).json()["repeated"], true);
}

#[test]
fn failures_are_tried_again_until_the_policy_is_spent() {
    let sandbox = with_one_sent(&["--max-retries", "1", "--retry-delay", "0"]);
    let fail = |fence: &str| {
        done(&sandbox, &["claim", "--agent", "finder"]);
        let told = ["--code", "PROCESSING_ERROR", "--message", "the index is locked"];
        done(&sandbox, &[&["fail", "csv-07.research", "--fence", fence], &told[..]].concat()).stdout
    };
    assert_eq!(fail("1"), "csv-07.research pending\n");
    assert!(fail("2").starts_with("csv-07.research failed"));
    let waited = sandbox.baton(&["wait", "csv-07.research"]);
    assert_eq!((waited.code, waited.stdout.as_str()), (Some(1), ""));
    assert!(waited.stderr.contains("PROCESSING_ERROR: the index is locked"), "{waited}");
}

#[test]
fn the_next_attempt_waits_as_the_policy_says() {
    let sandbox = with_one_claimed(&["--retry-delay", "10m"]);
    assert_snapshot!(sandbox.baton(&["fail", "csv-07.research", "--fence", "1", "--code", "TIMEOUT", "--message", "x"]), @"
    csv-07.research pending, ready in 10m
    --- exit 0
    ");
    assert_eq!(sandbox.baton(&["claim", "--agent", "finder"]).code, Some(1));
}

#[test]
fn permanent_failures_are_not_tried_again_and_dead_letters_come_back() {
    let sandbox = with_one_claimed(&[]);
    let failed = ["fail", "csv-07.research", "--fence", "1", "--code", "TIMEOUT", "--message", "x", "--permanent"];
    assert!(done(&sandbox, &failed).stdout.starts_with("csv-07.research failed"));
    assert_eq!(done(&sandbox, &["requeue", "--all", "--agent", "other"]).stderr, "no handoff has failed\n");
    assert_snapshot!(sandbox.baton(&["requeue", "--all", "--agent", "finder", "--note", "the disk has room again"]), @"
    csv-07.research pending
    --- exit 0
    ");
    let claim = done(&sandbox, &["claim", "--agent", "finder", "--claimant", "worker"]);
    assert_snapshot!(claim.stderr.replace(&format!("  {}: ", account()), "  ACCOUNT: "), @"
    csv-07.research claimed by worker with fence 2, lease ends in 1m
    requeued  ACCOUNT: the disk has room again
    then: baton report csv-07.research --fence 2 FILE
    ");
    assert_snapshot!(sandbox.baton(&["requeue", "csv-07"]), @"
    --- stderr
    error: csv-07.research: a handoff that is claimed cannot be requeued
    --- exit 1
    ");
}

#[test]
fn a_lost_lease_goes_to_the_next_and_the_late_report_is_refused() {
    let sandbox = with_one_sent(&["--retry-delay", "0"]);
    done(&sandbox, &["claim", "--agent", "finder", "--lease", "1ms"]);
    let second = done(&sandbox, &["claim", "--agent", "finder", "--claimant", "second", "--wait", "60s"]);
    assert!(second.stderr.contains("fence 2"), "{second}");
    assert_snapshot!(sandbox.baton(&["report", "csv-07.research", "--fence", "1", "report.json"]), @"
    --- stderr
    error: csv-07.research: claim 1 was superseded by claim 2
    hint: the lease was lost; stop working on it, and claim again
    --- exit 1
    ");
    assert_eq!(sandbox.baton(&["heartbeat", "csv-07.research", "--fence", "1"]).code, Some(1));
    assert!(done(&sandbox, &["show", "csv-07"]).stdout.contains("report with fence 1 came too late"));
    done(&sandbox, &["report", "csv-07.research", "--fence", "2", "report.json"]);
}

#[test]
fn what_is_cancelled_is_over_for_its_worker() {
    let sandbox = with_one_claimed(&[]);
    done(&sandbox, &["cancel", "csv-07.research", "--reason", "no longer wanted"]);
    let again = done(&sandbox, &["cancel", "csv-07.research"]);
    assert_eq!(again.stderr, "csv-07.research: already recorded\n");
    let late = sandbox.baton(&["report", "csv-07.research", "--fence", "1", "report.json"]);
    assert_eq!(late.code, Some(1));
    assert!(late.stderr.contains("claim 1 has ended: the handoff is cancelled"), "{late}");
    assert_eq!(sandbox.baton(&["wait", "csv-07.research"]).code, Some(1));
    assert!(done(&sandbox, &["show", "csv-07"]).stdout.contains(&format!("by {}: no longer wanted", account())));
}

#[test]
fn a_paused_queue_hands_out_nothing_and_a_limited_one_little() {
    let sandbox = with_one_sent(&[]);
    sandbox.write("second.json", with(REQUEST, "csv-07", "csv-08"));
    done(&sandbox, &["send", "--to", "finder", "second.json"]);
    assert_snapshot!(sandbox.baton(&["queue", "pause", "finder"]), @"
    finder paused
    --- exit 0
    ");
    assert_snapshot!(sandbox.baton(&["claim", "--agent", "finder"]), @"
    --- stderr
    the queue of finder is paused
    --- exit 1
    ");
    done(&sandbox, &["queue", "resume", "finder"]);
    assert_snapshot!(sandbox.baton(&["queue", "limit", "finder", "1"]), @"
    finder at most 1 at a time
    --- exit 0
    ");
    let claims = done(&sandbox, &["claim", "--agent", "finder", "--count", "5", "--json"]).json();
    assert_eq!(claims["claims"].as_array().map(Vec::len), Some(1));
    assert_eq!(sandbox.baton(&["claim", "--agent", "finder"]).code, Some(1));
    assert_snapshot!(sandbox.baton(&["queue"]), @"
    AGENT   PENDING  CLAIMED  VERIFYING  BLOCKED  PERSON  COMPLETED  FAILED  CANCELLED  QUEUE
    finder  1        1        0          0        0       0          0       0          at most 1 at a time
    --- exit 0
    ");
    done(&sandbox, &["queue", "limit", "finder", "none"]);
    done(&sandbox, &["claim", "--agent", "finder"]);
}

#[test]
fn the_urgent_goes_first_and_what_is_not_ready_waits() {
    let sandbox = with_one_sent(&["--not-before", "1h"]);
    for (id, priority) in [("a", "low"), ("b", "critical"), ("c", "normal")] {
        let second = with(REQUEST, "csv-07", id);
        sandbox.write("other.json", second);
        done(&sandbox, &["send", "--to", "finder", "--priority", priority, "other.json"]);
    }
    let claims = done(&sandbox, &["claim", "--agent", "finder", "--count", "9", "--json"]).json();
    let ids: Vec<&str> = claims["claims"]
        .as_array()
        .expect("claims")
        .iter()
        .filter_map(|claim| claim["handoff"]["id"].as_str())
        .collect();
    assert_eq!(ids, ["b.research", "c.research", "a.research"]);
}

#[test]
fn several_requests_are_sent_together_or_not_at_all() {
    let sandbox = Sandbox::new();
    sandbox.write("a.json", REQUEST).write("b.json", with(REQUEST, "csv-07", "csv-08"));
    sandbox.write("bad.json", with(REQUEST, "research", "rsearch"));
    assert_eq!(sandbox.baton(&["send", "--to", "finder", "a.json", "bad.json"]).code, Some(1));
    assert!(!sandbox.state().root().exists());
    assert_snapshot!(sandbox.baton(&["send", "--to", "finder", "a.json", "b.json"]), @"
    csv-07.research
    csv-08.research
    --- exit 0
    ");
}

#[test]
fn what_comes_next_is_sent_with_the_report() {
    let sandbox = with_one_claimed(&[]);
    done(&sandbox, &["report", "csv-07.research", "--fence", "1", "report.json", "--next", "package.yaml"]);
    let next = done(&sandbox, &["show", "HO-2026-031", "--json"]).json();
    assert_eq!(next["handoff"]["run"], "csv-07.research");
    assert_eq!((&next["handoff"]["to"], &next["handoff"]["state"]), (&"security-review".into(), &"pending".into()));
}

#[test]
fn the_result_of_a_delegation_wakes_the_blocked_one() {
    let sandbox = with_one_claimed(&[]);
    let status =
        "\"status\": \"blocked\", \"blocked_reason\": \"security_concern\", \"attempted\": [\"read the code\"]";
    let blocked = with(BLOCK, "\"status\": \"complete\"", status);
    sandbox.write("blocked.md", with(&blocked, "\"harbour-developer\"", "null"));
    let reported = sandbox.baton(&["report", "csv-07.research", "--fence", "1", "blocked.md"]);
    assert_eq!(reported.code, Some(0), "{reported}");
    assert_eq!(state(&sandbox), "blocked");
    sandbox.write("help.json", with(REQUEST, "csv-07", "help"));
    done(&sandbox, &["send", "--to", "helper", "--returns-to", "csv-07", "help.json"]);
    done(&sandbox, &["claim", "--agent", "helper"]);
    sandbox.write("helped.json", with(REPORT, "csv-07", "help"));
    done(&sandbox, &["report", "help.research", "--fence", "1", "helped.json"]);
    assert_eq!(state(&sandbox), "pending");
    let claim = done(&sandbox, &["claim", "--agent", "finder", "--json"]).json();
    assert_eq!(claim["notes"][0]["about"], "resolution");
}

#[test]
fn an_agent_with_and_without_at_sign_has_one_queue() {
    let sandbox = with_one_sent(&[]);
    sandbox.write("second.json", with(REQUEST, "csv-07", "csv-08"));
    done(&sandbox, &["send", "--to", "@finder", "second.json"]);
    let listed = |agent: &str| done(&sandbox, &["list", "--agent", agent, "--json"]).json()["handoffs"].clone();
    assert_eq!(listed("finder").as_array().map(Vec::len), Some(2));
    assert_eq!(listed("finder"), listed("@finder"));
    assert_eq!(done(&sandbox, &["queue", "pause", "@finder"]).stdout, "finder paused\n");
    assert_eq!(sandbox.baton(&["claim", "--agent", "finder"]).code, Some(1));
    done(&sandbox, &["queue", "resume", "finder"]);
    for _ in 0..2 {
        done(&sandbox, &["claim", "--agent", "@finder"]);
    }
}

#[test]
fn the_receiver_that_a_document_addresses_with_at_sign_gets_it() {
    let sandbox = Sandbox::new();
    sandbox.write("package.yaml", with(PACKAGE, "agent: security-review", "agent: '@security-review'"));
    done(&sandbox, &["send", "package.yaml"]);
    let claim = done(&sandbox, &["claim", "--agent", "security-review"]);
    assert!(claim.stdout.contains("agent: '@security-review'"), "the document stays as it is: {claim}");
}

#[test]
fn a_queue_that_is_paused_is_listed_before_anything_is_sent() {
    let sandbox = with_one_sent(&[]);
    done(&sandbox, &["queue", "pause", "idle"]);
    done(&sandbox, &["queue", "limit", "open", "2"]);
    done(&sandbox, &["queue", "limit", "open", "none"]);
    let listed = done(&sandbox, &["queue", "--json"]).json();
    let agents: Vec<&str> =
        listed["queues"].as_array().into_iter().flatten().filter_map(|q| q["agent"].as_str()).collect();
    assert_eq!(agents, ["finder", "idle"]);
    assert_eq!(
        (&listed["queues"][1]["paused"], &listed["queues"][1]["handoffs"]["pending"]),
        (&true.into(), &0.into())
    );
    assert!(done(&sandbox, &["doctor"]).stdout.contains("paused: idle"));
}
