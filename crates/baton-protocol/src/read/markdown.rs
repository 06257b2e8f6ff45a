//! Finds the fenced blocks of a Markdown file that may hold a handoff.

use std::borrow::Cow;
use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use super::{Block, Format};

/// One fenced block.
#[derive(Debug)]
pub struct Fence<'t> {
    /// What stands inside.
    pub block: Block<'t>,
    /// The whole block with its fences, as bytes of the file.
    pub span: Range<usize>,
    /// Whether the closing fence is there.
    pub closed: bool,
}

/// Returns the fenced JSON and YAML blocks of a text that begins at `offset` in the file.
pub fn fences(text: &str, offset: usize) -> Vec<Fence<'_>> {
    let mut found = Vec::new();
    let mut open: Option<(Format, Block<'_>)> = None;
    for (event, span) in Parser::new_ext(text, Options::empty()).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(language))) => {
                open = format_of(&language).map(|format| (format, empty(format)));
            }
            Event::Text(_) => {
                if let Some((_, block)) = &mut open {
                    append(block, text, span, offset);
                }
            }
            Event::End(TagEnd::CodeBlock) => {
                if let Some((format, block)) = open.take() {
                    found.extend(finish(format, block, text, span, offset));
                }
            }
            _ => {}
        }
    }
    found
}

/// Returns where the HTML comments of a text stand; code is no comment.
pub(super) fn comment_spans(text: &str) -> Vec<Range<usize>> {
    Parser::new_ext(text, Options::empty())
        .into_offset_iter()
        .filter(|(event, _)| matches!(event, Event::Html(_) | Event::InlineHtml(_)))
        .map(|(_, span)| span)
        .collect()
}

fn empty<'t>(format: Format) -> Block<'t> {
    Block { format, text: Cow::Borrowed(""), segments: Vec::new() }
}

/// Returns how a block with this language tag may be written; untagged ones are decided by their content.
fn format_of(language: &str) -> Option<Format> {
    let word = language.split([' ', ',', '{']).next().unwrap_or_default();
    match word.to_ascii_lowercase().as_str() {
        "json" | "jsonc" | "json5" => Some(Format::Json),
        "yaml" | "yml" => Some(Format::Yaml),
        "" => Some(Format::Markdown),
        _ => None,
    }
}

/// Adds one piece of text. Pieces that follow each other stay borrowed; an indented block is copied.
fn append<'t>(block: &mut Block<'t>, text: &'t str, span: Range<usize>, offset: usize) {
    let piece = &text[span.clone()];
    let Some((first_in_block, first_in_file)) = block.segments.first().copied() else {
        block.segments.push((0, span.start + offset));
        block.text = Cow::Borrowed(piece);
        return;
    };
    if let Cow::Borrowed(so_far) = block.text {
        let start = first_in_file - offset - first_in_block;
        if start + so_far.len() == span.start {
            block.text = Cow::Borrowed(&text[start..span.end]);
            return;
        }
    }
    block.segments.push((block.text.len(), span.start + offset));
    block.text.to_mut().push_str(piece);
}

fn finish<'t>(
    format: Format,
    mut block: Block<'t>,
    text: &str,
    span: Range<usize>,
    offset: usize,
) -> Option<Fence<'t>> {
    block.format = match format {
        Format::Markdown if block.text.trim_start().starts_with(['{', '[']) => Format::Json,
        // An untagged block that is no JSON is more often program output than YAML.
        Format::Markdown => return None,
        tagged => tagged,
    };
    if block.segments.is_empty() {
        block.segments.push((0, span.start + offset));
    }
    let closed = is_closed(&text[span.clone()]);
    Some(Fence { block, span: span.start + offset..span.end + offset, closed })
}

fn is_closed(block: &str) -> bool {
    let mut lines = block.trim_end().lines();
    let opening = lines.next().unwrap_or_default().trim_start();
    let fence = opening.chars().next().unwrap_or('`');
    let last = lines.next_back().unwrap_or_default().trim_start_matches(['>', ' ', '\t']);
    last.len() >= 3 && last.chars().all(|character| character == fence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_tagged_blocks_with_their_place() {
        let text = "# T\n\n```json\n{\"a\": 1}\n```\n\n```sh\nls\n```\n";
        let found = fences(text, 0);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].block.text, "{\"a\": 1}\n");
        assert!(found[0].closed);
        assert_eq!(found[0].block.to_file(1), text.find("\"a\"").expect("there"));
    }

    #[test]
    fn blocks_inside_a_list_lose_their_indentation_but_not_their_place() {
        let text = "- item\n\n  ```json\n  {\n    \"a\": 1\n  }\n  ```\n";
        let found = fences(text, 0);
        assert_eq!(found[0].block.text, "{\n  \"a\": 1\n}\n");
        let inside = found[0].block.text.find("\"a\"").expect("there");
        assert_eq!(&text[found[0].block.to_file(inside)..][..3], "\"a\"");
    }

    #[test]
    fn a_block_that_never_closes_is_open() {
        assert!(!fences("text\n\n```json\n{\"a\":\n", 0)[0].closed);
    }

    #[test]
    fn carriage_returns_do_not_move_positions() {
        let text = "a\r\n\r\n```json\r\n{\r\n\"k\": 1\r\n}\r\n```\r\n";
        let found = fences(text, 0);
        let inside = found[0].block.text.find("\"k\"").expect("there");
        assert_eq!(&text[found[0].block.to_file(inside)..][..3], "\"k\"");
    }
}
