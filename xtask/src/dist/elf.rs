//! Whether a Linux program needs a loader, and with it libraries of the machine that it runs on.

/// The segment that names the loader.
const INTERPRETER: u32 = 3;

/// Returns whether this is a 64-bit little-endian ELF program without a loader.
pub(super) fn is_static(program: &[u8]) -> bool {
    segments(program).is_some_and(|kinds| !kinds.contains(&INTERPRETER))
}

/// Returns the kind of each segment of the program.
fn segments(program: &[u8]) -> Option<Vec<u32>> {
    if !program.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let table = usize::try_from(u64::from_le_bytes(bytes(program, 32)?)).ok()?;
    let size = usize::from(u16::from_le_bytes(bytes(program, 54)?));
    let count = usize::from(u16::from_le_bytes(bytes(program, 56)?));
    (0..count).map(|index| Some(u32::from_le_bytes(bytes(program, table + index * size)?))).collect()
}

fn bytes<const N: usize>(program: &[u8], from: usize) -> Option<[u8; N]> {
    program.get(from..)?.get(..N)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(kinds: &[u32]) -> Vec<u8> {
        let mut program = vec![0; 64 + 56 * kinds.len()];
        program[..6].copy_from_slice(b"\x7fELF\x02\x01");
        program[32] = 64;
        program[54] = 56;
        program[56] = u8::try_from(kinds.len()).unwrap();
        for (index, kind) in kinds.iter().enumerate() {
            program[64 + 56 * index..][..4].copy_from_slice(&kind.to_le_bytes());
        }
        program
    }

    #[test]
    fn program_without_a_loader_is_static() {
        assert!(is_static(&program(&[1, 1, 6])));
        assert!(!is_static(&program(&[6, INTERPRETER, 1])));
    }

    #[test]
    fn what_is_not_a_whole_program_is_not_static() {
        assert!(!is_static(b"#!/bin/sh\n"));
        assert!(!is_static(&program(&[1, 1])[..100]));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_test_is_a_program_with_a_loader() {
        let this = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        assert_eq!(is_static(&this), cfg!(target_feature = "crt-static"));
    }
}
