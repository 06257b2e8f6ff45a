//! Judges whether a summary says what was done.

use super::summary_over_budget::called;
use super::{Case, RuleFindings};
use crate::dialect::Dialect;
use crate::model::Report;
use crate::model::terms::{AgentDecision, Outcome};
use crate::prose;

rule! {
    /// ## What it checks
    /// Whether a summary says what was done, and not only that something was. It looks at the `summary` of a
    /// phase-block or native report, the `context_summary` of a task report and the `context.summary` of a package
    /// or native request.
    ///
    /// The text is weighed word by word. Three points are enough; two are enough if it does not claim that
    /// something was done ("done", "added", "works", "ready").
    ///
    /// - Three points: a path, a call, a flag, `code`, a dotted, underscored or camelCase identifier, a label such as
    ///   EP-001.
    /// - Two points: a name (a capital letter inside a sentence), an acronym, a number with a unit, a percentage, a
    ///   version or a range, a short label such as P0, a question that offers a choice.
    /// - One point: a bare number, a quoted value, and every word that is not filler. Words of other languages are
    ///   never filler; in scripts without spaces two characters earn a point.
    /// - One point more: a number before a kind of work product ("12 tests") and how those ended ("pass"), a word after
    ///   "no" ("no conflicts"), and the second thing if it says where ("typo in footer").
    /// - No points: filler. That is articles, pronouns and prepositions; verbs and states of doing; objects that
    ///   fit any project, such as task, code, changes, tests or issue; pointers out of the text ("see above"); talk
    ///   of going on ("in progress").
    ///
    /// A report that only asks is left alone: it needs clarification or is blocked, has questions (for task: issues, and
    /// the decision `CLARIFY`), and names no files.
    ///
    /// In doubt it is silent. The sentences that it is tested with are in `crates/baton-protocol/sentences/`; one
    /// that is judged wrongly belongs there. It is an error for task, where the summary is all that is handed on,
    /// and a warning elsewhere. A blank summary is reported by `missing-context`.
    ///
    /// ## Why it matters
    /// The next agent starts from the summary alone. With "it's done" it starts from nothing, and reads the whole
    /// repository to find out what "it" was.
    ///
    /// ## Example
    /// ```json
    /// { "summary": "Implemented the feature and fixed some issues." }
    /// ```
    ///
    /// ## Use instead
    /// ```json
    /// { "summary": "Invoices round half to even in src/money.rs; 3 of 41 golden files changed by one cent." }
    /// ```
    "vague-summary": Context, Warning, error_in [Task] => check
}

fn check(case: &Case<'_>, findings: &mut RuleFindings<'_>) {
    let (pointer, summary) = if let Some(report) = case.report() {
        ("/summary", report.summary.as_deref())
    } else if matches!(case.dialect, Dialect::Package | Dialect::Native) {
        let context = case.request().and_then(|request| request.context.as_ref());
        ("/context/summary", context.and_then(|context| context.summary.as_deref()))
    } else {
        return;
    };
    if case.report().is_some_and(only_asks) {
        return;
    }
    let Some(summary) = summary.filter(|summary| !summary.trim().is_empty()) else { return };
    if let Some(reason) = prose::vague(summary) {
        let message = format!("{} {reason}", called(pointer));
        findings.add(pointer, message, "name what was done and with what result: files, numbers, decisions");
    }
}

/// Returns whether a report only asks: its questions say what is wanted, and there is no work to sum up.
fn only_asks(report: &Report) -> bool {
    let is_unclear = report.decision == Some(AgentDecision::Clarify);
    let waits = is_unclear || matches!(report.outcome, Some(Outcome::NeedsClarification | Outcome::Blocked));
    // A task has no place for questions but its issues.
    let asks = !report.questions.is_empty() || (is_unclear && !report.issues.is_empty());
    waits && asks && report.files_modified.is_empty() && report.artifacts.is_empty()
}
