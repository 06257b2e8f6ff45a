//! A text file of the repository, as the checks see it: where it is and what it says.

use std::path::Path;

use anyhow::{Context, Result};

/// A file's path from the root of the repository, with forward slashes, and its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextFile {
    pub(crate) path: String,
    pub(crate) text: String,
}

impl TextFile {
    /// Returns a file that need not exist.
    pub(crate) fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self { path: path.into(), text: text.into() }
    }

    /// Reads a file; returns nothing for what is absent, no ordinary file, or not text.
    pub(crate) fn read(root: &Path, path: &str) -> Result<Option<Self>> {
        let full_path = root.join(path);
        if !full_path.symlink_metadata().is_ok_and(|metadata| metadata.is_file()) {
            return Ok(None);
        }
        let bytes = std::fs::read(&full_path).with_context(|| format!("{path} is unreadable"))?;
        Ok(String::from_utf8(bytes).ok().map(|text| Self::new(path, text)))
    }

    /// Returns the last part of the path.
    pub(crate) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// Returns whether the file is Rust source.
    pub(crate) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs") && !self.path.contains("/tests/fixtures/")
    }

    /// Returns every line with its number, counted from one.
    pub(crate) fn numbered_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_is_the_last_part_of_the_path() {
        assert_eq!(TextFile::new("crates/baton/src/main.rs", "").name(), "main.rs");
        assert_eq!(TextFile::new("README.md", "").name(), "README.md");
    }

    #[test]
    fn absent_file_is_nothing_to_read() {
        let read = TextFile::read(Path::new("."), "no-such-file").unwrap();
        assert_eq!(read, None);
    }

    #[test]
    fn lines_are_counted_from_one() {
        let file = TextFile::new("a.md", "one\ntwo\n");
        let lines: Vec<_> = file.numbered_lines().collect();
        assert_eq!(lines, [(1, "one"), (2, "two")]);
    }
}
