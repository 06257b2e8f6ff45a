//! One finding: where it is, and what is wrong there.

use std::fmt;

use crate::text_file::TextFile;

/// Something that is not as it should be. Violations sort by place.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Violation {
    path: String,
    line: usize,
    message: String,
}

impl Violation {
    /// Returns a violation at a line, counted from one.
    pub(crate) fn new(file: &TextFile, line: usize, message: impl Into<String>) -> Self {
        Self { path: file.path.clone(), line, message: message.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}: {}", self.path, self.line, self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn violation_reads_as_place_and_message() {
        let violation = Violation::new(&TextFile::new("src/a.rs", ""), 7, "too long");
        assert_eq!(violation.to_string(), "src/a.rs:7: too long");
    }

    #[test]
    fn violations_of_one_file_sort_by_line() {
        let file = TextFile::new("a.rs", "");
        assert!(Violation::new(&file, 9, "a") < Violation::new(&file, 10, "a"));
    }
}
