//! A file that changed outside of what the phase may write.

rule! {
    /// ## What it checks
    /// A file was created, changed or deleted during the attempt that matches no pattern in the phase's `writes`.
    /// Changes by a command of `verify` count as well, because it may run what the agent wrote. Files that git ignored
    /// before the attempt, files in the `writes` of parallel phases, and the output directory are not checked. If
    /// something cannot be checked, a person is asked: a file that a phase without `writes` may have changed at the
    /// same time, or more new files than can be compared. The same holds for a changed `baton.toml`, unless `writes`
    /// matches it, because it configures Baton. Applies when Baton runs the work.
    ///
    /// ## Why it matters
    /// `writes` keeps parallel agents away from each other's files. An agent that writes elsewhere destroys the work of
    /// another, or does more than it was asked to.
    ///
    /// ## Example
    /// With `writes: ["src/**"]` in the workflow, `Cargo.toml` was changed.
    /// ```json
    /// { "files_modified": ["src/quota.rs", "Cargo.toml"] }
    /// ```
    ///
    /// ## Use instead
    /// Undo the change, or let the phase write there: `writes: ["src/**", "Cargo.toml"]`.
    /// ```json
    /// { "files_modified": ["src/quota.rs"] }
    /// ```
    "writes-outside": Evidence, Error
}
