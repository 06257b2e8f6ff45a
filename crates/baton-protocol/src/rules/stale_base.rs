//! A source that somebody else changed while it was read.

rule! {
    /// ## What it checks
    /// A file in `source_files_verified` was changed during the attempt by another agent that may write it. It is
    /// unknown which version was read, so the claim is not refuted, but stays unverified. Applies when Baton runs
    /// several agents at the same time.
    ///
    /// ## Why it matters
    /// What was concluded from the old text may be wrong for the new one. A person or a reviewer should know.
    ///
    /// ## Example
    /// While the agent read `src/limits.rs`, the phase beside it, with `writes: ["src/limits.rs"]`, changed the file.
    /// ```json
    /// { "source_files_verified": ["src/limits.rs:1-40"] }
    /// ```
    ///
    /// ## Use instead
    /// Let the phase that reads come after the phase that writes; the report stays the same.
    /// ```json
    /// { "source_files_verified": ["src/limits.rs:1-40"] }
    /// ```
    "stale-base": Evidence, Warning
}
