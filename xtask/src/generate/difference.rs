//! How the files on disk differ from what the program prints today.

use std::collections::BTreeMap;
use std::fmt;

use crate::text_file::TextFile;

/// One file that is not as it would be generated.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Difference {
    pub(crate) path: String,
    pub(crate) kind: Kind,
}

/// In which way a file differs.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The file is not there.
    Missing,
    /// The file says something else, beginning with this line.
    Stale { line: usize },
    /// Nothing generates the file any more.
    Superfluous,
}

impl Difference {
    /// Returns what was done about it once it is corrected.
    pub(crate) fn done(&self) -> String {
        let verb = if self.kind == Kind::Superfluous { "removed" } else { "wrote" };
        format!("{verb} {}", self.path)
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Kind::Missing => write!(formatter, "{}: missing", self.path),
            Kind::Stale { line } => write!(formatter, "{}:{line}: stale from here on", self.path),
            Kind::Superfluous => write!(formatter, "{}: superfluous", self.path),
        }
    }
}

/// Compares what is expected with what is present, by path.
pub(crate) fn find(expected: &[TextFile], present: &BTreeMap<String, String>) -> Vec<Difference> {
    let is_expected = |path: &str| expected.iter().any(|file| file.path == path);
    let superfluous = present.keys().filter(|path| !is_expected(path));
    let superfluous = superfluous.map(|path| Difference { path: path.clone(), kind: Kind::Superfluous });
    expected.iter().filter_map(|file| difference(file, present)).chain(superfluous).collect()
}

fn difference(expected: &TextFile, present: &BTreeMap<String, String>) -> Option<Difference> {
    let kind = match present.get(&expected.path) {
        None => Kind::Missing,
        Some(text) if *text == expected.text => return None,
        Some(text) => Kind::Stale { line: first_different_line(&expected.text, text) },
    };
    Some(Difference { path: expected.path.clone(), kind })
}

fn first_different_line(expected: &str, present: &str) -> usize {
    let pairs = expected.lines().zip(present.lines());
    pairs.take_while(|(expected, present)| expected == present).count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(expected: &[(&str, &str)], present: &[(&str, &str)]) -> Vec<String> {
        let expected: Vec<_> = expected.iter().map(|(path, text)| TextFile::new(*path, *text)).collect();
        let owned = |(path, text): &(&str, &str)| ((*path).to_owned(), (*text).to_owned());
        let present = present.iter().map(owned).collect();
        find(&expected, &present).iter().map(Difference::to_string).collect()
    }

    #[test]
    fn equal_files_do_not_differ() {
        assert!(found(&[("a.json", "{}\n")], &[("a.json", "{}\n")]).is_empty());
    }

    #[test]
    fn missing_stale_and_superfluous_files_are_all_reported() {
        let expected = [("a.json", "{}"), ("b.md", "one\ntwo\n")];
        let present = [("b.md", "one\nthree\n"), ("c.json", "{}")];
        let reported = found(&expected, &present);
        assert_eq!(reported, ["a.json: missing", "b.md:2: stale from here on", "c.json: superfluous"]);
    }

    #[test]
    fn file_that_ends_early_differs_after_its_last_line() {
        let reported = found(&[("b.md", "one\ntwo\n")], &[("b.md", "one\n")]);
        assert_eq!(reported, ["b.md:2: stale from here on"]);
    }
}
