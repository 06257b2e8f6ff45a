//! Speaks while reading: a recommendation that the orchestrator cannot follow.

rule! {
    /// ## What it checks
    /// Whether `decision` is `PROCEED`, `STOP` or `CLARIFY`. Only task reports have it, and native ones may. Case, `-`,
    /// `_` and spaces do not matter. It is an error, and its severity cannot be changed.
    ///
    /// ## Why it matters
    /// The orchestrator goes on, halts or asks a person because of this word. With any other word it would have to
    /// guess which of the three was meant.
    ///
    /// ## Example
    /// ```json
    /// { "task_id": "cache-3", "status": "complete", "decision": "CONTINUE" }
    /// ```
    ///
    /// ## Use instead
    /// ```json
    /// { "task_id": "cache-3", "status": "complete", "decision": "PROCEED" }
    /// ```
    fixed "unknown-decision": Shape, Error
}
