//! The way back: checks that fail, reviewers that want changes, phases that give up, rows of the workflow.

use serde_json::json;

use crate::play::{Act, Play};
use crate::telling::{answers, assert_story, complete, rejects, verdict};

const AGENTS: &str =
    "agents: {dev: {command: [./d], retry: {max_retries: 1, delay: 0s}}, rev: {command: [./r]}, fix: {command: [./f]}}";

fn flow(phases: &str) -> String {
    format!("name: f\n{AGENTS}\n{phases}")
}

#[test]
fn failed_check_goes_back_to_the_agent_before_with_what_failed() {
    let text = flow("phases: [{id: build, agent: dev}, {id: lint, check: 'true'}, {id: test, check: 'true'}]");
    let play = Play::of(&text).tell("test", [Act::Exits(false)]).play();
    assert_story(
        &play,
        "build.1 to dev
         build.1 -> lint
         lint.1 to check
         lint.1 -> test
         test.1 to check
         test.1 -> build
         build.2 to dev
         build.2 -> lint
         lint.2 to check
         lint.2 -> test
         test.2 to check
         test.2 -> end
         completed",
    );
    assert_eq!(play.notes("build.2"), ["Failure by check: verdict: failed\nThe check failed: exit 1."]);
}

#[test]
fn failed_check_stops_the_run_if_it_says_so() {
    let text = flow("phases: [{id: build, agent: dev}, {id: test, check: 'true', on_failure: stop}]");
    let play = Play::of(&text).tell("test", [Act::Exits(false)]).play();
    assert_story(
        &play,
        "build.1 to dev
         build.1 -> test
         test.1 to check
         test.1 -> stop
         failed: the check test failed",
    );
}

#[test]
fn failed_check_goes_to_the_phase_that_it_names() {
    let text = flow(
        "phases: [{id: build, agent: dev}, {id: test, check: 'true', on_failure: repair, next: end}, {id: repair, agent: fix, next: test}]",
    );
    let play = Play::of(&text).tell("test", [Act::Exits(false)]).play();
    assert_story(
        &play,
        "build.1 to dev
         build.1 -> test
         test.1 to check
         test.1 -> repair
         repair.1 to fix
         repair.1 -> test
         test.2 to check
         test.2 -> end
         completed",
    );
    assert_eq!(play.notes("repair.1"), ["Failure by check: verdict: failed\nThe check failed: exit 1."]);
}

#[test]
fn failed_check_asks_a_person_if_it_says_so() {
    let text =
        flow("phases: [{id: build, agent: dev}, {id: test, check: 'true', on_failure: gate}, {id: ship, agent: dev}]");
    let failing = || Play::of(&text).tell("test", [Act::Exits(false)]);
    assert_story(
        &failing().play(),
        "build.1 to dev
         build.1 -> test
         test.1 to check
         test.1 -> human
         test.failure.1 to human
         test.failure.1 waits for a person",
    );
    assert_story(
        &failing().tell("test?failure", [answers("back")]).play(),
        "build.1 to dev
         build.1 -> test
         test.1 to check
         test.1 -> human
         test.failure.1 to human
         test.failure.1 answered: back
         test.failure.1 -> build
         build.2 to dev
         build.2 -> test
         test.2 to check
         test.2 -> ship
         ship.1 to dev
         ship.1 -> end
         completed",
    );
    assert_story(
        &failing().tell("test?failure", [answers("continue")]).play(),
        "build.1 to dev
         build.1 -> test
         test.1 to check
         test.1 -> human
         test.failure.1 to human
         test.failure.1 answered: continue
         test.failure.1 -> ship
         ship.1 to dev
         ship.1 -> end
         completed",
    );
    assert_story(
        &failing().tell("test?failure", [answers("stop")]).play(),
        "build.1 to dev
         build.1 -> test
         test.1 to check
         test.1 -> human
         test.failure.1 to human
         test.failure.1 answered: stop
         test.failure.1 -> stop
         failed: ana chose stop",
    );
}

