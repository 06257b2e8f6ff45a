//! What has changed in the workspace since an attempt began.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use baton_engine::StateFolder;
use baton_engine::evidence::Scene;

use super::baseline::{self, Recent};
use super::named::Places;
use super::snapshot::{self, CLOCK_STEP_NANOSECONDS, Snapshot};

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    Created,
    Modified,
    Deleted,
}

impl Change {
    /// Returns the word for people.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Change::Created => "created",
            Change::Modified => "changed",
            Change::Deleted => "deleted",
        }
    }
}

/// What can be said about one path.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Trace {
    /// It changed; how, and its SHA-256 now.
    Changed(Change, Option<String>),
    /// It is as it was.
    Same,
    /// It was not there, and is not.
    Never,
    /// It lies outside the workspace, through a link.
    Outside,
    /// Nobody can tell, and why.
    Unknown(&'static str),
}

/// The workspace before and after an attempt.
#[derive(Debug)]
pub(super) struct Changes {
    /// From before the first attempt at the work.
    first: Option<Snapshot>,
    /// From before this attempt.
    before: Option<Snapshot>,
    after: Arc<Snapshot>,
    /// What changed during this attempt, without what Baton itself and the output of the agent are.
    during: BTreeMap<String, Change>,
}

impl Changes {
    /// Looks at the workspace as it is now.
    pub(super) fn see(root: &Path, scene: &Scene, recent: &Recent, state: &StateFolder) -> Self {
        let read = |attempt: &PathBuf| baseline::read(&state.measures(&scene.workspace, attempt));
        let (before, first) = (read(&scene.folder), scene.earlier.iter().find_map(read));
        let after = recent.take(root, &scene.folder);
        let folders = scene.earlier.iter().chain([&scene.folder]).chain(&scene.output_directory);
        let own = Places::new(root, folders);
        let views = Places::new(root, &scene.views);
        let mut during = before.as_ref().map(|before| compare(before, &after)).unwrap_or_default();
        during.retain(|path, _| !own.hold(path) && !views.hold(path) && !views.are_made_from(path));
        Changes { first, before, after, during }
    }

    /// Lists what changed during this attempt; nothing if nobody can tell.
    pub(super) fn listed(&self, most: usize) -> Vec<String> {
        let Ok(during) = self.during() else { return Vec::new() };
        let mut lines: Vec<String> =
            during.iter().take(most).map(|(path, change)| format!("{path} ({})", change.as_str())).collect();
        if during.len() > most {
            lines.push(format!("… and {} more", during.len() - most));
        }
        lines
    }

    /// Returns what changed during this attempt; an error says why nobody can tell.
    pub(super) fn during(&self) -> Result<&BTreeMap<String, Change>, &'static str> {
        match &self.before {
            None => Err("how the workspace was before is not known"),
            Some(before) if before.too_many || self.after.too_many => Err("there are too many files to compare"),
            Some(_) => Ok(&self.during),
        }
    }

    /// Says what happened to a file or folder since the first attempt at the work.
    pub(super) fn trace(&self, root: &Path, path: &str) -> Trace {
        let Some(begin) = self.first.as_ref().or(self.before.as_ref()) else {
            return Trace::Unknown("how the workspace was before is not known");
        };
        let snapshots = self.first.iter().chain(&self.before);
        if let Some(change) = snapshots.into_iter().find_map(|before| change_at(before, &self.after, path)) {
            let sha256 = self.after.files.get(path).and_then(|mark| mark.sha256.clone());
            return Trace::Changed(change, sha256);
        }
        match holds(&begin.files, path) || holds(&self.after.files, path) {
            true => Trace::Same,
            false => trace_by_time(root, begin, path),
        }
    }
}

/// Lists the files that differ.
fn compare(before: &Snapshot, after: &Snapshot) -> BTreeMap<String, Change> {
    let paths = before.files.keys().chain(after.files.keys().filter(|path| !before.files.contains_key(*path)));
    paths.filter_map(|path| Some((path.clone(), change_of_file(before, after, path)?))).collect()
}

fn change_of_file(before: &Snapshot, after: &Snapshot, path: &str) -> Option<Change> {
    match (before.files.get(path), after.files.get(path)) {
        (None, Some(_)) => Some(Change::Created),
        (Some(_), None) => Some(Change::Deleted),
        (Some(before), Some(after)) => (!before.same(after)).then_some(Change::Modified),
        (None, None) => None,
    }
}

/// Says what happened to a file, or to anything in a folder.
fn change_at(before: &Snapshot, after: &Snapshot, path: &str) -> Option<Change> {
    // Where not everything was listed, what is missing from the list was not deleted.
    if before.too_many || after.too_many {
        return None;
    }
    let inside = |snapshot: &Snapshot| -> Vec<String> { below(snapshot, path).cloned().collect() };
    let in_folder = || {
        let mut paths = inside(before).into_iter().chain(inside(after));
        paths.any(|path| change_of_file(before, after, &path).is_some()).then_some(Change::Modified)
    };
    change_of_file(before, after, path).or_else(in_folder)
}

/// Returns the files in a folder.
fn below<'s>(snapshot: &'s Snapshot, folder: &str) -> impl Iterator<Item = &'s String> {
    let prefix = format!("{folder}/");
    let from = snapshot.files.range(prefix.clone()..);
    from.map(|(path, _)| path).take_while(move |path| path.starts_with(&prefix))
}

fn holds(files: &BTreeMap<String, snapshot::Mark>, path: &str) -> bool {
    let prefix = format!("{path}/");
    files.contains_key(path) || files.range(prefix.clone()..).next().is_some_and(|(path, _)| path.starts_with(&prefix))
}

/// Judges by the time of its last change a file that is in no snapshot, because git ignores it or there are too many.
fn trace_by_time(root: &Path, before: &Snapshot, path: &str) -> Trace {
    let full = root.join(path);
    if fs::canonicalize(&full).is_ok_and(|real| !real.starts_with(root)) {
        return Trace::Outside;
    }
    let Ok(metadata) = fs::metadata(full) else {
        let unknown = before.too_many || snapshot::is_left_out(root, path);
        return if unknown { Trace::Unknown("it is ignored, and does not exist now") } else { Trace::Never };
    };
    if before.device != Some(metadata.dev()) {
        return Trace::Unknown("it is ignored, and its time cannot be compared");
    }
    let changed = snapshot::changed(&metadata);
    match before.taken {
        Some(taken) if changed > taken => Trace::Changed(Change::Modified, None),
        Some(taken) if changed + CLOCK_STEP_NANOSECONDS < taken && !metadata.is_dir() => Trace::Same,
        _ => Trace::Unknown("it is ignored, and its time cannot be compared"),
    }
}
