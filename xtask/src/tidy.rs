//! `cargo xtask tidy`: what neither the compiler nor Clippy checks about this tree.
//!
//! One rule is one file. A rule is a pure function; this file reads the tree and reports everything found.

mod arrows;
mod file_list;
mod introduction;
mod knot;
mod length;
mod machine_path;
mod map;
mod package;
mod print;
mod registry_host;
mod sentence_error;
mod sleep;
mod unfinished;
mod unique_type;
mod vague_name;
mod violation;
mod word;

use std::path::Path;

use anyhow::Result;

use crate::failure::Failure;
use crate::output;
use crate::text_file::TextFile;
use violation::Violation;

/// The rules that look at one file at a time.
const FILE_RULES: &[fn(&TextFile) -> Vec<Violation>] = &[
    introduction::check,
    length::check,
    machine_path::check,
    print::check,
    registry_host::check,
    sentence_error::check,
    sleep::check,
    unfinished::check,
    vague_name::check,
];

const HINT: &str = "each line above says where; the rules are in xtask/src/tidy";

/// Reports every violation in the tree.
pub(crate) fn run(root: &Path) -> Result<()> {
    let mut violations = arrows::check(&package::read_all(root)?);
    let mut files = Vec::new();
    for path in file_list::read(root)? {
        files.extend(TextFile::read(root, &path)?);
    }
    violations.extend(files.iter().flat_map(check_file));
    violations.extend(knot::check(&files));
    violations.extend(map::check(&files));
    violations.extend(unique_type::check(&files));
    violations.sort();
    for violation in &violations {
        output::result(&violation.to_string());
    }
    match violations.len() {
        0 => Ok(()),
        count => Err(Failure::no(format!("violations: {count}"), HINT).into()),
    }
}

fn check_file(file: &TextFile) -> Vec<Violation> {
    if is_not_ours(file) {
        return Vec::new();
    }
    FILE_RULES.iter().flat_map(|rule| rule(file)).collect()
}

/// Returns whether the text is given to us: written by Cargo, or by lawyers.
fn is_not_ours(file: &TextFile) -> bool {
    file.name() == "Cargo.lock" || file.name().starts_with("LICENSE")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_file_can_break_several_rules() {
        let text = format!("use x;\n// {}\n", concat!("FIX", "ME"));
        let found = check_file(&TextFile::new("crates/baton/src/util.rs", text));
        assert_eq!(found.len(), 3, "{found:?}");
    }

    #[test]
    fn given_texts_are_left_alone() {
        let text = concat!("registry+https://github.com/rust-lang/crates", ".io-index");
        assert!(check_file(&TextFile::new("Cargo.lock", text)).is_empty());
        assert!(check_file(&TextFile::new("fuzz/Cargo.lock", text)).is_empty());
        assert!(check_file(&TextFile::new("LICENSE-APACHE", text)).is_empty());
        assert_eq!(check_file(&TextFile::new("README.md", text)).len(), 1);
    }
}
