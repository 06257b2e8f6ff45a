//! Finds the fenced blocks of a Markdown file that may hold a handoff.

use std::borrow::Cow;
use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use super::{Block, Format};

/// The fenced blocks of a text.
#[derive(Debug, Default)]
pub struct Fences<'t> {
    /// The JSON and YAML blocks that close, in their order.
    pub blocks: Vec<Fence<'t>>,
    /// Where a block of any language begins that never closes, as bytes of the file.
    pub open: Option<Range<usize>>,
}

/// One fenced block.
#[derive(Debug)]
pub struct Fence<'t> {
    /// What stands inside.
    pub block: Block<'t>,
    /// The whole block with its fences, as bytes of the file.
    pub span: Range<usize>,
}

/// Returns the fenced JSON and YAML blocks of a text that begins at `offset` in the file.
pub fn fences(text: &str, offset: usize) -> Fences<'_> {
    let mut found = Fences::default();
    let mut open: Option<(Format, Block<'_>)> = None;
    let mut fenced = false;
    for (event, span) in Parser::new_ext(text, Options::empty()).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(kind)) => {
                fenced = kind.is_fenced();
                let language = if let CodeBlockKind::Fenced(language) = kind { language } else { "text".into() };
                open = format_of(&language).map(|format| (format, empty(format)));
            }
            Event::Text(_) => {
                if let Some((_, block)) = &mut open {
                    append(block, text, span, offset);
                }
            }
            Event::End(TagEnd::CodeBlock) => {
                let block = open.take();
                if fenced && !is_closed(&text[span.clone()]) {
                    found.open = Some(span.start + offset..span.start + offset + 3);
                } else if let Some((format, block)) = block {
                    found.blocks.extend(finish(format, block, span, offset));
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

fn finish<'t>(format: Format, mut block: Block<'t>, span: Range<usize>, offset: usize) -> Option<Fence<'t>> {
    block.format = match format {
        Format::Markdown if block.text.trim_start().starts_with(['{', '[']) => Format::Json,
        // An untagged block that is no JSON is more often program output than YAML.
        Format::Markdown => return None,
        tagged => tagged,
    };
    if block.segments.is_empty() {
        block.segments.push((0, span.start + offset));
    }
    Some(Fence { block, span: span.start + offset..span.end + offset })
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
        let found = fences(text, 0).blocks;
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].block.text, "{\"a\": 1}\n");
        assert_eq!(found[0].block.to_file(1), text.find("\"a\"").expect("there"));
    }

    #[test]
    fn blocks_inside_a_list_lose_their_indentation_but_not_their_place() {
        let text = "- item\n\n  ```json\n  {\n    \"a\": 1\n  }\n  ```\n";
        let found = fences(text, 0).blocks;
        assert_eq!(found[0].block.text, "{\n  \"a\": 1\n}\n");
        let inside = found[0].block.text.find("\"a\"").expect("there");
        assert_eq!(&text[found[0].block.to_file(inside)..][..3], "\"a\"");
    }

    #[test]
    fn a_block_that_never_closes_is_open() {
        assert_eq!(fences("text\n\n```json\n{\"a\":\n", 0).open, Some(6..9));
        assert_eq!(fences("text\n\n```sh\nls\n", 0).open, Some(6..9));
        assert_eq!(fences("text\n\n    indented\n", 0).open, None);
    }

    #[test]
    fn carriage_returns_do_not_move_positions() {
        let text = "a\r\n\r\n```json\r\n{\r\n\"k\": 1\r\n}\r\n```\r\n";
        let found = fences(text, 0).blocks;
        let inside = found[0].block.text.find("\"k\"").expect("there");
        assert_eq!(&text[found[0].block.to_file(inside)..][..3], "\"k\"");
    }
}
