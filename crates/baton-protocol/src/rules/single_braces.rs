//! A template whose expression has one brace on each side.

use super::{RuleFindings, unknown_reference};
use crate::workflow::expression::{of_expression, single_braces};
use crate::workflow::{WorkedText, WorkflowCase};

rule! {
    /// ## What it checks
    /// Whether a template of a workflow file (`task`, `output_directory`) has a name in single braces, such as `{inputs.feature}`
    /// or `${inputs.feature}`. Only names that have a value at that place are reported: other braces mean themselves.
    ///
    /// ## Why it matters
    /// Only double braces are replaced. The agent would read `{inputs.feature}`, and not what the feature is.
    ///
    /// ## Example
    /// ```yaml
    /// inputs:
    ///   feature: {required: true}
    /// phases:
    ///   - {id: build, agent: developer, task: "Implement {inputs.feature}"}
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// inputs:
    ///   feature: {required: true}
    /// phases:
    ///   - {id: build, agent: developer, task: "Implement {{ inputs.feature }}"}
    /// ```
    "single-braces": Workflow, Warning => workflow check
}

fn check(case: &WorkflowCase<'_>, findings: &mut RuleFindings<'_>) {
    for ((pointer, step), worked) in case.worked() {
        let WorkedText::Template(text) = worked else { continue };
        let has_value = |name: &str| {
            let references = of_expression(name).unwrap_or_default();
            !references.is_empty() && references.iter().all(|reference| unknown_reference::has_value(case, reference, step))
        };
        // One answer is enough: who has made the mistake once has made it everywhere.
        let meant = single_braces(text).into_iter().find(|(_, name)| has_value(name));
        if let Some((written, name)) = meant {
            findings.add(
                &pointer,
                format!("`{written}` is not replaced: an expression has double braces"),
                format!("write `{{{{ {name} }}}}`"),
            );
        }
    }
}
