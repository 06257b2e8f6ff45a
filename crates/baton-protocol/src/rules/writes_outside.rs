//! A file that changed outside of what the phase may write.

rule! {
    /// ## What it checks
    /// A file was created, changed or deleted during the attempt that fits none of the patterns in the phase's `writes`.
    /// What a command of `verify` changes counts as well, since it may run what the agent has written. Left alone are files
    /// that git ignored before the attempt, what phases at the same time may write by their own `writes`, and the output
    /// directory. What cannot be checked goes to a person: a file that a phase without `writes` may have changed at the same
    /// time, or more new files than can be compared. So does a `baton.toml` that was changed, unless `writes` names it: it tells
    /// Baton how to work. Applies when Baton runs the work.
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
