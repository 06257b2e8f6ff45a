//! How the files of a workspace are at one moment, so that two moments can be compared.
//!
//! Baton reads the files itself and starts no `git`: the repository belongs to the agent, and its configuration can
//! name programs that `git` would run for us. What git ignores is left out, and so is `.baton`. Contents are compared
//! by their SHA-256 where the files are small, otherwise by size and time.

use std::collections::BTreeMap;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use baton_engine::handoff::hexadecimal;
use ignore::gitignore::Gitignore;
use ignore::{DirEntry, WalkBuilder};
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// More files than this are not remembered.
const FILES_MAX: usize = 50_000;
/// Larger files are compared by size and time.
const HASHED_FILE_BYTES: u64 = 1024 * 1024;
/// How much is read for one snapshot; what has not changed since the last one is not read again.
const HASHED_BYTES: u64 = 64 * 1024 * 1024;
/// The clock of a file system moves in steps of up to some milliseconds.
pub(super) const CLOCK_STEP_NANOSECONDS: i64 = 20_000_000;
/// What tools leave behind; without git nobody says that it is not part of the work.
const LEFT_BEHIND: [&str; 7] =
    ["__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", "node_modules", "target", ".venv"];

/// How the files are at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Snapshot {
    /// When it was taken, by the clock of the file system.
    pub(super) taken: Option<i64>,
    /// The file system that this clock belongs to.
    pub(super) device: Option<u64>,
    /// Whether there were too many files to remember.
    pub(super) too_many: bool,
    /// The files, by their path in the workspace.
    pub(super) files: BTreeMap<String, Mark>,
}

/// How one file is at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Mark {
    bytes: u64,
    inode: u64,
    mode: u32,
    modified: i64,
    changed: i64,
    /// The SHA-256 of its content, where it is small enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) sha256: Option<String>,
}

impl Mark {
    fn of(metadata: &Metadata) -> Self {
        Mark {
            bytes: metadata.len(),
            inode: metadata.ino(),
            mode: metadata.mode(),
            modified: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
            changed: changed(metadata),
            sha256: None,
        }
    }

    /// Says whether the file is as it was.
    pub(super) fn same(&self, other: &Mark) -> bool {
        let content = match (&self.sha256, &other.sha256) {
            (Some(one), Some(another)) => one == another,
            _ => self.bytes == other.bytes && self.modified == other.modified,
        };
        content && self.executable() == other.executable()
    }

    /// Says whether the file system shows no difference.
    fn looks_the_same(&self, other: &Mark) -> bool {
        let sight = |mark: &Mark| (mark.bytes, mark.inode, mark.mode, mark.modified, mark.changed);
        sight(self) == sight(other)
    }

    /// Says the kind of file and whether it can be run, which is all of the mode that is part of the work.
    fn executable(&self) -> u32 {
        self.mode & 0o170_100
    }
}

impl Snapshot {
    /// Takes a snapshot; what looks as in an earlier one is not read again.
    pub(super) fn take(root: &Path, clock: Option<&Metadata>, earlier: Option<&Snapshot>) -> Self {
        let mut snapshot = Snapshot {
            taken: clock.map(changed),
            device: clock.map(Metadata::dev),
            too_many: false,
            files: BTreeMap::new(),
        };
        let mut budget = HASHED_BYTES;
        for entry in walk(root).filter_map(Result::ok) {
            let Some((path, metadata)) = file(root, &entry) else { continue };
            if snapshot.files.len() == FILES_MAX {
                snapshot.too_many = true;
                snapshot.files.clear();
                break;
            }
            let mut mark = Mark::of(&metadata);
            mark.sha256 = earlier.and_then(|earlier| earlier.known(&path, &mark));
            if mark.sha256.is_none() && mark.bytes <= HASHED_FILE_BYTES.min(budget) {
                budget -= mark.bytes;
                mark.sha256 = hash_entry(entry.path(), &metadata).ok();
            }
            snapshot.files.insert(path, mark);
        }
        snapshot
    }

