//! The vocabulary: all tokens by rank, with an open-addressing hash index from bytes to rank.

/// The rank of bytes that are not a token; it is higher than any other.
pub(super) const NO_RANK: u32 = u32::MAX;

/// A slot of the index holds a rank in its low bits and the top bits of the hash above them.
const RANK_BITS: u32 = 18;

/// A slot without a token.
const EMPTY_SLOT: u32 = u32::MAX;

static TOKEN_BYTES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/token_bytes.bin"));

/// Where each token starts in `TOKEN_BYTES`, and where the last one ends.
static TOKEN_STARTS: &[[u8; 4]] = include_bytes!(concat!(env!("OUT_DIR"), "/token_starts.bin")).as_chunks().0;

static TOKEN_SLOTS: &[[u8; 4]] = include_bytes!(concat!(env!("OUT_DIR"), "/token_slots.bin")).as_chunks().0;

/// Returns the rank of a token, or `NO_RANK`. The hash bits in a slot spare most comparisons
/// with other tokens; the comparison of the bytes keeps the answer exact.
pub(super) fn rank_of(bytes: &[u8]) -> u32 {
    let (mut slot, tag) = slot_and_tag(bytes);
    loop {
        let entry = u32::from_le_bytes(TOKEN_SLOTS[slot]);
        if entry == EMPTY_SLOT {
            return NO_RANK;
        }
        let rank = entry % (1 << RANK_BITS);
        if entry >> RANK_BITS == tag && token_bytes(rank as usize) == bytes {
            return rank;
        }
        slot = (slot + 1) % TOKEN_SLOTS.len();
    }
}

fn token_bytes(rank: usize) -> &'static [u8] {
    let start = u32::from_le_bytes(TOKEN_STARTS[rank]) as usize;
    let end = u32::from_le_bytes(TOKEN_STARTS[rank + 1]) as usize;
    &TOKEN_BYTES[start..end]
}

/// Returns the first slot to look at and the hash bits that are kept there. This is FNV-1a; the
/// function of the same name in `build.rs` must do the same.
fn slot_and_tag(bytes: &[u8]) -> (usize, u32) {
    let hash = bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    let slot = usize::try_from(hash % TOKEN_SLOTS.len() as u64);
    let tag = hash >> (32 + RANK_BITS);
    (slot.expect("the slot count is a usize"), tag as u32)
}
