//! A validation whose verdict, checks and counts contradict each other.

use serde_json::Value;

use super::{Case, RuleFindings};
use crate::dialect::Dialect;
use crate::model;
use crate::model::findings::{Check, TestCheck, Validate};

rule! {
    /// ## What it checks
    /// The findings of a validation contradict themselves:
    ///
    /// - `overall_passed` is true, but a check did not pass or blocking issues are listed;
    /// - `overall_passed` is false, but every check passed and nothing blocks;
    /// - a check passed, but it lists `errors`, `issues` or `failures`;
    /// - the tests passed, but some are counted or listed as failed, or not all of them passed;
    /// - more tests passed and failed than there are.
    ///
    /// Applies to reports in the `task` and `native` dialects. Checks of any name count.
    ///
    /// ## Why it matters
    /// Most readers look at `overall_passed` alone. If it does not follow from the checks, a failed check passes
    /// unseen, or sound work is sent back.
    ///
    /// ## Example
    /// ```json
    /// { "checks": { "lint": { "passed": false, "errors": ["unused import"] } }, "overall_passed": true }
    /// ```
    ///
    /// ## Use instead
    /// ```json
    /// { "checks": { "lint": { "passed": false, "errors": ["unused import"] } }, "overall_passed": false }
    /// ```
    "overall-contradicts-checks": Task, Error => check
}

const CHECKS: &str = "/findings/checks/";

fn check(case: &Case<'_>, findings: &mut RuleFindings<'_>) {
    if !matches!(case.dialect, Dialect::Task | Dialect::Native) {
        return;
    }
    let Some(model::PhaseFindings::Validate(validate)) = case.report().and_then(|report| report.findings.as_ref()) else {
        return;
    };
    if let Some(message) = validate.overall_passed.and_then(|overall| contradiction(case, validate, overall)) {
        findings.add("/findings/overall_passed", message, "let `overall_passed` follow from the checks");
    }
    if let Some(tests) = validate.checks.as_ref().and_then(|checks| checks.tests.as_ref()) {
        check_tests(case, tests, findings);
    }
    for (name, list, count) in listed(case, validate) {
        findings.add(
            &format!("{CHECKS}{name}/passed"),
            format!("the check `{name}` passed, but `{list}` lists {count}"),
            format!("set `passed` to false, or empty `{list}`; what may stay belongs under `warnings`"),
        );
    }
}

/// Returns the checks that passed and still list something that failed: the check, the list, and how much.
fn listed<'a>(case: &Case<'a>, validate: &'a Validate) -> Vec<(&'a str, &'static str, usize)> {
    let known = validate.checks.as_ref().map(|checks| {
        let plain = |check: Option<&Check>| check.map(|check| (check.passed, check.errors.len()));
        let security = checks.security.as_ref().map(|check| (check.passed, check.issues.len()));
        [
            ("types", "errors", plain(checks.types.as_ref())),
            ("lint", "errors", plain(checks.lint.as_ref())),
            ("security", "issues", security),
        ]
    });
    let known = known.into_iter().flatten().filter_map(|(name, list, check)| match check {
        Some((Some(true), count)) => Some((name, list, count)),
        _ => None,
    });
    let fields = case.document.extensions().iter().flat_map(|extensions| &extensions.fields);
    let others = fields.filter_map(|(pointer, value)| Some((pointer.strip_prefix(CHECKS)?, value)));
    let others = others.filter(|(_, check)| check.get("passed").and_then(Value::as_bool) == Some(true));
    let others = others.flat_map(|(name, check)| {
        let count = |list: &str| check.get(list).and_then(Value::as_array).map_or(0, Vec::len);
        ["errors", "issues", "failures"].map(|list| (name, list, count(list)))
    });
    known.chain(others).filter(|(.., count)| *count > 0).collect()
}

fn contradiction(case: &Case<'_>, validate: &Validate, overall: bool) -> Option<String> {
    let failed = checks(case, validate).find(|(_, passed)| !passed);
    let blocks = !validate.blocking_issues.is_empty();
    match (overall, failed) {
        (true, Some((name, _))) => Some(format!("`overall_passed` is true, but the check `{name}` did not pass")),
        (true, None) if blocks => Some("`overall_passed` is true, but there are blocking issues".to_owned()),
        (false, None) if !blocks && checks(case, validate).next().is_some() => {
            Some("`overall_passed` is false, but every check passed and nothing blocks".to_owned())
        }
        _ => None,
    }
}

/// Returns every check that says whether it passed, those with unknown names included.
pub(super) fn checks<'a>(case: &Case<'a>, validate: &'a Validate) -> impl Iterator<Item = (&'a str, bool)> {
    let known = validate.checks.as_ref().map(|checks| {
        [
            ("types", checks.types.as_ref().and_then(|check| check.passed)),
            ("lint", checks.lint.as_ref().and_then(|check| check.passed)),
            ("tests", checks.tests.as_ref().and_then(|check| check.passed)),
            ("security", checks.security.as_ref().and_then(|check| check.passed)),
        ]
    });
    let fields = case.document.extensions().iter().flat_map(|extensions| &extensions.fields);
    let others =
        fields.filter_map(|(pointer, value)| Some((pointer.strip_prefix(CHECKS)?, value.get("passed")?.as_bool()?)));
    known.into_iter().flatten().filter_map(|(name, passed)| Some((name, passed?))).chain(others)
}

fn check_tests(case: &Case<'_>, tests: &TestCheck, findings: &mut RuleFindings<'_>) {
    let passed = tests.passed == Some(true);
    let failed = tests.failed_count.unwrap_or_default();
    if passed && failed > 0 {
        findings.add(
            "/findings/checks/tests/passed",
            format!("the tests passed, but {failed} failed"),
            "set `passed` to false, or correct the count",
        );
    } else if passed && !tests.failures.is_empty() {
        findings.add(
            "/findings/checks/tests/passed",
            format!("the tests passed, but `failures` lists {}", tests.failures.len()),
            "set `passed` to false, or empty `failures`",
        );
    }
    let (Some(total), Some(passed_count)) = (tests.total, tests.passed_count) else { return };
    let counted = passed_count.saturating_add(failed);
    if counted > total {
        findings.add(
            "/findings/checks/tests/total",
            format!("{passed_count} tests passed and {failed} failed, but there are {total} in all"),
            "copy the counts from the output of the test run",
        );
    } else if passed && counted < total && !has_other_counts(case) {
        findings.add(
            "/findings/checks/tests/passed_count",
            format!("the tests passed, but only {passed_count} of {total} did"),
            "copy the counts from the output of the test run, and say what became of the others",
        );
    }
}

/// Skipped tests are counted in members that the form does not know.
fn has_other_counts(case: &Case<'_>) -> bool {
    let mut fields = case.document.extensions().iter().flat_map(|extensions| &extensions.fields);
    fields.any(|(pointer, value)| pointer.starts_with("/findings/checks/tests/") && value.is_number())
}
