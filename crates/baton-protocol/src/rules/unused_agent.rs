//! An agent that nothing is ever asked of.

use super::RuleFindings;
use crate::dialect::Dialect;
use crate::wire::{join, same_word};
use crate::workflow::{DEFAULT_ROUTES, WorkflowCase};

rule! {
    /// ## What it checks
    /// Whether every agent of a workflow file can be asked for something: by a phase, by `to` of a route, or by a built-in
    /// route for blocked agents. Where an agent writes packages it may delegate to any other, and the rule says nothing.
    ///
    /// ## Why it matters
    /// An agent without work is often a phase that was forgotten: the file names a reviewer, and nobody reviews.
    ///
    /// ## Example
    /// ```yaml
    /// agents:
    ///   developer: {command: [./develop.sh]}
    ///   reviewer: {command: [./review.sh]}
    /// phases:
    ///   - {id: build, agent: developer}
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// agents:
    ///   developer: {command: [./develop.sh]}
    ///   reviewer: {command: [./review.sh]}
    /// phases:
    ///   - {id: build, agent: developer}
    ///   - {id: review, agent: reviewer, kind: review, on_failure: build}
    /// ```
    "unused-agent": Workflow, Warning => workflow check
}

fn check(case: &WorkflowCase<'_>, findings: &mut RuleFindings<'_>) {
    let (agents, steps) = (&case.workflow.agents, &case.flow.steps);
    let works = |name: &str| steps.iter().any(|step| step.phase.agent.as_deref() == Some(name));
    let is_known = |name: &String| agents.get(name).is_some();
    // Where something is missing, misspelt or could not be read, that may be what uses it.
    let is_unsure = case.incomplete
        || steps.is_empty()
        || steps.iter().any(|step| step.phase.kinds().is_empty())
        || ["/agents", "/phases", "/routes"].iter().any(|part| case.is_unread(part))
        || steps.iter().any(|step| step.phase.agent.as_ref().is_some_and(|name| !is_known(name)));
    let delegates = |dialect: &str| Dialect::parse(dialect) == Some(Dialect::Package);
    if is_unsure || agents.iter().any(|(_, agent)| agent.dialect.as_deref().is_some_and(delegates)) {
        return;
    }
    let routed = case.workflow.routes.iter().filter_map(|route| route.to.as_deref());
    let built_in = DEFAULT_ROUTES.iter().filter(|route| agents.names().any(|name| same_word(name, route.agent)));
    let asked: Vec<&str> = routed.chain(built_in.map(|route| route.to)).collect();
    for name in agents.names().filter(|name| !works(name) && !asked.iter().any(|to| same_word(to, name))) {
        findings.add_name(
            &join("/agents", name),
            format!("no phase and no route uses the agent `{name}`"),
            "add a phase in which it works, or remove it",
        );
    }
}
