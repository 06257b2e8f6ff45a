//! A delegation that does not say what to deliver.

use super::{Case, RuleFindings};
use crate::model::Request;
use crate::model::terms::HandoffKind;

rule! {
    /// ## What it checks
    /// A delegation has no `deliverable`, or an empty one. A package without a `kind` is a delegation if it has
    /// expectations and no workflow state. In the native form, instructions or the expected form of the answer will do
    /// as well. Applies to requests in the `package` and `native` dialects.
    ///
    /// ## Why it matters
    /// A specialist stands outside the workflow: it knows the work only from this package. Without a deliverable it
    /// does not know when it is finished, nor what to return.
    ///
    /// ## Example
    /// ```yaml
    /// to: {agent: db-specialist, reason: "Slow report queries"}
    /// expectations:
    ///   constraints: ["no schema changes"]
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// to: {agent: db-specialist, reason: "Slow report queries"}
    /// expectations:
    ///   deliverable: "Index proposal for the 3 slowest report queries, with measured times"
    ///   constraints: ["no schema changes"]
    /// ```
    "delegation-without-deliverable": Package, Error => check
}

fn check(case: &Case<'_>, findings: &mut RuleFindings<'_>) {
    let Some(request) = case.package().filter(|request| request.told_kind() == HandoffKind::Delegation) else {
        return;
    };
    if !says_what(request) {
        findings.add(
            "/expectations/deliverable",
            "the delegation does not say what to deliver",
            "add `expectations.deliverable`: what must come back",
        );
    }
}

/// A native request may have come from a dialect that says it by instructions or by the form of the answer.
fn says_what(request: &Request) -> bool {
    let expected = request.expectations.as_ref();
    let deliverable = expected.and_then(|expected| expected.deliverable.as_ref());
    let output = expected.and_then(|expected| expected.output.as_ref());
    [deliverable, output, request.instructions.as_ref()].into_iter().flatten().any(|text| !text.trim().is_empty())
}
