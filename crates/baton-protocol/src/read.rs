//! Finds and parses: from bytes to a tree with positions. Fails closed and judges nothing.
//!
//! Every limit on what may be read lives here. What cannot be read becomes exactly one `Trouble` with its
//! place and what to do; it never becomes a half-read document.

pub mod allow;
mod blockless;
pub mod json;
pub mod locate;
pub mod markdown;
pub mod yaml;
mod yaml_mistakes;

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use crate::diagnostic::excerpt;
use crate::tree::Node;

pub use blockless::is_blockless;
pub(crate) use blockless::is_object;

/// The largest document that is read.
pub const BYTES_MAX: usize = 8 * 1024 * 1024;
/// The deepest nesting of lists and objects.
pub const DEPTH_MAX: usize = 64;
/// The most values (after YAML aliases are followed) that one document may hold.
pub const VALUES_MAX: usize = 100_000;

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One JSON value.
    Json,
    /// One YAML document.
    Yaml,
    /// Markdown that ends in a fenced JSON or YAML block.
    Markdown,
}

impl Format {
    /// Returns the format that a file name promises.
    pub fn of_path(path: &str) -> Option<Format> {
        let extension = path.rsplit(['/', '\\']).next()?.rsplit_once('.')?.1.to_ascii_lowercase();
        match extension.as_str() {
            "json" => Some(Format::Json),
            "yaml" | "yml" => Some(Format::Yaml),
            "md" | "markdown" | "mdx" => Some(Format::Markdown),
            _ => None,
        }
    }

    /// Guesses the format of a text that came without a name.
    pub fn of_text(text: &str) -> Format {
        let fenced = |line: &str| {
            let line = line.trim_start();
            line.starts_with("```") || line.starts_with("~~~")
        };
        let begins = |word: &str| text.trim_start().starts_with(word);
        match text.trim_start().bytes().next() {
            Some(b'{' | b'[') => Format::Json,
            // A package may quote fenced code in its texts.
            _ if ["handoff:", "acknowledgment:", "baton:"].iter().any(|root| begins(root)) => Format::Yaml,
            _ if text.lines().any(fenced) => Format::Markdown,
            _ => Format::Yaml,
        }
    }
}

/// Why a text could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// What is wrong.
    pub message: String,
    /// Where, as bytes of the text that was being read.
    pub span: Range<usize>,
    /// What to do about it.
    pub help: Option<String>,
}

impl Trouble {
    /// Makes a trouble without help.
    pub fn new(message: impl Into<String>, span: Range<usize>) -> Self {
        Trouble { message: message.into(), span, help: None }
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// The text of one document and where it lies in the file.
#[derive(Debug, Clone)]
pub struct Block<'t> {
    /// JSON or YAML; never Markdown.
    pub format: Format,
    /// The text, without the indentation of a Markdown list around it.
    pub text: Cow<'t, str>,
    /// Pairs of (offset in `text`, offset in the file), ascending, at least one.
    pub segments: Vec<(usize, usize)>,
}

impl<'t> Block<'t> {
    /// Makes a block of a whole text that begins at `offset` in the file.
    pub fn whole(format: Format, text: &'t str, offset: usize) -> Self {
        Block { format, text: Cow::Borrowed(text), segments: vec![(0, offset)] }
    }

    /// Translates an offset in the block into one in the file.
    pub fn to_file(&self, offset: usize) -> usize {
        let index = self.segments.partition_point(|(start, _)| *start <= offset).saturating_sub(1);
        let (start, file) = self.segments.get(index).copied().unwrap_or((0, 0));
        file + offset.saturating_sub(start)
    }

    /// Translates a range in the block into one in the file.
    pub fn span_to_file(&self, span: Range<usize>) -> Range<usize> {
        let start = self.to_file(span.start);
        start..self.to_file(span.end.max(span.start)).max(start)
    }

    /// Parses the text of the block.
    pub fn parse(&self) -> Result<Node<'_>, Trouble> {
        match self.format {
            Format::Json => json::parse(&self.text),
            Format::Yaml | Format::Markdown => yaml::parse(&self.text),
        }
    }
}

/// Decodes a file into text, without its byte order mark.
///
/// Returns the text and the number of bytes before it.
pub fn decode(bytes: &[u8]) -> Result<(&str, usize), Trouble> {
    if bytes.len() > BYTES_MAX {
        return Err(too_large(bytes.len() as u64));
    }
    let mark = if bytes.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    if bytes.starts_with(b"\xFF\xFE") || bytes.starts_with(b"\xFE\xFF") {
        return Err(Trouble::new("the file is UTF-16, not UTF-8", 0..2).help("save it as UTF-8"));
    }
    if let Some(at) = memchr::memchr(0, bytes) {
        return Err(Trouble::new(format!("the file is binary: byte {at} is NUL"), at..at + 1)
            .help("hand over text: JSON, YAML or Markdown"));
    }
    let text = std::str::from_utf8(&bytes[mark..]).map_err(|error| {
        let at = mark + error.valid_up_to();
        Trouble::new(format!("the file is not UTF-8 text: byte {at} is invalid"), at..at + 1)
            .help("save it as UTF-8; a handoff is never guessed from damaged text")
    })?;
    if text.trim().is_empty() {
        return Err(Trouble::new("the file is empty", 0..0).help("an agent that hands over nothing has not finished"));
    }
    Ok((text, mark))
}

