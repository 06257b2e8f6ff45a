//! Writes the tables that `src/tokens.rs` counts with, in a form that is usable in place.
//!
//! It owns the file formats: the vocabulary (bytes, starts and a hash index of all tokens) and
//! the character sets of the splitting pattern. The vocabulary and the Unicode data come from
//! the crates that the tests compare with, so that both agree by construction. All numbers are
//! little-endian.

use std::{env, fs, path::Path};

use regex_syntax::hir::{Class, HirKind};

/// The character sets of the o200k pattern: the set at position `n` is bit `n` of a character's
/// entry. The order must match the constants in `src/tokens.rs`.
const CHARACTER_SETS: [&str; 6] = [
    r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]",
    r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]",
    r"[^\r\n\p{L}\p{N}]",
    r"\p{N}",
    r"\s",
    r"[^\s\p{L}\p{N}]",
];

/// Characters per block of the character table: small enough that most blocks are shared.
const BLOCK_SIZE: usize = 128;

/// The number of hash slots, a power of two. It leaves more than half of them empty, which keeps
/// the search for a missing token (the most frequent one) short.
const SLOT_COUNT: usize = 1 << 19;

/// A slot holds a rank in its low bits and the top bits of the token's hash above them.
const RANK_BITS: u32 = 18;

/// An empty slot; its low bits are larger than any rank.
const EMPTY_SLOT: u32 = u32::MAX;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let folder = env::var("OUT_DIR").expect("cargo sets OUT_DIR for build scripts");
    let folder = Path::new(&folder);
    write_vocabulary(folder);
    write_character_table(folder);
}

/// Writes `token_bytes.bin` (all tokens by rank, joined), `token_starts.bin` (where each starts,
/// and where the last one ends) and `token_slots.bin` (the hash index from bytes to rank).
fn write_vocabulary(folder: &Path) {
    let vocabulary = &bpe_openai::o200k_base().bpe;
    let token_count = u32::try_from(vocabulary.num_tokens()).expect("ranks are 32 bit numbers");
    assert!(token_count < 1 << RANK_BITS, "a rank must fit its bits");

    let mut bytes = Vec::new();
    let mut starts = vec![0];
    let mut slots = vec![EMPTY_SLOT; SLOT_COUNT];
    for rank in 0..token_count {
        let token = vocabulary.token_bytes(rank);
        bytes.extend_from_slice(token);
        starts.push(u32::try_from(bytes.len()).expect("the vocabulary is a few megabytes"));
        insert(&mut slots, token, rank);
    }
    write(folder, "token_bytes.bin", &bytes);
    write(folder, "token_starts.bin", &little_endian(&starts));
    write(folder, "token_slots.bin", &little_endian(&slots));
}

/// Puts a token into the first free slot at or after the one that its hash names.
fn insert(slots: &mut [u32], token: &[u8], rank: u32) {
    let (mut slot, tag) = slot_and_tag(token);
    while slots[slot] != EMPTY_SLOT {
        slot = (slot + 1) % SLOT_COUNT;
    }
    slots[slot] = tag << RANK_BITS | rank;
}

/// Returns the first slot to look at and the hash bits that are kept there. This is FNV-1a; the
/// function of the same name in `src/tokens.rs` must do the same.
fn slot_and_tag(token: &[u8]) -> (usize, u32) {
    let hash = token
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    let slot = usize::try_from(hash % SLOT_COUNT as u64);
    let tag = hash >> (32 + RANK_BITS);
    (slot.expect("the slot count is a usize"), tag as u32)
}

/// Writes `character_blocks.bin` (which block describes a range of characters) and
/// `character_sets.bin` (the distinct blocks, one byte of set bits per character).
fn write_character_table(folder: &Path) {
    let sets = set_bits_by_character();
    let mut block_numbers = Vec::new();
    let mut blocks: Vec<&[u8]> = Vec::new();
    for block in sets.chunks(BLOCK_SIZE) {
        let known = blocks.iter().position(|other| *other == block);
        let number = known.unwrap_or_else(|| {
            blocks.push(block);
            blocks.len() - 1
        });
        block_numbers.push(u8::try_from(number).expect("there are at most 256 distinct blocks"));
    }
    write(folder, "character_blocks.bin", &block_numbers);
    write(folder, "character_sets.bin", &blocks.concat());
}

/// Returns for every code point which of the character sets it belongs to.
fn set_bits_by_character() -> Vec<u8> {
    let mut sets = vec![0; char::MAX as usize + 1];
    for (bit, pattern) in CHARACTER_SETS.iter().enumerate() {
        let pattern = regex_syntax::parse(pattern).expect("the pattern is valid");
        let HirKind::Class(Class::Unicode(class)) = pattern.kind() else {
            panic!("the pattern is one set of characters");
        };
        for range in class.ranges() {
            for set in &mut sets[range.start() as usize..=range.end() as usize] {
                *set |= 1 << bit;
            }
        }
    }
    sets
}

fn little_endian(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn write(folder: &Path, name: &str, content: &[u8]) {
    fs::write(folder.join(name), content).expect("cargo created OUT_DIR and it is writable");
}
