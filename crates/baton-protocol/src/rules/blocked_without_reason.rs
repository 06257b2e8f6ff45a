//! Judges whether a blocked report can be routed at all.

use super::{Case, RuleFindings};
use crate::dialect::Dialect;
use crate::model::Report;
use crate::model::terms::Outcome;

rule! {
    /// ## What it checks
    /// Whether a report with the status `blocked` says why, in `blocked_reason`. It applies to metadata-block,
    /// phase-block and native reports. A task has no such field: there the decision and the issues say it.
    ///
    /// ## Why it matters
    /// Who can help is looked up by the reason: security goes to one agent, failing tests to another. Without it only a
    /// person can find out, from the beginning.
    ///
    /// ## Example
    /// ```json
    /// {
    ///   "status": "blocked",
    ///   "attempted": ["Ran the migration against a copy of the production data"]
    /// }
    /// ```
    ///
    /// ## Use instead
    /// ```json
    /// {
    ///   "status": "blocked",
    ///   "blocked_reason": "missing_requirements",
    ///   "attempted": ["Ran the migration against a copy of the production data"]
    /// }
    /// ```
    "blocked-without-reason": Blocked, Error => check
}

fn check(case: &Case<'_>, findings: &mut RuleFindings<'_>) {
    let Some(report) = blocked(case) else { return };
    let (pointer, message) = match report.blocked_reason.as_deref() {
        // A value of the wrong type has been told already.
        None if case.kept("/blocked_reason").is_some_and(|kept| !kept.is_null()) => return,
        None => ("/outcome", "the report is blocked, but `blocked_reason` is missing"),
        Some(reason) if reason.trim().is_empty() => {
            ("/blocked_reason", "the report is blocked, but `blocked_reason` is blank")
        }
        Some(_) => return,
    };
    findings.add(pointer, message, "say why in `blocked_reason`, such as `missing_requirements` or `test_failures`");
}

/// Returns the report if it is blocked, in a dialect that says more about it.
pub(super) fn blocked<'a>(case: &Case<'a>) -> Option<&'a Report> {
    let report = case.report().filter(|report| report.outcome == Some(Outcome::Blocked))?;
    // A native report with a decision was a task's answer, which has no place for a reason.
    let speaks = case.is_block() || (case.dialect == Dialect::Native && report.decision.is_none());
    speaks.then_some(report)
}
