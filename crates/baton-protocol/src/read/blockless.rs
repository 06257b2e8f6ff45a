//! Distinguishes prose from documents, so that a text without a block is reported as that and not as a broken document.

use super::markdown::fences;
use super::{Block, Format};
use crate::tree::Node;

/// From how many lines at most an object is looked for: a log can have a line of JSON for everything that happened.
const BEGINNINGS_MAX: usize = 64;

/// Returns whether nothing in a text can be meant as a document: prose, with or without code in it.
pub fn is_blockless(text: &str) -> bool {
    match Format::of_text(text) {
        Format::Json => !text.trim_start().starts_with('{') && !is_object(&Block::whole(Format::Json, text, 0)),
        Format::Yaml => !begins_with_a_member(text),
        Format::Markdown => {
            let found = fences(text, 0);
            // A block that never closes was cut off, and nobody knows what it would have been.
            found.open.is_none() && !found.blocks.iter().any(|fence| fence.tagged || is_object(&fence.block))
        }
    }
}

/// Returns the JSON object that ends a text, if it begins with a line of its own and the text has no other block that may
/// be a document. An object inside of something that was cut off is none.
pub fn last_object(text: &str) -> Option<&str> {
    let text = text.trim_end();
    let found = fences(text, 0);
    let has_blocks = || found.blocks.iter().any(|fence| fence.tagged || is_object(&fence.block));
    if !text.ends_with('}') || found.open.is_some() || found.conflict.is_some() || has_blocks() {
        return None;
    }
    let ends_of_lines = memchr::memrchr_iter(b'\n', text.as_bytes()).map(|end| end + 1);
    let beginnings = ends_of_lines.chain([0]).filter(|start| text[*start..].starts_with('{'));
    let mut objects = beginnings.take(BEGINNINGS_MAX).map(|start| text.split_at(start));
    let is_whole = |(_, object): &(&str, &str)| is_object(&Block::whole(Format::Json, object, 0));
    let (before, object) = objects.find(is_whole)?;
    (!before.trim_end().ends_with(['{', '[', ',', ':'])).then_some(object)
}

/// Returns whether a block holds an object.
pub(crate) fn is_object(block: &Block<'_>) -> bool {
    matches!(block.parse(), Ok(Node::Object(_)))
}

/// Returns whether the first line that says something is a member, such as `handoff:` or `"status": done`.
fn begins_with_a_member(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let Some(line) = lines.find(|line| *line != "---") else { return false };
    let is_word = |word: &str| {
        let word = word.trim_matches(['"', '\'']);
        !word.is_empty() && word.chars().all(|letter| letter.is_alphanumeric() || "_-.".contains(letter))
    };
    line.split_once(':').is_some_and(|(word, rest)| is_word(word) && (rest.is_empty() || rest.starts_with(' ')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_has_no_block() {
        for prose in [
            "The architecture is ready; see the file.",
            "# Architecture\n\nThe parser: two passes.\n",
            "- parser\n- tests: three\n",
            "[1] is the first of the notes",
            "Run it:\n\n```sh\nmake\n```\n",
            "I wrote out/architecture.md. Note: it ends with the block.\nDone.\n",
            "",
        ] {
            assert!(is_blockless(prose), "{prose}");
        }
    }

    #[test]
    fn an_object_that_ends_a_text_is_found_behind_other_lines() {
        let report = "{\n  \"baton\": 1,\n  \"document\": \"report\"\n}";
        for before in ["", "step 1 of a job\n", "note: it is done\n\n", "{\"level\": \"info\"}\n", "```sh\nmake\n```\n"]
        {
            assert_eq!(last_object(&format!("{before}{report}\n\n")), Some(report), "{before}");
        }
    }

    #[test]
    fn an_object_that_is_cut_off_or_does_not_end_the_text_or_stands_beside_a_block_is_not_taken() {
        for text in [
            "one\n{\"baton\": 1}\ntwo",
            "one {\"baton\": 1}",
            "one\n{\"baton\": 1",
            "one\n{\"baton\": 1} }",
            "{\"outcome\": \"failed\", \"told\":\n{\"baton\": 1}",
            "[\n{\"baton\": 1},\n{\"baton\": 1}",
            "one\n```json\n{\"baton\": 1}",
            "```json\n{\"agent\": \"a\"}\n```\n{\"baton\": 1}",
            "```\n{\"baton\": 1}\n```",
            "no object",
            "",
        ] {
            assert_eq!(last_object(text), None, "{text}");
        }
    }

    #[test]
    fn what_may_be_meant_as_a_document_is_no_prose() {
        for document in [
            "{\"agent\": ",
            "Done.\n\n```json\n{\"agent\": \"lead\",}\n```\n",
            "Done.\n\n```\n{\"agent\": \"lead\"}\n```\n",
            "Done.\n\n```json\n{\"agent\"",
            "handoff:\n  from: [",
            "# Report\n---\nstatus: complete\n",
        ] {
            assert!(!is_blockless(document), "{document}");
        }
    }
}
