//! Owns the reading of what test programs print: does it say that something failed?
//! Refuses to know which program it was, and whether anybody claimed otherwise.
//! Invariant: only lines that count or mark failures of this run are found; names of tests and history are not.

/// Returns the line that says that tests failed, or that the program ended with an error.
#[must_use]
pub fn failed_tests(output: &str) -> Option<&str> {
    output.lines().map(str::trim).find(|line| shows_failure(&plain(line)))
}

/// What may be between a count and the word that says what was counted.
const COUNTED: &[&str] = &[
    "test",
    "tests",
    "suite",
    "suites",
    "spec",
    "specs",
    "example",
    "examples",
    "case",
    "cases",
    "check",
    "checks",
    "file",
    "files",
    "assertion",
    "assertions",
];
const FAILED: &[&str] = &["failed", "failing", "failure", "failures", "fail", "fails"];
const ERRORS: &[&str] = &["error", "errors"];
/// What may follow "3 failed" in a summary; "3 failed logins" is the name of a test.
const FOLLOWS: &[&str] = &["in", "and", "but", "of", "out", "passed", "total", "skipped", "test", "tests", "with"];
/// Words that tell of another run than the last.
const HISTORY: &[&str] =
    &["previously", "before", "initially", "earlier", "originally", "fixed", "now", "expected", "was", "were", "known"];

fn shows_failure(line: &str) -> bool {
    if is_about_a_passed_test(line) {
        return false;
    }
    let words: Vec<Word<'_>> = words(line).collect();
    is_marked(line, &words)
        || ends_badly(&words)
        || (!line.contains("->")
            && !line.contains('→')
            && !words.iter().any(|word| word.is_one_of(HISTORY))
            && counts_failures(line, &words))
}

/// A test that passed may be called anything.
fn is_about_a_passed_test(line: &str) -> bool {
    let numbered =
        |mark: &str| line.strip_prefix(mark).is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()));
    line.starts_with(['✓', '✔', '√', '☑', '✅'])
        || numbered("ok ")
        || line.starts_with("PASS ")
        || line.starts_with("--- PASS")
        || (line.starts_with("test ") && line.ends_with("... ok"))
        || (line.contains("::") && line.contains(" PASSED"))
}

/// Returns whether the line has a mark that programs put at what failed.
fn is_marked(line: &str, words: &[Word<'_>]) -> bool {
    let first = words.first().map(|word| word.text).unwrap_or_default();
    let shouts = ["FAIL", "FAILED", "FAILURES"].contains(&first) && !counts_none(words);
    let numbered =
        line.strip_prefix("not ok ").is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()));
    shouts
        || numbered
        || line.starts_with("--- FAIL")
        || line.starts_with("npm ERR!")
        || line.starts_with("test result: FAILED")
        || line.ends_with("... FAILED")
        || line.contains("BUILD FAIL")
        || (line.contains("::") && line.contains(" FAILED"))
        || line.starts_with("error: test failed")
}

