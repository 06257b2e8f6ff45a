//! People decide: reviews, questions, gates with choices, and what an agent recommends.

use baton_engine::Command;
use baton_engine::door::Door;
use baton_engine::failure::{Code, Failure, FailureOutput};
use baton_engine::known::{Decider, HowKnown};
use baton_engine::lifecycle::Decision;
use baton_engine::people::Response;
use serde_json::json;

use crate::play::{Act, Play, definition};
use crate::telling::{answers, approves, asks, assert_story, complete, rejects, verdict};

const AGENTS: &str = "agents: {dev: {command: [./d]}, ops: {command: [./o]}}";

fn flow(phases: &str) -> String {
    format!("name: f\n{AGENTS}\nphases:\n{phases}")
}

fn failure(message: &str) -> Failure {
    Failure::new(Code::processing_error(), message)
}

fn says(outcome: &str) -> Act {
    Act::Says(json!({"outcome": outcome, "summary": outcome, "questions": ["Which one?"]}))
}

#[test]
fn review_is_approved_rejected_or_questioned() {
    let text = flow("  - {id: build, agent: dev, review: blocking}\n  - {id: ship, agent: ops}");
    let play = Play::of(&text).tell("build?", [asks("Why twice?"), rejects("Once is enough."), approves()]).play();
    assert_story(
        &play,
        "build.1 to dev
         build.1 asked: Why twice?
         build.1 rejected: Once is enough.
         build.1 approved
         build.1 -> ship
         ship.1 to ops
         ship.1 -> end
         completed",
    );
    assert_eq!(play.notes("build.1"), ["Question by ana: Why twice?", "Feedback by ana: Once is enough."]);
    assert_eq!(play.find("build.1").attempts, 3);
    assert_story(&Play::of(&text).play(), "build.1 to dev\nbuild.1 waits for a person");
}

#[test]
fn needs_review_waits_without_a_gate_in_the_workflow() {
    let text = flow("  - {id: build, agent: dev}");
    let wait = Play::of(&text).tell("build", [says("needs_review")]).play();
    assert_story(&wait, "build.1 to dev\nbuild.1 waits for a person");
    let done = Play::of(&text).tell("build", [says("needs_review")]).tell("build?", [approves()]).play();
    assert_story(&done, "build.1 to dev\nbuild.1 approved\nbuild.1 -> end\ncompleted");
    let again = Play::of(&text).tell("build", [says("needs_review")]).tell("build?", [rejects("Too long.")]).play();
    assert_story(&again, "build.1 to dev\nbuild.1 rejected: Too long.\nbuild.1 waits for a person");
    assert_eq!(again.find("build.1").attempts, 2);
}

#[test]
fn partial_work_is_enough_only_for_a_person() {
    let text = flow("  - {id: build, agent: dev}");
    let play = Play::of(&text).tell("build", [says("partial")]).play();
    assert_story(&play, "build.1 to dev\nbuild.1 waits for a person");
    let play = Play::of(&text).tell("build", [says("partial")]).tell("build?", [approves()]).play();
    assert_story(&play, "build.1 to dev\nbuild.1 approved\nbuild.1 -> end\ncompleted");
}

#[test]
fn clarification_goes_back_to_the_same_agent_with_the_answers() {
    let text = flow("  - {id: build, agent: dev}\n  - {id: ship, agent: ops}");
    let play =
        Play::of(&text).tell("build", [says("needs_clarification")]).tell("build?", [answers("The blue one.")]).play();
    assert_story(
        &play,
        "build.1 to dev
         build.1 answered: The blue one.
         build.1 -> ship
         ship.1 to ops
         ship.1 -> end
         completed",
    );
    assert_eq!(play.notes("build.1"), ["Answer by ana: The blue one."]);
    let question = Play::of(&text).tell("build", [says("needs_clarification")]).play();
    let question = baton_engine::flow::question(&question.run, question.find("build.1")).unwrap();
    assert_eq!(question.questions[0].text, "Which one?");
    assert_eq!(play.find("build.1").handoff.notes[0].question.as_deref(), Some("Which one?"));
}

