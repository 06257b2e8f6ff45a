//! Deciding at a real terminal: what is shown, what can be typed, and that nothing is decided by silence.
#![cfg(target_os = "linux")]

use baton_engine::handoff::StateName;
use baton_testbed::Process;
use insta::assert_snapshot;

use crate::gates::{digest, with_gate, with_review};
use crate::sandbox::BATON;
use crate::stocked::{LONG, Stocked};

/// Starts the program at a terminal of its own.
fn at_terminal(stocked: &Stocked, arguments: &str) -> Process {
    let mut command = stocked.sandbox.command("script");
    command.args(["-qec", &format!("{BATON} {arguments}"), "/dev/null"]).env("NO_COLOR", "1");
    Process::spawn(&mut command)
}

/// Types a line when the terminal shows something.
fn when(process: &mut Process, shown: &str, typed: &str) {
    process.stdout.find(shown, LONG).unwrap_or_else(|silence| panic!("{shown}: {silence:?}"));
    process.send_line(typed);
}

fn end(mut process: Process) -> (Option<i32>, String) {
    let code = process.wait(LONG).expect("it ends").code();
    let lines = process.stdout.rest(LONG).expect("it has ended");
    (code, lines.join("\n").replace('\r', ""))
}

const MENU: &str = "[l]ater";
const NOTE: &str = "A note for the record and the next agent";

#[test]
fn the_inbox_asks_about_each_in_turn() {
    let stocked = Stocked::new();
    let gate = with_gate(&stocked, "HO-1", "design", &[]);
    let review = with_review(&stocked, "HO-2", "research");
    let limit = with_gate(&stocked, "HO-3", "tools", &["continue", "revise"]);
    let mut process = at_terminal(&stocked, "inbox --decide");
    when(&mut process, MENU, "later");
    when(&mut process, MENU, "reject name the trait");
    when(&mut process, MENU, "2");
    when(&mut process, NOTE, "start with the importer");
    let (code, rest) = end(process);
    assert_eq!(code, Some(3), "the first still waits: {rest}");
    assert_eq!(stocked.find(&gate).expect("there").state.name(), StateName::AwaitingPerson);
    assert_eq!(
        stocked.find(&review).expect("there").notes.last().map(|note| note.text.as_str()),
        Some("name the trait")
    );
    assert_eq!(stocked.find(&limit).expect("there").notes[0].text, "revise\nstart with the importer");
}

#[test]
fn what_is_decided_elsewhere_is_taken_back() {
    let stocked = Stocked::new();
    let first = with_gate(&stocked, "HO-1", "design", &[]);
    let second = with_gate(&stocked, "HO-2", "costs", &[]);
    let mut process = at_terminal(&stocked, "inbox --decide");
    process.stdout.find(MENU, LONG).expect("the first question");
    let shown = digest(&stocked, &first);
    crate::queue_life::done(&stocked.sandbox, &["reject", "HO-1", "--note", "no", "--yes", "--shown", &shown]);
    process.stdout.find("this question was withdrawn", LONG).expect("it is taken back");
    process.stdout.find("has rejected it elsewhere", LONG).expect("by whom");
    when(&mut process, MENU, "approve\n\nno");
    when(&mut process, MENU, "later");
    let (code, rest) = end(process);
    assert_eq!(code, Some(3), "{rest}");
    assert_eq!(stocked.find(&first).expect("there").state.name(), StateName::Failed);
    assert_eq!(stocked.find(&second).expect("there").state.name(), StateName::AwaitingPerson, "{rest}");
}

#[test]
fn what_is_typed_ahead_decides_nothing() {
    let stocked = Stocked::new();
    let first = with_gate(&stocked, "HO-1", "design", &[]);
    let second = with_gate(&stocked, "HO-2", "costs", &[]);
    let mut process = at_terminal(&stocked, "inbox --decide");
    when(&mut process, MENU, "approve\n\napprove\napprove");
    when(&mut process, "HO-2): architecture asks", "");
    when(&mut process, MENU, "later");
    let (_, rest) = end(process);
    assert_eq!(stocked.find(&first).expect("there").state.name(), StateName::Completed);
    assert_eq!(stocked.find(&second).expect("there").state.name(), StateName::AwaitingPerson, "{rest}");
}

