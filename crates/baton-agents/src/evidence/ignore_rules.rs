//! Files that are not part of the work because git ignores them: by the rules from before an attempt, never by those of
//! its agent.
//!
//! Only `.gitignore` files count. `.git/info/exclude` and the user's own file are neither seen by others nor by a review.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

/// What tools leave behind; without git nobody says that it is not part of the work.
const LEFT_BEHIND: [&str; 7] =
    ["__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", "node_modules", "target", ".venv"];
/// Nobody writes more rules than this.
const FILE_BYTES: u64 = 1024 * 1024;

/// The rules of a workspace at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct IgnoreRules {
    /// Whether the workspace is part of a repository; one that the repository ignores is not.
    in_repository: bool,
    /// The rules of the folders above the workspace, the topmost first.
    above: Vec<(PathBuf, String)>,
    /// The rules of its folders.
    folders: BTreeMap<String, String>,
    /// The `.git` folders below it.
    repositories: BTreeSet<String>,
}

impl IgnoreRules {
    /// Reads the rules above a workspace; those inside it are added while somebody walks through it.
    pub(super) fn above(root: &Path) -> Self {
        let is_top = |folder: &Path| folder.join(".git").exists();
        let Some(top) = root.ancestors().find(|folder| is_top(folder)) else { return IgnoreRules::default() };
        let folders: Vec<&Path> = root.ancestors().skip(1).take_while(|folder| folder.starts_with(top)).collect();
        let texts = folders.into_iter().rev().filter_map(|folder| Some((folder.to_owned(), text_in(folder)?)));
        let rules = IgnoreRules { in_repository: true, above: texts.collect(), ..IgnoreRules::default() };
        // What lies in a folder that the repository ignores has no rules but its own.
        let outermost = rules.outermost();
        let mut folders = root.ancestors().take_while(|folder| *folder != top);
        if folders.any(|folder| outermost.ignore(folder, true)) { IgnoreRules::default() } else { rules }
    }

    /// Reads the rules of a folder, and keeps them.
    pub(super) fn read(&mut self, folder: &Path, key: &str) {
        if let Some(text) = self.in_repository.then(|| text_in(folder)).flatten() {
            self.folders.insert(key.to_owned(), text);
        }
    }

    /// Keeps that a folder is a `.git` folder.
    pub(super) fn keep_repository(&mut self, key: &str) {
        self.repositories.insert(key.to_owned());
    }

    /// Returns whether a folder was a `.git` folder when these rules were read.
    pub(super) fn knows_repository(&self, key: &str) -> bool {
        self.repositories.contains(key)
    }

    /// Returns what holds for everything in the workspace.
    pub(super) fn outermost(&self) -> Level {
        let none = Level { in_repository: self.in_repository, rules: None };
        self.above.iter().fold(none, |level, (folder, text)| level.with(folder, text))
    }

    /// Returns what holds in a folder, inside of what holds around it.
    pub(super) fn inside(&self, around: &Level, folder: &Path, key: &str) -> Level {
        match self.folders.get(key) {
            Some(text) => around.with(folder, text),
            None => around.clone(),
        }
    }

    /// Returns whether a path of the workspace is outside the work. It need not exist.
    pub(super) fn leave_out(&self, root: &Path, path: &Path) -> bool {
        let mut level = self.outermost();
        let mut folder = root.to_owned();
        let parts: Vec<_> = path.components().collect();
        for (index, part) in parts.iter().enumerate() {
            let key = super::snapshot::key(folder.strip_prefix(root).unwrap_or(Path::new("")));
            level = self.inside(&level, &folder, &key);
            folder.push(part);
            if level.ignore(&folder, index + 1 < parts.len()) {
                return true;
            }
        }
        false
    }
}

/// The rules that hold in one folder.
#[derive(Debug, Clone)]
pub(super) struct Level {
    in_repository: bool,
    rules: Option<Arc<Nested>>,
}

#[derive(Debug)]
struct Nested {
    rules: Gitignore,
    around: Option<Arc<Nested>>,
}

impl Level {
    fn with(&self, folder: &Path, text: &str) -> Level {
        let mut builder = GitignoreBuilder::new(folder);
        for line in text.lines() {
            // An invalid pattern names nothing.
            let _ = builder.add_line(None, line);
        }
        let Ok(rules) = builder.build() else { return self.clone() };
        Level { rules: Some(Arc::new(Nested { rules, around: self.rules.clone() })), ..self.clone() }
    }

    /// Returns whether a file or folder in this one is left out: the innermost rule that names it decides.
    pub(super) fn ignore(&self, path: &Path, is_folder: bool) -> bool {
        let mut nested = self.rules.as_ref();
        while let Some(here) = nested {
            match here.rules.matched(path, is_folder) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => nested = here.around.as_ref(),
            }
        }
        let left_behind = || path.file_name().is_some_and(|name| LEFT_BEHIND.iter().any(|left| name == *left));
        !self.in_repository && left_behind()
    }
}

/// Reads the rules of a folder.
fn text_in(folder: &Path) -> Option<String> {
    let file = open(&folder.join(".gitignore")).ok()?;
    file.metadata().ok().filter(std::fs::Metadata::is_file)?;
    let mut bytes = Vec::new();
    file.take(FILE_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Opens a file that may have become a pipe or a link by now: neither waits nor follows.
pub(super) fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW;
    OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)
}
