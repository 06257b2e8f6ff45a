//! Judges whether the next agent gets anything at all. What is required and absent was said while reading.

use super::{Case, RuleFindings};
use crate::dialect::Dialect;
use crate::model::report::SuggestedNext;
use crate::model::terms::Outcome;
use crate::model::{Report, Request};
use crate::wire::{Label, same_word};

rule! {
    /// ## What it checks
    /// Whether the text that the next agent starts from is there and not blank:
    ///
    /// - metadata-block and phase-block: `handoff.context`, also when the report is blocked; a phase-block whose
    ///   `next_phase` is `complete` needs none, because no agent follows
    /// - phase-block also: a `summary` that is blank
    /// - task: a `context_summary` of a report, or `instructions` of a request, that is blank
    /// - package: a `context.summary` that is blank
    /// - native: the same as these; `next.context` is asked for where there is a `next`, and a complete report that has
    ///   neither this nor a `summary` says nothing at all
    ///
    /// Where the dialect requires the field, its absence is reported as `missing-field` instead. It is an error for
    /// task and phase-block, whose protocols demand it, and a warning elsewhere.
    ///
    /// ## Why it matters
    /// An agent begins with an empty memory. What the previous agent does not write down must be found out again, or
    /// guessed.
    ///
    /// ## Example
    /// ```json
    /// { "status": "complete", "handoff": { "next_agent": "ios-developer", "context": "" } }
    /// ```
    ///
    /// ## Use instead
    /// ```json
    /// {
    ///   "status": "complete",
    ///   "handoff": {
    ///     "next_agent": "ios-developer",
    ///     "context": "Build the widget from design.md section 2. Data: WidgetFeed, refreshed every 15 min at most."
    ///   }
    /// }
    /// ```
    "missing-context": Context, Warning, error_in [Task, PhaseBlock] => check
}

fn check(case: &Case<'_>, findings: &mut RuleFindings<'_>) {
    if let Some(report) = case.report() {
        check_report(case, report, findings);
    } else if let Some(request) = case.request() {
        check_request(case.dialect, request, findings);
    }
}

fn check_report(case: &Case<'_>, report: &Report, findings: &mut RuleFindings<'_>) {
    if report.summary.as_deref().is_some_and(is_blank) {
        findings.add("/summary", "the summary is blank", "say what was done and with what result, with names and numbers");
    }
    let is_mute = report.summary.is_none() && report.next_context().is_none() && report.next.is_none();
    if case.dialect == Dialect::Native && report.outcome == Some(Outcome::Complete) && is_mute {
        findings.add("", "the report does not say what was done", "add `summary`: what was done and with what result, with names and numbers");
    }
    let expected = case.is_block() || (case.dialect == Dialect::Native && report.next.is_some());
    if !expected || report.next.as_ref().is_some_and(is_last) {
        return;
    }
    let message = match report.next_context() {
        None => "the next agent gets no context",
        Some(context) if is_blank(context) => "the context for the next agent is blank",
        Some(_) => return,
    };
    findings.add("/next/context", message, "say what the next agent must know: files, decisions, open points");
}

fn check_request(dialect: Dialect, request: &Request, findings: &mut RuleFindings<'_>) {
    if request.instructions.as_deref().is_some_and(is_blank) {
        findings.add("/instructions", "the instructions are blank", "say what to do, where, and what to leave alone");
    }
    // The first task of a workflow has no phase before it to summarise.
    let summary = request.context.as_ref().and_then(|context| context.summary.as_deref());
    if dialect != Dialect::Task && summary.is_some_and(is_blank) {
        findings.add(
            "/context/summary",
            "the summary of what was done is blank",
            "say in two or three sentences what was done and with what result",
        );
    }
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// Returns whether nobody comes after this report.
pub(super) fn is_last(next: &SuggestedNext) -> bool {
    next.phase.as_ref().and_then(Label::name).is_some_and(|phase| same_word(phase, "complete"))
}