#[test]
fn question_that_stands_in_the_context_comes_back_with_its_answer() {
    let asks = json!({"outcome": "needs_clarification", "summary": "Half is done.",
        "next": {"context": "mTLS or an API key?\nBoth are in use."}});
    let text = flow("  - {id: build, agent: dev}");
    let play = Play::of(&text).tell("build", [Act::Says(asks)]).tell("build?", [answers("mTLS")]).play();
    let note = play.find("build.1").handoff.notes[0].clone();
    assert_eq!(note.question.as_deref(), Some("mTLS or an API key?\nBoth are in use."));
}

#[test]
fn several_questions_are_numbered() {
    let asks = json!({"outcome": "needs_clarification", "summary": "s", "questions": ["Which?", "When?"]});
    let text = flow("  - {id: build, agent: dev}");
    let play = Play::of(&text).tell("build", [Act::Says(asks)]).tell("build?", [answers("SQLite, today")]).play();
    let note = play.find("build.1").handoff.notes[0].clone();
    assert_eq!((note.question.as_deref(), note.text.as_str()), (Some("1. Which?\n2. When?"), "SQLite, today"));
}

#[test]
fn a_gate_takes_the_replies_that_it_offers() {
    let decisions = || {
        let text = || "go".to_owned();
        [
            Decision::Approve,
            Decision::Reject { feedback: text() },
            Decision::Answer { answers: text() },
            Decision::Ask { question: text() },
        ]
    };
    let waits = [
        ("  - {id: build, agent: dev, review: blocking}", complete("done")),
        ("  - {id: build, agent: dev}", says("needs_clarification")),
        ("  - {id: build, agent: dev}", says("blocked")),
        ("  - {id: build, gate: {}}", complete("")),
        ("  - {id: build, gate: {choices: {go: next}}}", complete("")),
    ];
    for (phases, act) in waits {
        let play = Play::of(&flow(phases)).tell("build", [act]).play();
        let waiting = play.run.waiting().next().unwrap();
        let question = baton_engine::flow::question(&play.run, waiting).unwrap();
        for decision in decisions() {
            let said = Response {
                decision: decision.clone(),
                note: None,
                by: Decider::account("ana", None),
                door: Door::CommandLine,
            };
            let command = Command::Decide(question.decided(said));
            let taken = baton_engine::lifecycle::apply(&waiting.handoff, command, play.now).is_ok();
            assert_eq!(question.reply.takes(&decision), taken, "{:?} {decision:?}", question.reply);
        }
    }
}

#[test]
fn failure_is_told_with_the_line_that_matters_and_the_log() {
    let text = flow("  - {id: build, agent: dev, retry: {max_retries: 0}}");
    let ended = Failure { help: Some("build the index".to_owned()), ..failure("the command ended with 3") };
    let said = ended.with_output(FailureOutput::LastLines("one\nthe index is gone".to_owned()));
    let play = Play::of(&text).tell("build", [Act::FailsWith(said)]).play();
    let question = baton_engine::flow::question(&play.run, play.find("build.failure.1")).unwrap();
    assert_eq!(question.title, "build: PROCESSING_ERROR: the command ended with 3: the index is gone");
    assert_eq!(question.items, [""; 0], "nothing is told twice");
    let trouble = question.trouble.unwrap();
    assert_eq!(trouble.output.unwrap().text(), "one\nthe index is gone");
    assert_eq!(trouble.help.as_deref(), Some("build the index"));
    assert!(trouble.log.unwrap().ends_with(".baton/runs/r/build.1/1/stderr.log"));
    assert_eq!(trouble.command.as_deref(), Some("./d"));
    assert!(
        question.text.contains("failed: PROCESSING_ERROR: the command ended with 3: the index is gone; then a person")
    );
}

