//! Measures what is handed on. Knows nothing about whether it is worth its tokens.

use super::{Case, RuleFindings};
use crate::tokens;

rule! {
    /// ## What it checks
    /// Whether a text that goes into the next agent's prompt has more tokens than the budget allows, 500 unless the
    /// project has configured another number. It looks at the `summary` of a phase-block, the `context_summary` of
    /// a task report, `handoff.context` of both blocks, the `context.summary` of a package and the
    /// `previous_findings` of a task request, and at the same fields of native documents.
    ///
    /// Tokens are counted exactly, with the encoding o200k_base; other models count slightly differently. It is an
    /// error for task, whose protocol states the limit, and a warning elsewhere.
    ///
    /// ## Why it matters
    /// Summaries add up: each one is read by every agent that comes after. A summary that tells everything leaves less
    /// room for the work, and buries the two facts that mattered.
    ///
    /// ## Example
    /// ```json
    /// { "context_summary": "First the agent read README.md, which says ... (4 200 tokens)" }
    /// ```
    ///
    /// ## Use instead
    /// Keep what the next phase needs, and put the rest into a file:
    ///
    /// ```json
    /// { "context_summary": "Queue is src/jobs/queue.ts (Redis streams), without retries. Details: notes/queue.md." }
    /// ```
    "summary-over-budget": Context, Warning, error_in [Task] => check
}

fn check(case: &Case<'_>, findings: &mut RuleFindings<'_>) {
    let budget = case.settings.summary_tokens;
    for (pointer, text) in summaries(case) {
        if let Some(count) = tokens::over_budget(text, budget) {
            let whole = text.len() <= tokens::WHOLE_BYTES_MAX;
            let (text, encoding) = (called(pointer), tokens::ENCODING);
            let more = if whole { "" } else { "more than " };
            findings.add(
                pointer,
                format!("{text} has {more}{count} tokens ({encoding}), and the budget is {budget}"),
                "keep what the next agent needs, and refer to a file for the rest",
            );
        }
    }
}

/// Returns the texts that are handed on to the next agent, with their canonical pointers.
pub(super) fn summaries<'a>(case: &Case<'a>) -> impl Iterator<Item = (&'static str, &'a str)> {
    let report = case.report();
    let context = case.request().and_then(|request| request.context.as_ref());
    [
        ("/summary", report.and_then(|report| report.summary.as_deref())),
        ("/next/context", report.and_then(|report| report.next_context())),
        ("/context/summary", context.and_then(|context| context.summary.as_deref())),
    ]
    .into_iter()
    .filter_map(|(pointer, text)| Some((pointer, text?)))
}

/// Returns what a text under a canonical pointer is called in messages.
pub(super) fn called(pointer: &str) -> &'static str {
    match pointer {
        "/instructions" => "`instructions`",
        "/next/context" => "the context",
        _ => "the summary",
    }
}
