//! A return that brings nothing back.

use super::{Case, RuleFindings};
use crate::model::request::Context;
use crate::model::terms::HandoffKind;
use crate::prose;

/// A summary without anything beside it must say at least this much.
const SUMMARY_CHARACTERS_MIN: usize = 40;

rule! {
    /// ## What it checks
    /// A return has no artifact, no decision and no open question, and its summary is missing, vague or shorter than
    /// 40 characters. A package without a `kind` is a return if its sender says `step: null`. Applies to requests in
    /// the `package` and `native` dialects.
    ///
    /// ## Why it matters
    /// The party that delegated waits for a result and continues with it. A return that brings none wakes it up
    /// with empty hands.
    ///
    /// ## Example
    /// ```yaml
    /// from: {agent: db-specialist, step: null}
    /// context:
    ///   summary: "Queries reviewed"
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// from: {agent: db-specialist, step: null}
    /// context:
    ///   summary: "2 of 3 report queries need an index; the third is slow because of its ORDER BY"
    ///   artifacts:
    ///     - path: "docs/index-proposal.md"
    /// ```
    "return-without-result": Package, Error => check
}

fn check(case: &Case<'_>, findings: &mut RuleFindings<'_>) {
    let Some(request) = case.package().filter(|request| request.told_kind() == HandoffKind::Return) else {
        return;
    };
    if let Some(reason) = emptiness(request.context.as_ref()) {
        findings.add(
            "/context",
            format!("nothing comes back: no artifact, no decision, no open question, and the summary {reason}"),
            "list what was made and decided, or say in the summary what the answer is",
        );
    }
}

/// Returns what is wrong with the summary, if the rest is empty as well.
fn emptiness(context: Option<&Context>) -> Option<&'static str> {
    let Some(context) = context else { return Some("is missing") };
    if !(context.artifacts.is_empty() && context.decisions.is_empty() && context.open_questions.is_empty()) {
        return None;
    }
    let Some(summary) = context.summary.as_deref() else { return Some("is missing") };
    let short = summary.trim().chars().count() < SUMMARY_CHARACTERS_MIN;
    prose::vague(summary).or(short.then_some("is too short to be the answer"))
}
