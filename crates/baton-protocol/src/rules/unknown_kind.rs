//! Speaks while reading: a word outside one of the small closed sets.

rule! {
    /// ## What it checks
    /// Whether a field with a closed set of words holds one of them:
    ///
    /// - `handoff.kind` of a package: `sequential`, `delegation`, `escalation`, `return`, `gate`
    /// - `handoff.gate.type` of a package: `blocking`, `advisory`, `auto`
    /// - `acknowledgment.understood` of a package, where it is one word: `full`, `partial`, `none`
    /// - `expected_output` of a task: `structured_findings`, `files_changed`, `validation_result`, `aggregated_results`
    ///
    /// Native documents have the same words. Case, `-`, `_` and spaces do not matter.
    ///
    /// ## Why it matters
    /// These words choose the behaviour: who may answer, whether the workflow waits, what the answer must look like. A
    /// gate of an unknown type might not stop anything.
    ///
    /// ## Example
    /// ```yaml
    /// handoff:
    ///   gate:
    ///     type: mandatory
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// handoff:
    ///   gate:
    ///     type: blocking
    /// ```
    "unknown-kind": Shape, Error
}
