//! No absolute path that exists on one machine only.

use super::{Violation, word};
use crate::text_file::TextFile;

/// Top-level folders in which somebody's own files lie.
const FOLDERS: &[&str] = &["farm", "root", "work"];

/// Reports every line that names such a folder.
pub(crate) fn check(file: &TextFile) -> Vec<Violation> {
    let mut found = Vec::new();
    for (number, line) in file.numbered_lines() {
        for path in FOLDERS.iter().map(|folder| format!("/{folder}/")) {
            if word::occurs(line, &path, continues_a_path) {
                let message = format!("`{path}` exists on one machine only; write a relative path");
                found.push(Violation::new(file, number, message));
            }
        }
    }
    found
}

/// Returns whether a slash after this character goes on with a path instead of beginning one.
fn continues_a_path(before: char) -> bool {
    before.is_alphanumeric() || "_-.~}>)*".contains(before)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found_in(line: &str) -> usize {
        check(&TextFile::new("docs/install.md", format!("First line.\n{line}\n"))).len()
    }

    #[test]
    fn absolute_path_is_reported_wherever_it_begins() {
        for name in FOLDERS {
            assert_eq!(found_in(&format!("/{name}/baton")), 1);
            assert_eq!(found_in(&format!("see \"/{name}/baton\"")), 1);
            assert_eq!(found_in(&format!("cd /{name}/baton")), 1);
            assert_eq!(found_in(&format!("path=/{name}/baton")), 1);
            assert_eq!(found_in(&format!("file:///{name}/baton")), 1);
        }
    }

    #[test]
    fn line_is_named() {
        let text = format!("One.\n/{}/x\n", "work");
        let found = check(&TextFile::new("a.md", text));
        assert!(found.iter().all(|violation| violation.to_string().starts_with("a.md:2: ")));
    }

    #[test]
    fn part_of_a_longer_path_passes() {
        assert_eq!(found_in("target/work/baton"), 0);
        assert_eq!(found_in("./work/baton, ../root/baton, ~/work/baton, $HOME/farm/x"), 0);
        assert_eq!(found_in("https://example.org/work/12"), 0);
        assert_eq!(found_in("{root}/work/, /workshop/"), 0);
    }
}