#[test]
fn findings_of_a_refused_report_are_told_as_such_with_the_report() {
    let text = flow("  - {id: build, agent: dev, retry: {max_retries: 0}}");
    let findings = "1:2 missing-field: `outcome` is missing\n1:9 unknown-field: `x`";
    let refused = failure("the report is not valid").with_output(FailureOutput::Findings(findings.to_owned()));
    let play = Play::of(&text).tell("build", [Act::FailsWith(refused)]).play();
    let question = baton_engine::flow::question(&play.run, play.find("build.failure.1")).unwrap();
    assert!(
        question.title.ends_with("the report is not valid: 1:2 missing-field: `outcome` is missing"),
        "{question:?}"
    );
    let trouble = question.trouble.unwrap();
    let output = trouble.output.unwrap();
    assert_eq!((output.label(), output.text().lines().count()), ("findings", 2));
    assert!(trouble.log.unwrap().ends_with("build.1/1/report.md"));
}

#[test]
fn question_about_a_group_tells_why_its_members_failed() {
    let agents = "agents: {dev: {command: [./d, --fast], retry: {max_retries: 0}}, rev: {command: [./r]}}";
    let group =
        "{id: looks, pass_when: all_must_pass, parallel: [{id: one, agent: dev}, {id: two, agent: rev, kind: review}]}";
    let text = format!("name: f\n{agents}\nphases: [{group}]");
    let failed = failure("the command ended with 3")
        .with_output(FailureOutput::LastLines("reading\nthe index is gone".to_owned()));
    let asked = |second: Act| {
        let play =
            Play::of(&text).tell("looks/one", [Act::FailsWith(failed.clone())]).tell("looks/two", [second]).play();
        baton_engine::flow::question(&play.run, play.find("looks.failure.1")).unwrap()
    };
    let one = asked(verdict("APPROVED", "fine"));
    assert_eq!(one.title, "looks/one: PROCESSING_ERROR: the command ended with 3: the index is gone");
    let trouble = one.trouble.unwrap();
    assert_eq!(trouble.handoff.as_str(), "r.looks.one.1");
    assert_eq!(
        (trouble.command.as_deref(), trouble.output.unwrap().text()),
        (Some("./d --fast"), "reading\nthe index is gone")
    );
    assert!(trouble.log.unwrap().ends_with("looks.one.1/1/stderr.log"));
    let two = asked(verdict("CHANGES_REQUESTED", "Too slow."));
    assert_eq!(two.title, "looks/one, looks/two did not pass");
    let trouble = two.trouble.unwrap();
    let output = trouble.output.unwrap();
    assert_eq!((trouble.handoff.as_str(), output.label()), ("r.looks.1", "members"));
    insta::assert_snapshot!(output.text(), @"
    looks/one: PROCESSING_ERROR: the command ended with 3
      command: ./d --fast
      reading
      the index is gone
      log: /workspace/.baton/runs/r/looks.one.1/1/stderr.log
    looks/two: rev says CHANGES_REQUESTED
      Too slow.
    ");
}

#[test]
fn question_about_a_nested_workflow_tells_why_a_phase_deep_inside_failed() {
    let outer = "name: o\nagents: {dev: {command: [./d]}}\nphases: [{id: deep, workflow: inner.yaml}]";
    let inner = "name: i\nagents: {dev: {command: [./d]}}\nphases: [{id: build, agent: dev}, \
        {id: both, on_failure: stop, parallel: [{id: unit, check: ./unit.sh}]}]";
    let definition = definition(outer, &[("inner.yaml", inner)], json!({}));
    let play = Play::with(&definition).tell("deep/both/unit", [Act::Exits(false)]).play();
    let question = baton_engine::flow::question(&play.run, play.find("deep.failure.1")).unwrap();
    let trouble = question.trouble.unwrap();
    assert!(trouble.what.starts_with("the check deep/both/unit failed"), "{}", trouble.what);
    assert_eq!(trouble.command.as_deref(), Some("./unit.sh"));
    assert!(trouble.log.unwrap().ends_with("deep.both.unit.1/1/verify-unit.log"));
    assert!(question.title.starts_with("the check deep/both/unit failed"), "{}", question.title);
}

#[test]
fn question_of_an_advisory_gate_says_when_it_lapses() {
    let question = |gate: &str| {
        let play = Play::of(&flow(&format!("  - {{id: ship, gate: {{{gate}, items: [The log]}}}}"))).play();
        baton_engine::flow::question(&play.run, play.find("ship.1")).unwrap().lapses_at
    };
    assert!(question("type: advisory, after: 4h").is_some());
    assert_eq!(question("type: blocking"), None);
    assert_eq!(question("type: advisory, after: 4h, choices: {on: next}"), None, "silence does not choose");
}

#[test]
fn decision_of_the_agent_counts() {
    let decides = |word: &str| {
        Act::Says(json!({"outcome": "complete", "decision": word, "summary": "s", "questions": ["Which?"]}))
    };
    let text = flow("  - {id: build, agent: dev}");
    let proceed = Play::of(&text).tell("build", [decides("PROCEED")]).play();
    assert_story(&proceed, "build.1 to dev\nbuild.1 -> end\ncompleted");
    let stop = Play::of(&text).tell("build", [decides("STOP")]).play();
    assert_story(
        &stop,
        "build.1 to dev\nbuild.1 fails\nbuild.1 -> human\nbuild.failure.1 to human\nbuild.failure.1 waits for a person",
    );
    let clarify = Play::of(&text).tell("build", [decides("CLARIFY")]).tell("build?", [answers("This.")]).play();
    assert_story(&clarify, "build.1 to dev\nbuild.1 answered: This.\nbuild.1 -> end\ncompleted");
}

#[test]
fn gate_with_choices_leads_where_the_person_chose() {
    let text = flow(
        "  - {id: plan, agent: dev}
  - {id: which, gate: {choices: {again: plan, deploy: ship, go: next, enough: end, never: stop}}}
  - {id: test, check: 'true'}
  - {id: ship, agent: ops}",
    );
    let chosen = |word: &str| Play::of(&text).tell("which?", [answers(word)]).play();
    let head = "plan.1 to dev\nplan.1 -> which\nwhich.1 to human";
    let rest = |word: &str| {
        let play = chosen(word);
        let story = play.story();
        // What is recorded is the choice as the workflow has it.
        let choice = word.to_lowercase();
        story.strip_prefix(&format!("{head}\nwhich.1 answered: {choice}\n")).unwrap_or(&story).to_owned()
    };
    assert_eq!(rest("deploy"), "which.1 -> ship\nship.1 to ops\nship.1 -> end\ncompleted");
    assert_eq!(rest("go"), "which.1 -> test\ntest.1 to check\ntest.1 -> ship\nship.1 to ops\nship.1 -> end\ncompleted");
    assert_eq!(rest("Never"), "which.1 -> stop\nfailed: the person chose never");
    assert_eq!(rest("enough"), "which.1 -> end\ncompleted");
    assert_eq!(
        rest("again"),
        "which.1 -> plan\nplan.2 to dev\nplan.2 -> which\nwhich.2 to human\nwhich.2 waits for a person"
    );
    let play = chosen("again");
    assert_eq!(play.notes("plan.2"), ["Answer by ana: again"]);
}

#[test]
fn only_what_is_offered_can_be_chosen() {
    let text = flow("  - {id: which, gate: {choices: {go: next}}}");
    let play = Play::of(&text).play();
    let id = play.find("which.1").handoff.clone();
    for decision in [
        baton_engine::lifecycle::Decision::Approve,
        baton_engine::lifecycle::Decision::Answer { answers: "elsewhere".to_owned() },
    ] {
        let decide = baton_engine::lifecycle::Decide {
            by: "ana".to_owned(),
            known: HowKnown::Account,
            label: None,
            door: Door::CommandLine,
            shown: id.shown().unwrap(),
            decision,
            note: None,
            asked: None,
        };
        let refused = baton_engine::lifecycle::apply(&id, baton_engine::Command::Decide(decide), play.now);
        assert!(refused.is_err(), "{refused:?}");
    }
}

#[test]
fn rejected_gate_sends_the_work_back_with_the_feedback() {
    let text = flow("  - {id: build, agent: dev}\n  - {id: ok, gate: {}}\n  - {id: ship, agent: ops}");
    let play = Play::of(&text).tell("ok?", [rejects("Too slow."), approves()]).play();
    assert_story(
        &play,
        "build.1 to dev
         build.1 -> ok
         ok.1 to human
         ok.1 rejected: Too slow.
         ok.1 -> build
         build.2 to dev
         build.2 -> ok
         ok.2 to human
         ok.2 approved
         ok.2 -> ship
         ship.1 to ops
         ship.1 -> end
         completed",
    );
    let notes = play.notes("build.2");
    assert!(notes[0].starts_with("Feedback by ana: ") && notes[0].contains("Too slow."), "{notes:?}");
}

#[test]
fn rejected_gate_with_nobody_before_it_stops_the_run() {
    let play =
        Play::of(&flow("  - {id: ok, gate: {}}\n  - {id: ship, agent: ops}")).tell("ok?", [rejects("No.")]).play();
    assert!(play.story().starts_with("ok.1 to human\nok.1 rejected: No.\nok.1 -> stop\nfailed: "), "{}", play.story());
}

#[test]
fn gate_shows_what_the_phase_before_has_said() {
    let says = json!({"outcome": "complete", "summary": "It is fast.", "issues": ["It is large."],
        "next": {"context": "Ship it."}});
    let play = Play::of(&flow("  - {id: build, agent: dev}\n  - {id: ok, gate: {items: [speed, size]}}"))
        .tell("build", [Act::Says(says), complete("It is small.")])
        .tell("ok?", [rejects("make it smaller")])
        .play();
    let first = play.run.find(&play.find("ok.1").handoff.id).unwrap();
    assert!(first.decided.is_some(), "{}", play.story());
    let question = baton_engine::flow::question(&play.run, play.find("ok.2")).unwrap();
    assert_eq!(question.items, ["speed", "size"]);
    assert!(question.text.starts_with("summary: It is small."), "{}", question.text);
    assert_eq!(question.decided_before, ["ana rejected it: make it smaller"]);
    assert_eq!(question.choices, []);
}

#[test]
fn gate_shows_the_summary_and_the_issues_of_a_report_beside_what_is_meant_for_the_next_agent() {
    let says = json!({"outcome": "complete", "summary": "It is fast.", "issues": ["It is large."],
        "next": {"context": "Ship it."}});
    let play = Play::of(&flow("  - {id: build, agent: dev}\n  - {id: ok, gate: {items: [speed]}}"))
        .tell("build", [Act::Says(says)])
        .play();
    let question = baton_engine::flow::question(&play.run, play.find("ok.1")).unwrap();
    for said in ["It is fast.", "It is large.", "Ship it."] {
        assert!(question.text.contains(said), "{}", question.text);
    }
}

#[test]
fn agent_that_is_sent_back_still_knows_what_it_was_answered() {
    let asks = json!({"outcome": "needs_clarification", "questions": ["Which separator?"]});
    let play = Play::of(&flow("  - {id: build, agent: dev}\n  - {id: ok, gate: {items: [it]}}"))
        .tell("build", [Act::Says(asks), complete("done")])
        .tell("build?", [answers("a semicolon")])
        .tell("ok?", [rejects("too slow")])
        .play();
    let told = play.notes("build.2").join("\n");
    assert!(told.contains("a semicolon") && told.contains("too slow"), "{told}");
}

#[test]
fn stopping_calls_off_what_is_open() {
    let text = flow(
        "  - {id: both, parallel: [{id: one, agent: dev, review: blocking}, {id: two, agent: ops}]}\n  - {id: ship, agent: ops}",
    );
    let mut play = Play::of(&text).play();
    assert!(play.story().ends_with("both.one.1 waits for a person"), "{}", play.story());
    play.cancel();
    assert!(play.story().ends_with("both.1 cancelled\nboth.one.1 cancelled\ncancelled"), "{}", play.story());
    play.settle();
    assert!(play.run.open().all(|open| open.handoff.state.name().is_finished()));
}
