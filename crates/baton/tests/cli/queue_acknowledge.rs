//! Acknowledgments and pick-up times from the shell: who must say that it understood, until when, and who is asked.

use serde_json::Value;

use crate::queue_life::{done, state, with_one_claimed, with_one_sent};

const ID: &str = "csv-07.research";

#[test]
fn report_before_the_acknowledgment_is_refused_with_the_command_to_run() {
    let sandbox = with_one_claimed(&["--acknowledge-within", "10m"]);
    let refused = sandbox.baton(&["report", ID, "--fence", "1", "report.json"]);
    assert_eq!(refused.code, Some(1), "{refused}");
    let hint = format!("hint: acknowledge the request first: baton ack {ID} --fence 1");
    assert!(refused.stderr.contains("claim 1 must be acknowledged") && refused.stderr.contains(&hint), "{refused}");
    assert_eq!(state(&sandbox), "claimed");
    done(&sandbox, &["ack", ID, "--fence", "1"]);
    done(&sandbox, &["report", ID, "--fence", "1", "report.json"]);
    assert_eq!(state(&sandbox), "completed");
}

#[test]
fn claim_says_until_when_it_must_be_acknowledged() {
    let sandbox = with_one_sent(&["--acknowledge-within", "10m"]);
    let claim = done(&sandbox, &["claim", "--agent", "finder", "--json"]).json();
    let since: jiff::Timestamp = claim["handoff"]["lease"]["since"].as_str().expect("claimed").parse().expect("a time");
    let by: jiff::Timestamp = claim["acknowledge_by"].as_str().expect("a time").parse().expect("a time");
    assert_eq!(by.duration_since(since).as_secs(), 600);
    assert_eq!(claim["handoff"]["lease"]["acknowledge_by"], claim["acknowledge_by"]);
    let acknowledged = done(&sandbox, &["ack", ID, "--fence", "1", "--json"]).json();
    assert_eq!(acknowledged["handoff"]["lease"]["acknowledge_by"], Value::Null, "it was said");
}

#[test]
fn claim_tells_people_until_when_and_how() {
    let sandbox = with_one_sent(&["--acknowledge-within", "10m"]);
    let claim = done(&sandbox, &["claim", "--agent", "finder"]);
    let told = format!("or it goes back: baton ack {ID} --fence 1");
    assert!(claim.stderr.contains("acknowledge it by 2") && claim.stderr.contains(&told), "{claim}");
    let free = with_one_sent(&[]);
    assert!(!done(&free, &["claim", "--agent", "finder"]).stderr.contains("acknowledge"), "nobody asks for it");
}

#[test]
fn claim_that_nobody_acknowledges_goes_to_the_next() {
    let sandbox = with_one_claimed(&["--acknowledge-within", "1ms", "--retry-delay", "0s"]);
    let claim = done(&sandbox, &["claim", "--agent", "finder", "--wait", "60s", "--json"]).json();
    assert_eq!((&claim["fence"], &claim["attempt"]), (&Value::from(2), &Value::from(2)));
    assert_eq!(claim["handoff"]["failure"]["code"], "NOT_ACKNOWLEDGED");
}

#[test]
fn request_that_nobody_picks_up_fails() {
    let sandbox = with_one_sent(&["--pick-up-within", "1ms", "--max-retries", "0"]);
    let waited = sandbox.baton(&["wait", ID, "--timeout", "60s"]);
    assert_eq!(waited.code, Some(1), "{waited}");
    let shown = done(&sandbox, &["show", ID, "--json"]).json();
    assert_eq!(
        (&shown["handoff"]["state"], &shown["handoff"]["failure"]["code"]),
        (&"failed".into(), &"TIMEOUT".into())
    );
    assert_eq!(shown["handoff"]["failure"]["message"], "nobody picked it up within 0.001 s");
}

#[test]
fn blocker_or_question_beside_starting_true_gives_the_handoff_to_a_person() {
    for doubt in ["blockers: [No access.]", "questions: [Which endpoints?]"] {
        let sandbox = with_one_claimed(&[]);
        let text =
            format!("acknowledgment:\n  received: true\n  understood: {{task: x}}\n  starting: true\n  {doubt}\n");
        sandbox.write("ack.yaml", text);
        let asked = sandbox.baton(&["ack", ID, "--fence", "1", "ack.yaml"]);
        assert_eq!((asked.code, state(&sandbox)), (Some(3), "awaiting_person".to_owned()), "{doubt}: {asked}");
    }
    let help = done(&with_one_claimed(&[]), &["ack", "--help"]).stdout;
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(help.contains("blockers or questions (also beside `starting: true`)"), "{help}");
}

#[test]
fn no_time_at_all_is_wrong_usage() {
    let sandbox = with_one_claimed(&[]);
    for option in ["--acknowledge-within", "--pick-up-within"] {
        let refused = sandbox.baton(&["send", "--to", "finder", "request.json", option, "0s"]);
        assert_eq!(refused.code, Some(2), "{refused}");
    }
}
