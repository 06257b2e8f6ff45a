//! A route that can never fit because an earlier one takes everything.

use super::RuleFindings;
use crate::model::terms::Outcome;
use crate::wire::fits;
use crate::workflow::{WorkflowCase, RouteFields};

rule! {
    /// ## What it checks
    /// Whether every route of a workflow file can fit something. The first row that fits counts, so a row is never
    /// reached when an earlier one fits everything that it fits. A row without `reason` fits every reason, one without
    /// `agent` or with `*` every agent, and `frontend-*` every agent whose name begins so.
    ///
    /// ## Why it matters
    /// The row was written for a case that somebody has thought of, and that case is decided by another row.
    ///
    /// ## Example
    /// ```yaml
    /// routes:
    ///   - {agent: "*", to: human}
    ///   - {agent: developer, reason: security_concern, to: security}
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// routes:
    ///   - {agent: developer, reason: security_concern, to: security}
    ///   - {agent: "*", to: human}
    /// ```
    "shadowed-route": Workflow, Error => workflow check
}

fn check(case: &WorkflowCase<'_>, findings: &mut RuleFindings<'_>) {
    let routes = &case.workflow.routes;
    for (index, route) in routes.iter().enumerate() {
        if let Some(earlier) = routes[..index].iter().position(|earlier| covers(earlier, route)) {
            findings.add(
                &format!("/routes/{index}"),
                format!("the route is never used: route {} matches everything that it matches", earlier + 1),
                "put the more specific route first, or remove one of the two",
            );
        }
    }
}

/// Returns whether a row fits everything that another fits.
fn covers(wide: &RouteFields, narrow: &RouteFields) -> bool {
    let word = |wide: Option<&str>, narrow: Option<&str>| {
        wide.is_none_or(|wide| narrow.is_some_and(|narrow| fits(wide, narrow)))
    };
    let named = |agent: &'_ Option<String>| agent.clone().filter(|agent| agent != "*");
    wide.status.unwrap_or(Outcome::Blocked) == narrow.status.unwrap_or(Outcome::Blocked)
        && word(named(&wide.agent).as_deref(), named(&narrow.agent).as_deref())
        && word(wide.reason.as_deref(), narrow.reason.as_deref())
        && word(wide.verdict.as_deref(), narrow.verdict.as_deref())
}
