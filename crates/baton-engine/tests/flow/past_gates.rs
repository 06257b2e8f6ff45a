//! Going on past a phase that holds gates: nobody decides alone what they demand of others.

use baton_engine::State;
use baton_engine::handoff::Terms;
use baton_engine::lifecycle::Decision;
use serde_json::json;

use super::play::{Act, Play, definition};

const INNER: &str = "name: i
agents: {dev: {command: [./dev], retry: {max_retries: 0}}}
phases:
  - {id: pack, agent: dev, on_failure: stop}
  - {id: sign, gate: {items: [it], approvers: [ana, ben], at_least: 2}}
";

/// Plays the group until something in it has failed, and returns the terms of the question about the group.
fn asked(group: &str, inner: &str, failing: &str) -> Terms {
    let text = format!(
        "name: o\nagents: {{dev: {{command: [./dev], retry: {{max_retries: 0}}}}}}\n\
         phases: [{group}, {{id: ship, agent: dev}}]"
    );
    let definition = definition(&text, &[("inner.yaml", inner)], json!({}));
    let play = Play::with(&definition).tell(failing, [Act::Fails("exit 1")]);
    let play = play.tell("rel/look?", [Act::Decides(Decision::Approve, None)]).play();
    play.find("rel.failure.1").handoff.terms.as_ref().clone()
}

fn demand(terms: &Terms) -> String {
    terms.approval.as_ref().map_or_else(|| "nothing".to_owned(), |approval| approval.in_words())
}

#[test]
fn gate_that_was_not_reached_is_passed_by_its_approvers_only() {
    let nested = asked("{id: rel, workflow: inner.yaml, on_failure: gate}", INNER, "rel/pack");
    assert_eq!(demand(&nested), "2 of ana, ben");
    assert_eq!(nested.choices, ["retry", "continue", "stop"]);
    let list = "{id: rel, foreach: '[1]', on_failure: gate, phases: [{id: pack, agent: dev}, \
                {id: sign, gate: {items: [it], approvers: [ana]}}]}";
    assert_eq!(demand(&asked(&list.replace("dev}", "dev, on_failure: stop}"), INNER, "rel/item-1/pack")), "ana");
    let beside = "{id: rel, on_failure: gate, parallel: [{id: pack, agent: dev}, \
                  {id: look, agent: dev, review: {type: blocking, approvers: [ana]}}]}";
    assert_eq!(demand(&asked(beside, INNER, "rel/pack")), "ana");
    assert_eq!(demand(&asked("{id: rel, agent: dev, on_failure: gate}", INNER, "rel")), "nothing");
}

#[test]
fn who_passes_several_gates_fulfils_what_all_of_them_demand() {
    let group = "{id: rel, workflow: inner.yaml, on_failure: gate}";
    let with =
        |gate: &str| asked(group, &format!("{INNER}  - {{id: again, gate: {{items: [it], {gate}}}}}\n"), "rel/pack");
    assert_eq!(demand(&with("type: blocking")), "2 of ana, ben");
    assert_eq!(demand(&with("approvers: [ben, ana, kim]")), "2 of ana, ben");
    // Two must say so, and only one of them may.
    let none = with("approvers: [ben]");
    assert_eq!((demand(&none).as_str(), &none.choices[..]), ("nothing", &["retry".to_owned(), "stop".to_owned()][..]));
}

#[test]
fn what_is_in_a_group_is_called_off_with_it() {
    let text = "name: o
agents: {dev: {command: [./dev], retry: {max_retries: 0}}}
phases:
  - id: rel
    on_failure: gate
    parallel: [{id: sign, gate: {items: [it], approvers: [ana]}}, {id: pack, agent: dev}]
  - {id: ship, agent: dev}
";
    let mut play = Play::of(text).play();
    assert!(matches!(play.find("rel.sign.1").handoff.state, State::AwaitingPerson { .. }), "{}", play.story());
    play.cancel_phase("rel.1");
    let play = play.play();
    assert!(matches!(play.find("rel.sign.1").handoff.state, State::Cancelled { .. }), "{}", play.story());
    assert_eq!(demand(&play.find("rel.failure.1").handoff.terms), "ana", "{}", play.story());
    let waiting: Vec<&str> = play.run.waiting().map(|tracked| tracked.handoff.id.as_str()).collect();
    assert_eq!(waiting, ["r.rel.failure.1"], "{}", play.story());
}
