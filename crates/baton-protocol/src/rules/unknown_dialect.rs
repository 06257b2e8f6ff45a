//! Speaks while reading: a readable document that belongs to no protocol.

rule! {
    /// ## What it checks
    /// Whether the document can be recognised as one of the six dialects: metadata-block, phase-block, package, task,
    /// mailbox or native. A `status` alone is not enough, because the output of any program may have one; the document
    /// also needs a field that only a handoff has, such as `agent`, `skills_invoked`, `task_id`, `handoff_id` or a
    /// `handoff` object with `from` and `to`. A document that is not an object is not recognised, and neither is a
    /// native document with an unknown version or kind.
    ///
    /// It is an error, and its severity cannot be changed. Where the dialect is known from elsewhere, name it with
    /// `--dialect`; then the document is read as that, and what it lacks is reported field by field.
    ///
    /// ## Why it matters
    /// Each dialect has its own fields, statuses and rules. A document that was checked as the wrong one would pass or
    /// fail for reasons that have nothing to do with it.
    ///
    /// ## Example
    /// ```json
    /// { "status": "ok", "duration_ms": 5310 }
    /// ```
    ///
    /// ## Use instead
    /// ```json
    /// {
    ///   "task_id": "export-07",
    ///   "phase": "validate",
    ///   "status": "complete",
    ///   "decision": "PROCEED",
    ///   "findings": { "checks": {}, "overall_passed": true },
    ///   "context_summary": "CSV export of 40 000 rows takes 5.3 s and stays below 200 MB."
    /// }
    /// ```
    fixed "unknown-dialect": Shape, Error
}
