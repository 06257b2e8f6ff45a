//! A file that changed and is not named.

rule! {
    /// ## What it checks
    /// A file was created, changed or deleted during the attempt, and the report lists changed files without naming it:
    /// neither in `files_modified` or the findings, nor as an artifact. A named folder stands for everything in it. Files
    /// that git ignored before the attempt and the output directory need no naming. Without such a list nothing is
    /// refuted, but the evidence names what has changed; the same holds for what agents at the same time may have changed. Of
    /// an agent whose dialect is `package` every file that it has created must be among the artifacts. Applies when Baton
    /// runs the work.
    ///
    /// ## Why it matters
    /// What is not named is not reviewed. Changes on the side are where surprises come from.
    ///
    /// ## Example
    /// `Cargo.toml` was changed as well.
    /// ```json
    /// { "files_modified": ["src/quota.rs"] }
    /// ```
    ///
    /// ## Use instead
    /// ```json
    /// { "files_modified": ["src/quota.rs", "Cargo.toml"] }
    /// ```
    "modified-not-declared": Evidence, Error
}
