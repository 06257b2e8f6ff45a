//! What a report says has passed or failed, and which checks that is about.

use baton_engine::evidence::CheckCommand;
use baton_protocol::model::{PhaseFindings, Report};
use baton_protocol::wire::yes_or_no;
use serde_json::Value;

/// A report says that something passed or failed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PassedClaim {
    /// Where it says so, and what.
    pub(super) words: String,
    /// Whether it passed.
    pub(super) passed: bool,
    about: About,
}

#[derive(Debug, PartialEq, Eq)]
enum About {
    /// Something with a name, in words.
    Named(Vec<String>),
    /// Everything that must pass.
    All,
}

impl PassedClaim {
    /// Returns whether a check shows whether it is so.
    pub(super) fn is_about(&self, check: &CheckCommand) -> bool {
        match &self.about {
            About::All => true,
            About::Named(words) => {
                let known = words_of(&check.name);
                !words.is_empty() && words.iter().all(|word| known.contains(word))
            }
        }
    }
}

/// Lists what a report says has passed or failed.
pub(super) fn said(report: &Report) -> Vec<PassedClaim> {
    let mut said: Vec<PassedClaim> =
        report.verification.iter().filter_map(|(key, value)| of_member(key, value)).collect();
    if let Some(PhaseFindings::Validate(validate)) = &report.findings {
        let checks = validate.checks.as_ref();
        let single = |name: &str, passed: Option<bool>| {
            let words = |passed| format!("findings.checks.{name}.passed: {passed}");
            passed.map(|passed| PassedClaim { words: words(passed), passed, about: About::Named(words_of(name)) })
        };
        said.extend(single("types", checks.and_then(|checks| checks.types.as_ref()?.passed)));
        said.extend(single("lint", checks.and_then(|checks| checks.lint.as_ref()?.passed)));
        said.extend(single("tests", checks.and_then(|checks| checks.tests.as_ref()?.passed)));
        said.extend(single("security", checks.and_then(|checks| checks.security.as_ref()?.passed)));
        let overall =
            |passed| PassedClaim { words: format!("findings.overall_passed: {passed}"), passed, about: About::All };
        said.extend(validate.overall_passed.map(overall));
    }
    said
}

/// Reads a member of `verification`, such as `tests_passed: true`.
fn of_member(key: &str, value: &Value) -> Option<PassedClaim> {
    const GOOD: [&str; 9] =
        ["passed", "pass", "passing", "success", "succeeded", "successful", "ok", "verified", "clean"];
    const BAD: [&str; 4] = ["failed", "failing", "failure", "failures"];
    let mut words = words_of(key);
    let last = words.last().cloned().unwrap_or_default();
    let (good, bad) = (GOOD.contains(&last.as_str()), BAD.contains(&last.as_str()));
    if words.len() > 1 && (good || bad) {
        words.pop();
    }
    let holds = holds(value)?;
    Some(PassedClaim {
        words: format!("verification.{key}: {holds}"),
        passed: holds != bad,
        about: About::Named(words),
    })
}

/// Reads whether a value says that something is so.
fn holds(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(holds) => Some(*holds),
        Value::String(word) => yes_or_no(word),
        Value::Object(members) => ["passed", "success"].iter().find_map(|name| members.get(*name)?.as_bool()),
        _ => None,
    }
}

/// Splits a name into words without regard to case and number: `unit-tests` is `unit`, `test`.
fn words_of(name: &str) -> Vec<String> {
    let words = name.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    let singular = |word: &str| match word.strip_suffix('s') {
        Some(stem) if stem.len() > 2 && !stem.ends_with('s') => stem.to_owned(),
        _ => word.to_owned(),
    };
    words.map(|word| singular(&word.to_ascii_lowercase())).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(name: &str) -> CheckCommand {
        CheckCommand { name: name.to_owned(), ..CheckCommand::default() }
    }

    fn reads(key: &str, value: Value) -> Option<bool> {
        of_member(key, &value).map(|said| said.passed)
    }

    #[test]
    fn members_say_passed_or_failed_in_many_ways() {
        assert_eq!(reads("tests_passed", json!(true)), Some(true));
        assert_eq!(reads("tests", json!("passed")), Some(true));
        assert_eq!(reads("tests", json!({ "passed": false })), Some(false));
        assert_eq!(reads("tests_failed", json!(true)), Some(false));
        assert_eq!(reads("build_failures", json!(false)), Some(true));
        assert_eq!(reads("coverage_percent", json!(89)), None);
        assert_eq!(reads("command_output", json!("Tests: 18 passed")), None);
    }

    #[test]
    fn claims_are_about_the_checks_that_their_words_name() {
        let about = |key: &str, name: &str| of_member(key, &json!(true)).expect("a claim").is_about(&check(name));
        assert!(about("tests_passed", "tests") && about("tests_passed", "unit-tests") && about("test", "Tests"));
        assert!(about("build_success", "build") && about("lint_passed", "lint"));
        assert!(!about("tests_passed", "lint") && !about("unit_tests_passed", "tests") && !about("passed", "lint"));
    }
}
