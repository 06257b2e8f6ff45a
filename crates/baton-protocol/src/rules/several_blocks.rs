//! Speaks while reading: more than one block that could be the handoff.

rule! {
    /// ## What it checks
    /// Whether a Markdown file has exactly one fenced block with the marks of a handoff. With several, the last one
    /// counts. It applies to every dialect that is written as a block in Markdown. It is a warning, because the
    /// choice is fixed and not a guess.
    ///
    /// ## Why it matters
    /// The agent pasted its old block, showed an example, or changed its mind. A reader that takes the first block and
    /// one that takes the last then act on different statuses.
    ///
    /// ## Example
    /// ````markdown
    /// ```json
    /// { "agent": "api-tester", "status": "blocked" }
    /// ```
    ///
    /// After a second run:
    ///
    /// ```json
    /// { "agent": "api-tester", "status": "complete" }
    /// ```
    /// ````
    ///
    /// ## Use instead
    /// ````markdown
    /// The first run was blocked by a port conflict; the second one passed.
    ///
    /// ```json
    /// { "agent": "api-tester", "status": "complete" }
    /// ```
    /// ````
    "several-blocks": Shape, Warning
}
