//! Documents that Baton composes stay within what it can read: too much is an error at that step, never an empty document.

use baton_engine::RunId;
use serde_json::json;

use crate::play::{Act, Play, definition};
use crate::telling::verdict;

const AGENTS: &str = "agents: {a: {command: [./a]}, b: {command: [./b]}, c: {command: [./c]}}";

fn verbose() -> Act {
    let context = "x".repeat(4_300_000);
    Act::Says(json!({"outcome": "complete", "verdict": "APPROVED", "summary": "Fine.", "next": {"context": context}}))
}

#[test]
fn a_rejected_review_does_not_ship_however_verbose_the_others_are() {
    let text = format!(
        "name: f\n{AGENTS}\nphases:\n  - {{id: look, parallel: [{{id: safety, agent: a}}, {{id: x, agent: b}}, {{id: y, agent: c}}]}}\n  - {{id: ship, check: 'true'}}"
    );
    let play = Play::of(&text)
        .tell("look/safety", [verdict("REJECTED", "It must not ship.")])
        .tell("look/x", [verbose()])
        .tell("look/y", [verbose()])
        .play();
    let story = play.story();
    assert!(!story.contains("ship.1"), "{story}");
    assert!(story.ends_with("look.failure.1 waits for a person"), "{story}");
    assert!(play.find("look.1").report().is_some(), "what came out of the group can be read");
}

#[test]
fn a_list_that_is_too_long_is_an_error_and_not_an_empty_list() {
    let text = format!(
        "name: f\n{AGENTS}\ninputs: {{list: {{}}}}\nphases:\n  - {{id: each, foreach: inputs.list, phases: [{{id: x, agent: a}}]}}"
    );
    let list: Vec<u32> = vec![0; 34_000];
    let play = Play::given(&text, json!({"list": list})).play();
    let story = play.story();
    assert!(story.contains("phase each: its request cannot be handed over"), "{story}");
    assert!(story.contains("100000 values"), "{story}");
    assert!(!story.contains("each.1"), "nothing was begun: {story}");
}

#[test]
fn nobody_is_sent_off_without_the_task() {
    let text = format!(
        "name: f\n{AGENTS}\nphases:\n  - {{id: x, agent: a}}\n  - {{id: y, agent: b}}\n  - {{id: merge, agent: c, task: NEVER delete the table users, inputs: {{x: phases.x.context, y: phases.y.context}}}}"
    );
    let play = Play::of(&text).tell("x", [verbose()]).tell("y", [verbose()]).play();
    let story = play.story();
    assert!(!story.contains("merge.1"), "{story}");
    assert!(story.contains("phase merge: its request cannot be handed over: it would have 8.2 MiB"), "{story}");
    assert!(story.contains("pass on the path of a file"), "{story}");
}

#[test]
fn a_run_that_could_not_be_read_again_cannot_begin() {
    let text = format!("name: f\n{AGENTS}\ninputs: {{x: {{}}, y: {{}}}}\nphases:\n  - {{id: one, agent: a}}");
    let list: Vec<u32> = vec![1; 60_000];
    let definition = definition(&text, &[], json!({"x": list, "y": list}));
    let request = definition.request(&RunId::parse("r").unwrap(), "ana");
    let why = baton_engine::flow::fits(&request).unwrap_err();
    assert!(why.to_string().contains("100000 values"), "{why}");
}
