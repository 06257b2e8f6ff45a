//! No Rust file grows beyond what one can keep in mind.

use super::Violation;
use crate::text_file::TextFile;

const LINES_MAX: usize = 500;

/// Reports a Rust file that is too long, at the first line that is too many.
pub(crate) fn check(file: &TextFile) -> Vec<Violation> {
    let lines = file.text.lines().count();
    if !file.is_rust() || lines <= LINES_MAX {
        return Vec::new();
    }
    let message = format!("{lines} lines, at most {LINES_MAX}; which noun is hiding in it?");
    vec![Violation::new(file, LINES_MAX + 1, message)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_of_501_lines_is_reported() {
        let found = check(&TextFile::new("a.rs", "x\n".repeat(501)));
        let reported: Vec<String> = found.iter().map(Violation::to_string).collect();
        assert_eq!(reported, ["a.rs:501: 501 lines, at most 500; which noun is hiding in it?"]);
    }

    #[test]
    fn file_of_500_lines_passes() {
        assert!(check(&TextFile::new("a.rs", "x\n".repeat(500))).is_empty());
    }

    #[test]
    fn prose_may_be_long() {
        assert!(check(&TextFile::new("docs/rules.md", "x\n".repeat(501))).is_empty());
    }
}
