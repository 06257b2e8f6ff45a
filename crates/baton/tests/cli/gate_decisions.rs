//! Decisions from the command line: notes, questions, choices, and what is refused.

use baton_engine::handoff::About;
use baton_testbed::account;
use insta::assert_snapshot;

use crate::gates::{digest, reported, with_gate, with_review};
use crate::queue_life::done;
use crate::stocked::Stocked;

#[test]
fn a_note_goes_with_the_approval() {
    let stocked = Stocked::new();
    let id = with_gate(&stocked, "HO-1", "design", &[]);
    let shown = digest(&stocked, &id);
    let approve = ["approve", "HO-1", "--note", "mind the costs", "--yes", "--shown", &shown, "--as", "Ann"];
    done(&stocked.sandbox, &approve);
    let shown = done(&stocked.sandbox, &["show", "HO-1"]).stdout;
    let who = format!("{} (as \"Ann\")", account());
    assert!(shown.contains(&format!("answer    {who}: mind the costs\n")), "{shown}");
    assert!(shown.contains(&format!("decided   approved by {who} (cli): mind the costs\n")), "{shown}");
}

#[test]
fn whoever_decides_again_learns_who_has_decided() {
    let stocked = Stocked::new();
    let id = with_gate(&stocked, "HO-1", "design", &[]);
    let shown = digest(&stocked, &id);
    let approve = ["approve", "HO-1", "--yes", "--shown", &shown, "--as", "Ann"];
    done(&stocked.sandbox, &approve);
    let who = format!("{} (as \"Ann\")", account());
    let reject = ["reject", "HO-1", "--note", "no", "--yes", "--shown", &shown];
    for again in [&approve[..], &reject] {
        let again = stocked.sandbox.baton(again);
        let (error, rest) = again.stderr.split_once(" at 20").unwrap_or_else(|| panic!("{again}"));
        assert_eq!(error, format!("error: HO-1: already approved by {who}"), "{again}");
        assert!(rest.ends_with("Z (through the command line)\n"), "{again}");
        assert_eq!(again.code, Some(1), "{again}");
    }
    let id = with_gate(&stocked, "HO-2", "costs", &[]);
    let shown = digest(&stocked, &id);
    done(&stocked.sandbox, &["cancel", "HO-2"]);
    let late = stocked.sandbox.baton(&["approve", "HO-2", "--yes", "--shown", &shown]);
    assert_eq!(late.stderr, "error: HO-2: a handoff that is cancelled cannot be decided about\n", "{late}");
}

#[test]
fn a_question_goes_to_the_agent_and_comes_back() {
    let stocked = Stocked::new();
    let id = with_review(&stocked, "HO-2", "research");
    let shown = digest(&stocked, &id);
    assert_eq!(stocked.sandbox.baton(&["ask", "HO-2", "Why?"]).code, Some(2), "this is no terminal");
    assert_eq!(stocked.sandbox.baton(&["ask", "HO-2", "--yes", "--shown", &shown]).code, Some(2), "no question");
    done(&stocked.sandbox, &["ask", "HO-2", "Why RowWriter?", "--yes", "--shown", &shown]);
    let note = stocked.find(&id).expect("there").notes.pop().expect("the agent is told");
    assert_eq!(
        (note.about, note.from.as_str(), note.text.as_str()),
        (About::Question, account().as_str(), "Why RowWriter?")
    );
    reported(&stocked, &id);
    let fence = stocked.find(&id).expect("there").fence;
    let verdict = baton_engine::lifecycle::Verdict::Verified;
    let verify = baton_engine::lifecycle::Verify {
        fence,
        verdict,
        examined: Vec::new(),
        evidence: None,
        kept: Vec::new(),
        review: false,
        repair: false,
        dice: 0.0,
    };
    stocked.apply(&id, baton_engine::lifecycle::Command::Verify(verify));
    let inbox = done(&stocked.sandbox, &["inbox"]).stdout;
    assert!(inbox.starts_with("review        HO-2 "), "it needs no review of its own, but one is owed: {inbox}");
}