#[test]
fn choices_are_shown_and_picked_by_number() {
    let stocked = Stocked::new();
    let id = with_gate(&stocked, "HO-3", "tools", &["continue", "revise"]);
    let mut process = at_terminal(&stocked, "answer HO-3");
    let mut shown = Vec::new();
    loop {
        let line = process.stdout.next(LONG).expect("a line").trim_end().to_owned();
        if line.is_empty() {
            break;
        }
        shown.push(line);
    }
    process.send_line("7");
    process.send_line("1");
    let (code, rest) = end(process);
    assert_eq!(code, Some(0), "{rest}");
    assert_snapshot!(shown.join("\n"), @"
    tools (HO-3): architecture asks for a decision
    reason    The design goes to implementation, which costs three weeks
    summary   Upload design complete with 12 ranked risks, all of rank 4 or 5 have a measure; cost
              estimate 15 days
    artifacts docs/upload/architecture.md
    gate      design-approval, blocking
    look at   1. Unscanned files are deleted after 6 hours
    choices   1. continue  Goes on with two more visits
              2. revise    Starts to count again
    ");
    assert_eq!(stocked.find(&id).expect("there").notes[0].text, "continue");
}

#[test]
fn the_reason_is_asked_for_and_must_be_finished() {
    let stocked = Stocked::new();
    let id = with_review(&stocked, "HO-2", "research");
    let mut process = at_terminal(&stocked, "reject HO-2");
    when(&mut process, "What must be done differently?", "");
    let (code, rest) = end(process);
    assert_eq!(code, Some(1), "{rest}");
    assert!(rest.contains("HO-2: nothing was decided"), "{rest}");
    let mut process = at_terminal(&stocked, "reject HO-2");
    when(&mut process, "What must be done differently?", "name the trait\nand its file\n");
    assert_eq!(end(process).0, Some(0));
    let feedback = stocked.find(&id).expect("there").notes.last().map(|note| note.text.clone());
    assert_eq!(feedback.as_deref(), Some("name the trait\nand its file"));
}

#[test]
fn nobody_is_asked_for_what_would_not_count() {
    let stocked = Stocked::new();
    let id = with_review(&stocked, "HO-2", "research");
    let (code, told) = end(at_terminal(&stocked, "answer HO-2"));
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains("a person is asked for approval: approve or reject it"), "{told}");
    let shown = digest(&stocked, &id);
    crate::queue_life::done(&stocked.sandbox, &["approve", "HO-2", "--yes", "--shown", &shown]);
    let (code, told) = end(at_terminal(&stocked, "approve HO-2"));
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains("error: HO-2:") && !told.contains("[y/N"), "{told}");
}

#[test]
fn whoever_sees_nothing_is_not_asked() {
    let stocked = Stocked::new();
    with_gate(&stocked, "HO-1", "design", &[]);
    let (code, _) = end(at_terminal(&stocked, "approve HO-1 2>told"));
    assert_eq!(code, Some(2));
    assert!(stocked.sandbox.read("told").starts_with("error: not a terminal: a decision needs one"));
    let (code, told) = end(at_terminal(&stocked, "inbox --decide </dev/null"));
    assert_eq!(code, Some(2), "{told}");
}

#[test]
fn what_is_decided_already_needs_no_terminal() {
    let stocked = Stocked::new();
    let id = with_gate(&stocked, "HO-1", "design", &[]);
    let shown = digest(&stocked, &id);
    crate::queue_life::done(&stocked.sandbox, &["approve", "HO-1", "--yes", "--shown", &shown]);
    for verb in [&["approve", "HO-1"][..], &["reject", "HO-1"], &["answer", "HO-1"], &["ask", "HO-1"]] {
        let told = stocked.sandbox.baton(verb);
        assert_eq!(told.code, Some(1), "{verb:?}: {told}");
        assert!(told.stderr.contains("HO-1: already approved by "), "{verb:?}: {told}");
    }
}