#[test]
fn check_without_an_agent_before_it_asks_a_person() {
    let play = Play::of(&flow("phases: [{id: ready, check: 'true'}, {id: build, agent: dev}]"))
        .tell("ready", [Act::Exits(false)])
        .tell("ready?failure", [answers("retry")])
        .play();
    assert_story(
        &play,
        "ready.1 to check
         ready.1 -> human
         ready.failure.1 to human
         ready.failure.1 answered: retry
         ready.failure.1 -> ready
         ready.2 to check
         ready.2 -> build
         build.1 to dev
         build.1 -> end
         completed",
    );
}

#[test]
fn reviewer_who_wants_changes_sends_it_back_and_it_comes_forward_again() {
    let text = flow("phases: [{id: build, agent: dev}, {id: review, agent: rev}, {id: ship, agent: dev}]");
    let play = Play::of(&text)
        .tell("build", [complete("first"), complete("second")])
        .tell("review", [verdict("CHANGES_REQUESTED", "No tests."), verdict("APPROVED", "Fine.")])
        .play();
    assert_story(
        &play,
        "build.1 to dev
         build.1 -> review
         review.1 to rev
         review.1 -> build
         build.2 to dev
         build.2 -> review
         review.2 to rev
         review.2 -> ship
         ship.1 to dev
         ship.1 -> end
         completed",
    );
    assert_eq!(play.notes("build.2"), ["Feedback by rev: verdict: CHANGES_REQUESTED\nNo tests."]);
    assert_eq!(play.find("review.2").asked().unwrap().context.as_ref().unwrap().summary.as_deref(), Some("second"));
}

#[test]
fn row_about_a_verdict_comes_before_the_usual_way() {
    let text = flow(
        "phases: [{id: build, agent: dev}, {id: review, agent: rev, next: end}, {id: repair, agent: fix, next: review}]
routes:
  - {agent: rev, status: complete, verdict: CHANGES_REQUESTED, phase: repair}
  - {agent: dev, status: complete, verdict: NOTHING_TO_DO, phase: repair}",
    );
    let play = Play::of(&text).tell("review", [verdict("changes-requested", "No tests.")]).play();
    assert_story(
        &play,
        "build.1 to dev
         build.1 -> review
         review.1 to rev
         review.1 -> repair
         repair.1 to fix
         repair.1 -> review
         review.2 to rev
         review.2 -> end
         completed",
    );
    let play = Play::of(&text).tell("build", [verdict("NOTHING_TO_DO", "It is there.")]).play();
    assert_story(
        &play,
        "build.1 to dev
         build.1 -> repair
         repair.1 to fix
         repair.1 -> review
         review.1 to rev
         review.1 -> end
         completed",
    );
}

#[test]
fn agent_that_lies_is_tried_again_with_the_reasons_and_then_a_person_is_asked() {
    let text = flow("phases: [{id: build, agent: dev}]");
    let play = Play::of(&text).tell("build", [Act::Lies("a.txt is not there"), Act::Lies("a.txt is empty")]).play();
    assert_story(
        &play,
        "build.1 to dev
         build.1 -> human
         build.failure.1 to human
         build.failure.1 waits for a person",
    );
    assert_eq!(
        play.notes("build.1"),
        ["Refuted by evidence: a.txt is not there", "Refuted by evidence: a.txt is empty"]
    );
    assert_eq!(play.find("build.1").attempts, 2);
}

#[test]
fn person_lets_a_phase_that_gave_up_try_again_or_go_on() {
    let text = flow("phases: [{id: build, agent: dev}, {id: review, agent: rev}]");
    let failing = || Play::of(&text).tell("build", [Act::Fails("exit 3"), Act::Fails("exit 4")]);
    let again = failing().tell(
        "build?failure",
        [Act::Decides(
            baton_engine::lifecycle::Decision::Answer { answers: "retry".to_owned() },
            Some("The disk was full."),
        )],
    );
    let again = again.play();
    assert_story(
        &again,
        "build.1 to dev
         build.1 fails
         build.1 fails
         build.1 -> human
         build.failure.1 to human
         build.failure.1 answered: retry
         build.failure.1 -> build
         build.2 to dev
         build.2 -> review
         review.1 to rev
         review.1 -> end
         completed",
    );
    let notes = again.notes("build.2");
    assert!(notes[0].starts_with("Failure by dev: ") && notes[0].contains("exit 4"), "{notes:?}");
    assert_eq!(notes[1], "Feedback by ana: The disk was full.");
    let onward = failing().tell("build?failure", [answers("continue")]).play();
    assert!(onward.story().ends_with("review.1 to rev\nreview.1 -> end\ncompleted"), "{}", onward.story());
}

