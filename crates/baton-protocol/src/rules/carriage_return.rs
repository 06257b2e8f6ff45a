//! Speaks while reading: line ends of another system.

rule! {
    /// ## What it checks
    /// Whether lines end in CRLF, as Windows writes them. It is reported once per file, at the first such line. It
    /// applies to every dialect, and is only information: the document means the same with either line end.
    ///
    /// ## Why it matters
    /// Digests and diffs of the file change although nothing in it did, and in multi-line YAML texts some readers
    /// keep the carriage return.
    ///
    /// ## Example
    /// With the line ends written out:
    ///
    /// ```yaml
    /// handoff:\r\n
    ///   id: HO-9\r\n
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// handoff:\n
    ///   id: HO-9\n
    /// ```
    "carriage-return": Shape, Info
}
