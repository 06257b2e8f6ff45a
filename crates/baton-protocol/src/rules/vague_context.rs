//! Judges whether the next agent can start from what it is told.

use super::missing_context::is_last;
use super::summary_over_budget::called;
use super::{Case, RuleFindings};
use crate::prose;

rule! {
    /// ## What it checks
    /// Whether the text for the next agent is enough to start work. It looks at `handoff.context` of metadata-block and
    /// phase-block (unless `next_phase` is `complete`, because no agent follows), at `next.context` of native reports,
    /// and at the `instructions` of task and native requests.
    ///
    /// The text is scored as for `vague-summary`: paths, identifiers and labels earn three points; names, acronyms and
    /// measured numbers two; bare numbers, quoted values and every word that is not filler one; filler ("continue",
    /// "see above", "the task", "is ready") none. Three points are enough, or two if the text does not claim that
    /// something was done. In doubt the rule reports nothing. The sentences that it is tested with are in
    /// `crates/baton-protocol/sentences/`.
    ///
    /// It is an error for task, where the instructions are the whole task, and a warning elsewhere. A blank text is
    /// reported by `missing-context`.
    ///
    /// ## Why it matters
    /// "Continue as discussed" was clear to the agent that wrote it. The next one was not there: it cannot ask, and it
    /// cannot see what was discussed.
    ///
    /// ## Example
    /// ```json
    /// { "handoff": { "next_agent": "chart-developer", "context": "Ready for the next step, see above." } }
    /// ```
    ///
    /// ## Use instead
    /// ```json
    /// {
    ///   "handoff": {
    ///     "next_agent": "chart-developer",
    ///     "context": "Draw the series from GET /metrics/daily as stacked bars; colours are in theme.css."
    ///   }
    /// }
    /// ```
    "vague-context": Context, Warning, error_in [Task] => check
}

fn check(case: &Case<'_>, findings: &mut RuleFindings<'_>) {
    let (pointer, text) = if let Some(request) = case.request() {
        ("/instructions", request.instructions.as_deref())
    } else {
        let next = case.report().and_then(|report| report.next.as_ref()).filter(|next| !is_last(next));
        ("/next/context", next.and_then(|next| next.context.as_deref()))
    };
    let Some(text) = text.filter(|text| !text.trim().is_empty()) else { return };
    if let Some(reason) = prose::vague(text) {
        let message = format!("{} {reason}", called(pointer));
        findings.add(pointer, message, "say what to do, in which files, and what was decided already");
    }
}
