//! Results of parallel tasks that do not add up.

use super::{Case, RuleFindings};
use crate::dialect::Dialect;
use crate::model;
use crate::model::findings::{Aggregation, Parallel};
use crate::wire::{same_word, suggest};

rule! {
    /// ## What it checks
    /// The aggregation of parallel results does not follow from them: `total`, `passed` or `failed` is not what the
    /// results count, `overall_passed` is not what the rule says, or the rule is unknown. The rules are
    /// `all_must_pass`, `any_pass`, `majority_pass` (strictly more than half) and `at_least: N`; without any
    /// results nothing passes. Applies to reports in the `task` and `native` dialects.
    ///
    /// ## Why it matters
    /// The orchestrator acts on the aggregation and not on the results. A wrong count or a misapplied rule lets a
    /// failed part through.
    ///
    /// ## Example
    /// ```json
    /// {
    ///   "results": [{ "task_id": "lint", "passed": true }, { "task_id": "audit", "passed": false }],
    ///   "aggregation": { "total": 2, "passed": 2, "failed": 0, "rule": "all_must_pass", "overall_passed": true }
    /// }
    /// ```
    ///
    /// ## Use instead
    /// ```json
    /// {
    ///   "results": [{ "task_id": "lint", "passed": true }, { "task_id": "audit", "passed": false }],
    ///   "aggregation": { "total": 2, "passed": 1, "failed": 1, "rule": "all_must_pass", "overall_passed": false }
    /// }
    /// ```
    "aggregation-mismatch": Task, Error => check
}

const KNOWN: &[&str] = &["all_must_pass", "any_pass", "majority_pass", "at_least: N"];

/// When several results pass together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PassWhen {
    All,
    Any,
    Majority,
    AtLeast(u64),
}

impl PassWhen {
    fn parse(text: &str) -> Option<PassWhen> {
        match text {
            _ if same_word(text, "all_must_pass") => Some(PassWhen::All),
            _ if same_word(text, "any_pass") => Some(PassWhen::Any),
            _ if same_word(text, "majority_pass") => Some(PassWhen::Majority),
            _ => at_least(text),
        }
    }

    fn holds(self, total: u64, passed: u64) -> bool {
        let enough = match self {
            PassWhen::All => passed == total,
            PassWhen::Any => passed >= 1,
            PassWhen::Majority => passed > total / 2,
            PassWhen::AtLeast(least) => passed >= least,
        };
        // What nobody did has not passed.
        enough && total > 0
    }
}

/// Reads `at_least: 2`, `at_least_2`, `at-least 2` and the like.
fn at_least(text: &str) -> Option<PassWhen> {
    let word = text.get(.."at_least".len())?;
    let rest = &text[word.len()..];
    let digits = rest.trim_matches(|c: char| " :=_-()".contains(c));
    let least = digits.parse().ok().filter(|least| *least > 0)?;
    (same_word(word, "at_least") && rest.len() > digits.len()).then_some(PassWhen::AtLeast(least))
}

fn check(case: &Case<'_>, findings: &mut RuleFindings<'_>) {
    if !matches!(case.dialect, Dialect::Task | Dialect::Native) {
        return;
    }
    let Some(model::PhaseFindings::Parallel(parallel)) = case.report().and_then(|report| report.findings.as_ref()) else {
        return;
    };
    let Some(aggregation) = parallel.aggregation.as_ref() else { return };
    check_counts(parallel, aggregation, findings);
    let Some(rule) = aggregation.rule.as_deref() else { return };
    match PassWhen::parse(rule) {
        None => {
            findings.add("/findings/aggregation/rule", format!("unknown aggregation rule `{rule}`"), suggest(rule, KNOWN))
        }
        Some(when) => check_overall(parallel, aggregation, (rule, when), findings),
    }
}

/// Returns how many results there are and how many passed; `None` if a result does not say.
fn count(parallel: &Parallel) -> Option<(u64, u64)> {
    let mut passed = 0;
    for result in &parallel.results {
        passed += u64::from(result.passed?);
    }
    Some((parallel.results.len() as u64, passed))
}

fn check_counts(parallel: &Parallel, aggregation: &Aggregation, findings: &mut RuleFindings<'_>) {
    let mut compare = |member: &str, said: Option<u64>, counted: u64| {
        if let Some(said) = said.filter(|said| *said != counted) {
            findings.add(
                &format!("/findings/aggregation/{member}"),
                format!("`{member}` is {said}, but the results count {counted}"),
                "count the results again",
            );
        }
    };
    compare("total", aggregation.total, parallel.results.len() as u64);
    if let Some((total, passed)) = count(parallel) {
        compare("passed", aggregation.passed, passed);
        compare("failed", aggregation.failed, total - passed);
    }
}

fn check_overall(
    parallel: &Parallel,
    aggregation: &Aggregation,
    (rule, when): (&str, PassWhen),
    findings: &mut RuleFindings<'_>,
) {
    let (Some((total, passed)), Some(said)) = (count(parallel), aggregation.overall_passed) else {
        return;
    };
    if when.holds(total, passed) != said {
        findings.add(
            "/findings/aggregation/overall_passed",
            format!("`overall_passed` is {said}, but {passed} of {total} passed and the rule is `{rule}`"),
            format!("set it to {}, or name the rule that was applied", !said),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_in_every_spelling() {
        for text in ["at_least: 2", "at_least:2", "at_least_2", "At least 2", "at-least(2)", "at_least=2"] {
            assert_eq!(PassWhen::parse(text), Some(PassWhen::AtLeast(2)), "{text}");
        }
        assert_eq!(PassWhen::parse("ALL-MUST-PASS"), Some(PassWhen::All));
        for text in ["at_least", "at_least: 0", "at_least: many", "at_least2", "most", "über alle"] {
            assert_eq!(PassWhen::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_majority_is_strictly_more_than_half() {
        assert!(!PassWhen::Majority.holds(4, 2));
        assert!(PassWhen::Majority.holds(4, 3));
        assert!(PassWhen::Majority.holds(5, 3));
        assert!(!PassWhen::Majority.holds(5, 2));
    }

    #[test]
    fn nothing_passes_without_results() {
        for when in [PassWhen::All, PassWhen::Any, PassWhen::Majority, PassWhen::AtLeast(1)] {
            assert!(!when.holds(0, 0), "{when:?}");
        }
        assert!(!PassWhen::AtLeast(3).holds(2, 2));
    }
}
