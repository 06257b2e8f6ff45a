//! STOP halts: a person decides, unless whoever stops only finds out whether work is good.

use serde_json::{Value, json};

use crate::play::{Act, Play};
use crate::telling::assert_story;

const AGENTS: &str = "agents: {res: {command: [./a], dialect: task}, dev: {command: [./b], dialect: task}, val: {command: [./c], dialect: task}}";

fn flow(phases: &str) -> String {
    format!("name: f\n{AGENTS}\nphases:\n{phases}")
}

fn stops(status: &str) -> Act {
    Act::Says(json!({"outcome": status, "decision": "STOP", "summary": "s", "issues": ["w-issue"]}))
}

fn chooses(word: &str) -> Act {
    Act::Decides(baton_engine::lifecycle::Decision::Answer { answers: word.to_owned() }, Some("w-note"))
}

#[test]
fn stop_gives_a_person_stop_go_on_anyway_and_send_back_with_a_note() {
    let text = flow("  - {id: research, agent: res}\n  - {id: write, agent: dev}");
    for status in ["complete", "partial", "blocked"] {
        let halted = || Play::of(&text).recording().tell("research", [stops(status)]);
        let play = halted().play();
        let question = baton_engine::flow::question(&play.run, play.find("research.failure.1")).unwrap();
        let words: Vec<&str> = question.choices.iter().map(|(word, _)| word.as_str()).collect();
        assert_eq!(words, ["stop", "continue", "retry"], "{status}");
        assert!(question.title.contains("STOPPED: w-issue"), "{}", question.title);
        let story = |word: &str| halted().tell("research?failure", [chooses(word)]).play();
        assert!(story("stop").story().ends_with("failed: ana chose stop"), "{}", story("stop").story());
        assert!(story("continue").story().contains("research.failure.1 -> write"), "{}", story("continue").story());
        let back = story("retry");
        assert!(back.story().contains("research.2 to res"), "{}", back.story());
        let told = &back.prompt("research.2").text;
        assert!(told.contains("w-note") && told.contains("w-issue"), "{told}");
    }
}

#[test]
fn a_validator_that_stops_goes_back_to_the_nearest_writer_with_the_issues_twice_and_then_to_a_person() {
    let phases = "  - {id: write, kind: write, agent: dev}\n  - {id: docs, agent: res}\n  - {id: validate, kind: validate, agent: val}";
    let play = Play::of(&flow(phases)).recording().tell("validate", vec![stops("complete"); 9]).play();
    let story = play.story();
    assert_eq!(
        story.matches("validate.1 -> write").count() + story.matches("validate.2 -> write").count(),
        2,
        "{story}"
    );
    assert!(story.ends_with("validate.limit.1 to human\nvalidate.limit.1 waits for a person"), "{story}");
    assert!(play.prompt("write.2").text.contains("w-issue"));
}

#[test]
fn a_validator_that_stops_follows_on_failure() {
    let phases = "  - {id: write, kind: write, agent: dev}\n  - {id: fix, agent: res}\n  - {id: validate, kind: validate, agent: val, on_failure: fix}";
    let play = Play::of(&flow(phases)).tell("validate", [stops("complete")]).play();
    assert!(play.story().contains("validate.1 -> fix"), "{}", play.story());
    assert!(play.story().ends_with("completed"));
}

#[test]
fn in_a_group_stop_counts_as_failed_and_every_rule_works_without_a_person() {
    for (rule, stopping, passes) in [
        ("all_must_pass", 1, false),
        ("any_pass", 2, true),
        ("any_pass", 3, false),
        ("majority_pass", 1, true),
        ("majority_pass", 2, false),
        ("{at_least: 2}", 1, true),
    ] {
        let members =
            "parallel: [{id: x, kind: validate, agent: val}, {id: y, kind: validate, agent: val}, {id: z, agent: res}]";
        let phases = format!("  - {{id: all, {members}, pass_when: {rule}, on_failure: stop}}");
        let mut play = Play::of(&flow(&phases));
        for member in ["all/x", "all/y", "all/z"].iter().take(stopping) {
            play = play.tell(member, [stops("blocked")]);
        }
        let play = play.play();
        let ended = if passes { "completed" } else { "failed" };
        assert!(play.story().lines().last().unwrap().starts_with(ended), "{rule} {stopping}: {}", play.story());
        assert_eq!(play.run.waiting().count(), 0, "{rule}");
    }
}

#[test]
fn a_review_must_say_yes() {
    let review = |members: Value| {
        let text =
            flow("  - {id: write, agent: dev}\n  - {id: look, kind: review, agent: res}\n  - {id: ship, agent: dev}");
        Play::of(&text).tell("look", [Act::Says(members)]).play().story()
    };
    assert!(review(json!({"outcome": "complete", "verdict": "APPROVED"})).contains("look.1 -> ship"));
    let silent = review(json!({"outcome": "complete"}));
    assert!(silent.contains("look.1 -> human"), "{silent}");
    let issues = review(json!({"outcome": "complete", "issues": ["SQL injection"]}));
    assert!(issues.contains("look.1 -> write"), "{issues}");
    let blocking =
        json!({"outcome": "complete", "findings": {"checks": {}, "overall_passed": true, "blocking_issues": ["x"]}});
    let text = flow("  - {id: write, agent: dev}\n  - {id: check, agent: val}");
    let play = Play::of(&text).tell("check", [Act::Says(blocking)]).play();
    assert!(play.story().contains("check.1 -> write"), "{}", play.story());
}

#[test]
fn issues_without_a_verdict_are_no_approval_where_work_can_be_sent_back() {
    let text = flow("  - {id: write, agent: dev}\n  - {id: look, agent: res, on_failure: write}");
    let issues = Act::Says(json!({"outcome": "complete", "issues": ["w-issue"]}));
    let play = Play::of(&text).tell("look", [issues]).play();
    assert_story(
        &play,
        "write.1 to dev\nwrite.1 -> look\nlook.1 to res\nlook.1 -> write\nwrite.2 to dev\nwrite.2 -> look\nlook.2 to res\nlook.2 -> end\ncompleted",
    );
}

#[test]
fn stop_in_a_workflow_inside_another_asks_a_person() {
    let outer = flow("  - {id: first, agent: dev}\n  - {id: inner, workflow: sub.yaml}");
    let sub = format!("name: sub\n{AGENTS}\nphases: [{{id: one, agent: dev}}, {{id: two, agent: res}}]");
    let definition = crate::play::definition(&outer, &[("sub.yaml", &sub)], json!({}));
    let play = Play::with(&definition).tell("inner/two", [stops("complete")]).play();
    assert!(play.story().ends_with("inner.two.failure.1 waits for a person"), "{}", play.story());
}
