//! A file that changed outside of what the phase may write.

rule! {
    /// ## What it checks
    /// A file was created, changed or deleted during the attempt that fits none of the patterns in the phase's `writes`.
    /// Files that git ignores, files that agents running at the same time may write, and the output directory of the attempt
    /// are left alone. Applies when Baton runs the work.
    ///
    /// ## Why it matters
    /// `writes` keeps two agents that run at the same time off the same files. Whoever writes elsewhere destroys the work of
    /// another, or goes beyond what was asked.
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
