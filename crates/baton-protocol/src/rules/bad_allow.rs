//! Speaks while reading: permissions that permit nothing.

rule! {
    /// ## What it checks
    /// Whether a permission inside a document names a rule that exists and gives a reason. In YAML and Markdown a
    /// permission is a comment, `baton: allow RULE: reason`; in JSON, and in YAML too, it is in the root member
    /// `baton-allow`, which maps names of rules to reasons. A rule whose severity cannot be changed, such as
    /// `unreadable` or `unknown-status`, cannot be allowed. Neither can this one.
    ///
    /// It applies to every dialect.
    ///
    /// ## Why it matters
    /// A misspelt permission protects nothing, and its author believes it does. One without a reason hides a
    /// problem from everybody who comes after.
    ///
    /// ## Example
    /// ```yaml
    /// # baton: allow absolute-path
    /// handoff:
    ///   id: HO-31
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// # baton: allow absolute-path: the firmware image lies on the flashing station
    /// handoff:
    ///   id: HO-31
    /// ```
    fixed "bad-allow": Shape, Error
}
