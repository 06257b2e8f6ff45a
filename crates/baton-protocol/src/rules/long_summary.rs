//! Counts the sentences of summaries whose protocol says how many there should be.

use super::{Case, RuleFindings};
use crate::dialect::Dialect;
use crate::prose;

rule! {
    /// ## What it checks
    /// Whether a summary is as short as its protocol wants it: at most 2 sentences in the `summary` of a phase-block, at
    /// most 3 in `context.summary` of a package. Full stops in names, numbers and abbreviations (`v1.2`, `e.g.`,
    /// `src/quota.rs`) end no sentence, and list items are not counted.
    ///
    /// ## Why it matters
    /// The summary is what everybody reads: the next agent, the person at a gate, the log. What takes a page belongs
    /// into the context or into a file.
    ///
    /// ## Example
    /// ```json
    /// { "summary": "Read the spec. Wrote src/quota.rs. Ran 14 tests. Fixed a leap year bug. All pass now." }
    /// ```
    ///
    /// ## Use instead
    /// ```json
    /// { "summary": "src/quota.rs counts calls per tenant and day, leap years included; 14 tests pass." }
    /// ```
    "long-summary": Context, Warning => check
}

fn check(case: &Case<'_>, findings: &mut RuleFindings<'_>) {
    let context = case.request().and_then(|request| request.context.as_ref());
    let (pointer, summary, most) = match case.dialect {
        Dialect::PhaseBlock => ("/summary", case.report().and_then(|report| report.summary.as_deref()), 2),
        Dialect::Package => ("/context/summary", context.and_then(|context| context.summary.as_deref()), 3),
        Dialect::MetadataBlock | Dialect::Task | Dialect::Mailbox | Dialect::Native => return,
    };
    let count = summary.map(prose::sentences).unwrap_or_default();
    if count > most {
        findings.add(
            pointer,
            format!("the summary has {count} sentences, and {most} are the most"),
            "keep what was done and with what result; the rest belongs in the context or a file",
        );
    }
}
