//! Which files were made when a project was set up, so that undoing removes those and no others.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use baton_engine::handoff::Digest;
use baton_host::atomic_file;
use serde::{Deserialize, Serialize};

use crate::own_folder;

const FILE: &str = "init.json";

/// Which files were made.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct InitRecord {
    /// What identifies each as it was written.
    #[serde(default)]
    created: BTreeMap<String, String>,
}

impl InitRecord {
    /// Reads what was noted in a project.
    pub(super) fn read(project: &Path) -> InitRecord {
        let text = fs::read(place(project)).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    /// Notes a file that is made.
    pub(super) fn note(&mut self, path: &str, text: &str) {
        self.created.insert(path.to_owned(), Digest::of(text.as_bytes()).0);
    }

    /// Forgets a file that is removed.
    pub(super) fn forget(&mut self, path: &str) {
        self.created.remove(path);
    }

    /// Returns whether a file was made.
    pub(super) fn has(&self, path: &str) -> bool {
        self.created.contains_key(path)
    }

    /// Returns whether a file is as it was made.
    pub(super) fn is_as_written(&self, path: &str, text: &str) -> bool {
        self.created.get(path).is_some_and(|digest| *digest == Digest::of(text.as_bytes()).0)
    }

    /// Keeps it.
    pub(super) fn write(&self, project: &Path) -> io::Result<()> {
        let text = serde_json::to_vec_pretty(self)?;
        atomic_file::write(&place(project), &text)
    }

    /// Keeps what is left of it; a folder with nothing else in it is removed.
    pub(super) fn write_if_there(&self, project: &Path) -> io::Result<()> {
        let place = place(project);
        if !place.exists() || !self.created.is_empty() {
            return if place.exists() { self.write(project) } else { Ok(()) };
        }
        fs::remove_file(&place)?;
        let folder = project.join(own_folder::NAME);
        let is_alone = fs::read_dir(&folder)?.filter_map(Result::ok).all(|entry| entry.file_name() == ".gitignore");
        if is_alone { fs::remove_dir_all(folder) } else { Ok(()) }
    }
}

fn place(project: &Path) -> PathBuf {
    project.join(own_folder::NAME).join(FILE)
}