#[test]
fn a_gate_with_choices_takes_only_them() {
    let stocked = Stocked::new();
    let id = with_gate(&stocked, "HO-3", "tools", &["continue", "revise", "stop"]);
    let shown = digest(&stocked, &id);
    let yes = ["--yes", "--shown", &shown];
    let sandbox = &stocked.sandbox;
    let given = |arguments: &[&str]| sandbox.baton(&[arguments, &yes].concat());
    assert_snapshot!(given(&["answer", "HO-3", "--choice", "contineu"]), @"
    --- stderr
    error: HO-3: `contineu` is not one of the choices
    hint: did you mean `continue`? known: continue, revise, stop
    --- exit 2
    ");
    assert_snapshot!(given(&["answer", "HO-3", "as you like"]), @"
    --- stderr
    error: HO-3: `as you like` is not one of the choices
    hint: use one of: continue, revise, stop
    --- exit 2
    ");
    assert_snapshot!(given(&["answer", "HO-3", "--choice", "2"]), @"
    --- stderr
    error: HO-3: `2` is not one of the choices
    hint: use one of: continue, revise, stop
    --- exit 2
    ");
    assert_snapshot!(given(&["approve", "HO-3"]), @"
    --- stderr
    error: HO-3: approval is not one of the choices
    hint: choose with `baton answer HO-3 --choice WORD`: continue, revise, stop
    --- exit 2
    ");
    assert_snapshot!(given(&["answer", "HO-3"]), @"
    --- stderr
    error: the answer is missing
    hint: write it after the id, or give --choice or --file
    --- exit 2
    ");
    assert_snapshot!(sandbox.baton(&["answer", "HO-3", "--choice", "revise"]), @"
    --- stderr
    error: not a terminal: a decision needs one, or --shown DIGEST --yes
    hint: `baton show HO-3` shows it; then decide with --yes --shown DIGEST
    --- exit 2
    ");
    assert_snapshot!(given(&["answer", "HO-3", "--choice", "Revise", "--note", "with care"]), @"
    HO-3 completed
    --- exit 0
    ");
    let told = done(sandbox, &["show", "HO-3"]).stdout;
    assert!(told.contains(&format!("answered by {} (cli): revise: with care\n", account())), "{told}");
}

#[test]
fn twelve_characters_of_the_digest_are_enough_and_fewer_are_not() {
    let stocked = Stocked::new();
    let id = with_gate(&stocked, "HO-1", "design", &[]);
    let shown = digest(&stocked, &id);
    let given = |shown: &str| stocked.sandbox.baton(&["approve", "HO-1", "--yes", "--shown", shown]);
    assert_snapshot!(given("0123456789a"), @"
    --- stderr
    error: HO-1: `0123456789a` does not say what was shown: give at least 12 characters of its digest
    hint: `baton show HO-1` prints the digest
    --- exit 2
    ");
    let other = if shown.starts_with('0') { "1".repeat(12) } else { "0".repeat(12) };
    assert_eq!(given(&other).code, Some(1), "it is another document");
    assert_eq!(given(&shown[..12].to_uppercase()).code, Some(0));
    let recorded = done(&stocked.sandbox, &["show", "HO-1", "--json"]).stdout;
    assert!(recorded.contains(&format!("\"{shown}\"")), "the whole digest is recorded: {recorded}");
}

#[test]
fn where_nothing_is_offered_nothing_is_chosen() {
    let stocked = Stocked::new();
    let id = with_gate(&stocked, "HO-1", "design", &[]);
    let shown = digest(&stocked, &id);
    let given = |arguments: &[&str]| stocked.sandbox.baton(&[arguments, &["--yes", "--shown", &shown]].concat());
    assert_snapshot!(given(&["answer", "HO-1", "--choice", "go"]), @"
    --- stderr
    error: HO-1: no choices are offered
    hint: answer in words: baton answer ID TEXT
    --- exit 2
    ");
    assert_snapshot!(given(&["ask", "HO-1", "Who pays?"]), @"
    --- stderr
    error: HO-1: a person is asked for a decision: no agent can be asked
    --- exit 1
    ");
    // Words that nobody understands do not open a gate.
    assert_snapshot!(given(&["answer", "HO-1", "Go, but slowly"]), @"
    --- stderr
    error: HO-1: not one of the choices: choose one of those offered, or approve or reject it
    hint: `baton show` lists what can be chosen
    --- exit 1
    ");
    assert_snapshot!(given(&["approve", "HO-1"]), @"
    HO-1 completed
    --- exit 0
    ");
}

#[test]
fn the_feedback_can_be_called_so() {
    let stocked = Stocked::new();
    let id = with_review(&stocked, "HO-2", "research");
    let shown = digest(&stocked, &id);
    done(&stocked.sandbox, &["reject", "HO-2", "--feedback", "name the trait", "--yes", "--shown", &shown]);
    assert_eq!(stocked.find(&id).expect("there").notes.last().map(|note| note.text.as_str()), Some("name the trait"));
}
