//! Every Rust file opens with `//!`: what it owns and what it refuses to know.

use super::Violation;
use crate::text_file::TextFile;

/// Reports a Rust file whose first line is not an introduction.
pub(crate) fn check(file: &TextFile) -> Vec<Violation> {
    let introduced = file.text.starts_with("//! ");
    if !file.is_rust() || introduced {
        return Vec::new();
    }
    vec![Violation::new(file, 1, "open the file with `//!`: what does it own?")]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_without_introduction_is_reported() {
        for text in ["", "use std::fmt;\n", "\n//! Late.\n", "//!\n", "// Plain.\n"] {
            assert_eq!(check(&TextFile::new("crates/baton/build.rs", text)).len(), 1, "{text:?}");
        }
    }

    #[test]
    fn introduced_file_passes() {
        let text = "//! The life of one handoff.\n\nuse std::fmt;\n";
        assert!(check(&TextFile::new("crates/baton/tests/run.rs", text)).is_empty());
    }

    #[test]
    fn other_files_need_no_introduction() {
        assert!(check(&TextFile::new("README.md", "# Baton\n")).is_empty());
    }
}