/// Explains that a text has a merge conflict at a place in the file.
pub fn conflicted(at: usize) -> Trouble {
    Trouble::new("the file has merge conflict markers", at..at + 7)
        .help("resolve the conflict; either side could be the handoff")
}

/// Explains that a document of so many bytes is not read.
pub fn too_large(bytes: u64) -> Trouble {
    Trouble::new(format!("the document has at least {bytes} bytes; a handoff has at most {BYTES_MAX} (8 MiB)"), 0..0)
        .help("hand over large material as an artifact and refer to its path")
}

/// Looks for a merge conflict: all three markers, in order, at line starts.
#[derive(Debug, Default)]
pub struct ConflictMarkers {
    start: Option<usize>,
    split: bool,
    complete: bool,
}

impl ConflictMarkers {
    /// Looks at one line that begins at an offset.
    pub fn look(&mut self, line: &str, at: usize) {
        match line.as_bytes().first() {
            Some(b'<') if self.start.is_none() && line.starts_with("<<<<<<< ") => self.start = Some(at),
            Some(b'=') if self.start.is_some() && line.starts_with("=======") => self.split = true,
            Some(b'>') if self.split && line.starts_with(">>>>>>> ") => self.complete = true,
            _ => {}
        }
    }

    /// Returns where the conflict begins.
    pub fn found(&self) -> Option<usize> {
        if self.complete { self.start } else { None }
    }
}

/// Returns where a merge conflict begins in a text.
pub fn conflict(text: &str) -> Option<usize> {
    // Almost no text has the first marker, and then there is no need for lines.
    memchr::memmem::find(text.as_bytes(), b"<<<<<<< ")?;
    let mut conflict = ConflictMarkers::default();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        conflict.look(line, at);
        at += line.len();
    }
    conflict.found()
}

/// Objects up to this size are searched for duplicate keys by comparing, larger ones by hashing.
const SMALL_OBJECT: usize = 32;

/// The names of a large object.
#[derive(Debug, Default)]
struct Names<'t>(HashSet<Cow<'t, str>>);

impl<'t> Names<'t> {
    /// Returns whether a key is among the members already.
    #[expect(clippy::ptr_arg, reason = "a borrowed name is kept without a copy")]
    fn repeats(&mut self, key: &Cow<'t, str>, members: &[(Cow<'t, str>, Node<'t>)]) -> bool {
        if members.len() < SMALL_OBJECT {
            return members.iter().any(|(name, _)| name == key);
        }
        if self.0.is_empty() {
            self.0.extend(members.iter().map(|(name, _)| name.clone()));
        }
        !self.0.insert(key.clone())
    }
}

/// The message for a key that is there twice.
fn twice(key: &str) -> String {
    format!("duplicate key `{}`", excerpt(key))
}

/// What to do about a key that is there twice.
const TWICE_HELP: &str = "keep one of the two; programs disagree about which one counts";

/// The words for what is nested deeper than `DEPTH_MAX`.
const TOO_DEEP: &str = "lists and objects are nested more than 64 deep";

/// What to do about too much of something.
const TOO_MUCH_HELP: &str = "hand over large material as an artifact and refer to its path";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_come_from_names_and_otherwise_from_the_text() {
        assert_eq!(Format::of_path("a/b.report.JSON"), Some(Format::Json));
        assert_eq!(Format::of_path("a.b/report"), None);
        assert_eq!(Format::of_text("\n {"), Format::Json);
        assert_eq!(Format::of_text("# Report\n\n```json\n{}\n```\n"), Format::Markdown);
        assert_eq!(Format::of_text("handoff:\n  id: x\n"), Format::Yaml);
    }

    #[test]
    fn what_is_not_text_is_refused_with_its_place() {
        assert!(decode(b"").is_err_and(|trouble| trouble.message.contains("empty")));
        assert!(decode(b"ab\0c").is_err_and(|trouble| trouble.span == (2..3)));
        assert!(decode(b"ab\xFF").is_err_and(|trouble| trouble.span == (2..3)));
        assert!(decode(b"\xFF\xFEa").is_err_and(|trouble| trouble.message.contains("UTF-16")));
        assert_eq!(decode(b"\xEF\xBB\xBF{}"), Ok(("{}", 3)));
    }

    #[test]
    fn conflicts_need_all_three_markers_in_order() {
        assert_eq!(conflict("a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> other\n"), Some(2));
        assert_eq!(conflict("a\n<<<<<<< HEAD\nonly one\n"), None);
        assert_eq!(conflict("Title\n=======\n"), None);
    }
}
