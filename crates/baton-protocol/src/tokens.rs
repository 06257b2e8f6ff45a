//! Counts the tokens of a text as the o200k encoding makes them, without start-up work.
//!
//! It owns splitting, merging and the lookups in the tables that `build.rs` writes. It knows
//! neither special tokens (their names are counted as ordinary text) nor what a count is for.
//! Invariant: every count equals the one of the `bpe-openai` crate, in time O(n log n).

mod merge;
mod pieces;
#[cfg(test)]
mod tests;
mod vocabulary;

use merge::piece_count;
use pieces::piece_length;

/// The encoding that is counted, to be named wherever a count is shown.
pub const ENCODING: &str = "o200k_base";

/// Returns how many tokens `text` has.
#[must_use]
pub fn count(text: &str) -> usize {
    let mut rest = text;
    let mut total = 0;
    let mut parts = Vec::new();
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(piece_length(rest));
        total += piece_count(piece.as_bytes(), &mut parts);
        rest = after;
    }
    total
}

/// Texts up to this size are counted as a whole where only a budget is asked for.
pub const WHOLE_BYTES_MAX: usize = 256 * 1024;

/// Returns the count if `text` has more than `budget` tokens; of its beginning only, if that is over
/// already and the text is larger than [`WHOLE_BYTES_MAX`].
///
/// A token is at least one byte, so short texts are answered without the tables.
#[must_use]
pub fn over_budget(text: &str, budget: usize) -> Option<usize> {
    if text.len() > WHOLE_BYTES_MAX {
        let beginning = count(&text[..text.floor_char_boundary(WHOLE_BYTES_MAX)]);
        if beginning > budget {
            return Some(beginning);
        }
    }
    let (mut rest, mut total, mut parts) = (text, 0, Vec::new());
    while !rest.is_empty() {
        // What is left has at most one token for each byte.
        if total + rest.len() <= budget {
            return None;
        }
        let (piece, after) = rest.split_at(piece_length(rest));
        total += piece_count(piece.as_bytes(), &mut parts);
        rest = after;
    }
    Some(total).filter(|total| *total > budget)
}
