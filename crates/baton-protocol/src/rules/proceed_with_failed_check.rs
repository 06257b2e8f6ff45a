//! A report that goes on although a check of its own failed.

use serde_json::{Map, Value};

use super::overall_contradicts_checks::checks;
use super::{Case, Findings};
use crate::model;
use crate::model::findings::ConflictSeverity;
use crate::model::report::Report;
use crate::model::terms::{Decision, Outcome};
use crate::wire::{join, same_word};

rule! {
    /// ## What it checks
    /// The report wants to go on although it shows that something failed:
    ///
    /// - `task`, `native`: the decision is PROCEED, but a check or the whole did not pass, blocking issues are listed,
    ///   or research found a critical conflict;
    /// - `metadata-block`, `phase-block`, `native`: the status is `complete`, but `verification` has a `…_passed`,
    ///   `…_success`, `…_passing` or `…_verified` that is false, or counts failed tests. A reviewer who does not
    ///   approve may report this: the verdict sends the work back;
    /// - `mailbox`, `native`: the status is `completed`, but `validation` says the same, or its status is `failed`.
    ///
    /// ## Why it matters
    /// The next phase builds on what failed, and the failure is found there, by an agent that did not cause it.
    ///
    /// ## Example
    /// ```json
    /// { "status": "complete", "verification": { "tests_passed": false, "test_failures": 2 } }
    /// ```
    ///
    /// ## Use instead
    /// ```json
    /// {
    ///   "status": "blocked",
    ///   "blocked_reason": "test_failures",
    ///   "verification": { "tests_passed": false, "test_failures": 2 }
    /// }
    /// ```
    "proceed-with-failed-check": Task, Error => check
}

fn check(case: &Case<'_>, findings: &mut Findings<'_>) {
    let Some(report) = case.report() else { return };
    if report.decision == Some(Decision::Proceed)
        && let Some(failure) = failure(case, report)
    {
        findings.add(
            "/decision",
            format!("the decision is PROCEED, but {failure}"),
            "solve it first, or decide STOP or CLARIFY",
        );
    }
    if report.outcome == Some(Outcome::Complete) && report.verdict.as_deref().is_none_or(approves) {
        check_map("/verification", &report.verification, findings);
        check_map("/validation", &report.validation, findings);
        check_status(report, findings);
        if case.kept("/error").is_some_and(Value::is_object) {
            findings.add(
                "/outcome",
                "the status says that it was completed, but it carries an `error`",
                "remove the error if it is from an earlier attempt, or say `failed`",
            );
        }
    }
}

/// Says what failed in the findings of a phase.
fn failure(case: &Case<'_>, report: &Report) -> Option<String> {
    let blocking = |issues: &[String]| match issues {
        [] => None,
        [issue] => Some(format!("there is a blocking issue: {issue}")),
        issues => Some(format!("there are {} blocking issues", issues.len())),
    };
    let whole = |passed: Option<bool>| (passed == Some(false)).then(|| "`overall_passed` is false".to_owned());
    match report.findings.as_ref()? {
        model::Findings::Validate(validate) => checks(case, validate)
            .find(|(_, passed)| !passed)
            .map(|(name, _)| format!("the check `{name}` did not pass"))
            .or_else(|| blocking(&validate.blocking_issues))
            .or_else(|| whole(validate.overall_passed)),
        model::Findings::Parallel(parallel) => whole(parallel.aggregation.as_ref()?.overall_passed),
        model::Findings::Research(research) => {
            let critical = |severity| severity == Some(ConflictSeverity::Critical);
            let conflict = research.conflicts.iter().find(|conflict| critical(conflict.severity))?;
            let what = conflict.description.as_deref().unwrap_or("not described");
            Some(format!("there is a critical conflict: {what}"))
        }
        model::Findings::Write(_) => None,
    }
}

/// Says whether a reviewer's verdict lets the work pass.
fn approves(verdict: &str) -> bool {
    ["approved", "approve", "accepted", "pass", "passed", "lgtm"].iter().any(|known| same_word(known, verdict))
}

/// Finds what an agent checked and saw fail, at any depth.
fn check_map(pointer: &str, checked: &Map<String, Value>, findings: &mut Findings<'_>) {
    for (name, value) in checked {
        if let Value::Object(below) = value {
            check_map(&join(pointer, name), below, findings);
        } else if has_failed(name, value) {
            findings.add(
                &join(pointer, name),
                format!("`{name}` is {value}, yet the work is reported as complete"),
                "solve it before reporting, or report that you are blocked or failed",
            );
        }
    }
}

fn has_failed(name: &str, value: &Value) -> bool {
    match value {
        Value::Bool(false) => claims_success(name),
        Value::Number(count) => counts_failures(name) && count.as_f64().is_some_and(|count| count > 0.0),
        _ => false,
    }
}

fn claims_success(name: &str) -> bool {
    ["passed", "passing", "success", "succeeded", "verified"]
        .iter()
        .any(|word| name.strip_suffix(word).is_some_and(|before| before.is_empty() || before.ends_with(['_', '-'])))
}

fn counts_failures(name: &str) -> bool {
    ["test_failures", "tests_failed", "failed_tests", "failures"].iter().any(|known| same_word(known, name))
}

/// In the mailbox, `validation` has a status of its own.
fn check_status(report: &Report, findings: &mut Findings<'_>) {
    let failed = |status: &&str| ["failed", "failure", "fail", "invalid"].iter().any(|known| same_word(known, status));
    if let Some(status) = report.validation.get("status").and_then(Value::as_str).filter(failed) {
        findings.add(
            "/validation/status",
            format!("the validation is `{status}`, yet the work is reported as complete"),
            "put the answer into `failed/` with an `error`, or solve what failed",
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_claim_success_are_judged() {
        for name in ["passed", "tests_passed", "build_success", "tests_passing", "build_verified", "lint-passed"] {
            assert!(claims_success(name), "{name}");
        }
        for name in ["bypassed", "success_criteria", "breaking_changes", "unverified", "tool_called"] {
            assert!(!claims_success(name), "{name}");
        }
    }

    #[test]
    fn counts_of_failures_must_be_zero() {
        assert!(has_failed("test_failures", &3.into()));
        assert!(!has_failed("test_failures", &0.into()));
        assert!(!has_failed("coverage_percent", &3.into()));
    }
}
