//! A folder of its own for each test, and the time at which it was made.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use baton_engine::HandoffId;
use jiff::Timestamp;
use serde_json::json;

use super::files::Steps;
use super::handoff::later;
use super::{Directory, Folder, NewFolderHandoff, files};

/// A temporary folder, removed at the end.
pub(super) struct Sandbox {
    root: PathBuf,
    pub(super) start: Timestamp,
}

impl Sandbox {
    pub(super) fn new() -> Sandbox {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let root = std::env::temp_dir().join(format!("baton-folders-{}-{number}", std::process::id()));
        Directory::init(&root).expect("the folders can be made");
        // The files get their times from the machine, so the clock of the test begins there.
        let made = root.metadata().and_then(|found| found.modified()).expect("a folder has a time");
        Sandbox { root, start: Timestamp::try_from(made).expect("a time") }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Opens the folders as another process would.
    pub(super) fn open(&self) -> Directory {
        Directory::open(&self.root).expect("the folders are there")
    }

    /// Opens the folders for a process that dies after so many steps.
    pub(super) fn open_dying_after(&self, steps: u64) -> Directory {
        let mut directory = self.open();
        directory.files.steps = Steps::stopping_after(steps);
        directory
    }

    pub(super) fn after(&self, seconds: u64) -> Timestamp {
        later(self.start, Duration::from_secs(seconds))
    }

    /// Asks `@writer` for something, under this id.
    pub(super) fn request(&self, id: &str) -> HandoffId {
        let id = HandoffId::parse(id).expect("a safe id");
        self.open().create(&new(&id), self.start).expect("it can be created");
        id
    }

    pub(super) fn write(&self, path: &str, content: &str) -> PathBuf {
        let full = self.root.join(path);
        std::fs::create_dir_all(full.parent().expect("a folder")).expect("the folder can be made");
        std::fs::write(&full, content).expect("the file can be written");
        full
    }

    /// Lists every file that is not in its final form.
    pub(super) fn leftovers(&self) -> Vec<String> {
        let folders = Folder::ALL.map(|folder| self.open().folder(folder));
        let artifacts = [self.root.join("artifacts"), self.root.join("artifacts/writer")];
        let names = folders.iter().chain(&artifacts).flat_map(|folder| files::names(folder).expect("a folder"));
        names.filter(|name| name.starts_with('.') && name != ".registry.lock").collect()
    }

    /// Returns the folders that a handoff is in.
    pub(super) fn folders_of(&self, id: &HandoffId) -> Vec<Folder> {
        Folder::ALL.into_iter().filter(|folder| self.open().path(*folder, id).exists()).collect()
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.root);
    }
}

/// A request of which a test has one.
pub(super) fn new(id: &HandoffId) -> NewFolderHandoff {
    NewFolderHandoff {
        id: Some(id.clone()),
        timeout: Duration::from_secs(1_000_000),
        ..NewFolderHandoff::new("@lead", "@writer", json!({ "page": 1 }))
    }
}
