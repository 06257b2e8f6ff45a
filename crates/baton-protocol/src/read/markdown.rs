//! Finds the fenced blocks of a Markdown file that may hold a handoff.
//!
//! Goes line by line and knows only fences, quotes and indentation: the rest of Markdown does not matter here, and a
//! parser of all of it would take many times the memory of the text.

use std::borrow::Cow;
use std::ops::Range;

use super::{Block, ConflictMarkers, Format};

/// The fenced blocks of a text.
#[derive(Debug, Default)]
pub struct Fences<'t> {
    /// The blocks that close, in their order.
    pub blocks: Vec<CodeFence<'t>>,
    /// Where a block begins that never closes, as bytes of the file.
    pub open: Option<Range<usize>>,
    /// Where a merge conflict begins outside of all blocks, as bytes of the file.
    pub conflict: Option<usize>,
}

/// One fenced block.
#[derive(Debug)]
pub struct CodeFence<'t> {
    /// The text inside.
    pub block: Block<'t>,
    /// The whole block with its fences, as bytes of the file.
    pub span: Range<usize>,
    /// Whether its language says that it is JSON or YAML; otherwise its content decides.
    pub tagged: bool,
}

/// The text before a fence on its line: indentation, quotes, the mark of a list item.
const BEFORE: [char; 3] = [' ', '\t', '>'];

/// Returns the fenced blocks of a text that begins at `offset` in the file.
pub fn fences(text: &str, offset: usize) -> Fences<'_> {
    let mut found = Fences::default();
    let mut conflict = ConflictMarkers::default();
    let mut open: Option<Opening<'_>> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let span = at..at + line.len();
        at = span.end;
        match open.take() {
            None => {
                conflict.look(line, span.start);
                open = Opening::on(line, span.start);
            }
            Some(opening) if opening.is_closed_by(line) => found.blocks.push(opening.close(span.end, offset)),
            Some(mut opening) => {
                opening.append(text, span, offset);
                open = Some(opening);
            }
        }
    }
    found.open = open.map(|opening| opening.start + offset..opening.start + offset + opening.prefix + 3);
    found.conflict = conflict.found().map(|at| at + offset);
    found
}

/// Returns where the HTML comments outside of all blocks stand, one line each.
pub(super) fn comment_spans(text: &str) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    let mut open: Option<Opening<'_>> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        open = match open.take() {
            Some(opening) => Some(opening).filter(|opening| !opening.is_closed_by(line)),
            None => Opening::on(line, at),
        };
        if open.is_none()
            && let Some(start) = line.find("<!--")
        {
            spans.push(at + start..at + line.trim_end().len());
        }
        at += line.len();
    }
    spans
}

/// A block that has begun.
struct Opening<'t> {
    /// Where its line begins in the text.
    start: usize,
    /// How many bytes precede the fence.
    prefix: usize,
    fence: char,
    length: usize,
    format: Option<Format>,
    content: Block<'t>,
}

impl<'t> Opening<'t> {
    /// Recognises the line that opens a block.
    fn on(line: &str, start: usize) -> Option<Self> {
        let trimmed = line.trim_start_matches(BEFORE);
        let listed = ["- ", "* ", "+ "].iter().find_map(|mark| trimmed.strip_prefix(mark)).map(str::trim_start);
        let fenced = listed.filter(|rest| rest.starts_with("```") || rest.starts_with("~~~")).unwrap_or(trimmed);
        let fence = fenced.chars().next().filter(|fence| matches!(fence, '`' | '~'))?;
        let length = fenced.chars().take_while(|character| *character == fence).count();
        let language = fenced.get(length..)?.trim();
        // Three backticks with more of them on the line are code inside of a text.
        if length < 3 || (fence == '`' && language.contains('`')) {
            return None;
        }
        let content = Block { format: Format::Json, text: Cow::Borrowed(""), segments: Vec::new() };
        let (prefix, format) = (line.len() - fenced.len(), format_of(language));
        Some(Opening { start, prefix, fence, length, format, content })
    }

    fn is_closed_by(&self, line: &str) -> bool {
        let rest = line.trim_start_matches(BEFORE).trim_end();
        rest.len() >= self.length && rest.chars().all(|character| character == self.fence)
    }

