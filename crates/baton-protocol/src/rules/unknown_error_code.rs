//! An error code that nobody knows.

use super::{Case, RuleFindings};
use crate::wire::{same_word, suggest};

rule! {
    /// ## What it checks
    /// The code of an error is unknown. Known are `SCHEMA_VALIDATION_FAILED`, `PROCESSING_ERROR`, `TIMEOUT`,
    /// `DEPENDENCY_MISSING` and `VALIDATION_FAILED`. Applies to reports in the `mailbox` and `native` dialects.
    ///
    /// ## Why it matters
    /// The code decides what happens next: a `TIMEOUT` is tried again, a `SCHEMA_VALIDATION_FAILED` is not. With an
    /// unknown code a person has to look.
    ///
    /// ## Example
    /// ```json
    /// { "error": { "code": "NPM_CRASHED", "message": "npm ended with status 137" } }
    /// ```
    ///
    /// ## Use instead
    /// ```json
    /// { "error": { "code": "PROCESSING_ERROR", "message": "npm ended with status 137" } }
    /// ```
    "unknown-error-code": Mailbox, Warning => check
}

const KNOWN: &[&str] =
    &["SCHEMA_VALIDATION_FAILED", "PROCESSING_ERROR", "TIMEOUT", "DEPENDENCY_MISSING", "VALIDATION_FAILED"];

fn check(case: &Case<'_>, findings: &mut RuleFindings<'_>) {
    let Some(code) = case.report().and_then(|report| report.error.as_ref()?.code.as_deref()) else {
        return;
    };
    if !KNOWN.iter().any(|known| same_word(known, code)) {
        findings.add("/error/code", format!("unknown error code `{code}`"), suggest(code, KNOWN));
    }
}
