//! Files that people approve: what identifies them, whether they are still the same, and what is in them.

use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use baton_engine::evidence::{Content, Examined};
use baton_engine::handoff::{Digest, hexadecimal};
use baton_protocol::rules::artifact_changed;
use baton_protocol::surroundings::{Sight, Workspace};
use sha2::{Digest as _, Sha256};

use super::entry::unchecked;
use super::ignore_rules::open;
use super::named;
use super::snapshot::{hash, hash_entry, key, path_of};
use crate::workspace::Folder;

/// Larger files are not hashed: it would take longer than people wait.
const HASHED_BYTES: u64 = 1024 * 1024 * 1024;

/// Folders with more in them are not hashed.
const HASHED_ENTRIES: usize = 10_000;

/// So many files of one report are kept.
const KEPT_FILES: usize = 1_000;

/// What stands at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Identity {
    /// A file or a folder, by the SHA-256 of it.
    Known(String),
    /// Nothing.
    Nothing,
    /// Something that cannot be hashed, or is too large.
    Unknown,
}

/// Notes which file an examined claim is about, if it can be told later whether that is still the same.
pub(super) fn pin(examined: Examined, workspace: &Folder, path: &str) -> Examined {
    let path = match named::inside(workspace.root(), Path::new(path)) {
        Some(inner) => inner,
        None if path.starts_with('/') => key(Path::new(path)),
        None => return unpinned(examined),
    };
    match identify(workspace, &path) {
        Identity::Known(sha256) => Examined { path: Some(path), sha256: Some(sha256), ..examined },
        Identity::Nothing => Examined { path: Some(path), sha256: None, ..examined },
        Identity::Unknown => unpinned(examined),
    }
}

/// Tells whoever approves that a change after the approval will not be noticed.
fn unpinned(examined: Examined) -> Examined {
    let seen = format!("{}; nobody can tell later whether it is still the same", examined.seen);
    Examined { seen, ..examined }
}

/// Compares the files that a person has approved with what stands there now.
pub(super) fn look_again(workspace: &Path, examined: &[Examined]) -> Option<Vec<Examined>> {
    let workspace = match Folder::open(workspace) {
        Ok(workspace) => workspace,
        Err(error) => {
            let claim = "what was approved could not be looked at again";
            return Some(vec![unchecked(&artifact_changed::RULE, claim, error.to_string())]);
        }
    };
    let mut same = true;
    let look = |seen: &Examined| {
        let Some(path) = &seen.path else { return seen.clone() };
        let now = identify(&workspace, path);
        let before = seen.sha256.clone().map_or(Identity::Nothing, Identity::Known);
        if now == before {
            return seen.clone();
        }
        same = false;
        let claim = format!("`{path}` has changed since it was examined");
        let (told, sha256) = match now {
            Identity::Known(sha256) => ("look at it as it is now".to_owned(), Some(sha256)),
            Identity::Nothing => ("it is gone".to_owned(), None),
            Identity::Unknown => ("it cannot be looked at any more".to_owned(), None),
        };
        Examined { path: Some(path.clone()), sha256, ..unchecked(&artifact_changed::RULE, claim, told) }
    };
    let examined = examined.iter().map(look).collect();
    (!same).then_some(examined)
}

/// Reads the files that are as they were seen, and not too large.
pub(super) fn contents(workspace: &Path, examined: &[Examined], bytes_max: u64) -> Vec<Content> {
    let Ok(workspace) = Folder::open(workspace) else { return Vec::new() };
    let read = |seen: &Examined| {
        let (path, sha256) = (seen.path.as_ref()?, seen.sha256.as_ref()?);
        let (folder, name) = place(&workspace, path)?;
        let mut bytes = Vec::new();
        folder.open_file(&name)?.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes).ok()?;
        let digest = Digest::of(&bytes);
        (bytes.len() as u64 <= bytes_max && digest.0 == *sha256).then_some(Content { digest, bytes })
    };
    examined.iter().filter_map(read).take(KEPT_FILES).collect()
}

/// Finds out what stands at a path of a workspace, or at an absolute one.
fn identify(workspace: &Folder, path: &str) -> Identity {
    let Some((folder, name)) = place(workspace, path) else { return Identity::Nothing };
    match folder.look(&name) {
        Sight::Missing => Identity::Nothing,
        Sight::File { bytes } if bytes <= HASHED_BYTES => {
            let hashed = folder.open_file(&name).and_then(|file| hash(file.take(HASHED_BYTES)).ok());
            hashed.map_or(Identity::Unknown, Identity::Known)
        }
        Sight::Folder { .. } => hash_folder(&folder.root().join(&name)).map_or(Identity::Unknown, Identity::Known),
        Sight::File { .. } | Sight::Unreadable | Sight::Outside => Identity::Unknown,
    }
}

/// Returns the folder that a path lies in, and its name there.
fn place(workspace: &Folder, path: &str) -> Option<(Folder, String)> {
    let path = path_of(path);
    if path.is_relative() {
        return Some((workspace.clone(), path.to_str()?.to_owned()));
    }
    let name = path.file_name()?.to_str()?.to_owned();
    Some((Folder::open(path.parent()?).ok()?, name))
}

/// Hashes the names and contents of everything in a folder, links not followed; `None` if that is too much.
fn hash_folder(root: &Path) -> Option<String> {
    let mut files: Vec<(String, PathBuf)> = Vec::new();
    let mut ahead = vec![root.to_owned()];
    while let Some(folder) = ahead.pop() {
        for entry in fs::read_dir(folder).ok()? {
            let path = entry.ok()?.path();
            if fs::symlink_metadata(&path).ok()?.is_dir() {
                ahead.push(path.clone());
            }
            files.push((key(path.strip_prefix(root).ok()?), path));
            if files.len() > HASHED_ENTRIES {
                return None;
            }
        }
    }
    files.sort();
    let (mut hasher, mut left) = (Sha256::new(), HASHED_BYTES);
    for (key, path) in files {
        let content = content_of(&path, &mut left).ok()?;
        hasher.update(format!("{}:{key} {content}\n", key.len()));
    }
    Some(hexadecimal(&hasher.finalize()))
}

/// Identifies an entry of a folder.
fn content_of(path: &Path, left: &mut u64) -> io::Result<String> {
    let metadata = fs::symlink_metadata(path)?;
    if metadata.is_dir() {
        return Ok("folder".to_owned());
    }
    let too_large = || io::Error::new(io::ErrorKind::FileTooLarge, "there is too much in the folder");
    *left = left.checked_sub(metadata.len()).ok_or_else(too_large)?;
    if metadata.is_symlink() {
        // What a link leads to belongs to what is approved; of a folder only that it leads there.
        let behind = fs::canonicalize(path)
            .and_then(|real| open(&real))
            .and_then(|file| hash(file.take(HASHED_BYTES)))
            .unwrap_or_default();
        return Ok(format!("link {} {behind}", hash_entry(path, &metadata)?));
    }
    let runs = metadata.permissions().mode() & 0o111;
    Ok(format!("{runs:o} {}", hash_entry(path, &metadata)?))
}
