//! An agent that the workflow does not have.

use super::RuleFindings;
use crate::diagnostic::excerpt;
use crate::wire::{closest, fits, join, same_word};
use crate::workflow::{HUMAN, Profile, WorkflowCase};

rule! {
    /// ## What it checks
    /// Whether every agent that a phase or a route of a workflow file names is one of its `agents`. In routes `*`
    /// stands for any letters: `agent: "*"` means every agent, `agent: "frontend-*"` those whose names begin so, and at
    /// least one must. `to: human` stands for a person.
    ///
    /// ## Why it matters
    /// A phase without its agent cannot run. A route for an agent that does not exist never fits, and what was meant for
    /// a specialist goes to a person, or worse, to another row.
    ///
    /// ## Example
    /// ```yaml
    /// agents:
    ///   reviewer: {command: [./review.sh]}
    /// phases:
    ///   - {id: review, agent: reviwer}
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// agents:
    ///   reviewer: {command: [./review.sh]}
    /// phases:
    ///   - {id: review, agent: reviewer}
    /// ```
    "unknown-agent": Workflow, Error => workflow check
}

fn check(case: &WorkflowCase<'_>, findings: &mut RuleFindings<'_>) {
    let known: Vec<&str> = case.workflow.agents.names().collect();
    if known.is_empty() && case.is_unread("/agents") {
        return;
    }
    let mut judge = |name: &str, pointer: String, is_known: bool| {
        if !is_known {
            if name.contains('*') && !known.is_empty() {
                let message = format!("no agent of this workflow matches `{}`", excerpt(name));
                return findings.add(&pointer, message, format!("known here: {}", known.join(", ")));
            }
            let is_profile = Profile::parse(name).is_some();
            let help = match (closest(name, &known), known.is_empty()) {
                (Some(close), _) => format!("did you mean `{close}`?"),
                (None, _) if same_word(name, HUMAN) => {
                    "a person is asked by a `gate`, or by `review: blocking` at the phase of an agent".to_owned()
                }
                (None, _) if is_profile => format!("declare it: `agents: {{{name}: {{profile: {name}}}}}`"),
                (None, true) => {
                    format!("declare it: `agents: {{{}: {{command: ./agents/{}.sh}}}}`", excerpt(name), excerpt(name))
                }
                (None, false) => format!("declare it under `agents`, or use one of: {}", known.join(", ")),
            };
            findings.add(&pointer, format!("unknown agent `{}`", excerpt(name)), help);
        }
    };
    for step in &case.flow.steps {
        if let Some(agent) = &step.phase.agent {
            judge(agent, join(&step.pointer, "agent"), known.contains(&agent.as_str()));
        }
    }
    let is_declared = |name: &str| known.iter().any(|agent| same_word(agent, name));
    for (index, route) in case.workflow.routes.iter().enumerate() {
        if let Some(agent) = &route.agent {
            let is_known = agent == "*" || known.iter().any(|name| fits(agent, name));
            judge(agent, format!("/routes/{index}/agent"), is_known);
        }
        if let Some(to) = &route.to {
            judge(to, format!("/routes/{index}/to"), same_word(to, HUMAN) || is_declared(to));
        }
    }
}
