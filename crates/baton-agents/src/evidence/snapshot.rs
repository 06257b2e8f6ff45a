//! How the files of a workspace are at one moment, so that two moments can be compared.
//!
//! Baton reads the files itself and starts no `git`: the repository belongs to the agent, and its configuration can
//! name programs that `git` would run for us. Contents are compared by their SHA-256 where the files are small, otherwise
//! by size and by the time of the last change of any kind, which nobody can set back.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata};
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use baton_engine::handoff::hexadecimal;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::ignore_rules::{IgnoreRules, open};
use super::refs;
use super::walk::{Sight, walk};

/// The file that configures Baton for whatever is in its folder.
pub(super) const CONFIGURATION: &str = "baton.toml";

/// More files than this are not remembered.
const FILES_MAX: usize = 200_000;
/// With so many more than before, files are not compared.
const NEW_FILES_MAX: usize = 50_000;
/// Larger files are compared by size and time.
const HASHED_FILE_BYTES: u64 = 1024 * 1024;
/// How much is read for one snapshot; what has not changed since the last one is not read again.
const HASHED_BYTES: u64 = 64 * 1024 * 1024;
/// The clock of a file system moves in steps of up to some milliseconds.
pub(super) const CLOCK_STEP_NANOSECONDS: i64 = 20_000_000;

/// How the files are at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Snapshot {
    /// When it was taken, by the clock of the file system.
    pub(super) taken: Option<i64>,
    /// The file system that this clock belongs to.
    pub(super) device: Option<u64>,
    /// Whether there were too many files to remember.
    pub(super) too_many: bool,
    /// Files that are not part of the work.
    pub(super) rules: IgnoreRules,
    /// The files, by their [`key`].
    pub(super) files: BTreeMap<String, Mark>,
    /// The files and folders that git ignores by themselves, without what is in them; older snapshots do not know.
    #[serde(default)]
    pub(super) ignored: Option<BTreeSet<String>>,
    /// Where the branches and tags of its repository stand; older snapshots do not know.
    #[serde(default)]
    pub(super) refs: Option<BTreeMap<String, String>>,
    /// The files above the workspace that configure Baton, and what is in them; older snapshots do not know.
    #[serde(default)]
    pub(super) above: Option<BTreeMap<String, String>>,
}

/// How one file is at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "MarkFields", into = "MarkFields")]
pub(super) struct Mark {
    bytes: u64,
    inode: u64,
    mode: u32,
    modified: i64,
    changed: i64,
    /// The SHA-256 of its content, where it is small enough.
    pub(super) sha256: Option<String>,
}

/// The form in which a mark is kept: there are many of them.
type MarkFields = (u64, u64, u32, i64, i64, Option<String>);

impl From<MarkFields> for Mark {
    fn from((bytes, inode, mode, modified, changed, sha256): MarkFields) -> Mark {
        Mark { bytes, inode, mode, modified, changed, sha256 }
    }
}

impl From<Mark> for MarkFields {
    fn from(mark: Mark) -> MarkFields {
        (mark.bytes, mark.inode, mark.mode, mark.modified, mark.changed, mark.sha256)
    }
}

/// A snapshot whose hashes are taken over where a file still looks the same.
#[derive(Debug, Clone)]
pub(super) struct Earlier {
    pub(super) snapshot: Arc<Snapshot>,
    /// What was written after this time could be changed since without a new time: by a process that ran when the snapshot was
    /// taken, and has the file mapped into its memory.
    ///
    /// ```text
    /// agent                          snapshot
    /// maps a file, writes to it                     the file gets the time of this write
    ///                                hashes it
    /// writes to it once more                        the page is not on the disk yet: the time stays
    /// ```
    pub(super) settled: i64,
}

impl Earlier {
    /// Returns the hash of a file that has not changed since the snapshot.
    fn known(&self, path: &str, now: &Mark) -> Option<String> {
        let mark = self.snapshot.files.get(path).filter(|mark| mark.looks_the_same(now))?;
        // A file could have been written again within the same step of the clock.
        let is_settled = mark.changed + CLOCK_STEP_NANOSECONDS < self.settled;
        if is_settled { mark.sha256.clone() } else { None }
    }
}

impl Mark {
    fn of(metadata: Option<&Metadata>) -> Self {
        let number = |field: fn(&Metadata) -> i64, rest: fn(&Metadata) -> i64| {
            metadata.map(|metadata| nanoseconds(field(metadata), rest(metadata))).unwrap_or_default()
        };
        Mark {
            bytes: metadata.map(Metadata::len).unwrap_or_default(),
            inode: metadata.map(MetadataExt::ino).unwrap_or_default(),
            mode: metadata.map(MetadataExt::mode).unwrap_or_default(),
            modified: number(MetadataExt::mtime, MetadataExt::mtime_nsec),
            changed: number(MetadataExt::ctime, MetadataExt::ctime_nsec),
            sha256: None,
        }
    }

    /// Returns whether the file is as it was.
    pub(super) fn same(&self, other: &Mark) -> bool {
        let content = match (&self.sha256, &other.sha256) {
            (Some(one), Some(another)) => one == another,
            // The time of the content can be set back, the time of the last change of any kind cannot.
            _ => (self.bytes, self.modified, self.changed) == (other.bytes, other.modified, other.changed),
        };
        content && self.rights() == other.rights()
    }

    /// Returns whether the file system shows no difference.
    pub(super) fn looks_the_same(&self, other: &Mark) -> bool {
        let sight = |mark: &Mark| (mark.bytes, mark.inode, mark.mode, mark.modified, mark.changed);
        sight(self) == sight(other)
    }

