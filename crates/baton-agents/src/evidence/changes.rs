//! What has changed in the workspace since an attempt began.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

use baton_engine::evidence::{EarlierAttempt, Scene};
use baton_host::OwnOutput;

use super::baseline::{self, Memory};
use super::ignored::{self, IgnoredChanges};
use super::named::Places;
use super::refs;
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
    /// It changed, and how.
    Changed(Change),
    /// It is as it was.
    Same,
    /// It was not there, and is not.
    Never,
    /// It lies outside the workspace, through a link.
    Outside,
    /// It is unknown, and why.
    Unknown(&'static str),
}

/// Whether a snapshot from before must be the one that the journal knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trust {
    /// Something is decided by it.
    Proven,
    /// It is only told to whoever goes on.
    Any,
}

/// Why it is unknown what has changed.
const NOT_KNOWN: &str = "the earlier state of the workspace is not known";
const FIRST_NOT_KNOWN: &str = "the state of the workspace before the first attempt is not known";

/// The workspace before and after an attempt.
#[derive(Debug)]
pub(super) struct Changes {
    /// From before the first attempt at the work, if this is not the first; an error if nobody knows any more.
    first: Option<Result<Snapshot, &'static str>>,
    /// From before the first attempt of this handoff, likewise.
    own_first: Option<Result<Snapshot, &'static str>>,
    /// From before this attempt.
    before: Option<Arc<Snapshot>>,
    pub(super) after: Arc<Snapshot>,
    /// What changed during this attempt, without what is Baton's own.
    during: BTreeMap<String, Change>,
    /// What earlier attempts of this handoff changed, beside that.
    left_over: Result<BTreeMap<String, Change>, &'static str>,
    /// What is Baton's own, and where output goes.
    own: OwnPlaces,
}

/// What changed that is not part of the work.
pub(super) struct ChangesBeside {
    /// During this attempt.
    pub(super) during: BTreeMap<String, Change>,
    /// By earlier attempts of this handoff, beside that.
    pub(super) left_over: BTreeMap<String, Change>,
    /// Caches of tools that were used during this attempt.
    pub(super) caches: BTreeSet<String>,
}

/// Where changes are nobody's: the folders of attempts, what Baton keeps current, and where its own output goes. And where agents put their output, which
/// needs no naming.
#[derive(Debug)]
struct OwnPlaces {
    folders: Places,
    output: Places,
    views: Places,
    own_output: Places,
}

impl OwnPlaces {
    fn of(root: &Path, scene: &Scene, memory: &Memory) -> Self {
        let earlier = scene.earlier.iter().map(|attempt| &attempt.folder);
        let folders = Places::new(root, earlier.chain([&scene.folder]));
        let output = Places::new(root, &scene.output_directory);
        // A file that an agent has put in its place is not Baton's.
        let own_output = memory.own_output.iter().filter(|file| file.is_there()).map(OwnOutput::path);
        let own_output = Places::new(root, own_output);
        OwnPlaces { folders, output, views: Places::of_views(root, &scene.views), own_output }
    }

    fn hold(&self, path: &str) -> bool {
        let is_view = || self.views.hold(path) || self.views.are_made_from(path);
        self.folders.hold(path) || is_view() || self.own_output.hold(path)
    }

    /// Returns whether a folder changes whenever Baton writes what is its own.
    fn lie_below(&self, path: &str) -> bool {
        self.folders.lie_below(path) || self.views.lie_below(path)
    }
}

impl Changes {
    /// Looks at the workspace as it was when the agent had ended, or else as it is now.
    pub(super) fn see(root: &Path, scene: &Scene, memory: &Memory, trust: Trust) -> Self {
        let own = OwnPlaces::of(root, scene, memory);
        let kept = || read(scene, memory, trust).map(Arc::new);
        let before = scene.before.as_ref().and_then(baseline::snapshot).or_else(kept);
        let after = scene.after.as_ref().and_then(baseline::snapshot);
        let after = after.unwrap_or_else(|| memory.take(root, before.as_deref()));
        let mut during = before.as_ref().map(|before| compare(before, &after)).unwrap_or_default();
        during.retain(|path, _| !own.hold(path));
        let first_of = |attempt: &EarlierAttempt| {
            let digest = attempt.baseline.as_ref()?;
            Some(memory.read(&scene.workspace, &attempt.folder, digest).ok_or(FIRST_NOT_KNOWN))
        };
        let first = scene.earlier.iter().find_map(first_of);
        let own_first = scene.earlier.iter().filter(|attempt| attempt.is_own).find_map(first_of);
        let settled = Places::new(root, &scene.settled);
        let is_told = |path: &str| during.contains_key(path) || own.hold(path) || settled.hold(path);
        let left_over = left_over(own_first.as_ref(), &after, is_told);
        Changes { first, own_first, before, after, during, left_over, own }
    }

