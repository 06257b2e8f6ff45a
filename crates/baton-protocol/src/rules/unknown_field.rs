//! Speaks while reading: members that no reader of the dialect looks at.

rule! {
    /// ## What it checks
    /// Whether every member of the document, at any depth where the dialect fixes the members, is a field that the
    /// dialect knows. Members of free objects such as `verification`, `metadata` or the mailbox's `context` may
    /// have any name. It applies to all dialects.
    ///
    /// It is a warning: the member is kept and written back, and teams do add fields of their own.
    ///
    /// ## Why it matters
    /// A misspelt field is a field that nobody reads. `next_agnet` looks right to a person, and the orchestrator never
    /// sees it.
    ///
    /// ## Example
    /// ```json
    /// { "handoff": { "next_agnet": "mobile-tester" } }
    /// ```
    ///
    /// ## Use instead
    /// ```json
    /// { "handoff": { "next_agent": "mobile-tester" } }
    /// ```
    "unknown-field": Shape, Warning
}