#[test]
fn phase_that_gives_up_goes_where_it_says() {
    let text = flow("phases: [{id: build, agent: dev, on_failure: repair, next: end}, {id: repair, agent: fix}]");
    let play = Play::of(&text).tell("build", [Act::Fails("exit 3"), Act::Fails("exit 3")]).play();
    assert_story(
        &play,
        "build.1 to dev
         build.1 fails
         build.1 fails
         build.1 -> repair
         repair.1 to fix
         repair.1 -> end
         completed",
    );
}

#[test]
fn report_that_says_failed_is_a_failed_attempt() {
    let failed = Act::Says(
        json!({"outcome": "failed", "error": {"code": "TIMEOUT", "message": "too slow"}, "retry": {"available": false}}),
    );
    let play = Play::of(&flow("phases: [{id: build, agent: dev, on_failure: stop}]")).tell("build", [failed]).play();
    assert_story(&play, "build.1 to dev\nbuild.1 fails\nbuild.1 -> stop\nfailed: build has failed: TIMEOUT: too slow");
}

#[test]
fn row_to_a_person_and_a_verdict_that_nobody_knows_ask_one() {
    let phases = "phases: [{id: build, agent: dev}, {id: review, agent: rev}, {id: ship, agent: dev}]";
    let says = |word: &str| Act::Says(json!({"outcome": "complete", "summary": "s", "verdict": word}));
    let unclear = Play::of(&flow(phases)).tell("review", [says("hmm")]).play();
    assert!(
        unclear.story().ends_with("review.1 -> human\nreview.failure.1 to human\nreview.failure.1 waits for a person"),
        "{}",
        unclear.story()
    );
    let row = format!("{}\nroutes: [{{agent: dev, status: complete, to: human}}]", flow(phases));
    let asked = Play::of(&row).play();
    assert!(
        asked.story().starts_with("build.1 to dev\nbuild.1 -> human\nbuild.failure.1 to human"),
        "{}",
        asked.story()
    );
}

#[test]
fn rejected_gate_behind_a_review_goes_back_to_whoever_made_the_work() {
    let text = flow(
        "phases: [{id: build, agent: dev}, {id: look, agent: rev, kind: review}, {id: ship, gate: {items: [it]}}]",
    );
    let play = Play::of(&text).tell("look", [verdict("APPROVED", "fine")]).tell("ship?", [rejects("too slow")]).play();
    assert!(play.story().contains("ship.1 -> build"), "{}", play.story());
    assert!(play.notes("build.2").join("\n").contains("too slow"), "{:?}", play.notes("build.2"));
    // A reviewer is also known by what it says.
    let text = text.replace(", kind: review", "");
    let play = Play::of(&text).tell("look", [verdict("APPROVED", "fine")]).tell("ship?", [rejects("too slow")]).play();
    assert!(play.story().contains("ship.1 -> build"), "{}", play.story());
}

#[test]
fn review_that_is_never_given_is_not_the_writers_fault() {
    let text = flow("phases: [{id: build, agent: dev}, {id: look, agent: rev, kind: review, on_failure: build}]")
        .replace("rev: {command: [./r]}", "rev: {command: [./r], retry: {max_retries: 0}}");
    let play = Play::of(&text).tell("look", [Act::Lies("the report is not valid")]).play();
    assert!(play.story().ends_with("look.failure.1 waits for a person"), "{}", play.story());
    assert_eq!(play.run.visits("build"), 1);
    let play =
        Play::of(&text).tell("look", [verdict("CHANGES_REQUESTED", "too slow"), verdict("APPROVED", "fine")]).play();
    assert_eq!(play.run.visits("build"), 2, "what it says counts, of course: {}", play.story());
}

#[test]
fn nothing_goes_back_to_a_phase_that_was_left_out() {
    let text =
        flow("phases: [{id: build, agent: dev}, {id: polish, agent: fix, when: 'false'}, {id: test, check: 'true'}]");
    let play = Play::of(&text).tell("test", [Act::Exits(false)]).play();
    assert!(play.story().contains("test.1 -> build"), "{}", play.story());
    assert_eq!(play.run.visits("polish"), 0);
}
