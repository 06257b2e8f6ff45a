//! An artifact of an earlier phase that changed although nobody says so.

rule! {
    /// ## What it checks
    /// An artifact that came with the request changed or disappeared during the attempt, and the report does not name it.
    /// Files that other agents may write at the same time are left alone. Applies when Baton runs the work: it needs the
    /// request and how the workspace was before.
    ///
    /// ## Why it matters
    /// Earlier phases were approved with this content. A reviewer who silently edits what is reviewed, or an agent that
    /// tidies up a plan it should follow, changes what was agreed.
    ///
    /// ## Example
    /// The request handed over `docs/plan.md`; it is different now.
    /// ```json
    /// { "files_modified": ["src/quota.rs"] }
    /// ```
    ///
    /// ## Use instead
    /// ```json
    /// { "files_modified": ["src/quota.rs", "docs/plan.md"] }
    /// ```
    "artifact-changed": Evidence, Error
}
