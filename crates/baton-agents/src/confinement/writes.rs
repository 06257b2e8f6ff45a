//! From the patterns of `writes` to folders that can be changed.
//!
//! A cage knows files and folders that are there, not patterns. Where a pattern means something else, its nearest folder can
//! be changed: new files can be made in it, and evidence says afterwards whether they fit. What is in that folder already
//! and does not fit stays as it is.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::evidence::Patterns;
use crate::process::Cage;

/// How many files of a folder are kept as they are, each by itself; with more, evidence must do.
const KEPT_MAX: usize = 500;

/// Lets what fits the patterns be changed, and nothing else of the workspace as far as possible. What is to be undone can be
/// removed: not even a mount may be in its place.
pub(super) fn open_up(cage: &mut Cage, workspace: &Path, patterns: &[String], undo: &[String]) {
    cage.close(workspace);
    let Ok(root) = fs::canonicalize(workspace) else { return };
    let mut opened = Opened::default();
    patterns.iter().for_each(|pattern| opened.take(&root, pattern));
    opened.loose.retain(|folder| !opened.whole.iter().any(|whole| folder.starts_with(whole)));
    if opened.whole.contains(&root) {
        cage.open_up(&root);
    }
    let fitting = Patterns::new(patterns);
    for folder in &opened.loose {
        cage.open_up(folder);
        for path in entries(folder) {
            let fits = path.strip_prefix(&root).is_ok_and(|path| fitting.fit(&path.to_string_lossy()));
            let is_undone = || undo.iter().any(|undone| root.join(undone).starts_with(&path));
            if !fits && !path.is_symlink() && !is_undone() {
                cage.close(&path);
            }
        }
    }
    // Whoever may change everything may not commit yet: for that, `.git` must be named.
    cage.close(&root.join(".git"));
    opened.loose.iter().chain(&opened.whole).filter(|path| **path != root).for_each(|path| cage.open_up(path));
}

/// Folders that can be changed.
#[derive(Default)]
struct Opened {
    /// With everything in them.
    whole: BTreeSet<PathBuf>,
    /// With new files, and with those that fit.
    loose: BTreeSet<PathBuf>,
}

impl Opened {
    fn take(&mut self, root: &Path, pattern: &str) {
        let parts: Vec<Component<'_>> =
            Path::new(pattern).components().filter(|part| *part != Component::CurDir).collect();
        if parts.is_empty() || !parts.iter().all(|part| matches!(part, Component::Normal(_))) {
            return;
        }
        let is_plain = |part: &&Component<'_>| !part.as_os_str().to_string_lossy().contains(['*', '?', '[', '{']);
        let plain = parts.iter().take_while(is_plain).count();
        let base = parts[..plain].iter().fold(root.to_owned(), |path, part| path.join(part));
        // One more part other than `**` means files of this folder.
        let only_files = parts.len() == plain + 1 && parts[plain].as_os_str() != "**";
        if base.is_dir() && !only_files {
            unlinked(&base).map(|folder| self.whole.insert(folder));
        } else if let Some(folder) = base.ancestors().find(|folder| folder.is_dir()) {
            unlinked(folder).map(|folder| self.loose.insert(folder));
        }
    }
}

/// Returns a folder that no link leads to. A link may be the work of an earlier attempt, and lead anywhere.
fn unlinked(folder: &Path) -> Option<PathBuf> {
    fs::canonicalize(folder).ok().filter(|found| found == folder)
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path());
    let entries: Vec<PathBuf> = entries.take(KEPT_MAX + 1).collect();
    if entries.len() > KEPT_MAX { Vec::new() } else { entries }
}
