//! A file that is said to be changed and is not.

rule! {
    /// ## What it checks
    /// An entry of `files_modified`, in the report or in the findings of a write phase, is as it was before the first
    /// attempt at the work. A folder stands for everything in it; deleting a file changes it. Files that git ignores are
    /// judged by the time of their last change. Applies when Baton runs the work: it needs how the workspace was before.
    ///
    /// ## Why it matters
    /// The list of changed files is what the next agent reviews and tests. A file that was not changed is work that was not
    /// done.
    ///
    /// ## Example
    /// `src/limits.rs` is as it was.
    /// ```json
    /// { "files_modified": ["src/quota.rs", "src/limits.rs"] }
    /// ```
    ///
    /// ## Use instead
    /// ```json
    /// { "files_modified": ["src/quota.rs"] }
    /// ```
    "file-not-modified": Evidence, Error
}
