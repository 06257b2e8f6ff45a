//! Judges whether a blocked agent leaves the routing to the orchestrator.

use super::blocked_without_reason::blocked;
use super::{Case, RuleFindings};
use crate::diagnostic::excerpt;

rule! {
    /// ## What it checks
    /// Whether a report with the status `blocked` leaves `handoff.next_agent` null or out. It applies to
    /// metadata-block and phase-block, and to `next.agent` of native reports. Any text there is reported, also an
    /// empty one or the word "null" in quotes. A report that is not blocked may name a next agent.
    ///
    /// ## Why it matters
    /// When an agent is blocked, the orchestrator routes by the reason. A blocked agent that names its helper takes
    /// that decision away: it sends a security question past the security review, or sends the work round in
    /// circles.
    ///
    /// ## Example
    /// ```json
    /// {
    ///   "status": "blocked",
    ///   "blocked_reason": "security_concern",
    ///   "handoff": { "next_agent": "backend-developer", "context": "May session keys be cached in Redis?" }
    /// }
    /// ```
    ///
    /// ## Use instead
    /// ```json
    /// {
    ///   "status": "blocked",
    ///   "blocked_reason": "security_concern",
    ///   "handoff": { "next_agent": null, "context": "May session keys be cached in Redis?" }
    /// }
    /// ```
    "blocked-names-next-agent": Blocked, Error => check
}

fn check(case: &Case<'_>, findings: &mut RuleFindings<'_>) {
    let Some(agent) = blocked(case).and_then(|report| report.next_agent()) else { return };
    let message = if agent.trim().is_empty() {
        "the report is blocked, but its next agent is a blank text and not null".to_owned()
    } else {
        format!("the report is blocked, but names `{}` as the next agent", excerpt(agent))
    };
    findings.add("/next/agent", message, "write null: the orchestrator routes by `blocked_reason`");
}
