//! Judges whether a blocked agent says what it tried.

use super::blocked_without_reason::blocked;
use super::{Case, RuleFindings};

rule! {
    /// ## What it checks
    /// Whether a report with the status `blocked` lists in `attempted` what the agent tried before it gave up; a
    /// list with nothing but blank entries counts as empty. It applies to metadata-block, phase-block and native
    /// reports. A task has no such field.
    ///
    /// ## Why it matters
    /// Whoever helps would try the same things first. And an agent that tried nothing is not blocked, it has not begun.
    ///
    /// ## Example
    /// ```json
    /// { "status": "blocked", "blocked_reason": "test_failures", "attempted": [] }
    /// ```
    ///
    /// ## Use instead
    /// ```json
    /// {
    ///   "status": "blocked",
    ///   "blocked_reason": "test_failures",
    ///   "attempted": [
    ///     "Ran tests/sync_test.py 20 times: 3 failures, all in test_clock_skew",
    ///     "Pinned the clock with freezegun: still 2 failures in 20 runs"
    ///   ]
    /// }
    /// ```
    "blocked-without-attempts": Blocked, Error => check
}

fn check(case: &Case<'_>, findings: &mut RuleFindings<'_>) {
    let Some(report) = blocked(case) else { return };
    if report.attempted.iter().any(|attempt| !attempt.trim().is_empty()) {
        return;
    }
    // A value of the wrong type has been told already.
    if case.kept("/attempted").is_some_and(|kept| !kept.is_null() && !kept.is_array()) {
        return;
    }
    let pointer = if report.attempted.is_empty() { "/outcome" } else { "/attempted" };
    findings.add(
        pointer,
        "the report is blocked, but `attempted` does not say what was tried",
        "list what was tried and with what result, so that it is not tried again",
    );
}
