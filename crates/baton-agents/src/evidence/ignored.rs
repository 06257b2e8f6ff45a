//! What git ignores, compared by time: there is too much of it to read, and nobody else would see a change there.
//!
//! Whoever changes a file cannot set back the time of its last change of any kind, and whoever makes, removes or renames one
//! changes its folder. So one look afterwards is enough, given the names from before that git ignored by themselves.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use super::changes::Change;
use super::snapshot::{Snapshot, changed, key};
use super::walk::{Sight, walk};

/// With more entries in what git ignores, nobody looks at them.
const ENTRIES_MAX: usize = 200_000;

/// Folders that tools fill for themselves whenever something is built or tested.
const CACHES: [&str; 7] = ["__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".cache", ".vite", "target"];

/// What has changed of what git ignores.
#[derive(Debug, Default)]
pub(super) struct IgnoredChanges {
    pub(super) files: BTreeMap<String, Change>,
    /// Caches of tools with a change in them.
    pub(super) caches: BTreeSet<String>,
}

/// Looks for what has changed since a snapshot, in the places that count; the error says why nobody can tell.
pub(super) fn changed_since(
    root: &Path,
    begin: &Snapshot,
    counts: impl Fn(&str) -> bool,
) -> Result<IgnoredChanges, &'static str> {
    let (Some(since), Some(known)) = (begin.taken, &begin.ignored) else {
        return Err("the state of the files that git ignores is not known");
    };
    let mut look = Look { since, entries: 0, found: IgnoredChanges::default() };
    let (mut is_whole, mut met) = (true, BTreeSet::new());
    walk(root, Some(&begin.rules), |sight| {
        if let Sight::Ignored { path, key } = sight {
            met.insert(key.clone());
            is_whole = !counts(&key) || look.at(path, key, &counts);
        }
        is_whole
    });
    if !is_whole {
        return Err("git ignores too many files to compare");
    }
    let gone = known.difference(&met).filter(|key| counts(key) && cache_of(key).is_none());
    look.found.files.extend(gone.map(|key| (key.clone(), Change::Deleted)));
    Ok(look.found)
}

struct Look {
    since: i64,
    entries: usize,
    found: IgnoredChanges,
}

impl Look {
    /// Looks at a file, or at a folder and everything in it. Returns whether it came to the end.
    fn at(&mut self, path: PathBuf, key: String, counts: &impl Fn(&str) -> bool) -> bool {
        let mut ahead = vec![(path, key)];
        while let Some((path, place)) = ahead.pop() {
            self.entries += 1;
            match cache_of(&place) {
                // One change is enough there, and what nobody looks at may have changed.
                Some(cache) if self.found.caches.contains(cache) => continue,
                Some(cache) if self.entries > ENTRIES_MAX => {
                    self.found.caches.insert(cache.to_owned());
                    continue;
                }
                None if self.entries > ENTRIES_MAX => return false,
                _ => {}
            }
            // What is gone by now has changed the folder that it was in.
            let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
            if changed(&metadata) > self.since {
                self.put(place.clone(), &metadata);
            }
            if metadata.is_dir() {
                let inner = fs::read_dir(&path).into_iter().flatten().filter_map(Result::ok);
                let inner = inner.map(|entry| (entry.path(), format!("{place}/{}", key_of(&entry.file_name()))));
                ahead.extend(inner.filter(|(_, inner)| counts(inner)));
            }
        }
        true
    }

    fn put(&mut self, key: String, metadata: &Metadata) {
        if let Some(cache) = cache_of(&key) {
            self.found.caches.insert(cache.to_owned());
            return;
        }
        let born = metadata.created().ok().and_then(|born| born.duration_since(UNIX_EPOCH).ok());
        let is_new = born.is_some_and(|born| born > Duration::from_nanos(self.since.unsigned_abs()));
        self.found.files.insert(key, if is_new { Change::Created } else { Change::Modified });
    }
}

fn key_of(name: &std::ffi::OsStr) -> String {
    key(Path::new(name))
}

/// Returns the cache of a tool that a path is, or lies in.
fn cache_of(path: &str) -> Option<&str> {
    let ends = path.match_indices('/').map(|(end, _)| end).chain([path.len()]);
    let mut folders = ends.map(|end| &path[..end]);
    folders.find(|folder| CACHES.contains(&folder.rsplit('/').next().unwrap_or(folder)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caches_of_tools_are_known_by_their_folder() {
        let found =
            ["target/debug/app", "a/__pycache__/b.pyc", "target", "node_modules/.bin/lint", "targets/a"].map(cache_of);
        assert_eq!(found, [Some("target"), Some("a/__pycache__"), Some("target"), None, None]);
    }
}
