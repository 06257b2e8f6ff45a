//! Speaks while reading: prose behind the block that should end the file.

rule! {
    /// ## What it checks
    /// Whether the handoff block is the last thing in a Markdown file. Blank lines and HTML comments after it are
    /// fine. It applies to every dialect that is written as a block in Markdown.
    ///
    /// It is a warning: the block is still found and read.
    ///
    /// ## Why it matters
    /// Simple readers take the end of the file and find prose. And what an agent adds after its handoff ("one more
    /// thing") reaches nobody, because only the block is handed on.
    ///
    /// ## Example
    /// ````markdown
    /// ```json
    /// { "agent": "doc-writer", "status": "complete" }
    /// ```
    ///
    /// By the way, chapter 3 still has broken links.
    /// ````
    ///
    /// ## Use instead
    /// ````markdown
    /// Chapter 3 still has broken links.
    ///
    /// ```json
    /// { "agent": "doc-writer", "status": "complete" }
    /// ```
    /// ````
    "text-after-block": Shape, Warning
}
