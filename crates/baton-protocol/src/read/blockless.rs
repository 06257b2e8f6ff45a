//! Distinguishes prose from documents, so that a text without a block is reported as that and not as a broken document.

use super::markdown::fences;
use super::{Block, Format};
use crate::tree::Node;

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
