//! An expression or a template that cannot be read.

use super::RuleFindings;
use crate::workflow::expression::{other_operator, unknown_word};
use crate::workflow::{WorkflowCase, WorkedText};

rule! {
    /// ## What it checks
    /// Whether the expressions of a workflow file (`when`, `foreach` and the texts in `inputs` of a phase) and its templates
    /// (`task`, `output_directory`) can be read. They are written as in Jinja: an expression is `inputs.topic`, and
    /// a template has it in double braces. Filters and tests must be known: `inputs.topic | upper`, `inputs.topic is defined`.
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
        let (what, text, is_template, general) = match worked {
            WorkedText::Expression(text) => {
                ("expression", text, false, "write text that is meant literally in quotes: \"'text'\"")
            }
            WorkedText::Template(text) => ("template", text, true, "close every `{{` with `}}` and every `{%` with `%}`"),
        };
        if let Err(why) = worked.references() {
            let is_cut = !is_template && why.reason.contains("end of input");
            let general = if is_cut { "it ends too early: complete it" } else { general };
            let help = other_operator(text, is_template).unwrap_or_else(|| general.to_owned());
            findings.add(&pointer, format!("this {what} cannot be read: {why}"), help);
        } else if let Some((message, help)) = unknown_word(text, is_template) {
            findings.add(&pointer, message, help);
        }
    }
}
