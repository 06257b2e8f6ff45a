//! Speaks while reading: values that cannot be what their field means.

rule! {
    /// ## What it checks
    /// Whether every known field holds the kind of value that it is for: text, a number, true or false, a list, an
    /// object. An unquoted number in YAML is accepted where text is expected, so the version `1.10` needs no
    /// quotes. A list with a single text in a place for a scalar is taken for an unfilled template: see
    /// `placeholder`.
    ///
    /// The value is kept, but nothing else is checked about it.
    ///
    /// ## Why it matters
    /// A program that reads the handoff stops at such a value, or worse, converts it: the text `"false"` is true in
    /// most languages.
    ///
    /// ## Example
    /// ```json
    /// { "skills_invoked": "reading-schemas, writing-migrations" }
    /// ```
    ///
    /// ## Use instead
    /// ```json
    /// { "skills_invoked": ["reading-schemas", "writing-migrations"] }
    /// ```
    "wrong-type": Shape, Error
}
