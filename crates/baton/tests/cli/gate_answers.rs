//! A file of answers plays the person: each answer once, recorded as such, and errors with their place.

use insta::assert_snapshot;

use crate::gates::{digest, with_gate, with_review};
use crate::queue_life::done;
use crate::stocked::Stocked;

#[test]
fn each_answer_is_used_once_and_recorded_as_no_person() {
    let stocked = Stocked::new();
    with_gate(&stocked, "HO-1", "tools/a/approval", &[]);
    with_gate(&stocked, "HO-2", "tools/b/approval", &[]);
    with_gate(&stocked, "HO-3", "limit", &["continue", "revise"]);
    let file =
        "# the demo\n- {phase: 'tools/*/approval', approve: true, note: fine}\n- {phase: limit, answer: Revise}\n";
    stocked.sandbox.write("demo/answers.yaml", file);
    assert_snapshot!(stocked.sandbox.baton(&["inbox", "--answers", "demo/answers.yaml"]), @"
    HO-1 completed
    HO-3 completed
    --- stderr
    HO-2: nothing was decided
    --- exit 3
    ");
    // Another process goes on in the file where the first one was.
    assert_snapshot!(stocked.sandbox.baton(&["inbox", "--answers", "demo/answers.yaml"]), @"
    --- stderr
    HO-2: nothing was decided
    --- exit 3
    ");
    let told = done(&stocked.sandbox, &["show", "HO-1"]).stdout;
    assert!(told.contains("approved by answers:answers.yaml:2 (answers): fine\n"), "{told}");
}

#[test]
fn work_that_was_rejected_comes_back_to_the_next_answer() {
    let stocked = Stocked::new();
    let id = with_review(&stocked, "HO-2", "research");
    stocked.sandbox.write("answers.yaml", "- {phase: research, reject: shorter}\n- {phase: nowhere, approve: true}\n");
    assert_snapshot!(stocked.sandbox.baton(&["inbox", "--answers", "answers.yaml"]), @"
    HO-2 pending
    --- stderr
    answers.yaml:2: nothing asked for this answer
    --- exit 0
    ");
    assert_eq!(stocked.find(&id).expect("there").notes.last().map(|note| note.text.as_str()), Some("shorter"));
}

#[test]
fn a_bad_file_decides_nothing() {
    let stocked = Stocked::new();
    let id = with_gate(&stocked, "HO-1", "design", &[]);
    stocked.sandbox.write("answers.yaml", "- {phase: design, approve: true}\n- phase: other\n  aprove: true\n");
    assert_snapshot!(stocked.sandbox.baton(&["inbox", "--answers", "answers.yaml"]), @"
    --- stderr
    error: answers.yaml:3:3: an answer has no `aprove`
    hint: did you mean `approve`? known: phase, ask, approve, reject, answer, question, note
    --- exit 2
    ");
    assert_snapshot!(stocked.sandbox.baton(&["inbox", "--answers", "none.yaml"]), @"
    --- stderr
    error: none.yaml: there is no such file or folder
    --- exit 2
    ");
    assert!(!digest(&stocked, &id).is_empty());
    assert!(done(&stocked.sandbox, &["inbox"]).stdout.contains("HO-1"));
}
