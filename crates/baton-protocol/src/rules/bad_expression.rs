//! An expression or a template that cannot be read.

use super::RuleFindings;
use crate::workflow::{WorkflowCase, WorkedText};

rule! {
    /// ## What it checks
    /// Whether the expressions of a workflow file (`when`, `foreach` and the texts in `inputs` of a phase) and its templates
    /// (`task`, `output_directory`) can be read. They are written as in Jinja: an expression is `inputs.topic`, and
    /// a template has it in double braces.
    ///
    /// ## Why it matters
    /// A mistake in the `when` of the last phase would be found when all the others are done.
    ///
    /// ## Example
    /// ```yaml
    /// phases:
    ///   - {id: fix, agent: developer, when: "phases.review.verdict = 'CHANGES_REQUESTED'"}
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// phases:
    ///   - {id: fix, agent: developer, when: "phases.review.verdict == 'CHANGES_REQUESTED'"}
    /// ```
    "bad-expression": Workflow, Error => workflow check
}

fn check(case: &WorkflowCase<'_>, findings: &mut RuleFindings<'_>) {
    for ((pointer, _), worked) in case.worked() {
        if let Err(why) = worked.references() {
            let (what, help) = match worked {
                WorkedText::Expression(_) => ("expression", "write text that is meant literally in quotes: \"'text'\""),
                WorkedText::Template(_) => ("template", "close every `{{` with `}}` and every `{%` with `%}`"),
            };
            findings.add(&pointer, format!("this {what} cannot be read: {why}"), help);
        }
    }
}
