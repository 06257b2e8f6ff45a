//! A constraint that nobody can check.

use super::{Case, RuleFindings};
use crate::dialect::Dialect;
use crate::prose;

rule! {
    /// ## What it checks
    /// A constraint asks for quality, speed, effort or change, but sets no limit that somebody could see kept or
    /// broken. Applies to requests in the `package`, `task` and `native` dialects.
    ///
    /// ## Why it matters
    /// A receiver cannot keep, and a reviewer cannot enforce, what neither can recognise. "Quickly" is a minute to
    /// one agent and an hour to the next.
    ///
    /// ## Example
    /// ```json
    /// { "context": { "feature": "csv-export", "constraints": ["must be fast"] } }
    /// ```
    ///
    /// ## Use instead
    /// ```json
    /// { "context": { "feature": "csv-export", "constraints": ["10 000 rows in under 2 seconds"] } }
    /// ```
    "unmeasurable-constraint": Package, Warning => check
}

fn check(case: &Case<'_>, findings: &mut RuleFindings<'_>) {
    if !matches!(case.dialect, Dialect::Package | Dialect::Task | Dialect::Native) {
        return;
    }
    let Some(expected) = case.request().and_then(|request| request.expectations.as_ref()) else {
        return;
    };
    for (index, constraint) in expected.constraints.iter().enumerate() {
        if let Some(reason) = prose::unmeasurable(constraint) {
            findings.add(
                &format!("/expectations/constraints/{index}"),
                format!("this constraint {reason}"),
                "set a limit that can be checked: a number, a file not to touch, a standard to meet",
            );
        }
    }
}
