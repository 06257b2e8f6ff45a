//! A coverage that is not a percentage.

use serde_json::{Map, Value};

use super::{Case, RuleFindings};
use crate::model;
use crate::wire::{join, same_word};

rule! {
    /// ## What it checks
    /// Whether `coverage_percent` (or `coverage_percentage`) under `verification` or `validation` is a number from 0 to
    /// 100, and so is the `coverage` of a task's test check.
    ///
    /// ## Why it matters
    /// Limits such as "at least 80" are compared with this number. A word such as "high" cannot be compared.
    ///
    /// ## Example
    /// ```json
    /// { "verification": { "coverage_percent": "high" } }
    /// ```
    ///
    /// ## Use instead
    /// ```json
    /// { "verification": { "coverage_percent": 89.5 } }
    /// ```
    "bad-coverage": Shape, Error => check
}

fn check(case: &Case<'_>, findings: &mut RuleFindings<'_>) {
    let Some(report) = case.report() else { return };
    check_map("/verification", &report.verification, findings);
    check_map("/validation", &report.validation, findings);
    if let Some(model::PhaseFindings::Validate(validate)) = &report.findings
        && let Some(tests) = validate.checks.as_ref().and_then(|checks| checks.tests.as_ref())
        && let Some(coverage) = &tests.coverage
    {
        judge("/findings/checks/tests/coverage", &Value::Number(coverage.clone()), findings);
    }
}

fn check_map(pointer: &str, checked: &Map<String, Value>, findings: &mut RuleFindings<'_>) {
    for (name, value) in checked {
        let pointer = join(pointer, name);
        match value {
            Value::Object(below) => check_map(&pointer, below, findings),
            Value::Null => {}
            value if ["coverage_percent", "coverage_percentage"].iter().any(|known| same_word(known, name)) => {
                judge(&pointer, value, findings);
            }
            _ => {}
        }
    }
}

fn judge(pointer: &str, value: &Value, findings: &mut RuleFindings<'_>) {
    if !value.as_f64().is_some_and(|percent| (0.0..=100.0).contains(&percent)) {
        findings.add(
            pointer,
            format!("the coverage must be a number from 0 to 100, but it is {value}"),
            "copy the percentage from the output of the test run, without a unit",
        );
    }
}
