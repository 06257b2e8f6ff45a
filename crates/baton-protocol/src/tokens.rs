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

/// Returns the count if `text` has more than `budget` tokens. A token is at least one byte, so
/// short texts are answered without the tables.
#[must_use]
pub fn over_budget(text: &str, budget: usize) -> Option<usize> {
    if text.len() <= budget {
        return None;
    }
    Some(count(text)).filter(|count| *count > budget)
}
