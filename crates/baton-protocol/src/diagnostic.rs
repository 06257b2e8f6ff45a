//! A finding about a document, as data: what, how bad, where, and what to do about it.
//!
//! Nothing here renders; each output format is a function in the program.

use std::fmt;
use std::ops::Range;

use crate::rules::Rule;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing; never counted against the document.
    Info,
    /// Probably wrong; fails the check only with `--strict`.
    Warning,
    /// Wrong: the document is not valid.
    Error,
}

impl Severity {
    /// Returns the word used in every output format.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Where in the source a finding points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// At the value under a JSON pointer.
    Value(String),
    /// At the name of the member under a JSON pointer.
    Name(String),
    /// At the value under a pointer into the canonical form, wherever the dialect writes that.
    Canonical(String),
    /// At a byte range of the file, where there is no tree to point into.
    Bytes(Range<usize>),
}

impl Place {
    /// Returns the JSON pointer, empty for the whole document.
    pub fn pointer(&self) -> &str {
        match self {
            Place::Value(pointer) | Place::Name(pointer) | Place::Canonical(pointer) => pointer,
            Place::Bytes(_) => "",
        }
    }
}

/// What a rule has to say, before severities are configured and positions are known.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The rule that reports this.
    pub rule: &'static Rule,
    /// Where, in the source document.
    pub place: Place,
    /// One line: what is wrong.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl Finding {
    /// Makes a finding without help.
    pub fn new(rule: &'static Rule, place: Place, message: impl Into<String>) -> Self {
        Finding { rule, place, message: one_line(message.into()), help: None }
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// A finding with its final severity and its position in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Name of the rule.
    pub code: &'static str,
    /// How much it matters, after configuration.
    pub severity: Severity,
    /// One line: what is wrong.
    pub message: String,
    /// JSON pointer into the document, empty for the whole.
    pub pointer: String,
    /// Line in the file, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Byte range in the file, for excerpts.
    pub span: Range<usize>,
    /// What to do about it.
    pub help: Option<String>,
}

/// The most findings of one rule that are kept of one document; the rest is counted.
const FINDINGS_PER_RULE: usize = 500;

/// Findings, with a limit per rule so that no document can make us drown in them.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    kept: Vec<Finding>,
    counts: Vec<(&'static Rule, usize)>,
}

impl Findings {
    /// Adds a finding, or only counts it where there are too many of its rule.
    pub fn push(&mut self, finding: Finding) {
        self.add(finding.rule, || finding);
    }

    /// Adds a finding that is only made if there are not too many of its rule.
    pub fn add(&mut self, rule: &'static Rule, make: impl FnOnce() -> Finding) {
        let known = self.counts.iter().position(|(counted, _)| std::ptr::eq(*counted, rule));
        let index = known.unwrap_or_else(|| {
            self.counts.push((rule, 0));
            self.counts.len() - 1
        });
        self.counts[index].1 += 1;
        if self.counts[index].1 <= FINDINGS_PER_RULE {
            self.kept.push(make());
        }
    }

    /// Returns what was kept.
    pub fn as_slice(&self) -> &[Finding] {
        &self.kept
    }

    /// Returns whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Takes what another has found.
    pub fn append(&mut self, other: Findings) {
        let beyond = other.beyond();
        other.kept.into_iter().for_each(|finding| self.push(finding));
        for (rule, count) in beyond {
            if let Some(counted) = self.counts.iter_mut().find(|(counted, _)| std::ptr::eq(*counted, rule)) {
                counted.1 += count;
            }
        }
    }

    /// Returns all findings, with one more for each rule that had too many.
    pub fn into_vec(mut self) -> Vec<Finding> {
        for (rule, count) in self.beyond() {
            let message = format!("{count} more findings of this rule are not listed");
            self.kept.push(Finding::new(rule, Place::Value(String::new()), message));
        }
        self.kept
    }

    fn beyond(&self) -> Vec<(&'static Rule, usize)> {
        let over = |(rule, count): &(&'static Rule, usize)| Some((*rule, count.checked_sub(FINDINGS_PER_RULE)?));
        self.counts.iter().filter_map(over).filter(|(_, count)| *count > 0).collect()
    }
}

/// The longest message; documents may be repeated in it, but not whole.
const MESSAGE_CHARACTERS_MAX: usize = 400;

/// Makes a message one line of bounded length, without control characters.
fn one_line(message: String) -> String {
    let fits = message.len() <= MESSAGE_CHARACTERS_MAX && !message.contains(char::is_control);
    if fits { message } else { cut(&message, MESSAGE_CHARACTERS_MAX) }
}

/// Returns the beginning of a text for a message: one line, without control characters.
pub fn excerpt(text: &str) -> String {
    cut(text.trim(), 60)
}

fn cut(text: &str, characters_max: usize) -> String {
    let shown = |character: char| if character.is_control() { ' ' } else { character };
    let mut characters = text.chars().map(shown);
    let mut beginning: String = characters.by_ref().take(characters_max).collect();
    if characters.next().is_some() {
        beginning.push('…');
    }
    beginning
}

/// Finds lines and columns of byte offsets in one text.
#[derive(Debug)]
pub struct Lines<'t> {
    bytes: &'t [u8],
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    /// Looks at `bytes`, which need not be valid UTF-8.
    pub fn new(bytes: &'t [u8]) -> Self {
        let starts = std::iter::once(0).chain(memchr::memchr_iter(b'\n', bytes).map(|end| end + 1)).collect();
        Lines { bytes, starts }
    }

    /// Returns line and column, both from 1, the column in characters.
    pub fn position(&self, offset: usize) -> (usize, usize) {
        let offset = offset.min(self.bytes.len());
        let line = self.starts.partition_point(|start| *start <= offset);
        let mut in_line = &self.bytes[self.starts[line - 1]..offset];
        if line == 1 {
            in_line = in_line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(in_line);
        }
        // A UTF-8 continuation byte belongs to the character before it.
        let column = if in_line.is_ascii() {
            in_line.len() + 1
        } else {
            in_line.iter().filter(|byte| **byte & 0xC0 != 0x80).count() + 1
        };
        (line, column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_not_bytes() {
        let lines = Lines::new("ä: 1\nünïcode: x".as_bytes());
        assert_eq!(lines.position(0), (1, 1));
        assert_eq!(lines.position(2), (1, 2));
        assert_eq!(lines.position("ä: 1\nünïcode".len()), (2, 8));
    }

    #[test]
    fn a_byte_order_mark_is_not_a_column() {
        assert_eq!(Lines::new(b"\xEF\xBB\xBF{}").position(3), (1, 1));
    }

    #[test]
    fn excerpts_are_one_short_line() {
        assert_eq!(excerpt("a\nb\u{1b}[31m"), "a b [31m");
        assert_eq!(excerpt(&"ä".repeat(70)), format!("{}…", "ä".repeat(60)));
    }

    #[test]
    fn too_many_findings_of_a_rule_are_counted_not_kept() {
        let mut findings = Findings::default();
        for _ in 0..FINDINGS_PER_RULE + 7 {
            findings.push(Finding::new(&crate::rules::unknown_field::RULE, Place::Bytes(0..0), "x"));
        }
        findings.push(Finding::new(&crate::rules::missing_field::RULE, Place::Bytes(0..0), "y"));
        let all = findings.into_vec();
        assert_eq!(all.len(), FINDINGS_PER_RULE + 2);
        assert!(all.last().is_some_and(|last| last.message.starts_with("7 more")));
    }
}
