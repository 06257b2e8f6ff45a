//! Who comes after a phase anyway.

use baton_protocol::wire::same_word;
use baton_protocol::workflow::Phase;

use crate::definition::{Definition, LocatedPhase};

/// Returns the agents of the next phase in which anybody works: past checks and gates, and out of a group at its end.
pub fn following(definition: &Definition, path: &str) -> Vec<String> {
    let Some(located) = definition.locate(path) else { return Vec::new() };
    let mut agents = Vec::new();
    for phase in after(&located) {
        working(located.definition, phase, &mut agents);
        if !agents.is_empty() {
            return agents;
        }
    }
    // The path of the phase that holds it; an item of a list is not a phase.
    let mut around = located.prefix.trim_end_matches('/');
    while !around.is_empty() {
        if definition.locate(around).is_some() {
            return following(definition, around);
        }
        around = around.rsplit_once('/').map_or("", |(outer, _)| outer);
    }
    agents
}

fn after<'d>(located: &LocatedPhase<'d>) -> &'d [Phase] {
    let siblings = located.siblings;
    match located.phase().next.as_deref() {
        _ if located.is_branch() => &[],
        Some(word) if same_word(word, "end") => &[],
        Some(name) => siblings.iter().position(|phase| phase.id() == name).map_or(&[], |index| &siblings[index..]),
        None => &siblings[located.index + 1..],
    }
}

fn working(definition: &Definition, phase: &Phase, agents: &mut Vec<String>) {
    agents.extend(phase.agent.clone());
    phase.parallel.iter().for_each(|member| working(definition, member, agents));
    phase.phases.iter().take(1).for_each(|first| working(definition, first, agents));
    if let Some(inner) = phase.workflow.as_ref().and_then(|file| definition.nested.get(file)) {
        inner.workflow.phases.iter().take(1).for_each(|first| working(inner, first, agents));
    }
}
