//! What `baton run` and `baton resume` show where nobody watches: plain lines, JSON events, and the end.

use insta::assert_snapshot;
use serde_json::Value;

use crate::run_letter::{run_letter, settled, with_letter};

#[test]
fn plain_lines_tell_what_happened_and_a_table_what_came_out() {
    let sandbox = with_letter();
    let run = run_letter(&sandbox, &["--answers", "answers.yaml"]);
    assert_eq!(run.code, Some(0), "{run}");
    assert_snapshot!(settled(&sandbox, &run.stderr), @"
    run letter-1 of letter
    begins    write: writer
    failed    write: attempt 1: refuted: artifact-missing: claims to have made `letter.txt`, but it does not exist; tried again (1 refuted)
    begins    write: writer, attempt 2
    waits     write: writer is blocked (legal_question): May the letter promise a refund within 14 days?
    delegated write: to lawyer: route 1 of the workflow leads to lawyer
    begins    write → lawyer: lawyer
    done      write → lawyer: has answered
    delegated write: continues with the answer of lawyer
    begins    write: writer, attempt 3
    warned    write: missing-context: the next agent gets no context
    done      write: writer, 3 verified
    skipped   write: next: review (the agent suggested printer)
    begins    review: reviewer
    failed    review: CHANGES_REQUESTED: letter.txt: the second paragraph repeats the first.
    back      review: to write: reviewer says CHANGES_REQUESTED
    begins    write #2: writer
    warned    write #2: missing-context: the next agent gets no context
    done      write #2: writer, 3 verified
    skipped   write #2: next: review (the agent suggested printer)
    begins    review #2: reviewer
    done      review #2: reviewer
    skipped   translate: skipped: `false` is false
    begins    spelling: check
    done      spelling: passed
    waits     release: a person must decide
    decided   release: answered by answers:answers.yaml:1 (answers): send

    letter-1 is completed: 7 handoffs
    record    desk/.baton/runs/letter-1/record
    agents    caged by bubblewrap
    inspect   baton show letter-1
              baton log letter-1
    verify    baton audit verify letter-1
    head      HASH
    ");
    let phases: Vec<String> =
        run.stdout.lines().map(|line| line.split("  ").next().unwrap_or_default().to_owned()).collect();
    assert_snapshot!(phases.join("\n"), @"

    PHASE
    write

    review
    spelling
    release
    translate
    total
    ");
    assert!(run.stdout.lines().any(|line| line.contains("6 ✓ 1 ✗")), "{run}");
    let record = "desk/.baton/runs/letter-1/record";
    assert!(sandbox.read(&format!("{record}/summary.txt")).contains("OUTCOME"));
    assert!(sandbox.read(&format!("{record}/handoffs/letter-1.write.1.yaml")).contains("handoff:"));
    assert!(sandbox.read(&format!("{record}/state/current.json")).contains("letter-1.review.2"));
}

#[test]
fn without_anybody_to_ask_it_says_what_waits_and_how_to_answer() {
    let sandbox = with_letter();
    let run = run_letter(&sandbox, &["--no-input"]);
    assert_eq!(run.code, Some(3), "{run}");
    let (_, end) = run.stderr.split_once("\n\n").expect("an end");
    assert_snapshot!(settled(&sandbox, end), @"
    letter-1 waits for a person: 1 question

    gate          letter-1.release.1 · run letter-1 · phase release · from orchestrator · now
      Release: choose one
      choices: send, burn
      baton answer letter-1.release.1
      baton reject letter-1.release.1
    record    desk/.baton/runs/letter-1/record
    agents    caged by bubblewrap
    next      baton answer letter-1.release.1, then baton resume letter-1
    inspect   baton show letter-1
              baton log letter-1
    verify    baton audit verify letter-1
    head      HASH
    ");
    let digest = sandbox.baton(&["show", "letter-1.release.1", "--json"]).json();
    let digest = digest["question"]["digest"].as_str().expect("a digest").to_owned();
    let answer = ["answer", "letter-1.release.1", "--choice", "send", "--yes", "--shown", &digest];
    assert_eq!(sandbox.baton(&answer).code, Some(0));
    let resumed = sandbox.baton(&["resume", "letter-1", "--no-input"]);
    assert_eq!(resumed.code, Some(0), "{resumed}");
    assert!(resumed.stderr.starts_with("resume letter-1\n"), "{resumed}");
    assert!(!resumed.stderr.contains("begins    write"), "what is finished is not done again: {resumed}");
    let again = sandbox.baton(&["resume", "letter-1"]);
    assert_eq!(again.code, Some(0), "{again}");
    assert!(again.stderr.contains("letter-1 is completed"), "{again}");
}

#[test]
fn a_gate_that_stops_the_run_ends_with_no() {
    let sandbox = with_letter();
    sandbox.write("answers.yaml", "- {phase: release, answer: burn}\n- {phase: other, approve: true}\n");
    let run = run_letter(&sandbox, &["--answers", "answers.yaml"]);
    assert_eq!(run.code, Some(1), "{run}");
    assert!(run.stderr.contains("letter-1 was stopped: the person chose burn\n"), "{run}");
    assert!(run.stderr.ends_with("answers.yaml:2: nothing asked for this answer\n"), "{run}");
}

#[test]
fn machines_get_every_event_and_the_end() {
    let sandbox = with_letter();
    let run = run_letter(&sandbox, &["--json", "--no-input"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(3), ""), "{run}");
    let lines: Vec<Value> =
        run.stdout.lines().map(|line| serde_json::from_str(line).expect("a JSON object per line")).collect();
    let (end, events) = lines.split_last().expect("an end");
    for (index, event) in events.iter().enumerate() {
        assert_eq!((&event["version"], &event["run"]), (&Value::from(1), &Value::from("letter-1")));
        assert_eq!(event["seq"], Value::from(index + 1), "{event}");
        assert!(event["at"].is_string() && event["handoff"].is_string() && event["detail"].is_object(), "{event}");
    }
    let told = |event: &Value| format!("{} {}", event["event"].as_str().unwrap_or("?"), event["phase"]);
    assert_eq!(told(&events[0]), "accepted null");
    assert_eq!(told(&events[2]), "accepted \"write\"");
    assert_eq!((&end["event"], &end["end"], &end["exit"]), (&"ended".into(), &"waiting".into(), &3.into()));
    assert_eq!(end["waiting"][0]["id"], "letter-1.release.1");
    assert_eq!(end["waiting"][0]["commands"][0], "baton answer letter-1.release.1");
    assert_eq!(end["record"], "desk/.baton/runs/letter-1/record");
    let log = sandbox.baton(&["log", "letter-1", "--json"]).stdout;
    let logged: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
    assert_eq!(&logged[..events.len()], events, "the journal has them in the same form");
    let shown = sandbox.baton(&["show", "letter-1.write.1", "--json"]).json();
    let of_write = events.iter().filter(|event| event["handoff"] == "letter-1.write.1").cloned().collect();
    assert_eq!(shown["events"], Value::Array(of_write));
}

#[test]
fn mistakes_are_told_before_anything_is_run() {
    let sandbox = with_letter();
    let again = run_letter(&sandbox, &["--answers", "answers.yaml", "--input", "x=1"]);
    assert_snapshot!(again, @"
    --- stderr
    error: the workflow has no input `x`
    hint: give inputs with --input NAME=VALUE; it has none
    --- exit 2
    ");
    assert!(!sandbox.state().root().exists());
    assert_eq!(run_letter(&sandbox, &["--answers", "answers.yaml"]).code, Some(0));
    let resumed = sandbox.baton(&["resume", "letter-1.write.1"]);
    assert_eq!(resumed.code, Some(0), "a handoff of a run means its run: {resumed}");
    assert_snapshot!(sandbox.baton(&["resume", "lettre"]), @"
    --- stderr
    error: there is no run `lettre`
    hint: did you mean `letter-1`?
    --- exit 2
    ");
}

#[test]
fn id_of_a_run_that_is_there_starts_nothing() {
    let sandbox = with_letter();
    let start = ["run", "flow", "--workspace", "desk", "--id", "r", "--no-input"];
    assert_eq!(sandbox.baton(&start).code, Some(3));
    let again = sandbox.baton(&start);
    assert_eq!((again.code, again.stdout.as_str()), (Some(1), ""), "{again}");
    assert_snapshot!(again.stderr, @"
    error: run `r` exists already and is not finished
    hint: baton resume r continues it
    ");
    assert_eq!(sandbox.baton(&["cancel", "r"]).code, Some(0));
    assert_snapshot!(sandbox.baton(&start).stderr, @"
    error: run `r` exists already and is cancelled
    hint: choose another --id, or leave it out
    ");
}
