//! What was done to a project when it was set up, so that undoing leaves every file as it was, and removes those that were
//! made and no others. It may be lost: a fresh clone does not have it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use baton_engine::handoff::Digest;
use serde::{Deserialize, Serialize};

use super::change::FileChange;

/// Where it is kept.
pub(super) const PATH: &str = ".baton/init.json";

/// What was done to a project.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct InitRecord {
    /// What identifies each file that was made, as it was written.
    created: BTreeMap<String, String>,
    /// Files that were there.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    changed: BTreeMap<String, ChangedFile>,
    /// Folders that were made.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    folders: BTreeSet<String>,
}

/// A file that was there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct ChangedFile {
    /// Its text before.
    before: String,
    /// What identifies it as it was written.
    after: String,
}

impl InitRecord {
    /// Reads what was noted in a project.
    pub(super) fn read(project: &Path) -> InitRecord {
        let text = fs::read(project.join(PATH)).ok();
        let record = text.and_then(|text| serde_json::from_slice(&text).ok());
        record.unwrap_or_default()
    }

    /// Notes what is done to a file.
    pub(super) fn note(&mut self, change: &FileChange) {
        let path = || change.path.clone();
        let after = digest(change.after.as_deref().unwrap_or_default());
        self.folders.extend(change.folders.iter().cloned());
        // Who has changed the file in between has made it theirs: what was noted before stays, and no longer fits.
        match &change.before {
            None => {
                self.changed.remove(&change.path);
                self.created.insert(path(), after);
            }
            Some(before) => match (self.created.get_mut(&change.path), self.changed.get_mut(&change.path)) {
                (Some(noted), _) if *noted == digest(before) => *noted = after,
                (None, Some(noted)) if noted.after == digest(before) => noted.after = after,
                (None, None) => {
                    let before = before.clone();
                    self.changed.insert(path(), ChangedFile { before, after });
                }
                (Some(_), _) | (None, Some(_)) => {}
            },
        }
    }

    /// Forgets what is undone.
    pub(super) fn forget(&mut self, change: &FileChange) {
        self.created.remove(&change.path);
        self.changed.remove(&change.path);
        if change.after.is_none() {
            self.folders.retain(|folder| !change.folders.contains(folder));
        }
    }

    /// Returns whether a file was there before anything was added to it. Nobody knows if it was not noted.
    pub(super) fn was_there(&self, path: &str) -> bool {
        self.changed.contains_key(path)
    }

    /// Returns the text of a file before anything was added to it, if nobody has changed it since.
    pub(super) fn text_before(&self, path: &str, now: &str) -> Option<&str> {
        self.changed.get(path).filter(|noted| noted.after == digest(now)).map(|noted| noted.before.as_str())
    }

    /// Returns whether a file is as it was made.
    pub(super) fn is_as_written(&self, path: &str, text: &str) -> bool {
        self.created.get(path).is_some_and(|noted| *noted == digest(text))
    }

    /// Returns whether it was noted what was done to a file.
    pub(super) fn knows(&self, path: &str) -> bool {
        self.created.contains_key(path) || self.changed.contains_key(path)
    }

    /// Returns whether a folder was made.
    pub(super) fn has_made(&self, folder: &str) -> bool {
        self.folders.contains(folder)
    }

    /// Returns whether there is nothing to undo.
    pub(super) fn is_empty(&self) -> bool {
        self.created.is_empty() && self.changed.is_empty()
    }

    /// Returns it as it is written.
    pub(super) fn text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

fn digest(text: &str) -> String {
    Digest::of(text.as_bytes()).0
}
