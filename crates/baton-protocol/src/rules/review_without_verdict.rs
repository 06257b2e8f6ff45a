//! A review must say yes or no.

use super::{Case, RuleFindings};
use crate::model::findings::PhaseFindings as Found;
use crate::model::terms::Outcome;
use crate::wire::same_word;

/// The form of an answer that a review is asked for, in `expectations.output`.
pub const REVIEW: &str = "review";

rule! {
    /// ## What it checks
    /// Whether a complete report says `verdict` where the request asks for a review (`kind: review` in a workflow). What a
    /// validation found, `overall_passed`, is a verdict too.
    ///
    /// ## Why it matters
    /// "Complete" says that the reviewer has finished, not that the work is good. A review without a verdict must not
    /// count as approval.
    ///
    /// ## Example
    /// ```json
    /// { "baton": 1, "document": "report", "outcome": "complete", "issues": ["SQL injection in search.py:40"] }
    /// ```
    ///
    /// ## Use instead
    /// ```json
    /// {
    ///   "baton": 1,
    ///   "document": "report",
    ///   "outcome": "complete",
    ///   "verdict": "CHANGES_REQUESTED",
    ///   "issues": ["SQL injection in search.py:40"]
    /// }
    /// ```
    "review-without-verdict": Shape, Error => check
}

fn check(case: &Case<'_>, findings: &mut RuleFindings<'_>) {
    let asked = case.surroundings.request.and_then(|request| request.expectations.as_ref()?.output.as_deref());
    let Some(report) = case.report() else { return };
    if !asked.is_some_and(|asked| same_word(asked, REVIEW)) {
        return;
    }
    let validated = matches!(report.findings, Some(Found::Validate(_) | Found::Parallel(_)));
    let silent = report.verdict.as_deref().is_none_or(|verdict| verdict.trim().is_empty());
    if report.outcome == Some(Outcome::Complete) && silent && !validated {
        let help = "add `verdict`: APPROVED or CHANGES_REQUESTED";
        findings.add("", "a review must say whether the work is good, and this one does not", help);
    }
}
