//! The way forward: one phase after the other, left-out ones, jumps, inputs, advice.

use serde_json::json;

use crate::play::{Act, Play};
use crate::telling::{assert_story, complete};

const AGENTS: &str = "agents: {ana: {command: [./a]}, bob: {command: [./b]}, eve: {command: [./e]}}";

#[test]
fn phases_follow_each_other() {
    let flow =
        format!("name: f\n{AGENTS}\nphases: [{{id: a, agent: ana}}, {{id: t, check: 'true'}}, {{id: b, agent: bob}}]");
    let play = Play::of(&flow).play();
    assert_story(
        &play,
        "a.1 to ana
         a.1 -> t
         t.1 to check
         t.1 -> b
         b.1 to bob
         b.1 -> end
         completed",
    );
}

#[test]
fn phase_is_left_out_when_its_condition_does_not_hold() {
    let flow = format!(
        "name: f\n{AGENTS}\ninputs: {{deep: {{default: false}}}}\nphases:
  - {{id: a, agent: ana}}
  - {{id: b, agent: bob, when: inputs.deep}}
  - {{id: c, agent: eve, when: phases.a.summary == 'risky'}}
  - {{id: d, agent: bob}}"
    );
    let calm = Play::of(&flow).tell("a", [complete("calm")]).play();
    assert_story(
        &calm,
        "a.1 to ana
         a.1 -> d without b: inputs.deep; c: phases.a.summary == 'risky'
         d.1 to bob
         d.1 -> end
         completed",
    );
    let risky = Play::given(&flow, json!({"deep": true})).tell("a", [complete("risky")]).play();
    assert_story(
        &risky,
        "a.1 to ana
         a.1 -> b
         b.1 to bob
         b.1 -> c
         c.1 to eve
         c.1 -> d
         d.1 to bob
         d.1 -> end
         completed",
    );
}

#[test]
fn every_phase_can_be_left_out() {
    let flow = format!("name: f\n{AGENTS}\nphases: [{{id: a, agent: ana, when: 'false'}}]");
    assert_story(&Play::of(&flow).play(), "completed");
}

#[test]
fn next_jumps_and_ends() {
    let flow = format!(
        "name: f\n{AGENTS}\nphases:
  - {{id: a, agent: ana, next: c}}
  - {{id: b, agent: bob, next: end}}
  - {{id: c, agent: eve, next: b}}
  - {{id: never, agent: eve}}"
    );
    assert_story(
        &Play::of(&flow).play(),
        "a.1 to ana
         a.1 -> c
         c.1 to eve
         c.1 -> b
         b.1 to bob
         b.1 -> end
         completed",
    );
}

#[test]
fn inputs_are_taken_from_earlier_phases() {
    let flow = format!(
        "name: f\n{AGENTS}\ninputs: {{feature: {{default: login}}}}\nphases:
  - {{id: a, agent: ana}}
  - {{id: b, agent: bob, task: 'Build {{{{ inputs.feature }}}} after {{{{ phases.a.summary }}}}', inputs: {{feature: inputs.feature, plan: phases.a.artifacts, count: 3}}}}"
    );
    let said = json!({"outcome": "complete", "summary": "the plan", "artifacts": ["plan.md", "risks.md"]});
    let play = Play::of(&flow).tell("a", [Act::Says(said)]).play();
    let asked = play.find("b.1").asked().unwrap();
    assert_eq!(asked.instructions.as_deref(), Some("Build login after (value 1, below)"));
    let data = asked.input.as_ref().unwrap().data.clone().unwrap();
    assert_eq!(data, json!({"feature": "login", "plan": ["plan.md", "risks.md"], "count": 3}));
    let context = asked.context.as_ref().unwrap();
    assert_eq!(context.summary.as_deref(), Some("the plan"));
    assert_eq!(context.artifacts.len(), 2);
    // What an agent said does not become part of what the next one is told to do.
    assert_eq!(context.facts.get("value 1"), Some(&json!("the plan")));
}

#[test]
fn what_cannot_be_evaluated_stops_the_run_with_the_reason() {
    let flow = format!(
        "name: f\n{AGENTS}\nphases: [{{id: a, agent: ana}}, {{id: b, agent: bob, when: phases.a.verification.tools}}]"
    );
    let play = Play::of(&flow).play();
    assert!(play.story().contains("failed: phase b: `when: phases.a.verification.tools`"), "{}", play.story());
}

#[test]
fn advice_is_followed_or_the_override_is_recorded() {
    let flow =
        format!("name: f\n{AGENTS}\nphases: [{{id: a, agent: ana}}, {{id: b, agent: bob}}, {{id: c, agent: eve}}]");
    let advises = |agent: &str| Act::Says(json!({"outcome": "complete", "next": {"agent": agent}}));
    let play =
        Play::of(&flow).tell("a", [advises("Bob")]).tell("b", [advises("ana")]).tell("c", [advises("bob")]).play();
    assert_story(
        &play,
        "a.1 to ana
         a.1 -> b
         b.1 to bob
         b.1 -> c instead of ana
         c.1 to eve
         c.1 -> end instead of bob
         completed",
    );
}

#[test]
fn advice_to_end_is_followed_at_the_end() {
    let flow = format!("name: f\n{AGENTS}\nphases: [{{id: a, agent: ana}}, {{id: b, agent: bob}}]");
    let ends = || Act::Says(json!({"outcome": "complete", "next": {"agent": "end"}}));
    let play = Play::of(&flow).tell("a", [ends()]).tell("b", [ends()]).play();
    assert_story(
        &play,
        "a.1 to ana
         a.1 -> b instead of end
         b.1 to bob
         b.1 -> end
         completed",
    );
}

#[test]
fn next_phase_that_is_not_followed_is_recorded() {
    let flow =
        format!("name: f\n{AGENTS}\nphases: [{{id: a, agent: ana}}, {{id: b, agent: bob}}, {{id: c, agent: eve}}]");
    let advises = |next: serde_json::Value| Act::Says(json!({"outcome": "complete", "next": next}));
    let play = Play::of(&flow)
        .tell("a", [advises(json!({"phase": "B", "agent": "bob"}))])
        .tell("b", [advises(json!({"phase": "complete", "agent": "ana"}))])
        .tell("c", [advises(json!({"phase": "complete"}))])
        .play();
    assert_story(
        &play,
        "a.1 to ana
         a.1 -> b
         b.1 to bob
         b.1 -> c instead of the phase complete and ana
         c.1 to eve
         c.1 -> end
         completed",
    );
}
