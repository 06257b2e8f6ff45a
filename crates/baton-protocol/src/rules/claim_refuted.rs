//! Something that is said to pass and fails.

rule! {
    /// ## What it checks
    /// A command in the phase's `verify`, or one that a success criterion of the request carries, does not end with exit
    /// code 0 when Baton runs it. It must pass whatever the report says; where the report says that it passed, in
    /// `verification` or in the findings of a validation, that claim is refuted as well. Criteria carry a command in
    /// backquotes, after a colon at the end or followed by `passes`, `succeeds` or `exits with 0`. Applies to reports of
    /// finished work, when Baton runs it.
    ///
    /// ## Why it matters
    /// "All tests pass" is the claim that is made most and checked least. It costs one run to know.
    ///
    /// ## Example
    /// With `verify: [{name: tests, run: "cargo test"}]` in the workflow, and a test that fails:
    /// ```json
    /// { "status": "complete", "verification": { "tests_passed": true } }
    /// ```
    ///
    /// ## Use instead
    /// Make the tests pass, or say what is in the way.
    /// ```json
    /// { "status": "blocked", "blocked_reason": "test_failures", "attempted": ["raised the timeout of the retry test"] }
    /// ```
    "claim-refuted": Evidence, Error
}