    /// Returns the hash of a file that has not changed since this snapshot.
    fn known(&self, path: &str, now: &Mark) -> Option<String> {
        let mark = self.files.get(path).filter(|mark| mark.looks_the_same(now))?;
        // A file could have been written again within the same step of the clock.
        let settled = mark.changed + CLOCK_STEP_NANOSECONDS < self.taken?;
        mark.sha256.clone().filter(|_| settled)
    }
}

/// Walks through everything that git would look at, links not followed.
fn walk(root: &Path) -> ignore::Walk {
    let in_repository = is_in_repository(root);
    let mut walk = WalkBuilder::new(root);
    walk.hidden(false).ignore(false).follow_links(false).parents(in_repository);
    walk.filter_entry(move |entry| entry.depth() == 0 || !left_out(entry.file_name().as_bytes(), in_repository));
    walk.build()
}

/// Says whether something is never part of the work.
fn left_out(name: &[u8], in_repository: bool) -> bool {
    let left_behind = || LEFT_BEHIND.iter().any(|left| left.as_bytes() == name);
    name == b".baton" || name == b".git" || (!in_repository && left_behind())
}

/// Says whether a path that does not exist would be left out of a snapshot.
pub(super) fn is_left_out(root: &Path, path: &str) -> bool {
    let in_repository = is_in_repository(root);
    let left_out = path.split('/').any(|name| left_out(name.as_bytes(), in_repository));
    left_out || (in_repository && is_ignored(&root.join(path), false))
}

/// Says whether a workspace is part of a repository; one that the repository ignores is not.
fn is_in_repository(root: &Path) -> bool {
    let is_top = |folder: &Path| folder.join(".git").exists();
    is_top(root) || (root.ancestors().any(is_top) && !is_ignored(root, true))
}

/// Says whether the `.gitignore` of a folder above names a path.
fn is_ignored(path: &Path, is_folder: bool) -> bool {
    let names = |above: &Path| {
        let ignore = Gitignore::new(above.join(".gitignore")).0;
        path.strip_prefix(above).is_ok_and(|inner| ignore.matched_path_or_any_parents(inner, is_folder).is_ignore())
    };
    path.ancestors().skip(1).any(names)
}

/// Returns the path of a file in the workspace, and how it is; nothing for folders, pipes and the like.
fn file(root: &Path, entry: &DirEntry) -> Option<(String, Metadata)> {
    let kind = entry.file_type()?;
    if !kind.is_file() && !kind.is_symlink() {
        return None;
    }
    let path = entry.path().strip_prefix(root).ok()?.to_string_lossy().into_owned();
    Some((path, entry.metadata().ok()?))
}

/// Hashes a file, or where a link leads.
fn hash_entry(path: &Path, metadata: &Metadata) -> io::Result<String> {
    match metadata.is_symlink() {
        true => Ok(hexadecimal(&Sha256::digest(fs::read_link(path)?.as_os_str().as_bytes()))),
        false => hash(open(path)?),
    }
}

/// Opens a file that may have become a pipe or a link by now: neither waits nor follows.
fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW;
    OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)
}

/// Returns the SHA-256 of what can be read, in hexadecimal.
pub(super) fn hash(mut content: impl Read) -> io::Result<String> {
    let mut hasher = Sha256::new();
    let mut chunk = [0; 16 * 1024];
    loop {
        match content.read(&mut chunk)? {
            0 => return Ok(hexadecimal(&hasher.finalize())),
            count => hasher.update(&chunk[..count]),
        }
    }
}

/// Returns when a file last changed in any way; unlike the time of its content, nobody can set this back.
pub(super) fn changed(metadata: &Metadata) -> i64 {
    nanoseconds(metadata.ctime(), metadata.ctime_nsec())
}

fn nanoseconds(seconds: i64, rest: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(rest)
}