/// Returns whether a heading such as `FAILED TESTS: 0` counts nothing.
fn counts_none(words: &[Word<'_>]) -> bool {
    let said = words.iter().skip(1).find(|word| !word.is_one_of(COUNTED));
    said.is_some_and(|word| word.count() == Some(0) || word.is_one_of(&["none", "no", "nothing"]))
}

/// Returns whether a program ended with an exit code other than 0.
fn ends_badly(words: &[Word<'_>]) -> bool {
    let mut exits = words.iter().enumerate().filter(|(_, word)| word.is_one_of(&["exit", "exited", "exits"]));
    exits.any(|(at, _)| {
        let mut rest = words[at + 1..].iter().skip_while(|word| word.is_one_of(&["with", "code", "status"]));
        rest.next().and_then(Word::count).is_some_and(|code| code > 0)
    })
}

fn counts_failures(line: &str, words: &[Word<'_>]) -> bool {
    let counts_tests = words.iter().any(|word| word.is_one_of(&["passed", "failed", "failures", "run"]));
    words.iter().enumerate().any(|(at, word)| {
        let is_failure = word.is_one_of(FAILED) || (counts_tests && word.is_one_of(ERRORS));
        is_failure && (count_before(words, at).unwrap_or(0) > 0 || count_behind(line, words, at).unwrap_or(0) > 0)
    })
}

/// Returns the count in `3 failed`, `3 tests failing` and `3 of 18 failed`.
fn count_before(words: &[Word<'_>], at: usize) -> Option<u64> {
    let may_follow = words
        .get(at + 1)
        .is_none_or(|next| !words[at].behind.trim().is_empty() || next.is_one_of(FOLLOWS) || next.count().is_some());
    let mut number = at.checked_sub(1)?;
    // What is separated by more than a space is another statement: `Tests: 18, Failures: 3`.
    if !words[number].behind.trim().is_empty() {
        return None;
    }
    if words[number].is_one_of(COUNTED) {
        number = number.checked_sub(1)?;
    }
    if !may_follow {
        return None;
    }
    let whole = words[number].count()?;
    let part = match number.checked_sub(1).map(|left| &words[left]) {
        Some(left) if left.behind.trim() == "/" => left.count(),
        Some(left) if left.is_one_of(&["of"]) => number.checked_sub(2).and_then(|left| words[left].count()),
        _ => None,
    };
    Some(part.unwrap_or(whole))
}

/// Returns the count in `Failures: 3`, `failures=3` and `# fail 3`.
fn count_behind(line: &str, words: &[Word<'_>], at: usize) -> Option<u64> {
    let behind = words[at].behind.trim();
    let counts = behind == ":" || behind == "=" || (behind.is_empty() && line.starts_with("# "));
    if counts { words.get(at + 1).and_then(Word::count) } else { None }
}

/// A word of a line, with what is between it and the next.
struct Word<'line> {
    text: &'line str,
    behind: &'line str,
}

impl Word<'_> {
    fn is_one_of(&self, known: &[&str]) -> bool {
        known.iter().any(|known| known.eq_ignore_ascii_case(self.text))
    }

    fn count(&self) -> Option<u64> {
        self.text.parse().ok()
    }
}

fn words(line: &str) -> impl Iterator<Item = Word<'_>> {
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    let mut rest = line.trim_start_matches(move |character| !is_part(character));
    std::iter::from_fn(move || {
        let end = rest.find(|character| !is_part(character)).unwrap_or(rest.len());
        let next = rest[end..].find(is_part).map_or(rest.len(), |at| end + at);
        let word = Word { text: &rest[..end], behind: &rest[end..next] };
        rest = &rest[next..];
        (!word.text.is_empty()).then_some(word)
    })
}

/// Drops the colours of a terminal.
fn plain(line: &str) -> String {
    let mut parts = line.split("\u{1b}[");
    let mut text = parts.next().unwrap_or_default().to_owned();
    parts.for_each(|part| {
        text.push_str(
            part.trim_start_matches(|part: char| part.is_ascii_digit() || part == ';').get(1..).unwrap_or_default(),
        )
    });
    text.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::failed_tests;

    #[test]
    fn failures_of_every_test_program_are_found() {
        for output in [
            "Test Suites: 1 failed, 1 total\nTests: 15 passed, 3 failed, 18 total",
            "Tests:       3 failed, 15 passed, 18 total",
            " Tests  3 failed | 15 passed (18)",
            "\u{1b}[31m3 failed\u{1b}[0m, 15 passed in 0.31s",
            "================ 2 failed, 16 passed in 1.20s ================",
            "15 passed, 1 error in 0.3s",
            "FAILED tests/test_quota.py::test_leap - AssertionError",
            "tests/test_quota.py::test_leap FAILED [ 50%]",
            "FAILED (failures=1, errors=2)",
            "test quota::leap_year ... FAILED",
            "test result: FAILED. 14 passed; 1 failed; 0 ignored; 0 measured",
            "error: test failed, to rerun pass `--lib`",
            "--- FAIL: TestQuota (0.00s)",
            "FAIL\tgithub.com/shop/quota\t0.012s",
            "FAIL",
            "FAIL src/quota.test.ts",
            "  15 passing (20ms)\n  3 failing",
            "18 examples, 3 failures",
            "Tests run: 18, Failures: 3, Errors: 0, Skipped: 0",
            "Tests run: 18, Failures: 0, Errors: 2, Skipped: 0",
            "FAILURES!\nTests: 18, Assertions: 40, Failures: 3.",
            "Failed!  - Failed:     3, Passed:    15, Skipped:     0, Total:    18",
            "BUILD FAILED in 3s",
            "not ok 3 - rejects empty ids",
            "# pass 15\n# fail 3",
            "3/18 tests failing",
            "3 of 18 tests failed",
            "npm ERR! Test failed.  See above for more details.",
            "make: *** [test] Error 1\nexit code 2",
            "Process exited with code 101",
            "exit status 1",
        ] {
            assert!(failed_tests(output).is_some(), "{output}");
        }
    }

    #[test]
    fn passing_runs_are_left_alone() {
        for output in [
            "",
            "Test Suites: 1 passed, 1 total\nTests: 18 passed, 18 total\nCoverage: 89.5%",
            "Tests: 0 failed, 18 passed, 18 total",
            "18 passed, 2 xfailed in 0.31s",
            "test result: ok. 18 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out",
            "test login::locks_after_3_failed_attempts ... ok",
            "✓ locks after 3 failed logins (5 ms)",
            "locks after 3 failed logins",
            "✓ ends with exit code 1 when the file is missing",
            "tests/test_login.py::test_failed PASSED [ 50%]",
            "ok  \tgithub.com/shop/quota\t0.012s",
            "ok 3 - rejects 3 failed tests",
            "--- PASS: TestFailed (0.00s)\nPASS",
            "PASS src/failed.test.ts",
            "  18 passing (20ms)",
            "18 examples, 0 failures",
            "Tests run: 18, Failures: 0, Errors: 0, Skipped: 0",
            "Passed!  - Failed:     0, Passed:    18, Skipped:     0, Total:    18",
            "# pass 18\n# fail 0",
            "FAILED TESTS: 0",
            "FAILED: none",
            "0/18 tests failing",
            "0 of 18 tests failed",
            "no failures",
            "3 failed before the fix, 18 passed now",
            "3 failed -> 0 failed",
            "BUILD SUCCESSFUL in 3s",
            "Process exited with code 0",
            "exit code: 0",
            "eslint: 0 errors, 2 warnings",
        ] {
            assert_eq!(failed_tests(output), None, "{output}");
        }
    }
}
