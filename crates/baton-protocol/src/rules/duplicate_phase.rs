//! Two phases with the same name in one list.

use std::collections::HashSet;

use super::RuleFindings;
use crate::diagnostic::excerpt;
use crate::wire::join;
use crate::workflow::WorkflowCase;

rule! {
    /// ## What it checks
    /// Whether the names of phases are unique in their list: in the workflow, among the phases that run at the same
    /// time, among those that run for each item. Names that differ only in case count as the same.
    ///
    /// ## Why it matters
    /// `next`, `on_failure`, routes and expressions name phases. With two of the same name they mean one of them, and
    /// the results of one overwrite those of the other. Names also become folders, and some systems do not see case.
    ///
    /// ## Example
    /// ```yaml
    /// phases:
    ///   - {id: review, agent: first}
    ///   - {id: review, agent: second}
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// phases:
    ///   - {id: first-review, agent: first}
    ///   - {id: second-review, agent: second}
    /// ```
    "duplicate-phase": Workflow, Error => workflow check
}

fn check(case: &WorkflowCase<'_>, findings: &mut RuleFindings<'_>) {
    for list in case.flow.lists() {
        let mut known = HashSet::new();
        for step in list.iter().map(|step| &case.flow.steps[*step]) {
            let id = step.phase.id();
            // Handoffs are named after phases, with `-` in the place of a point.
            if !id.is_empty() && !known.insert(id.to_ascii_lowercase().replace('.', "-")) {
                let message = format!("duplicate phase `{}`", excerpt(id));
                findings.add(&join(&step.pointer, "id"), message, "give each phase of a list its own name");
            }
        }
    }
}
