//! Speaks while reading: a priority that cannot be put in order.

rule! {
    /// ## What it checks
    /// Whether a priority is known. A mailbox request has `low`, `normal`, `high` or `critical`; an open question in a
    /// package has `high`, `medium` or `low`. Native documents have the same words in the same places. Case, `-`, `_`
    /// and spaces do not matter.
    ///
    /// ## Why it matters
    /// Requests are picked up in the order of their priority, and questions of high priority stop the next agent. `P1`
    /// or `urgent` has no place in that order.
    ///
    /// ## Example
    /// ```json
    /// { "handoff_id": "hoff-88", "priority": "urgent" }
    /// ```
    ///
    /// ## Use instead
    /// ```json
    /// { "handoff_id": "hoff-88", "priority": "critical" }
    /// ```
    "unknown-priority": Shape, Error
}
