//! A built-in route to an agent that the workflow does not have.

use super::RuleFindings;
use crate::model::terms::Outcome;
use crate::wire::{fits, join, same_word};
use crate::workflow::{WorkflowCase, DEFAULT_ROUTES, DefaultRoute, HUMAN};

rule! {
    /// ## What it checks
    /// Whether the built-in route table sends blocked agents of the workflow to agents that the workflow has. It is
    /// about the usual names only, such as `integration-developer` and `tool-developer`, and about reasons for which the
    /// workflow has no route of its own.
    ///
    /// It is for information: such a report goes to a person, as everything does that fits no route.
    ///
    /// ## Why it matters
    /// Who calls an agent `integration-developer` may expect that its security concerns go to `backend-security`. Without
    /// that agent the run waits for a person instead.
    ///
    /// ## Example
    /// ```yaml
    /// agents:
    ///   integration-developer: {command: [./developer.sh]}
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// agents:
    ///   integration-developer: {command: [./developer.sh]}
    /// routes:
    ///   - {agent: integration-developer, to: human}
    /// ```
    "missing-target": Workflow, Info => workflow check
}

fn check(case: &WorkflowCase<'_>, findings: &mut RuleFindings<'_>) {
    for name in case.workflow.agents.names() {
        let of_agent = |row: &&DefaultRoute| same_word(row.agent, name) && row.to != HUMAN;
        for row in DEFAULT_ROUTES.iter().filter(of_agent).filter(|row| !is_settled(case, name, row)) {
            findings.add_name(
                &join("/agents", name),
                format!("when `{name}` is blocked by {}, a person is asked: there is no agent `{}`", row.reason, row.to),
                format!("declare `{}`, or add a route for this reason", row.to),
            );
        }
    }
}

/// Returns whether the agent of a row is there, or the workflow has a route of its own for it.
fn is_settled(case: &WorkflowCase<'_>, name: &str, row: &DefaultRoute) -> bool {
    let is_meant = |pattern: &Option<String>| pattern.as_deref().is_none_or(|agent| fits(agent, name));
    let own = case.workflow.routes.iter().any(|route| {
        route.status.unwrap_or(Outcome::Blocked) == Outcome::Blocked
            && is_meant(&route.agent)
            && route.verdict.is_none()
            && route.reason.as_deref().is_none_or(|reason| fits(reason, row.reason))
    });
    own || case.workflow.agents.names().any(|agent| same_word(agent, row.to))
}
