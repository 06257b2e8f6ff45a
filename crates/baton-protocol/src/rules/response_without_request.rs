//! An answer that does not say what it answers.

use super::{Case, RuleFindings};
use crate::dialect::Dialect;
use crate::model::request::Party;

rule! {
    /// ## What it checks
    /// An answer names neither who asked (`source`) nor who answers (`target`), and its request is not known.
    /// Applies to reports in the `mailbox` dialect.
    ///
    /// ## Why it matters
    /// The request is gone from `pending/` by then, so the answer must say to whom it belongs. Otherwise nobody takes
    /// it, and the sender waits until the timeout.
    ///
    /// ## Example
    /// ```json
    /// { "handoff_id": "hoff-31", "status": "completed", "output": { "artifact_path": "out/chart.json" } }
    /// ```
    ///
    /// ## Use instead
    /// ```json
    /// {
    ///   "handoff_id": "hoff-31",
    ///   "status": "completed",
    ///   "source": { "agent_id": "@reporting" },
    ///   "target": { "agent_id": "@chart-specialist" },
    ///   "output": { "artifact_path": "out/chart.json" }
    /// }
    /// ```
    "response-without-request": Mailbox, Error => check
}

fn check(case: &Case<'_>, findings: &mut RuleFindings<'_>) {
    if case.dialect != Dialect::Mailbox || case.surroundings.request.is_some() {
        return;
    }
    let Some(report) = case.report() else { return };
    let names = |party: &Option<Party>| {
        let agent = party.as_ref().and_then(|party| party.agent.as_deref());
        agent.is_some_and(|agent| !agent.trim().is_empty())
    };
    if !names(&report.from) && !names(&report.to) {
        findings.add(
            "/id",
            "unclear what this answers: it names neither `source` nor `target`, and its request is not known",
            "keep `source` and `target` of the request in the answer",
        );
    }
}
