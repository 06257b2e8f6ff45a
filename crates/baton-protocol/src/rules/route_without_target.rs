//! A route that does not say where to, or leads back to where it came from.

use super::RuleFindings;
use crate::wire::same_word;
use crate::workflow::WorkflowCase;

rule! {
    /// ## What it checks
    /// Whether every route of a workflow file leads to exactly one place, `to` (an agent or `human`) or `phase`, and no
    /// agent delegates to itself.
    ///
    /// ## Why it matters
    /// A blocked agent that gets its own question back is blocked again, until a limit ends it. A route without a target
    /// hides the rows and the built-in table behind it.
    ///
    /// ## Example
    /// ```yaml
    /// routes:
    ///   - {agent: developer, reason: security_concern, to: developer}
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// routes:
    ///   - {agent: developer, reason: security_concern, to: security}
    /// ```
    "route-without-target": Workflow, Error => workflow check
}

fn check(case: &WorkflowCase<'_>, findings: &mut RuleFindings<'_>) {
    for (index, route) in case.workflow.routes.iter().enumerate() {
        let pointer = format!("/routes/{index}");
        match (&route.to, &route.phase) {
            (None, None) if case.is_unread(&pointer) => {}
            (None, None) => findings.add(
                &pointer,
                "the route has no target",
                "add `to`: an agent or `human`; or `phase`: the phase that it goes to",
            ),
            (Some(_), Some(_)) => findings.add(&pointer, "the route has two targets", "keep `to` or `phase`"),
            (Some(to), None) if route.agent.as_deref().is_some_and(|agent| same_word(agent, to)) => findings.add(
                &format!("{pointer}/to"),
                format!("`{to}` would delegate to itself"),
                "name another agent, or `human`",
            ),
            _ => {}
        }
    }
}
