//! A file is named for its main type or verb, not with a word that could sit on anything.

use super::Violation;
use crate::text_file::TextFile;

const VAGUE: &[&str] =
    &["base", "common", "data", "handler", "helper", "helpers", "info", "manager", "misc", "stuff", "util", "utils"];

/// Reports a Rust file that has, or lies in a folder that has, a name that says nothing.
pub(crate) fn check(file: &TextFile) -> Vec<Violation> {
    let Some(path) = file.path.strip_suffix(".rs") else {
        return Vec::new();
    };
    let vague = path.split('/').find(|part| VAGUE.contains(part));
    let message = |name| format!("`{name}` could sit on anything; name what it contains");
    vague.map(|name| Violation::new(file, 1, message(name))).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(path: &str) -> bool {
        check(&TextFile::new(path, "")).is_empty()
    }

    #[test]
    fn vague_file_or_folder_is_reported() {
        for name in VAGUE {
            assert!(!passes(&format!("crates/baton/src/{name}.rs")));
            assert!(!passes(&format!("crates/baton/src/{name}/claim.rs")));
        }
        assert!(!passes("crates/baton/tests/common/mod.rs"));
    }

    #[test]
    fn telling_names_pass() {
        assert!(passes("crates/baton/src/lib.rs"));
        assert!(passes("crates/baton/src/database.rs"));
        assert!(passes("crates/baton/src/commands/claim.rs"));
    }

    #[test]
    fn other_files_may_be_called_anything() {
        assert!(passes("crates/baton/tests/fixtures/data.json"));
    }
}
