//! Handoffs that wait for a person: acknowledgments with questions, reviews, and who may decide.

use baton_testbed::account;
use insta::assert_snapshot;

use crate::documents::{ACKNOWLEDGMENT, UNDERSTOOD, report_with, with};
use crate::queue_life::{done, state, with_one_claimed};
use crate::sandbox::Sandbox;

/// A handoff that waits for approval, because its report says STOP.
fn with_review() -> Sandbox {
    let sandbox = with_one_claimed(&[]);
    sandbox.write("stop.json", report_with("\"complete\"", "\"partial\"").replace("PROCEED", "STOP"));
    let run = done(&sandbox, &["report", "csv-07.research", "--fence", "1", "stop.json"]);
    assert_eq!(run.stdout, "csv-07.research awaiting_person: approve or reject it\n");
    sandbox
}

fn digest(sandbox: &Sandbox) -> String {
    let shown = done(sandbox, &["show", "csv-07", "--json"]).json();
    shown["question"]["digest"].as_str().expect("a digest").to_owned()
}

#[test]
fn an_acknowledgment_with_doubts_asks_a_person() {
    let sandbox = with_one_claimed(&[]);
    sandbox.write("ack.yaml", with(ACKNOWLEDGMENT, "starting: true", "starting: false"));
    assert_snapshot!(sandbox.baton(&["ack", "csv-07.research", "--fence", "1", "ack.yaml"]), @"
    csv-07.research awaiting_person: answer its questions
    --- exit 3
    ");
    assert_eq!(sandbox.baton(&["wait", "csv-07.research"]).code, Some(3));
    let (digest, text) = (digest(&sandbox), "Yes, the scanner, too");
    done(&sandbox, &["answer", "csv-07", "--text", text, "--yes", "--shown", &digest]);
    let claim = done(&sandbox, &["claim", "--agent", "finder"]);
    assert!(claim.stderr.contains(&format!("answer    {}: Yes, the scanner, too", account())), "{claim}");
}

#[test]
fn an_acknowledgment_that_starts_goes_on() {
    let sandbox = with_one_claimed(&[]);
    sandbox.write("ack.yaml", UNDERSTOOD);
    done(&sandbox, &["ack", "csv-07.research", "--fence", "1", "ack.yaml"]);
    assert_eq!(state(&sandbox), "claimed");
}

#[test]
fn waiting_ends_where_a_person_must_decide() {
    let sandbox = with_review();
    let waited = sandbox.baton(&["wait", "csv-07.research"]);
    assert_eq!(waited.code, Some(3));
    assert_eq!(waited.stdout, sandbox.read("stop.json"));
    let through = sandbox.baton(&["wait", "csv-07.research", "--through-people", "--timeout", "10ms"]);
    assert_eq!(through.code, Some(1));
}

#[test]
fn nobody_approves_by_accident() {
    let sandbox = with_review();
    assert_snapshot!(sandbox.baton(&["approve", "csv-07"]), @"
    --- stderr
    error: not a terminal: a decision needs one, or --shown DIGEST --yes
    hint: `baton show csv-07.research` shows it; then decide with --yes --shown DIGEST
    --- exit 2
    ");
    assert_eq!(sandbox.baton(&["approve", "csv-07", "--yes"]).code, Some(2));
    assert_eq!(sandbox.baton(&["approve", "csv-07", "--shown", &digest(&sandbox)]).code, Some(2));
    let other = sandbox.baton(&["approve", "csv-07", "--yes", "--shown", "0123456789ab"]);
    assert_eq!(other.code, Some(1));
    assert!(other.stderr.contains("it has changed since it was shown"), "{other}");
    assert!(other.stderr.contains("hint: look at it again: baton show csv-07.research\n"), "{other}");
    assert!(!other.stderr.contains(&digest(&sandbox)), "the digest is for those who look: {other}");
    assert_eq!(sandbox.baton_with_input(&["approve", "csv-07"], b"yes\n").code, Some(2));
    assert_eq!(state(&sandbox), "awaiting_person");
}

#[test]
fn what_is_approved_is_completed_and_says_by_whom() {
    let sandbox = with_review();
    let shown = digest(&sandbox);
    done(&sandbox, &["approve", "csv-07", "--yes", "--shown", &shown, "--as", "Ann"]);
    assert_eq!(state(&sandbox), "completed");
    assert!(
        done(&sandbox, &["show", "csv-07"]).stdout.contains(&format!("approved by {} (as \"Ann\") (cli)", account()))
    );
    let again = sandbox.baton(&["approve", "csv-07", "--yes", "--shown", &shown]);
    assert_eq!(again.code, Some(1), "{again}");
}

#[test]
fn what_is_rejected_goes_back_with_the_reason() {
    let sandbox = with_review();
    assert_eq!(sandbox.baton(&["reject", "csv-07"]).code, Some(2));
    assert_eq!(sandbox.baton(&["reject", "csv-07", "--note", ""]).code, Some(2));
    let (digest, note) = (digest(&sandbox), "name the trait");
    done(&sandbox, &["reject", "csv-07", "--note", note, "--yes", "--shown", &digest]);
    let claim = done(&sandbox, &["claim", "--agent", "finder"]);
    assert!(claim.stderr.contains(&format!("feedback  {}: name the trait", account())), "{claim}");
}

#[test]
fn the_answer_must_fit_the_question() {
    let sandbox = with_review();
    let run = sandbox.baton(&["answer", "csv-07", "--text", "x", "--yes", "--shown", &digest(&sandbox)]);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("a person is asked for approval"), "{run}");
    assert_eq!(sandbox.baton(&["answer", "csv-07", "--file", "none.md"]).code, Some(2));
    assert_eq!(sandbox.baton(&["answer", "csv-07"]).code, Some(2));
}

#[cfg(target_os = "linux")]
#[test]
fn at_a_terminal_the_report_is_shown_and_only_yes_approves() {
    let at_terminal = |sandbox: &Sandbox, typed: &str| {
        let typed = format!("{typed}\n");
        let command = format!("{} approve csv-07", crate::sandbox::BATON);
        sandbox.program_with_input("script", &["-qec", &command, "/dev/null"], typed.as_bytes())
    };
    let sandbox = with_review();
    let Some(refused) = at_terminal(&sandbox, "no") else { return };
    assert_eq!(refused.code, Some(1), "{refused}");
    assert!(refused.stdout.contains("Approve this?") && refused.stdout.contains("through RowWriter"), "{refused}");
    assert!(!refused.stdout.contains("context_summary"), "it is readable: {refused}");
    assert_eq!(state(&sandbox), "awaiting_person");
    let looked = at_terminal(&sandbox, "d\nno").expect("script is there");
    assert!(looked.stdout.contains("context_summary"), "the whole document: {looked}");
    assert_eq!(state(&sandbox), "awaiting_person");
    let approved = at_terminal(&sandbox, "y").expect("script is there");
    assert_eq!(approved.code, Some(0), "{approved}");
    assert_eq!(state(&sandbox), "completed");
}