    /// Adds one line. Lines that follow each other stay borrowed; an indented block is copied.
    fn append(&mut self, text: &'t str, line: Range<usize>, offset: usize) {
        let is_before = |byte: &u8| matches!(byte, b' ' | b'\t' | b'>');
        let indented =
            text.as_bytes()[line.clone()].iter().take(self.prefix).take_while(|byte| is_before(byte)).count();
        let piece = line.start + indented..line.end;
        let block = &mut self.content;
        let Some((_, first)) = block.segments.first().copied() else {
            block.segments.push((0, piece.start + offset));
            block.text = Cow::Borrowed(&text[piece]);
            return;
        };
        if let Cow::Borrowed(so_far) = block.text
            && first - offset + so_far.len() == piece.start
        {
            block.text = Cow::Borrowed(&text[first - offset..piece.end]);
            return;
        }
        block.segments.push((block.text.len(), piece.start + offset));
        block.text.to_mut().push_str(&text[piece]);
    }

    fn close(mut self, end: usize, offset: usize) -> CodeFence<'t> {
        let by_content =
            if self.content.text.trim_start().starts_with(['{', '[']) { Format::Json } else { Format::Yaml };
        self.content.format = self.format.unwrap_or(by_content);
        if self.content.segments.is_empty() {
            self.content.segments.push((0, self.start + offset));
        }
        CodeFence { block: self.content, span: self.start + offset..end + offset, tagged: self.format.is_some() }
    }
}

/// Returns how a block with this language tag is written, if the tag says so.
fn format_of(language: &str) -> Option<Format> {
    let word = language.split([' ', ',', '{', ':']).next().unwrap_or_default();
    match word.to_ascii_lowercase().as_str() {
        "json" | "jsonc" | "json5" => Some(Format::Json),
        "yaml" | "yml" => Some(Format::Yaml),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(text: &str) -> Vec<String> {
        fences(text, 0).blocks.into_iter().map(|fence| fence.block.text.into_owned()).collect()
    }

    #[test]
    fn finds_blocks_with_their_place() {
        let text = "# T\n\n```json\n{\"a\": 1}\n```\n\n```sh\nls\n```\n";
        let found = fences(text, 0);
        assert_eq!(blocks(text), ["{\"a\": 1}\n", "ls\n"]);
        assert_eq!((found.blocks[0].tagged, found.blocks[1].tagged), (true, false));
        assert_eq!(found.blocks[0].block.to_file(1), text.find("\"a\"").expect("there"));
    }

    #[test]
    fn blocks_inside_a_list_lose_their_indentation_but_not_their_place() {
        for text in
            ["- item\n\n  ```json\n  {\n    \"a\": 1\n  }\n  ```\n", "> ```json\n> {\n>   \"a\": 1\n> }\n> ```\n"]
        {
            let found = fences(text, 0).blocks;
            assert_eq!(found[0].block.text, "{\n  \"a\": 1\n}\n");
            let inside = found[0].block.text.find("\"a\"").expect("there");
            assert_eq!(&text[found[0].block.to_file(inside)..][..3], "\"a\"");
        }
    }

    #[test]
    fn a_block_closes_with_as_many_marks_as_it_opened() {
        assert_eq!(blocks("````md\n```json\n{}\n```\n````\n"), ["```json\n{}\n```\n"]);
        assert_eq!(blocks("~~~\n```\n~~~\n"), ["```\n"]);
        assert_eq!(blocks("text with ```code``` inside\n"), Vec::<String>::new());
        assert_eq!(blocks("- ```json\n  {}\n  ```\n"), ["{}\n"]);
    }

    #[test]
    fn a_block_that_never_closes_is_open() {
        assert_eq!(fences("text\n\n```json\n{\"a\":\n", 0).open, Some(6..9));
        assert_eq!(fences("text\n\n````sh\nls\n```\n", 0).open, Some(6..9));
        assert_eq!(fences("text\n\n    indented\n", 0).open, None);
    }

    #[test]
    fn carriage_returns_do_not_move_positions() {
        let text = "a\r\n\r\n```json\r\n{\r\n\"k\": 1\r\n}\r\n```\r\n";
        let found = fences(text, 0).blocks;
        let inside = found[0].block.text.find("\"k\"").expect("there");
        assert_eq!(&text[found[0].block.to_file(inside)..][..3], "\"k\"");
    }

    #[test]
    fn conflicts_count_outside_of_blocks_only() {
        let conflict = "<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n";
        assert_eq!(fences(&format!("text\n{conflict}"), 3).conflict, Some(8));
        assert_eq!(fences(&format!("```\n{conflict}```\n"), 0).conflict, None);
    }
}
