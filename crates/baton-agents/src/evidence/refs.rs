//! Where the branches and tags of the workspace's repository stand. Whoever moves one changes what people take for reviewed.
//!
//! Branches of other repositories are not looked at: a program in the background may fetch them at any time.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::Path;

use super::changes::Change;
use super::ignore_rules::open;
use super::snapshot::key;

/// Nobody has longer lists of branches and tags.
const FILE_BYTES: u64 = 64 * 1024 * 1024;

/// What git itself moves in the background.
const OF_OTHERS: [&str; 2] = ["refs/remotes/", "refs/prefetch/"];

/// Returns where each stands, by its path in the workspace.
pub(super) fn read(root: &Path) -> BTreeMap<String, String> {
    let git = root.join(".git");
    let mut refs = BTreeMap::new();
    if !fs::symlink_metadata(&git).is_ok_and(|found| found.is_dir()) {
        return refs;
    }
    // In one file for all, or in a file for each, which counts before the other.
    for line in text_of(&git.join("packed-refs")).unwrap_or_default().lines() {
        if let Some((stand, name)) = line.split_once(' ').filter(|_| !line.starts_with('#')) {
            put(&mut refs, name, stand);
        }
    }
    let mut ahead = vec![(git.join("refs"), "refs".to_owned())];
    while let Some((folder, name)) = ahead.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
            let name = format!("{name}/{}", key(Path::new(&entry.file_name())));
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                ahead.push((entry.path(), name));
            } else if let Some(stand) = text_of(&entry.path()).filter(|_| !name.ends_with(".lock")) {
                put(&mut refs, &name, stand.trim());
            }
        }
    }
    for name in ["HEAD", "reftable/tables.list"] {
        if let Some(stand) = text_of(&git.join(name)) {
            put(&mut refs, name, stand.trim());
        }
    }
    refs
}

/// Lists those that differ.
pub(super) fn compare(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> BTreeMap<String, Change> {
    let gone = before.keys().filter(|name| !after.contains_key(*name)).map(|name| (name.clone(), Change::Deleted));
    let others = after.iter().filter_map(|(name, stand)| match before.get(name) {
        None => Some((name.clone(), Change::Created)),
        Some(known) => (known != stand).then(|| (name.clone(), Change::Modified)),
    });
    gone.chain(others).collect()
}

fn put(refs: &mut BTreeMap<String, String>, name: &str, stand: &str) {
    if !OF_OTHERS.iter().any(|others| name.starts_with(others)) {
        refs.insert(format!(".git/{name}"), stand.to_owned());
    }
}

fn text_of(path: &Path) -> Option<String> {
    let file = open(path).ok()?;
    file.metadata().ok().filter(fs::Metadata::is_file)?;
    let mut bytes = Vec::new();
    file.take(FILE_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
