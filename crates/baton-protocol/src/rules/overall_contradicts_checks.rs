//! A validation whose verdict, checks and counts contradict each other.

use super::{Case, Findings};
use crate::dialect::Dialect;
use crate::model;
use crate::model::findings::{TestCheck, Validate};

rule! {
    /// ## What it checks
    /// The findings of a validation contradict themselves:
    ///
    /// - `overall_passed` is true, but a check did not pass or blocking issues are listed;
    /// - `overall_passed` is false, but every check passed and nothing blocks;
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

fn check(case: &Case<'_>, findings: &mut Findings<'_>) {
    if !matches!(case.dialect, Dialect::Task | Dialect::Native) {
        return;
    }
    let Some(model::Findings::Validate(validate)) = case.report().and_then(|report| report.findings.as_ref()) else {
        return;
    };
    if let Some(message) = validate.overall_passed.and_then(|overall| contradiction(case, validate, overall)) {
        findings.add("/findings/overall_passed", message, "let `overall_passed` follow from the checks");
    }
    if let Some(tests) = validate.checks.as_ref().and_then(|checks| checks.tests.as_ref()) {
        check_tests(case, tests, findings);
    }
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

/// Returns every check that says whether it passed, those of unknown names included.
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

fn check_tests(case: &Case<'_>, tests: &TestCheck, findings: &mut Findings<'_>) {
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
