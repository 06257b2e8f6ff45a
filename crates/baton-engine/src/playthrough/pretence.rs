//! A workflow whose agents only pretend: nothing is started, nothing is tried again, and what reports would say is made up.

use std::collections::BTreeMap;

use baton_protocol::workflow::{AgentFields, GateFields, Limits, Phase, RetryFields, Workflow};
use serde_json::{Map, Value};

use crate::definition::Definition;

/// Stands for a list that some report would have.
const ITEMS: &str = r#"["one", "two"]"#;

/// Makes a workflow whose agents only pretend. Conditions are left out, or are all this.
pub(super) fn of(definition: &Definition, when: Option<&str>) -> Definition {
    let nested = definition.nested.iter().map(|(name, inner)| (name.clone(), of(inner, when)));
    let nested: BTreeMap<String, Definition> = nested.collect();
    let declared = definition.workflow.inputs.iter();
    let made_up = declared.map(|(name, _)| (name.to_owned(), Value::String("made up".to_owned())));
    let mut inputs: Map<String, Value> = made_up.collect();
    inputs.extend(definition.inputs.clone());
    Definition { workflow: workflow(&definition.workflow, when), nested, inputs, ..definition.clone() }
}

fn workflow(workflow: &Workflow, when: Option<&str>) -> Workflow {
    let retry = Some(RetryFields { max_retries: Some(0), ..RetryFields::default() });
    let pretends = |agent: &AgentFields| AgentFields {
        dialect: agent.dialect.clone(),
        retry: retry.clone(),
        ..AgentFields::default()
    };
    let agents = workflow.agents.iter().map(|(name, agent)| (name.to_owned(), pretends(agent)));
    let phases = workflow.phases.iter().map(|phase| pretended(phase, when)).collect();
    Workflow { agents: agents.collect(), phases, views: Vec::new(), limits: Some(unlimited()), ..workflow.clone() }
}

/// Limits are for agents that do not come to an end; here everybody does.
fn unlimited() -> Limits {
    let none = Some(0);
    Limits { handoffs: none, visits_per_phase: none, same_failure: none, ping_pong: none, ..Limits::default() }
}

fn pretended(phase: &Phase, when: Option<&str>) -> Phase {
    let inside = |phases: &[Phase]| phases.iter().map(|phase| pretended(phase, when)).collect::<Vec<_>>();
    let gate = phase.gate.as_ref().map(|gate| GateFields {
        r#type: None,
        approvers: None,
        at_least: None,
        signed: None,
        checks: Vec::new(),
        items: Vec::new(),
        ..gate.clone()
    });
    Phase {
        foreach: phase.foreach.as_ref().map(|_| ITEMS.to_owned()),
        when: phase.when.as_ref().and(when).map(str::to_owned),
        task: None,
        title: None,
        inputs: Map::new(),
        deliverable: None,
        constraints: Vec::new(),
        success_criteria: Vec::new(),
        verify: Vec::new(),
        retry: None,
        gate,
        parallel: inside(&phase.parallel),
        phases: inside(&phase.phases),
        ..phase.clone()
    }
}

/// Returns whether some phase is entered under a condition only.
pub(super) fn has_conditions(definition: &Definition) -> bool {
    fn within(phases: &[Phase]) -> bool {
        phases.iter().any(|phase| phase.when.is_some() || within(&phase.parallel) || within(&phase.phases))
    }
    within(&definition.workflow.phases) || definition.nested.values().any(has_conditions)
}

/// Returns the path of a phase as the workflow declares it: `*` stands for the items of a list. What is not a path of a phase
/// stays as it is.
pub(super) fn declared(definition: &Definition, path: &str) -> String {
    let (mut definition, mut siblings) = (definition, definition.workflow.phases.as_slice());
    let mut segments = path.split('/');
    let mut names: Vec<&str> = Vec::new();
    while let Some(segment) = segments.next() {
        names.push(segment);
        let Some(phase) = siblings.iter().find(|phase| phase.id() == segment) else { break };
        if let Some(inner) = phase.workflow.as_ref().and_then(|name| definition.nested.get(name)) {
            (definition, siblings) = (inner, &inner.workflow.phases);
        } else if phase.foreach.is_some() {
            if segments.next().is_some() {
                names.push("*");
            }
            siblings = &phase.phases;
        } else {
            siblings = &phase.parallel;
        }
    }
    names.extend(segments);
    names.join("/")
}
