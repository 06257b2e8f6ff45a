//! A temporary folder of its own for each test, removed at the end.

use std::fs;
use std::path::{Path, PathBuf};

use crate::dice::fresh_seed;
use crate::isolation::state_home;

/// A temporary folder, removed with everything in it when dropped.
#[derive(Debug)]
pub struct Scratch {
    root: PathBuf,
}

impl Scratch {
    /// Makes an empty folder.
    #[expect(clippy::new_without_default, reason = "a default should not make a folder")]
    pub fn new() -> Self {
        Scratch { root: make_folder("baton-scratch") }
    }

    /// Returns the folder, without symbolic links in its path.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the path of something in the folder.
    pub fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.root.join(path)
    }

    /// Makes a folder, with the folders above it.
    pub fn folder(&self, path: impl AsRef<Path>) -> &Self {
        let full = self.path(path);
        fs::create_dir_all(&full).unwrap_or_else(|error| panic!("{} cannot be made: {error}", full.display()));
        self
    }

    /// Writes a file, with the folders above it.
    pub fn write(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) -> &Self {
        let full = self.path(path);
        self.folder(full.parent().expect("a file has a folder"));
        fs::write(&full, content).unwrap_or_else(|error| panic!("{} cannot be written: {error}", full.display()));
        self
    }

    /// Reads a text file.
    pub fn read(&self, path: impl AsRef<Path>) -> String {
        let full = self.path(path);
        fs::read_to_string(&full).unwrap_or_else(|error| panic!("{} cannot be read: {error}", full.display()))
    }

    /// Returns whether there is such a file or folder.
    pub fn contains(&self, path: impl AsRef<Path>) -> bool {
        self.path(path).exists()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A folder that is left behind does not make a test fail.
        let _ = fs::remove_dir_all(&self.root);
        let _ = fs::remove_dir_all(state_home(&self.root));
    }
}

/// Makes a folder that did not exist before and returns its path without symbolic links.
pub(crate) fn make_folder(prefix: &str) -> PathBuf {
    let parent = std::env::temp_dir();
    let root = parent.join(format!("{prefix}-{}-{:08x}", std::process::id(), fresh_seed() >> 32));
    let made = fs::create_dir(&root).and_then(|()| fs::canonicalize(&root));
    made.unwrap_or_else(|error| panic!("{} cannot be made: {error}", root.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_can_be_read() {
        let scratch = Scratch::new();
        scratch.write("inbox/one.json", "{}").folder("outbox");
        assert_eq!(scratch.read("inbox/one.json"), "{}");
        assert!(scratch.contains("outbox") && !scratch.contains("archive"));
        assert_eq!(scratch.path("outbox"), scratch.root().join("outbox"));
    }

    #[test]
    fn folder_is_removed_at_the_end() {
        let scratch = Scratch::new();
        let root = scratch.write("file", "content").root().to_owned();
        assert!(root.exists());
        drop(scratch);
        assert!(!root.exists());
    }

    #[test]
    fn each_has_its_own() {
        assert_ne!(Scratch::new().root(), Scratch::new().root());
    }
}
