//! What the kernel refuses to everything in a cage: its keyrings, which no namespace hides. Whoever calls them is told that there
//! are none.

use std::io::{self, PipeReader, Write as _};

/// The calls `add_key`, `request_key` and `keyctl`, by the architecture that a process calls by. One kernel may know several.
const KEYRINGS: [(u32, [u32; 3]); 5] = [
    (0xc000_003e, [248, 249, 250]),
    (0x4000_0003, [286, 287, 288]),
    (0xc000_00b7, [217, 218, 219]),
    (0x4000_0028, [309, 310, 311]),
    (0xc000_00f3, [217, 218, 219]),
];

/// With this bit, programs of 64 bits with addresses of 32 call by the first of these architectures.
const SHORT_ADDRESSES: u32 = 0x4000_0000;

/// Loads what a call is made by: its number, or its architecture.
const LOAD: u16 = 0x20;
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;

/// Leaps if that equals.
const EQUALS: u16 = 0x15;

/// Ends with an answer.
const ANSWER: u16 = 0x06;
const ALLOWED: u32 = 0x7fff_0000;
const NOT_IMPLEMENTED: u32 = 0x0005_0000 | 38;

/// An instruction of a filter: what it does, how many instructions it leaps over if that is so or not, and its operand.
type Instruction = (u16, u8, u8, u32);

/// Opens the filter to be read by bubblewrap.
pub(super) fn open() -> io::Result<PipeReader> {
    let (read, mut write) = io::pipe()?;
    // It fits into any pipe, so nobody has to read meanwhile.
    write.write_all(&bytes(&filter()))?;
    Ok(read)
}

fn filter() -> Vec<Instruction> {
    let mut filter = vec![(LOAD, 0, 0, ARCHITECTURE)];
    for (architecture, calls) in KEYRINGS {
        let short = calls.map(|call| call | SHORT_ADDRESSES);
        let numbers = [calls, short].concat();
        let count = numbers.len() as u8;
        filter.push((EQUALS, 0, count + 3, architecture));
        filter.push((LOAD, 0, 0, NUMBER));
        filter.extend(numbers.iter().zip((1..=count).rev()).map(|(number, ahead)| (EQUALS, ahead, 0, *number)));
        filter.push((ANSWER, 0, 0, ALLOWED));
        filter.push((ANSWER, 0, 0, NOT_IMPLEMENTED));
    }
    filter.push((ANSWER, 0, 0, ALLOWED));
    filter
}

fn bytes(filter: &[Instruction]) -> Vec<u8> {
    let one = |(what, so, not, operand): &Instruction| {
        [&what.to_ne_bytes()[..], &[*so, *not], &operand.to_ne_bytes()].concat()
    };
    filter.iter().flat_map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs the filter as the kernel does.
    fn answer(architecture: u32, number: u32) -> u32 {
        let (filter, mut at, mut loaded) = (filter(), 0, 0);
        loop {
            let (what, so, not, operand) = filter[at];
            at += 1;
            match what {
                LOAD => loaded = if operand == NUMBER { number } else { architecture },
                EQUALS => at += usize::from(if loaded == operand { so } else { not }),
                _ => return operand,
            }
        }
    }

    #[test]
    fn only_keyrings_are_refused() {
        for (architecture, calls) in KEYRINGS {
            for call in calls {
                assert_eq!(answer(architecture, call), NOT_IMPLEMENTED);
                assert_eq!(answer(architecture, call | SHORT_ADDRESSES), NOT_IMPLEMENTED);
            }
            for other in [0, 1, calls[0] - 1, calls[2] + 1, 435] {
                assert_eq!(answer(architecture, other), ALLOWED, "{architecture:x} {other}");
            }
        }
        assert_eq!(answer(0x1234, 250), ALLOWED, "an architecture that nobody knows");
        assert_eq!(bytes(&filter()).len() % 8, 0);
    }
}
