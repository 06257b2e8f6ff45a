//! Looks for the evidence that a phase block owes in the phases whose evidence is named.

use super::{Case, RuleFindings};
use crate::dialect::Dialect;
use crate::model::terms::Outcome;
use crate::wire::{Label, same_word};

rule! {
    /// ## What it checks
    /// Whether a complete phase-block says under `verification` what its phase must have done:
    ///
    /// - `schema_discovery`: `tool_called`, `input_schema_documented`, `output_schema_documented`,
    ///   `token_count_measured`
    /// - `architecture`: `patterns_referenced`, `decisions_documented`, `shared_utilities_identified`,
    ///   `token_strategy_defined`; or, for a single tool, `patterns_referenced`, `shared_patterns_applied`,
    ///   `tool_specific_decisions`, `token_target_calculated`
    ///
    /// One that is false is reported by `proceed-with-failed-check`.
    ///
    /// ## Why it matters
    /// These phases have no tests that could fail. What is not even claimed was probably not done.
    ///
    /// ## Example
    /// ```json
    /// { "status": "complete", "phase": "schema_discovery", "verification": { "tool_called": true } }
    /// ```
    ///
    /// ## Use instead
    /// ```json
    /// {
    ///   "status": "complete",
    ///   "phase": "schema_discovery",
    ///   "verification": {
    ///     "tool_called": true,
    ///     "input_schema_documented": true,
    ///     "output_schema_documented": true,
    ///     "token_count_measured": true
    ///   }
    /// }
    /// ```
    "missing-verification": Context, Warning => check
}

/// What a phase must have done; any of its lists will do, the first is the usual one.
const OWED: &[(&str, &[&[&str]])] = &[
    (
        "schema_discovery",
        &[&["tool_called", "input_schema_documented", "output_schema_documented", "token_count_measured"]],
    ),
    (
        "architecture",
        &[
            &["patterns_referenced", "decisions_documented", "shared_utilities_identified", "token_strategy_defined"],
            &["patterns_referenced", "shared_patterns_applied", "tool_specific_decisions", "token_target_calculated"],
        ],
    ),
];

/// Returns the members of `verification` that a phase block owes in a phase; none for most phases.
pub fn owed(phase: &str) -> &'static [&'static str] {
    lists(phase).first().copied().unwrap_or_default()
}

/// Returns whether a member is evidence of one of these phases.
pub(super) fn is_owed(name: &str) -> bool {
    OWED.iter().flat_map(|(_, lists)| lists.iter().copied().flatten()).any(|known| same_word(known, name))
}

fn lists(phase: &str) -> &'static [&'static [&'static str]] {
    OWED.iter().find(|(name, _)| same_word(name, phase)).map(|(_, lists)| *lists).unwrap_or_default()
}

fn check(case: &Case<'_>, findings: &mut RuleFindings<'_>) {
    let Some(report) = case.report() else { return };
    let Some(phase) = report.phase.as_ref().and_then(Label::name) else { return };
    if case.dialect != Dialect::PhaseBlock || report.outcome != Some(Outcome::Complete) {
        return;
    }
    let is_there = |name: &&&str| report.verification.keys().any(|key| same_word(key, name));
    let missing =
        |list: &[&'static str]| -> Vec<&'static str> { list.iter().filter(|name| !is_there(name)).copied().collect() };
    let nearest = lists(phase).iter().map(|list| missing(list)).min_by_key(Vec::len).unwrap_or_default();
    if !nearest.is_empty() {
        findings.add(
            "/verification",
            format!("`{phase}` is complete, but the evidence is missing: {}", nearest.join(", ")),
            "say for each whether it was done, true or false",
        );
    }
}