    /// Returns which files that configure Baton were changed above the workspace since the first attempt of this handoff.
    pub(super) fn above(&self) -> BTreeMap<String, Change> {
        let own_first = self.own_first.as_ref().and_then(|first| first.as_ref().ok());
        let before = own_first.or(self.before.as_deref()).and_then(|before| before.above.as_ref());
        let files = before.zip(self.after.above.as_ref());
        files.map(|(before, after)| refs::compare(before, after)).unwrap_or_default()
    }

    /// Lists what changed during this attempt; nothing if that is unknown.
    pub(super) fn listed(&self, most: usize) -> Vec<String> {
        let Ok(during) = self.during() else { return Vec::new() };
        // What is in the output directory is found there.
        let mut told = during.iter().filter(|(path, _)| !self.is_output(path));
        let mut lines: Vec<String> =
            told.by_ref().take(most).map(|(path, change)| format!("{path} ({})", change.as_str())).collect();
        let more = told.count();
        if more > 0 {
            lines.push(format!("… and {more} more"));
        }
        lines
    }

    /// Returns what changed during this attempt; an error says why that is unknown.
    pub(super) fn during(&self) -> Result<&BTreeMap<String, Change>, &'static str> {
        match &self.before {
            None => Err(NOT_KNOWN),
            Some(before) if before.too_many || self.after.too_many => Err("there are too many files to compare"),
            Some(_) => Ok(&self.during),
        }
    }

    /// Returns whether there was a file, or anything in a folder, before this attempt.
    pub(super) fn had(&self, path: &str) -> bool {
        self.before.as_ref().is_some_and(|before| holds(&before.files, path))
    }

    /// Returns whether Baton itself keeps a path.
    pub(super) fn is_own(&self, path: &str) -> bool {
        self.own.hold(path)
    }

    /// Returns whether a path is part of the output of the agents.
    pub(super) fn is_output(&self, path: &str) -> bool {
        self.own.output.hold(path)
    }

    /// Returns whether git ignored a folder when the attempt began.
    pub(super) fn ignored_folder(&self, root: &Path, path: &str) -> bool {
        let rules = self.before.as_ref().map_or(&self.after.rules, |before| &before.rules);
        rules.leave_out(root, &snapshot::path_of(path).join("anything"))
    }

    /// Returns whether a file, or one in a folder, was written since the first attempt at the work, with whatever content.
    pub(super) fn is_rewritten(&self, path: &str) -> bool {
        let first = self.first.as_ref().and_then(|first| first.as_ref().ok());
        let Some(begin) = first.or(self.before.as_deref()) else { return false };
        let is_touched = |path: &str| match (begin.files.get(path), self.after.files.get(path)) {
            (Some(before), Some(after)) => !before.looks_the_same(after),
            _ => false,
        };
        is_touched(path) || below(&self.after, path).any(|path| is_touched(path))
    }

    /// Returns whether a file is again as it was before the first attempt of this handoff: an undone change does not
    /// count.
    pub(super) fn is_undone(&self, path: &str) -> bool {
        let first = self.own_first.as_ref().and_then(|first| first.as_ref().ok()).filter(|first| !first.too_many);
        first.is_some_and(|first| change_of_file(first, &self.after, path).is_none())
    }

    /// Returns what is not as it was before the first attempt of this handoff, although this attempt did not change it.
    pub(super) fn left_over(&self) -> Result<&BTreeMap<String, Change>, &'static str> {
        self.left_over.as_ref().map_err(|why| *why)
    }

    /// Returns what has changed in the workspace since the agent had ended.
    pub(super) fn since(&self, root: &Path, memory: &Memory) -> Result<BTreeMap<String, Change>, &'static str> {
        let now = memory.take(root, Some(self.before.as_deref().unwrap_or(&self.after)));
        if now.too_many || self.after.too_many {
            return Err("there are too many files to compare");
        }
        let mut changes = compare(&self.after, &now);
        changes.retain(|path, _| !self.own.hold(path));
        Ok(changes)
    }

    /// Returns what changed beside the work during this attempt, and what earlier attempts of this handoff have left there:
    /// where branches stand, and what git ignores in the places that count. The error says why nobody can tell.
    pub(super) fn beside_the_work(
        &self,
        root: &Path,
        counts: impl Fn(&str) -> bool,
    ) -> Result<ChangesBeside, &'static str> {
        let before = self.before.as_deref().ok_or(NOT_KNOWN)?;
        let counts = |path: &str| !self.own.hold(path) && counts(path);
        let moved = |begin: &Snapshot| {
            let mut moved = match (&begin.refs, &self.after.refs) {
                (Some(before), Some(after)) => refs::compare(before, after),
                _ => BTreeMap::new(),
            };
            moved.retain(|path, _| counts(path));
            moved
        };
        let mut during = ignored::changed_since(root, before, counts)?;
        during.files.extend(moved(before));
        let mut left_over = BTreeMap::new();
        if let Some(first) = &self.own_first {
            let first = first.as_ref().map_err(|why| *why)?;
            left_over.extend(ignored::changed_since(root, first, counts)?.files);
            left_over.extend(moved(first));
            left_over.retain(|path, _| !during.files.contains_key(path));
        }
        let (mut during, caches) = (during.files, during.caches);
        during.retain(|path, _| !self.own.lie_below(path));
        left_over.retain(|path, _| !self.own.lie_below(path));
        Ok(ChangesBeside { during, left_over, caches })
    }

    /// Returns which branches have moved since the agent had ended.
    pub(super) fn moved_since(&self, root: &Path) -> BTreeMap<String, Change> {
        self.after.refs.as_ref().map(|before| refs::compare(before, &refs::read(root))).unwrap_or_default()
    }

    /// Returns what has changed since the agent had ended of what git ignores, in the places that count.
    pub(super) fn ignored_since(
        &self,
        root: &Path,
        counts: impl Fn(&str) -> bool,
    ) -> Result<IgnoredChanges, &'static str> {
        let mut ignored = ignored::changed_since(root, &self.after, |path| !self.own.hold(path) && counts(path))?;
        ignored.files.retain(|path, _| !self.own.lie_below(path));
        Ok(ignored)
    }

    /// Returns what happened to a file or folder since the first attempt at the work.
    pub(super) fn trace(&self, root: &Path, path: &str) -> Trace {
        let first = self.first.as_ref().and_then(|first| first.as_ref().ok());
        let Some(begin) = first.or(self.before.as_deref()) else { return Trace::Unknown(NOT_KNOWN) };
        let mut snapshots = first.into_iter().chain(self.before.as_deref());
        if let Some(change) = snapshots.find_map(|before| change_at(before, &self.after, path)) {
            return Trace::Changed(change);
        }
        let trace = if holds(&begin.files, path) || holds(&self.after.files, path) {
            Trace::Same
        } else {
            trace_by_time(root, begin, path)
        };
        match (&self.first, trace) {
            // An earlier attempt may have changed it.
            (Some(Err(why)), Trace::Same | Trace::Never) => Trace::Unknown(why),
            (_, trace) => trace,
        }
    }
}

