//! A report that wants to go on although it says that it could not finish.

use super::{Case, RuleFindings};
use crate::dialect::Dialect;
use crate::model::terms::{AgentDecision, Outcome};

rule! {
    /// ## What it checks
    /// The decision is `PROCEED`, but the status says that the work is not finished: `partial` or `blocked`, in the
    /// native form also `failed` or `needs_clarification`. Applies to reports in the `task` and `native` dialects.
    /// `STOP` and `CLARIFY` go with every status: research may be complete and still end in STOP.
    ///
    /// ## Why it matters
    /// One of the two is wrong, and an orchestrator that believes the decision starts the next phase on half a
    /// result.
    ///
    /// ## Example
    /// ```json
    /// { "status": "partial", "decision": "PROCEED" }
    /// ```
    ///
    /// ## Use instead
    /// ```json
    /// { "status": "partial", "decision": "STOP" }
    /// ```
    "decision-contradicts-status": Task, Error => check
}

fn check(case: &Case<'_>, findings: &mut RuleFindings<'_>) {
    if !matches!(case.dialect, Dialect::Task | Dialect::Native) {
        return;
    }
    let proceeds = |decision: Option<AgentDecision>| decision == Some(AgentDecision::Proceed);
    let Some(report) = case.report().filter(|report| proceeds(report.decision)) else {
        return;
    };
    if let Some(outcome @ (Outcome::Partial | Outcome::Blocked | Outcome::Failed | Outcome::NeedsClarification)) =
        report.outcome
    {
        findings.add(
            "/decision",
            format!("the decision is PROCEED, but the work is `{}`", outcome.as_str()),
            "decide STOP or CLARIFY, or finish the work and say `complete`",
        );
    }
}
