//! Judges whether a blocked phase says what is in its way.

use super::blocked_without_reason::blocked;
use super::{Case, RuleFindings};
use crate::dialect::Dialect;

rule! {
    /// ## What it checks
    /// Whether a phase-block with the status `blocked` lists in `handoff.blockers` what is in the way. Only this
    /// dialect asks for it.
    ///
    /// ## Why it matters
    /// The reason chooses the helper; the blockers tell the helper what to solve, one by one, and when the blocked
    /// agent can go on.
    ///
    /// ## Example
    /// ```json
    /// {
    ///   "status": "blocked",
    ///   "blocked_reason": "missing_requirements",
    ///   "handoff": { "next_agent": null, "context": "Tax rules for Norway are not in the spec.", "blockers": [] }
    /// }
    /// ```
    ///
    /// ## Use instead
    /// ```json
    /// {
    ///   "status": "blocked",
    ///   "blocked_reason": "missing_requirements",
    ///   "handoff": {
    ///     "next_agent": null,
    ///     "context": "Tax rules for Norway are not in the spec.",
    ///     "blockers": [
    ///       {
    ///         "type": "unclear_requirement",
    ///         "description": "Spec section 4 lists no rate for digital goods sold to Norway",
    ///         "resolution": "Product owner names the rate and the threshold"
    ///       }
    ///     ]
    ///   }
    /// }
    /// ```
    "blocked-without-blockers": Blocked, Error => check
}

fn check(case: &Case<'_>, findings: &mut RuleFindings<'_>) {
    if case.dialect == Dialect::PhaseBlock && blocked(case).is_some_and(|report| report.blockers.is_empty()) {
        findings.add(
            "/outcome",
            "the report is blocked, but `handoff.blockers` does not say by what",
            "list each blocker with its description and what would solve it",
        );
    }
}
