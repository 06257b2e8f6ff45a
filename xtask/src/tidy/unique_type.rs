//! A public type has its name alone in the workspace: a search for it finds one thing.

use std::collections::BTreeMap;

use super::Violation;
use crate::text_file::TextFile;

/// Reports every public type whose name another one has, too.
pub(crate) fn check(files: &[TextFile]) -> Vec<Violation> {
    let mut types: BTreeMap<&str, Vec<(&TextFile, usize)>> = BTreeMap::new();
    for file in files.iter().filter(|file| is_library(file)) {
        for (number, line) in file.numbered_lines() {
            if let Some(name) = public_type(line) {
                types.entry(name).or_default().push((file, number));
            }
        }
    }
    let shared = types.iter().filter(|(_, places)| places.len() > 1);
    let reported = shared.flat_map(|(name, places)| {
        let others = |here: usize| {
            let others = places.iter().enumerate().filter(|(place, _)| *place != here);
            others.map(|(_, (file, number))| format!("{}:{number}", file.path)).collect::<Vec<_>>().join(", ")
        };
        let message = move |here| format!("`{name}` is also at {}; give one of them its own noun", others(here));
        places.iter().enumerate().map(move |(here, (file, number))| Violation::new(file, *number, message(here)))
    });
    reported.collect()
}

/// Returns whether other crates can see the types of a file.
fn is_library(file: &TextFile) -> bool {
    let mut parts = file.path.split('/');
    parts.next() == Some("crates") && parts.nth(1) == Some("src") && file.path.ends_with(".rs")
}

/// Returns the name of the public type that a line declares; also inside a macro, which indents it.
fn public_type(line: &str) -> Option<&str> {
    let declared = line.trim_start().strip_prefix("pub ")?;
    let kinds = ["struct ", "enum ", "trait ", "type ", "union "];
    let rest = kinds.iter().find_map(|kind| declared.strip_prefix(kind))?;
    let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(rest.len());
    // A macro writes `pub struct $name`.
    (end > 0).then(|| &rest[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reported(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<TextFile> = files.iter().map(|(path, text)| TextFile::new(*path, *text)).collect();
        check(&files).iter().map(Violation::to_string).collect()
    }

    #[test]
    fn two_public_types_of_one_name_are_reported_at_both_places() {
        let found = reported(&[
            ("crates/a/src/one.rs", "pub struct Row<T> {\n"),
            ("crates/b/src/two.rs", "//! Rows.\nwire! {\n    pub enum Row, \"row\" {\n"),
        ]);
        assert_eq!(
            found,
            [
                "crates/a/src/one.rs:1: `Row` is also at crates/b/src/two.rs:3; give one of them its own noun",
                "crates/b/src/two.rs:3: `Row` is also at crates/a/src/one.rs:1; give one of them its own noun",
            ]
        );
    }

    #[test]
    fn private_types_tests_and_macros_may_share_a_name() {
        let found = reported(&[
            ("crates/a/src/one.rs", "pub struct Row;\npub struct $name;\n"),
            ("crates/b/src/two.rs", "struct Row;\npub(crate) struct Row;\npub struct $name;\n"),
            ("crates/b/tests/three.rs", "pub struct Row;\n"),
        ]);
        assert_eq!(found, [""; 0]);
    }
}
