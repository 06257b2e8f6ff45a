//! An input that must be given and has a default.

use super::RuleFindings;
use crate::wire::join;
use crate::workflow::WorkflowCase;

rule! {
    /// ## What it checks
    /// Whether an input of a workflow file that must be given (`required: true`) also has a `default`.
    ///
    /// ## Why it matters
    /// One of the two is never used: either the run does not start although there is a value, or it starts with a value
    /// that somebody should have thought about.
    ///
    /// ## Example
    /// ```yaml
    /// inputs:
    ///   environment: {required: true, default: production}
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// inputs:
    ///   environment: {required: true}
    /// ```
    "input-contradiction": Workflow, Error => workflow check
}

fn check(case: &WorkflowCase<'_>, findings: &mut RuleFindings<'_>) {
    for (name, input) in case.workflow.inputs.iter() {
        if input.required == Some(true) && input.default.is_some() {
            findings.add_name(
                &join(&join("/inputs", name), "default"),
                "a required input has a default",
                "drop `required` or `default`",
            );
        }
    }
}
