//! The paths that a report names, as paths inside the workspace.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use baton_engine::view;
use baton_protocol::model::{PhaseFindings, Report};

use super::snapshot::key;

/// Returns the paths that a report says were made.
pub(super) fn made(report: &Report) -> Vec<&str> {
    let mut paths: Vec<&str> = report.artifacts.iter().map(|artifact| artifact.path()).collect();
    paths.extend(report.output.as_ref().and_then(|output| output.artifact_path.as_deref()));
    if let Some(PhaseFindings::Write(write)) = &report.findings {
        paths.extend(write.files_created.iter().filter_map(|file| file.path.as_deref()));
        paths.extend(write.tests_written.iter().filter_map(|tests| tests.path.as_deref()));
    }
    tidy(paths)
}

/// Returns the paths that a report says were changed.
pub(super) fn modified(report: &Report) -> Vec<&str> {
    let mut paths: Vec<&str> = report.files_modified.iter().map(String::as_str).collect();
    if let Some(PhaseFindings::Write(write)) = &report.findings {
        paths.extend(write.files_modified.iter().filter_map(|file| file.path.as_deref()));
    }
    tidy(paths)
}

/// Returns whether a report claims to name every file that it changed.
pub(super) fn claims_a_list(report: &Report) -> bool {
    !report.files_modified.is_empty() || matches!(report.findings, Some(PhaseFindings::Write(_)))
}

/// Leaves out what is empty, what is said twice, and addresses, which are not in the workspace.
fn tidy(paths: Vec<&str>) -> Vec<&str> {
    let mut seen = BTreeSet::new();
    let paths = paths.into_iter().map(str::trim).filter(|path| !path.is_empty() && !path.contains("://"));
    paths.filter(|path| seen.insert(*path)).collect()
}

/// Returns a path as seen from the workspace; `None` if it leads outside or is the workspace.
pub(super) fn inside(root: &Path, path: &Path) -> Option<String> {
    let foreign = path.is_absolute() && !path.starts_with(root);
    let path = if foreign { real(path) } else { path.to_owned() };
    let mut inner = PathBuf::new();
    for component in path.strip_prefix(root).unwrap_or(&path).components() {
        match component {
            Component::Normal(name) => inner.push(name),
            Component::ParentDir if inner.pop() => {}
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(key(&inner)).filter(|inner| !inner.is_empty())
}

/// Follows the links in a path as far as it exists: the workspace itself may have been reached through one.
fn real(path: &Path) -> PathBuf {
    let resolve = |above: &Path| Some(fs::canonicalize(above).ok()?.join(path.strip_prefix(above).ok()?));
    path.ancestors().find_map(resolve).unwrap_or_else(|| path.to_owned())
}

/// Files and folders of the workspace; a folder stands for all that is in it, the folder of an archive only for what
/// Baton writes there.
#[derive(Debug, Default)]
pub(super) struct Places {
    whole: BTreeSet<String>,
    archives: BTreeSet<String>,
}

impl Places {
    /// Collects paths; those outside the workspace stand for nothing.
    pub(super) fn new<P: AsRef<Path>>(root: &Path, paths: impl IntoIterator<Item = P>) -> Self {
        let whole = paths.into_iter().filter_map(|path| inside(root, path.as_ref())).collect();
        Places { whole, archives: BTreeSet::new() }
    }

    /// Collects the places of views.
    pub(super) fn of_views(root: &Path, views: &[PathBuf]) -> Self {
        let (archives, whole): (Vec<&PathBuf>, _) = views.iter().partition(|place| view::is_archive(place));
        Places { archives: Places::new(root, archives).whole, ..Places::new(root, whole) }
    }

    /// Returns whether a path is one of these, or lies in one.
    pub(super) fn hold(&self, path: &str) -> bool {
        let ends = path.match_indices('/').map(|(end, _)| end).chain([path.len()]);
        ends.into_iter().any(|end| self.whole.contains(&path[..end])) || self.is_archived(path)
    }

    /// Returns whether one of these lies below a path, or whether Baton makes this folder for an archive.
    pub(super) fn lie_below(&self, path: &str) -> bool {
        let is_below = |places: &BTreeSet<String>| {
            let below = |place: &String| place.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
            places.range(path.to_owned()..).take_while(|place| place.starts_with(path)).any(below)
        };
        let is_made = |(_, inner): (&str, &Path)| inner.as_os_str().is_empty() || view::is_archive_folder(inner);
        is_below(&self.whole) || is_below(&self.archives) || self.in_archive(path).is_some_and(is_made)
    }

    /// Returns whether a path is a file that becomes one of these: `.NAME.….part` or `.NAME.….tmp` beside it.
    pub(super) fn are_made_from(&self, path: &str) -> bool {
        let (folder, name) = path.rsplit_once('/').map_or(("", path), |(folder, name)| (folder, name));
        let Some(stem) = name.strip_suffix(".part").or_else(|| name.strip_suffix(".tmp")) else { return false };
        let Some((stem, _)) = stem.strip_prefix('.').and_then(|stem| stem.rsplit_once('.')) else { return false };
        let made = if folder.is_empty() { stem.to_owned() } else { format!("{folder}/{stem}") };
        self.whole.contains(&made) || self.is_archived(&made)
    }

    fn is_archived(&self, path: &str) -> bool {
        self.in_archive(path).is_some_and(|(run, inner)| view::is_archive_file(run, inner))
    }

    /// Returns the run in whose archive a path lies, and the path in it.
    fn in_archive<'p>(&self, path: &'p str) -> Option<(&'p str, &'p Path)> {
        let ends = path.match_indices('/').map(|(end, _)| end).chain([path.len()]);
        let archive = ends.map(|end| &path[..end]).find(|above| self.archives.contains(*above))?;
        let run = archive.rsplit('/').next().unwrap_or(archive);
        Some((run, Path::new(path[archive.len()..].trim_start_matches('/'))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_seen_from_the_workspace() {
        let root = Path::new("/project");
        let seen = |path: &str| inside(root, Path::new(path));
        assert_eq!(seen("./src/../a.rs").as_deref(), Some("a.rs"));
        assert_eq!(seen("/project/a.rs").as_deref(), Some("a.rs"));
        assert_eq!(seen("src/").as_deref(), Some("src"));
        for outside in ["..", "a/../../b", "/etc/passwd", ".", "/project"] {
            assert_eq!(seen(outside), None, "{outside}");
        }
    }

    #[test]
    fn folder_holds_what_is_in_it() {
        let places = Places::new(Path::new("/project"), ["src/", "a.rs"]);
        assert!(places.hold("src/b/c.rs") && places.hold("a.rs") && places.hold("src"));
        assert!(!places.hold("srcs/b.rs") && !places.hold("b/a.rs"));
    }
}
