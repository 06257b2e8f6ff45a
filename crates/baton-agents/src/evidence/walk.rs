//! A walk through the files of a workspace, links not followed. What cannot be looked at is met as well, never passed over.

use std::ffi::OsStr;
use std::fs::{self, DirEntry, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use super::ignore_rules::{IgnoreRules, Level};
use super::snapshot::key;
use crate::confinement::OURS;

/// What of a `.git` folder decides what git does: its configuration, where else that may lie, the programs that it runs, what it
/// ignores, and what it does when somebody continues a rebase.
const WATCHED: [&str; 8] =
    ["commondir", "config", "config.worktree", "hooks", "info", "rebase-apply", "rebase-merge", "sequencer"];

/// Anything but a folder, or a folder that cannot be opened.
pub(super) struct Met {
    pub(super) path: PathBuf,
    /// Its path in the workspace.
    pub(super) key: String,
    /// `None` if not even this can be seen.
    pub(super) metadata: Option<Metadata>,
}

/// A folder that is still to be looked into.
struct Ahead {
    folder: PathBuf,
    key: String,
    rules: Level,
    inside: Inside,
}

/// What a folder is part of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    Workspace,
    /// A `.git` folder, of which only some is looked at.
    Repository,
    /// A folder of other `.git` folders in one: submodules and further worktrees.
    Repositories,
    /// A folder of a `.git` folder, all of which is looked at.
    Watched,
    /// Our own folder, of which only the output of agents is looked at.
    Ours,
    /// The output of agents: no rule hides anything there.
    Output,
}

/// What a walk comes to.
pub(super) enum Sight {
    /// Something that is part of the work.
    Work(Met),
    /// A file or a folder that is not, because git ignores it. What is in the folder is not met.
    Ignored { path: PathBuf, key: String },
}

/// Walks through a workspace by rules from before, or by those that stand there now. Ends when `visit` returns false.
/// Returns the rules.
pub(super) fn walk(root: &Path, before: Option<&IgnoreRules>, mut visit: impl FnMut(Sight) -> bool) -> IgnoreRules {
    let mut rules = before.cloned().unwrap_or_else(|| IgnoreRules::above(root));
    let outermost = rules.outermost();
    let mut ahead =
        vec![Ahead { folder: root.to_owned(), key: String::new(), rules: outermost, inside: Inside::Workspace }];
    while let Some(next) = ahead.pop() {
        if before.is_none() && next.inside == Inside::Workspace {
            rules.read(&next.folder, &next.key);
        }
        let level = match next.inside {
            Inside::Workspace => rules.inside(&next.rules, &next.folder, &next.key),
            Inside::Repository | Inside::Repositories | Inside::Watched | Inside::Ours | Inside::Output => {
                next.rules.clone()
            }
        };
        let mut unreadable = false;
        let entries = fs::read_dir(&next.folder);
        unreadable |= entries.is_err();
        for entry in entries.into_iter().flatten() {
            let Ok(entry) = entry else {
                unreadable = true;
                continue;
            };
            let step = Step { parent: &next, level: &level, is_first: before.is_none() };
            match step.take(&entry, &mut rules) {
                Taken::LeftOut => {}
                Taken::Folder(folder) => ahead.push(folder),
                Taken::Seen(sight) => {
                    if !visit(sight) {
                        return rules;
                    }
                }
            }
        }
        if unreadable {
            let metadata = fs::symlink_metadata(&next.folder).ok();
            if !visit(Sight::Work(Met { path: next.folder, key: next.key, metadata })) {
                return rules;
            }
        }
    }
    rules
}

/// Returns whether something in a `.git` folder decides what git does.
pub(super) fn is_watched(name: &OsStr) -> bool {
    WATCHED.iter().any(|watched| name == *watched)
}

enum Taken {
    LeftOut,
    Folder(Ahead),
    Seen(Sight),
}

struct Step<'a> {
    parent: &'a Ahead,
    level: &'a Level,
    is_first: bool,
}

impl Step<'_> {
    fn take(&self, entry: &DirEntry, rules: &mut IgnoreRules) -> Taken {
        let name = entry.file_name();
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if self.is_left_out(&name, is_folder) {
            return Taken::LeftOut;
        }
        let path = entry.path();
        let own = key(Path::new(&name));
        let key = if self.parent.key.is_empty() { own } else { format!("{}/{own}", self.parent.key) };
        let is_ours = is_folder && self.parent.key.is_empty() && name == OURS;
        let is_repository = is_folder && name == ".git" && self.parent.inside == Inside::Workspace;
        let is_real = is_repository && is_real(&path);
        if is_real && self.is_first {
            rules.keep_repository(&key);
        }
        let is_known = is_real && rules.knows_repository(&key);
        let inside = match self.parent.inside {
            Inside::Workspace if is_ours => Inside::Ours,
            Inside::Workspace if is_known => Inside::Repository,
            // A repository of the whole workspace is one change, whatever is in it.
            Inside::Workspace if is_real && self.parent.key.is_empty() => {
                let metadata = entry.metadata().ok();
                return Taken::Seen(Sight::Work(Met { path, key, metadata }));
            }
            Inside::Workspace if self.level.ignore(&path, is_folder) && !is_repository => {
                return Taken::Seen(Sight::Ignored { path, key });
            }
            Inside::Workspace => Inside::Workspace,
            Inside::Repository | Inside::Repositories if is_watched(&name) => Inside::Watched,
            Inside::Repository | Inside::Repositories => Inside::Repositories,
            Inside::Watched => Inside::Watched,
            Inside::Ours | Inside::Output => Inside::Output,
        };
        if is_folder {
            Taken::Folder(Ahead { folder: path, key, rules: self.level.clone(), inside })
        } else {
            match entry.metadata() {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Taken::LeftOut,
                metadata => Taken::Seen(Sight::Work(Met { path, key, metadata: metadata.ok() })),
            }
        }
    }

    /// Returns whether something is git's own business, or ours.
    fn is_left_out(&self, name: &OsStr, is_folder: bool) -> bool {
        match self.parent.inside {
            Inside::Workspace | Inside::Output => false,
            Inside::Ours => name != "output",
            Inside::Repository => !is_watched(name) && name != "modules" && name != "worktrees",
            Inside::Repositories => {
                let is_content = ["objects", "refs", "logs", "lfs"].iter().any(|content| name == *content);
                !is_watched(name) && (!is_folder || is_content)
            }
            // Samples are never run, and `info/refs` is written whenever git tidies up.
            Inside::Watched => {
                let is_sample = name.to_string_lossy().ends_with(".sample");
                is_sample || (name == "refs" && self.parent.folder.ends_with("info"))
            }
        }
    }
}

/// Returns whether a `.git` folder looks like one that git has made.
fn is_real(path: &Path) -> bool {
    path.join("HEAD").is_file() && path.join("objects").is_dir() && path.join("refs").is_dir()
}
