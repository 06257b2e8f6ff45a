//! A report that goes on although a check of its own failed.

use serde_json::{Map, Value};

use super::missing_verification::is_owed;
use super::overall_contradicts_checks::checks;
use super::{Case, RuleFindings};
use crate::model;
use crate::model::findings::ConflictSeverity;
use crate::model::report::Report;
use crate::model::terms::{AgentDecision, Outcome};
use crate::wire::{join, same_word};

rule! {
    /// ## What it checks
    /// The report wants to go on although it shows that something failed:
    ///
    /// - `task`, `native`: the decision is PROCEED, but a check or the whole did not pass, blocking issues are listed,
    ///   or research found a critical conflict;
    /// - `metadata-block`, `phase-block`, `native`: the status is `complete`, but `verification` has a `…_passed`,
    ///   `…_success`, `…_passing` or `…_verified` that is false, counts failed tests or errors (`test_failures`,
    ///   `typescript_errors`), or lists them, or says that something was not done that the phase owes
    ///   (`tool_called: false`, see `missing-verification`). A reviewer who does not approve may report this: the
    ///   verdict sends the work back;
    /// - `mailbox`, `native`: the status is `completed`, but `validation` says the same, its status is `failed`, or
    ///   `errors` are listed.
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

fn check(case: &Case<'_>, findings: &mut RuleFindings<'_>) {
    let Some(report) = case.report() else { return };
    if report.decision == Some(AgentDecision::Proceed)
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
        if !report.errors.is_empty() {
            findings.add(
                "/errors",
                format!("the work is reported as complete, but {} listed under `errors`", errors(report.errors.len())),
                "solve them before reporting, report a failure, or list under `warnings` what may stay",
            );
        }
        if case.kept("/error").is_some_and(Value::is_object) {
            findings.add(
                "/outcome",
                "the status says that it was completed, but it carries an `error`",
                "remove the error if it is from an earlier attempt, or say `failed`",
            );
        }
    }
}

/// Returns what failed in the findings of a phase.
fn failure(case: &Case<'_>, report: &Report) -> Option<String> {
    let blocking = |issues: &[String]| match issues {
        [] => None,
        [issue] => Some(format!("there is a blocking issue: {issue}")),
        issues => Some(format!("there are {} blocking issues", issues.len())),
    };
    let whole = |passed: Option<bool>| (passed == Some(false)).then(|| "`overall_passed` is false".to_owned());
    match report.findings.as_ref()? {
        model::PhaseFindings::Validate(validate) => checks(case, validate)
            .find(|(_, passed)| !passed)
            .map(|(name, _)| format!("the check `{name}` did not pass"))
            .or_else(|| blocking(&validate.blocking_issues))
            .or_else(|| whole(validate.overall_passed)),
        model::PhaseFindings::Parallel(parallel) => whole(parallel.aggregation.as_ref()?.overall_passed),
        model::PhaseFindings::Research(research) => {
            let critical = |severity| severity == Some(ConflictSeverity::Critical);
            let conflict = research.conflicts.iter().find(|conflict| critical(conflict.severity))?;
            let what = conflict.description.as_deref().unwrap_or("not described");
            Some(format!("there is a critical conflict: {what}"))
        }
        model::PhaseFindings::Write(_) => None,
    }
}

/// Returns whether a reviewer's verdict lets the work pass.
fn approves(verdict: &str) -> bool {
    ["approved", "approve", "accepted", "pass", "passed", "lgtm"].iter().any(|known| same_word(known, verdict))
}

/// Finds what an agent checked and saw fail, at any depth.
fn check_map(pointer: &str, checked: &Map<String, Value>, findings: &mut RuleFindings<'_>) {
    for (name, value) in checked {
        if let Value::Object(below) = value {
            check_map(&join(pointer, name), below, findings);
        } else if has_failed(name, value) {
            let message = match value {
                Value::Array(listed) => format!("`{name}` lists {}, yet the work is reported as complete", listed.len()),
                value => format!("`{name}` is {value}, yet the work is reported as complete"),
            };
            let help = "solve it before reporting, or report that you are blocked or failed";
            findings.add(&join(pointer, name), message, help);
        }
    }
}

fn has_failed(name: &str, value: &Value) -> bool {
    match value {
        Value::Bool(false) => claims_success(name) || is_evidence(name),
        Value::Number(count) => counts_failures(name) && count.as_f64().is_some_and(|count| count > 0.0),
        Value::Array(listed) => counts_failures(name) && !listed.is_empty(),
        _ => false,
    }
}

fn claims_success(name: &str) -> bool {
    ["passed", "passing", "success", "succeeded", "verified"]
        .iter()
        .any(|word| name.strip_suffix(word).is_some_and(|before| before.is_empty() || before.ends_with(['_', '-'])))
}

/// Returns whether a member tells that something was done that its phase owes.
fn is_evidence(name: &str) -> bool {
    let of_reviews =
        ["architecture_adherence", "typescript_patterns", "documentation_present", "security_implemented"];
    is_owed(name) || of_reviews.iter().chain(&["security_patterns_defined"]).any(|known| same_word(known, name))
}

/// Returns whether a member counts or lists what failed. What was fixed or is expected has not.
fn counts_failures(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let mut words = name.split(['_', '-']).rev();
    let last = words.next().unwrap_or_default();
    let settled = ["fixed", "resolved", "handled", "expected", "previous", "known", "ignored", "warnings"];
    ["tests_failed", "failed_tests", "error_count"].iter().any(|known| same_word(known, &name))
        || (["failures", "errors"].contains(&last) && !words.any(|word| settled.contains(&word)))
}

fn errors(count: usize) -> String {
    if count == 1 { "1 error is".to_owned() } else { format!("{count} errors are") }
}

/// In the mailbox, `validation` has a status of its own.
fn check_status(report: &Report, findings: &mut RuleFindings<'_>) {
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
        for name in ["bypassed", "success_criteria", "breaking_changes", "unverified"] {
            assert!(!claims_success(name), "{name}");
        }
    }

    #[test]
    fn counts_of_failures_must_be_zero() {
        assert!(has_failed("test_failures", &3.into()));
        assert!(!has_failed("test_failures", &0.into()));
        assert!(!has_failed("coverage_percent", &3.into()));
        assert!(has_failed("typescript_errors", &3.into()));
        assert!(!has_failed("typescript_errors", &0.into()));
        assert!(!has_failed("eslint_warnings", &3.into()));
        assert!(!has_failed("errors_fixed", &3.into()));
        assert!(!has_failed("fixed_errors", &3.into()));
    }

    #[test]
    fn lists_of_failures_must_be_empty() {
        assert!(has_failed("errors", &serde_json::json!(["TS2322 in quota.ts"])));
        assert!(!has_failed("errors", &serde_json::json!([])));
        assert!(!has_failed("warnings", &serde_json::json!(["slow"])));
    }

    #[test]
    fn what_a_phase_owes_must_be_done() {
        assert!(has_failed("tool_called", &false.into()));
        assert!(has_failed("token_strategy_defined", &false.into()));
        assert!(!has_failed("breaking_changes", &false.into()));
    }
}
