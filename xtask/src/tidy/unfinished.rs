//! Nothing unfinished is merged: no placeholder, no mark to come back later, no test switched off.

use super::Violation;
use crate::text_file::TextFile;

/// The pieces are put together here, so that this file may be checked like any other.
const MARKS: &[(&str, &str)] = &[
    (concat!("todo", "!("), "write it, or leave the function out"),
    (concat!("unimplemented", "!("), "write it, or leave the function out"),
    (concat!("FIX", "ME"), "correct it, or write down the known behaviour in a test"),
    (concat!("#[", "ignore"), "make the test run, or assert what happens today"),
];

/// Reports every mark in a Rust file.
pub(crate) fn check(file: &TextFile) -> Vec<Violation> {
    if !file.is_rust() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (number, line) in file.numbered_lines() {
        for (mark, advice) in MARKS.iter().filter(|(mark, _)| line.contains(mark)) {
            found.push(Violation::new(file, number, format!("`{mark}` is unfinished; {advice}")));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mark_is_reported_with_its_line() {
        for (mark, _) in MARKS {
            let found = check(&TextFile::new("a.rs", format!("//! A file.\n    {mark}\n")));
            let reported: Vec<String> = found.iter().map(Violation::to_string).collect();
            assert_eq!(reported.len(), 1);
            assert!(reported.iter().all(|line| line.starts_with("a.rs:2: ")));
        }
    }

    #[test]
    fn finished_code_passes() {
        let text = "//! Items to do.\nlet todo = list.ignore();\n#[test]\nunreachable!();\n";
        assert!(check(&TextFile::new("a.rs", text)).is_empty());
    }

    #[test]
    fn prose_may_name_the_marks() {
        for (mark, _) in MARKS {
            assert!(check(&TextFile::new("docs/style.md", *mark)).is_empty());
        }
    }
}
