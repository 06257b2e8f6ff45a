//! Permissions written into a file: `baton: allow RULE: reason` in a YAML or Markdown comment.
//!
//! JSON has no comments; there (and in YAML) the member `baton-allow` maps rule names to reasons.

use std::ops::Range;

use super::{Format, markdown, yaml};

/// The root member that maps rule names to reasons.
pub const MEMBER: &str = "baton-allow";

/// The words that begin a permission inside a comment.
const WORDS: &str = "baton: allow ";

/// One permission found in a comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment<'t> {
    /// The rule that it names.
    pub rule: &'t str,
    /// Why, possibly empty.
    pub reason: &'t str,
    /// Its place in the text.
    pub span: Range<usize>,
}

/// Returns the permissions in the comments of a text. Quoted text and code blocks permit nothing.
pub fn comments(text: &str, format: Format) -> Vec<Comment<'_>> {
    // Finding the real comments takes a parser; almost no document needs one.
    if memchr::memmem::find(text.as_bytes(), WORDS.as_bytes()).is_none() {
        return Vec::new();
    }
    let spans = match format {
        Format::Json => Vec::new(),
        Format::Yaml => yaml::comment_spans(text),
        Format::Markdown => markdown::comment_spans(text),
    };
    spans.into_iter().filter_map(|span| comment(text, span)).collect()
}

fn comment(text: &str, span: Range<usize>) -> Option<Comment<'_>> {
    let inside = text.get(span.clone())?.trim_start_matches(['#', '<', '!', '-']).trim_start();
    let rest = inside.strip_prefix(WORDS)?.trim().trim_end_matches("-->").trim_end();
    let (rule, reason) = rest.split_once(':').unwrap_or((rest, ""));
    Some(Comment { rule: rule.trim(), reason: reason.trim(), span })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_in_yaml_and_markdown() {
        let found = comments("a: 1 # baton: allow vague-summary: short on purpose\n", Format::Yaml);
        assert_eq!((found[0].rule, found[0].reason), ("vague-summary", "short on purpose"));
        let found = comments("Text\n\n<!-- baton: allow absolute-path: x -->\n", Format::Markdown);
        assert_eq!((found[0].rule, found[0].reason), ("absolute-path", "x"));
        assert_eq!(comments("# baton: allow x\n", Format::Yaml)[0].reason, "");
    }

    #[test]
    fn text_that_is_no_comment_permits_nothing() {
        assert!(comments("note: 'say # baton: allow x: y'\n", Format::Yaml).is_empty());
        assert!(comments("note: |\n  # baton: allow x: y\n", Format::Yaml).is_empty());
        assert!(comments("```sh\n# baton: allow x: y\n<!-- baton: allow x: y -->\n```\n", Format::Markdown).is_empty());
        assert!(comments("# baton: allow x: y\n", Format::Markdown).is_empty());
        assert!(comments("\"# baton: allow x: y\"", Format::Json).is_empty());
    }
}
