//! Random workflows: every kind of phase, in every combination that a seed can think of.

use std::fmt::Write as _;

use baton_engine::definition::Definition;

use crate::chance::Chance;
use crate::flows::{EXAMPLES, definition};

/// The agents of every random workflow; the last one claims its work itself.
pub const AGENTS: [&str; 4] = ["integration-developer", "backend-security", "ops", "clerk"];

/// The agent that claims its work itself.
pub const CLERK: &str = "clerk";

/// The queue that it takes its work from.
pub const QUEUE: &str = "chance/clerk";

const INNER: &str = "name: inner
agents: {worker: {command: [./w], retry: {max_retries: 1, delay: 0s}, timeout: 20m}}
phases: [{id: a, agent: worker, review: blocking}, {id: t, check: 'true'}, {id: g, gate: {}}]";

/// Makes a workflow: mostly one of chance, sometimes one of the examples.
pub fn workflow(chance: &Chance) -> Definition {
    if chance.happens(0.15) {
        return definition(chance.pick(&EXAMPLES).1, &[]);
    }
    definition(&text(chance), &[("inner.yaml", INNER)])
}

fn text(chance: &Chance) -> String {
    let limits = chance.pick(&[
        "{}",
        "{visits_per_phase: 1}",
        "{handoffs: 4, ping_pong: 1}",
        "{handoffs: 2}",
        "{handoffs: 3}",
        "{tokens: 2000, same_failure: 2}",
        "{wall_clock: 40m, visits_per_phase: 2}",
    ]);
    let agents: Vec<String> = AGENTS.iter().map(|name| format!("{name}: {}", agent(chance, name))).collect();
    format!(
        "name: chance\nagents: {{{}}}\nphases: {}\nlimits: {limits}\nroutes:\n  \
         - {{agent: ops, reason: lost, to: backend-security}}\n  \
         - {{agent: backend-security, reason: lost, to: ops}}\n  \
         - {{agent: clerk, reason: lost, to: ops}}\n  \
         - {{status: complete, verdict: restart, phase: p00}}\n",
        agents.join(", "),
        phases(chance, 0, false)
    )
}

fn agent(chance: &Chance, name: &str) -> String {
    let timeout = chance.pick(&["2m", "20m", "3h"]);
    let retry = format!("retry: {{max_retries: {}, delay: {}}}", chance.below(4), chance.pick(&["0s", "1s", "30s"]));
    match name {
        CLERK => {
            let within = chance.pick(&["", ", pick_up_within: 30m"]);
            format!("{{queue: true, timeout: {timeout}, {retry}{within}}}")
        }
        _ => {
            let acknowledge = chance.pick(&["", "", "", ", acknowledge: true", ", acknowledge: 30s"]);
            format!("{{command: [./a], timeout: {timeout}, {retry}{acknowledge}}}")
        }
    }
}

/// Writes phases in the flow style of YAML.
fn phases(chance: &Chance, depth: u64, parallel: bool) -> String {
    let count = 1 + chance.below(if depth == 0 { 4 } else { 3 });
    let name = |index: u64| format!("p{depth}{index}");
    let mut text = String::from("[");
    for index in 0..count {
        let _ = write!(text, "{{id: {}, {}", name(index), kind(chance, depth, &name(0)));
        if !parallel && chance.happens(0.2) {
            let next = if chance.happens(0.3) { "end".to_owned() } else { name(chance.below(count)) };
            let _ = write!(text, ", next: {next}");
        }
        if chance.happens(0.25) {
            let target = match chance.below(6) {
                0 => "stop".to_owned(),
                1 | 2 => "gate".to_owned(),
                _ if parallel => "gate".to_owned(),
                _ => name(chance.below(count)),
            };
            let _ = write!(text, ", on_failure: {target}");
        }
        if chance.happens(0.15) {
            let when = chance.pick(&["false", "true", "phases | length > 1", "phases | length < 2"]);
            let _ = write!(text, ", when: '{when}'");
        }
        text.push_str("}, ");
    }
    text.push(']');
    text
}

fn kind(chance: &Chance, depth: u64, first: &str) -> String {
    match chance.below(if depth < 2 { 16 } else { 12 }) {
        0..=6 => {
            let mut text = format!("agent: {}", chance.pick(&AGENTS));
            if chance.happens(0.2) {
                let review: &&str = chance.pick(&[", review: blocking", ", review: {type: advisory, after: 30m}"]);
                text.push_str(review);
            }
            if chance.happens(0.3) {
                text.push_str(", verify: [{name: tests, run: 'true'}]");
            }
            if chance.happens(0.2) {
                text.push_str(", writes: ['src/**']");
            }
            text
        }
        7 | 8 => "check: 'true'".to_owned(),
        9 => chance
            .pick(&[
                "gate: {items: [this]}",
                "gate: {type: advisory, after: 20m}",
                "gate: {type: auto, checks: ['true']}",
            ])
            .to_string(),
        10 => format!("gate: {{choices: {{go: next, halt: stop, over: end, jump: {first}}}}}"),
        11 => "workflow: inner.yaml".to_owned(),
        12 | 13 => {
            let rule = chance.pick(&["all_must_pass", "any_pass", "majority_pass", "{at_least: 1}"]);
            format!("pass_when: {rule}, parallel: {}", phases(chance, depth + 1, true))
        }
        _ => {
            let items: Vec<u64> = (0..chance.below(7)).collect();
            let at_once = chance.pick(&["", "at_once: 1, ", "at_once: 2, "]);
            format!("foreach: '{items:?}', {at_once}phases: {}", phases(chance, depth + 1, false))
        }
    }
}