/// Reads what was kept of the workspace from before an attempt.
fn read(scene: &Scene, memory: &Memory, trust: Trust) -> Option<Snapshot> {
    match (&scene.baseline, trust) {
        (Some(digest), _) => memory.read(&scene.workspace, &scene.folder, digest),
        (None, Trust::Any) => memory.read_unproven(&scene.workspace, &scene.folder),
        (None, Trust::Proven) => None,
    }
}

/// Lists the files that are not as they were before the first attempt of a handoff, without those that are told anyway.
fn left_over(
    first: Option<&Result<Snapshot, &'static str>>,
    after: &Snapshot,
    is_told: impl Fn(&str) -> bool,
) -> Result<BTreeMap<String, Change>, &'static str> {
    let first = match first {
        None => return Ok(BTreeMap::new()),
        Some(first) => first.as_ref().map_err(|why| *why)?,
    };
    if first.too_many || after.too_many {
        return Err("there are too many files to compare");
    }
    let mut changes = compare(first, after);
    changes.retain(|path, _| !is_told(path));
    Ok(changes)
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

/// Returns what happened to a file, or to anything in a folder.
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
    let inner = snapshot::path_of(path);
    let full = root.join(&inner);
    if fs::canonicalize(&full).is_ok_and(|real| !real.starts_with(root)) {
        return Trace::Outside;
    }
    let Ok(metadata) = fs::metadata(full) else {
        let is_ours = path.starts_with(".baton/") && !path.starts_with(".baton/output/");
        let unknown = before.too_many || is_ours || before.rules.leave_out(root, &inner);
        return if unknown { Trace::Unknown("it is ignored, and does not exist now") } else { Trace::Never };
    };
    if before.device != Some(metadata.dev()) {
        return Trace::Unknown("it is ignored, and its time cannot be compared");
    }
    let changed = snapshot::changed(&metadata);
    match before.taken {
        Some(taken) if changed > taken => Trace::Changed(Change::Modified),
        Some(taken) if changed + CLOCK_STEP_NANOSECONDS < taken && !metadata.is_dir() => Trace::Same,
        _ => Trace::Unknown("it is ignored, and its time cannot be compared"),
    }
}
