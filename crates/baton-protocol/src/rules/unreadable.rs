//! Speaks while reading: bytes that are not a document at all.

rule! {
    /// ## What it checks
    /// Whether the file can be read as exactly one JSON or YAML document, or as Markdown that ends in one. These cannot
    /// be read: an empty or binary file, text that is not UTF-8, a document over 8 MiB, invalid JSON or YAML, duplicate
    /// keys in an object, a YAML key that is not text, merge keys and unknown tags, nesting deeper than 64, more than
    /// 100 000 values (YAML aliases included), several documents in one file, merge conflict markers, a JSON document
    /// or a fenced block that was cut off, and Markdown without a block that looks like a handoff.
    ///
    /// It is an error in every dialect, and neither configuration nor the document itself can change that: without a
    /// document nothing else can be checked.
    ///
    /// ## Why it matters
    /// Output that could not be read has too often been taken as "done". Baton never guesses: half a document, the
    /// earlier of two blocks, or one of two values under the same key is not taken instead.
    ///
    /// ## Example
    /// The agent ran out of tokens in the middle of its block:
    ///
    /// ```json
    /// {
    ///   "agent": "billing-developer",
    ///   "status": "comp
    /// ```
    ///
    /// ## Use instead
    /// Ask the agent again, until the document is whole:
    ///
    /// ```json
    /// {
    ///   "agent": "billing-developer",
    ///   "status": "complete"
    /// }
    /// ```
    fixed "unreadable": Shape, Error
}
