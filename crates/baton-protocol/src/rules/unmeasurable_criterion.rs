//! A success criterion that nobody can check.

use super::{Case, RuleFindings};
use crate::prose;

rule! {
    /// ## What it checks
    /// A success criterion asks for quality, speed, effort or change, but names nothing by which somebody could tell
    /// that it is met: no number, no event, no standard, no file. Applies to requests in the `package` and `native`
    /// dialects.
    ///
    /// ## Why it matters
    /// The receiver decides by the criteria whether it is finished, and the sender whether to accept. A criterion
    /// that is a matter of taste is met whenever the receiver says so.
    ///
    /// ## Example
    /// ```yaml
    /// expectations:
    ///   success_criteria:
    ///     - "The import is robust"
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// expectations:
    ///   success_criteria:
    ///     - "A file with 1 broken row loads the others and names the broken one"
    /// ```
    "unmeasurable-criterion": Package, Warning => check
}

fn check(case: &Case<'_>, findings: &mut RuleFindings<'_>) {
    let Some(expected) = case.package().and_then(|request| request.expectations.as_ref()) else {
        return;
    };
    for (index, criterion) in expected.success_criteria.iter().enumerate() {
        if let Some(reason) = prose::unmeasurable(criterion) {
            findings.add(
                &format!("/expectations/success_criteria/{index}"),
                format!("this criterion {reason}"),
                "name a number, a command that passes, a file that exists or an event that anyone can see",
            );
        }
    }
}
