//! Patterns of paths, such as `src/**`: who may write where.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// Patterns of paths in a workspace.
#[derive(Debug)]
pub(crate) struct Patterns(GlobSet);

impl Patterns {
    /// Collects patterns. A path without a star is that file, or everything in that folder; a text that is not
    /// a pattern fits nothing.
    pub(crate) fn new(patterns: &[String]) -> Self {
        let mut set = GlobSetBuilder::new();
        for pattern in patterns {
            let pattern = pattern.trim_start_matches("./").trim_end_matches('/');
            for pattern in [pattern.to_owned(), format!("{pattern}/**")] {
                if let Ok(glob) = GlobBuilder::new(&pattern).literal_separator(true).build() {
                    set.add(glob);
                }
            }
        }
        Patterns(set.build().unwrap_or_else(|_| GlobSet::empty()))
    }

    /// Returns whether a path fits one of them.
    pub(crate) fn fit(&self, path: &str) -> bool {
        self.0.is_match(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_folders() {
        let patterns = Patterns::new(&["src/**/*.rs".into(), "./docs/".into(), "*.md".into(), "[".into()]);
        for path in ["src/a.rs", "src/a/b.rs", "docs/x/y.txt", "README.md"] {
            assert!(patterns.fit(path), "{path}");
        }
        for path in ["src/a.txt", "a/README.md", "documents/x", "lib/src/a.rs"] {
            assert!(!patterns.fit(path), "{path}");
        }
    }
}
