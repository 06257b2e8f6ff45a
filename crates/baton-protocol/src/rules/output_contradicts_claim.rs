//! Compares what an agent says about its tests with the output that it quotes.

use serde_json::{Map, Value};

use super::{Case, RuleFindings};
use crate::diagnostic::excerpt;
use crate::prose;
use crate::wire::{join, same_word};

rule! {
    /// ## What it checks
    /// Whether `tests_passed` (or `tests_passing`, `tests_verified`, `passed`) is true beside a `command_output` (or
    /// `output`, `test_output`) that shows failing tests or an exit code other than 0. It knows the summaries of pytest,
    /// unittest, cargo test, go test, Jest, Vitest, Mocha, RSpec, JUnit, .NET and TAP. It looks at `verification` and
    /// `validation` of reports in every dialect.
    ///
    /// ## Why it matters
    /// One of the two is wrong, and the next phase believes the shorter one.
    ///
    /// ## Example
    /// ```json
    /// { "tests_passed": true, "command_output": "Tests: 3 failed, 15 passed, 18 total" }
    /// ```
    ///
    /// ## Use instead
    /// Quote the last run only.
    ///
    /// ```json
    /// { "tests_passed": true, "command_output": "Tests: 18 passed, 18 total" }
    /// ```
    "output-contradicts-claim": Task, Error => check
}

const CLAIMS: &[&str] = &["tests_passed", "tests_passing", "tests_verified", "test_passed", "passed"];
const OUTPUTS: &[&str] = &["command_output", "output", "test_output"];

fn check(case: &Case<'_>, findings: &mut RuleFindings<'_>) {
    let Some(report) = case.report() else { return };
    check_map("/verification", &report.verification, findings);
    check_map("/validation", &report.validation, findings);
}

fn check_map(pointer: &str, checked: &Map<String, Value>, findings: &mut RuleFindings<'_>) {
    let is_one_of = |words: &[&str], name: &str| words.iter().any(|word| same_word(word, name));
    let claim = checked.iter().find(|(name, value)| **value == Value::Bool(true) && is_one_of(CLAIMS, name));
    for (name, value) in checked {
        match value {
            Value::Object(below) => check_map(&join(pointer, name), below, findings),
            Value::String(output) if is_one_of(OUTPUTS, name) => {
                if let (Some((claim, _)), Some(line)) = (claim, prose::failed_tests(output)) {
                    findings.add(
                        &join(pointer, name),
                        format!("`{claim}` is true, but the output says `{}`", excerpt(line)),
                        "report what the last run said, and quote that run only",
                    );
                }
            }
            _ => {}
        }
    }
}
