//! Judges whether blockers and status tell the same story.

use super::{Case, RuleFindings};
use crate::model::terms::Outcome;

rule! {
    /// ## What it checks
    /// Whether a report lists blockers although its status is not `blocked`. It applies to phase-block
    /// (`handoff.blockers`) and native reports (`blockers`). It is a warning: the status counts, but one of the two
    /// is wrong.
    ///
    /// ## Why it matters
    /// Routing reads the status and goes on. If the blockers are real, the next agent runs into them; if they are
    /// solved, they mislead everybody who reads the report.
    ///
    /// ## Example
    /// ```json
    /// {
    ///   "status": "complete",
    ///   "handoff": { "blockers": [{ "description": "No access to the staging bucket" }] }
    /// }
    /// ```
    ///
    /// ## Use instead
    /// If it is in the way, say so; if it is solved, leave it out:
    ///
    /// ```json
    /// {
    ///   "status": "blocked",
    ///   "blocked_reason": "missing_requirements",
    ///   "handoff": { "next_agent": null, "blockers": [{ "description": "No access to the staging bucket" }] }
    /// }
    /// ```
    "blockers-without-block": Blocked, Warning => check
}

fn check(case: &Case<'_>, findings: &mut RuleFindings<'_>) {
    let Some(report) = case.report().filter(|report| !report.blockers.is_empty()) else { return };
    // A status that could not be read is an error already.
    let Some(outcome) = report.outcome.filter(|outcome| *outcome != Outcome::Blocked) else { return };
    findings.add(
        "/blockers",
        format!("there are blockers, but the status is `{}`", outcome.as_str()),
        "report `blocked` if they are in the way; otherwise leave them out",
    );
}
