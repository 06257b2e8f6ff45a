//! Speaks while reading: what must be there and is not.

use crate::diagnostic::Finding;

rule! {
    /// ## What it checks
    /// Whether every field that the dialect requires is there. A field that is `null` counts as missing; an empty list
    /// does not. `baton schema` prints the required fields of each document. Where a dialect knows two spellings of a
    /// field, as the mailbox does for the time of an answer, either one will do.
    ///
    /// A blank `agent`, `output_type` or `feature_directory` of a block counts as missing too. Other text that is there
    /// but blank is not reported here: see `missing-context`. The time of a report may be missing where Baton notes itself
    /// when it came: in runs, in hooks, and in whatever is handed in for a handoff. `baton route` and `baton check
    /// --request` judge as these do. In a document that is checked by itself nobody else knows the time.
    ///
    /// ## Why it matters
    /// The receiver routes by these fields. A report without a status is neither done nor blocked, and a request
    /// without a receiver waits for ever.
    ///
    /// ## Example
    /// ```json
    /// {
    ///   "task_id": "geo-12",
    ///   "phase": "research",
    ///   "decision": "PROCEED"
    /// }
    /// ```
    ///
    /// ## Use instead
    /// ```json
    /// {
    ///   "task_id": "geo-12",
    ///   "phase": "research",
    ///   "status": "complete",
    ///   "decision": "PROCEED",
    ///   "findings": { "recommendations": ["Reuse GeoIndex from src/geo/index.ts"] },
    ///   "context_summary": "GeoIndex in src/geo/index.ts already answers radius queries; extend it."
    /// }
    /// ```
    "missing-field": Shape, Error
}

/// The members of a report that say when it was written.
const TIMES: &[&str] = &["timestamp", "timestamp_completed", "timestamp_failed"];

/// Returns whether a member says when a report was written, so that whoever receives the report knows it as well.
pub(crate) fn is_time(member: &str) -> bool {
    TIMES.contains(&member)
}

/// Returns whether a finding says that the time of a report is missing.
pub(crate) fn is_missing_time(finding: &Finding) -> bool {
    let member = finding.message.split('`').nth(1).unwrap_or_default();
    finding.rule.name == RULE.name && is_time(member)
}
