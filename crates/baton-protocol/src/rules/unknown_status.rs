//! Speaks while reading: a status that no one can route by.

rule! {
    /// ## What it checks
    /// Whether `status` is one of the dialect's own words:
    ///
    /// - metadata-block and phase-block: `complete`, `blocked`, `needs_review`, `needs_clarification`
    /// - task: `complete`, `partial`, `blocked`
    /// - mailbox: `pending`, `in_progress`, `completed`, `failed`
    /// - native reports have the field `outcome`, with all the words that a report can end with
    ///
    /// Case, `-`, `_` and spaces do not matter: `Needs-Review` is `needs_review`. Nothing else is guessed: `done`,
    /// `success` and `in-progress` at the end of a report are errors, and the severity cannot be changed.
    ///
    /// ## Why it matters
    /// The status alone decides what happens next. A guessed one starts the next phase on work that is not finished.
    ///
    /// ## Example
    /// ```json
    /// { "agent": "search-developer", "status": "mostly done" }
    /// ```
    ///
    /// ## Use instead
    /// ```json
    /// { "agent": "search-developer", "status": "needs_review" }
    /// ```
    fixed "unknown-status": Shape, Error
}
