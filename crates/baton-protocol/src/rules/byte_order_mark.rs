//! Speaks while reading: an invisible mark in front of the text.

rule! {
    /// ## What it checks
    /// Whether the file begins with a byte order mark, the bytes `EF BB BF`. It applies to every dialect. Baton
    /// reads the document without the mark, so it is only a warning; a file in UTF-16 is `unreadable`.
    ///
    /// ## Why it matters
    /// JSON does not allow the mark, and many parsers refuse the whole file with a message about an unexpected
    /// character that no editor shows.
    ///
    /// ## Example
    /// With the mark written as `\uFEFF`:
    ///
    /// ```json
    /// \uFEFF{ "handoff_id": "hoff-52", "status": "pending" }
    /// ```
    ///
    /// ## Use instead
    /// Save as UTF-8 without a mark:
    ///
    /// ```json
    /// { "handoff_id": "hoff-52", "status": "pending" }
    /// ```
    "byte-order-mark": Shape, Warning
}
