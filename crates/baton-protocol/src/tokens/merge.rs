//! Merging: a piece that is a token counts as one. Otherwise its bytes are parts that are merged
//! pairwise, the pair whose union has the lowest rank first and the leftmost of equal ones.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::vocabulary::{NO_RANK, rank_of};

/// Pieces above this length are merged with a heap, since scanning takes quadratic time.
const LONGEST_SCAN: usize = 128;

/// A range of a piece that ends where the next part starts.
pub(super) struct Part {
    start: usize,
    /// The rank of this part and the next one together.
    pair_rank: u32,
}

/// Returns how many tokens a piece has. The buffer is reused from piece to piece.
pub(super) fn piece_count(piece: &[u8], parts: &mut Vec<Part>) -> usize {
    if rank_of(piece) != NO_RANK {
        1
    } else if piece.len() <= LONGEST_SCAN {
        count_by_scan(piece, parts)
    } else {
        count_by_heap(piece)
    }
}

/// Returns the rank of the two bytes from `start` on.
fn byte_pair_rank(piece: &[u8], start: usize) -> u32 {
    piece.get(start..start + 2).map_or(NO_RANK, rank_of)
}

pub(super) fn count_by_scan(piece: &[u8], parts: &mut Vec<Part>) -> usize {
    parts.clear();
    // The last part is empty and only marks the end of the one before it.
    parts.extend((0..=piece.len()).map(|start| Part { start, pair_rank: byte_pair_rank(piece, start) }));
    while let Some(merged) = position_of_lowest(parts) {
        parts.remove(merged + 1);
        for position in merged.saturating_sub(1)..=merged {
            let end = parts.get(position + 2).map(|part| part.start);
            let start = parts[position].start;
            parts[position].pair_rank = end.map_or(NO_RANK, |end| rank_of(&piece[start..end]));
        }
    }
    parts.len() - 1
}

/// Returns the position of the first part with the lowest pair rank, if any pair is a token.
fn position_of_lowest(parts: &[Part]) -> Option<usize> {
    let (position, lowest) = parts.iter().enumerate().min_by_key(|(_, part)| part.pair_rank)?;
    (lowest.pair_rank != NO_RANK).then_some(position)
}

/// A part in the list that `count_by_heap` keeps; it is stored at the position where it starts.
struct Link {
    previous: usize,
    end: usize,
    /// The rank of this part and the next one together. Ranks of one position never repeat, as
    /// each merge makes the union longer, so a heap entry with another rank is outdated.
    pair_rank: u32,
}

pub(super) fn count_by_heap(piece: &[u8]) -> usize {
    let mut links: Vec<Link> = (0..piece.len())
        .map(|start| Link {
            previous: start.saturating_sub(1),
            end: start + 1,
            pair_rank: byte_pair_rank(piece, start),
        })
        .collect();
    let pairs = links.iter().enumerate();
    let mut heap: BinaryHeap<_> = pairs
        .filter(|(_, link)| link.pair_rank != NO_RANK)
        .map(|(start, link)| Reverse((link.pair_rank, start)))
        .collect();
    let mut count = piece.len();
    while let Some(Reverse((rank, start))) = heap.pop() {
        if links[start].pair_rank != rank {
            continue;
        }
        merge_with_next(&mut links, start);
        count -= 1;
        for changed in [links[start].previous, start] {
            let pair_rank = linked_pair_rank(piece, &links, changed);
            if links[changed].pair_rank != pair_rank {
                links[changed].pair_rank = pair_rank;
                if pair_rank != NO_RANK {
                    heap.push(Reverse((pair_rank, changed)));
                }
            }
        }
    }
    count
}

/// Joins the part at `start` with the next one, whose own heap entry becomes outdated.
fn merge_with_next(links: &mut [Link], start: usize) {
    let next = links[start].end;
    let end = links[next].end;
    links[next].pair_rank = NO_RANK;
    links[start].end = end;
    if let Some(after) = links.get_mut(end) {
        after.previous = start;
    }
}

/// Returns the rank of the part at `start` and the next one together.
fn linked_pair_rank(piece: &[u8], links: &[Link], start: usize) -> u32 {
    let next = links.get(links[start].end);
    next.map_or(NO_RANK, |next| rank_of(&piece[start..next.end]))
}