    /// Returns the kind of file, who may run it and as whom, and whether everybody may write it. Nothing else of the mode is
    /// part of the work.
    fn rights(&self) -> u32 {
        self.mode & 0o176_113
    }
}

impl Snapshot {
    /// Takes a snapshot from before an attempt; what looks as in an earlier one is not read again.
    pub(super) fn take(root: &Path, clock: Option<&Metadata>, earlier: Option<&Earlier>) -> Self {
        Snapshot::look(root, clock, earlier, None)
    }

    /// Takes a snapshot that is compared with one from before: what was ignored then is ignored now, and nothing else.
    pub(super) fn take_after(
        before: &Snapshot,
        root: &Path,
        clock: Option<&Metadata>,
        earlier: Option<&Earlier>,
    ) -> Self {
        Snapshot::look(root, clock, earlier, Some(before))
    }

    fn look(root: &Path, clock: Option<&Metadata>, earlier: Option<&Earlier>, before: Option<&Snapshot>) -> Self {
        let (mut files, mut too_many, mut budget) = (BTreeMap::new(), false, HASHED_BYTES);
        let most = before.map_or(FILES_MAX, |before| before.files.len() + NEW_FILES_MAX);
        let mut ignored = BTreeSet::new();
        let rules = walk(root, before.map(|before| &before.rules), |sight| {
            let met = match sight {
                Sight::Work(met) => met,
                Sight::Ignored { key, .. } => {
                    ignored.insert(key);
                    return ignored.len() < FILES_MAX;
                }
            };
            if files.len() == most {
                too_many = true;
                files.clear();
                return false;
            }
            let mut mark = Mark::of(met.metadata.as_ref());
            mark.sha256 = earlier.and_then(|earlier| earlier.known(&met.key, &mark));
            if let Some(metadata) = &met.metadata
                && mark.sha256.is_none()
                && (metadata.is_file() || metadata.is_symlink())
                && mark.bytes <= HASHED_FILE_BYTES.min(budget)
            {
                budget -= mark.bytes;
                mark.sha256 = hash_entry(&met.path, metadata).ok();
            }
            files.insert(met.key, mark);
            true
        });
        let (taken, device) = (clock.map(changed), clock.map(Metadata::dev));
        too_many |= ignored.len() == FILES_MAX;
        let (refs, above) = (Some(refs::read(root)), Some(configuration_above(root)));
        Snapshot { taken, device, too_many, rules, files, ignored: Some(ignored), refs, above }
    }
}

/// Returns the files that configure Baton in the folders above the workspace, with what tells whether they are the same. Where a
/// project lies in a temporary folder, agents can make such a file.
fn configuration_above(root: &Path) -> BTreeMap<String, String> {
    let content = |path: &Path| {
        let metadata = fs::symlink_metadata(path).ok()?;
        let is_hashed = metadata.is_symlink() || metadata.is_file() && metadata.len() <= HASHED_FILE_BYTES;
        let sha256 = if is_hashed { hash_entry(path, &metadata).ok() } else { None };
        Some(sha256.unwrap_or_else(|| changed(&metadata).to_string()))
    };
    let files = root.ancestors().skip(1).map(|folder| folder.join(CONFIGURATION));
    files.filter_map(|path| Some((key(&path), content(&path)?))).collect()
}

/// Returns a path as text; two paths never have the same. Bytes that are not UTF-8 are written as `\xff`, and so `\` is doubled.
pub(super) fn key(path: &Path) -> String {
    let bytes = path.as_os_str().as_bytes();
    if !bytes.contains(&b'\\')
        && let Ok(text) = std::str::from_utf8(bytes)
    {
        return text.to_owned();
    }
    let mut key = String::new();
    for chunk in bytes.utf8_chunks() {
        key.push_str(&chunk.valid().replace('\\', "\\\\"));
        chunk.invalid().iter().for_each(|byte| key.push_str(&format!("\\x{byte:02x}")));
    }
    key
}

/// Returns the path that a key stands for.
pub(super) fn path_of(key: &str) -> PathBuf {
    let mut bytes = Vec::with_capacity(key.len());
    let mut rest = key.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(1..3).and_then(|digits| std::str::from_utf8(digits).ok());
        let (byte, length) = match (first, after.first()) {
            (b'\\', Some(b'\\')) => (b'\\', 2),
            (b'\\', Some(b'x')) => (digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()).unwrap_or(b'?'), 4),
            _ => (*first, 1),
        };
        bytes.push(byte);
        rest = rest.get(length..).unwrap_or_default();
    }
    PathBuf::from(std::ffi::OsString::from_vec(bytes))
}

/// Hashes a file, or where a link leads.
pub(super) fn hash_entry(path: &Path, metadata: &Metadata) -> io::Result<String> {
    if metadata.is_symlink() {
        Ok(hexadecimal(&Sha256::digest(fs::read_link(path)?.as_os_str().as_bytes())))
    } else {
        hash(open(path)?)
    }
}

/// Returns the SHA-256 of what can be read, in hexadecimal.
pub(crate) fn hash(mut content: impl Read) -> io::Result<String> {
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

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    #[test]
    fn every_path_has_a_key_of_its_own() {
        let paths: [&[u8]; 5] = [b"a/b.txt", b"a\xff", b"a\\xff", b"a\\", "ä/ö".as_bytes()];
        let keys = paths.map(|bytes| key(Path::new(OsStr::from_bytes(bytes))));
        assert_eq!(keys, ["a/b.txt", "a\\xff", "a\\\\xff", "a\\\\", "ä/ö"]);
        for (bytes, key) in paths.iter().zip(&keys) {
            assert_eq!(path_of(key).as_os_str().as_bytes(), *bytes);
        }
    }
}
