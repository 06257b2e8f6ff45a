//! Where the views of a run stand: files that Baton keeps current in the workspace and never reads back.

use std::path::{Path, PathBuf};

use baton_protocol::workflow::{PlacedView, View};

use crate::output_directory::{OutputFault, output_directory};
use crate::run::Run;

/// Where the archives of runs stand, each in a folder that is named after its run.
const ARCHIVES: &str = ".project/07-audit/sessions";

/// The folders of an archive, and how the names of the files in them end.
const ARCHIVED: [(&str, &[&str]); 3] = [
    ("handoffs", &[".report.yaml", ".report.json", ".yaml"]),
    ("reports", &[".md", ".json", ".yaml"]),
    ("journal", &[".yaml"]),
];

/// Why a view has no place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ViewFault {
    /// Unknown view.
    #[error("it is unknown")]
    Unknown,
    /// It would be in the output directory, which is unknown.
    #[error("{0}; name a folder for it, such as `{{manifest: out}}`")]
    Output(OutputFault),
}

/// Returns where a view of a run stands: a file, or the folder of the archive. The error says why it has no place.
pub fn place(run: &Run, placed: &PlacedView) -> Result<PathBuf, ViewFault> {
    let workspace = &run.definition.workspace;
    let view = placed.view.ok_or(ViewFault::Unknown)?;
    let folder = match &placed.folder {
        Some(folder) => workspace.join(folder),
        // What an item of a `foreach` decides is not one place.
        None if view == View::Manifest => output_directory(run, "").map_err(ViewFault::Output)?,
        None => workspace.clone(),
    };
    Ok(folder.join(match view {
        View::State => "state/current.json".to_owned(),
        View::Archive => format!("{ARCHIVES}/{}", run.id),
        View::Manifest => "MANIFEST.yaml".to_owned(),
        View::PhaseStatus => "context/phase-status.json".to_owned(),
        View::Registry => "artifacts/registry.json".to_owned(),
    }))
}

/// Returns everything that Baton writes for the views of a run, so that no agent is blamed for it.
pub fn kept(run: &Run) -> Vec<PathBuf> {
    let places = run.definition.workflow.views.iter().filter_map(|placed| place(run, placed).ok());
    let mut kept: Vec<PathBuf> = places.collect();
    // Whoever writes the registry holds this lock.
    let locks = kept.iter().filter(|path| path.ends_with("registry.json"));
    let locks: Vec<PathBuf> = locks.map(|path| path.with_file_name(".registry.lock")).collect();
    kept.extend(locks);
    kept
}

/// Returns whether the place of a view is the folder of an archive. Only what Baton writes there is the view: agents can
/// put files there as well.
pub fn is_archive(place: &Path) -> bool {
    place.parent().is_some_and(|above| above.ends_with(ARCHIVES))
}

/// Returns whether a path in the folder of an archive is one of the folders that Baton makes there.
pub fn is_archive_folder(inner: &Path) -> bool {
    ARCHIVED.iter().any(|(folder, _)| inner == Path::new(folder))
}

/// Returns whether Baton gives files of the archive of a run such a path in its folder.
pub fn is_archive_file(run: &str, inner: &Path) -> bool {
    let parts: Option<Vec<&str>> = inner.iter().map(|part| part.to_str()).collect();
    let Some([folder, name]) = parts.as_deref() else { return false };
    let Some((_, endings)) = ARCHIVED.iter().find(|(known, _)| known == folder) else { return false };
    let handoff = endings.iter().find_map(|ending| name.strip_suffix(ending));
    handoff.and_then(|handoff| handoff.strip_prefix(run)).is_some_and(|rest| rest.is_empty() || is_visit(rest))
}

/// Returns whether this is what follows the run in the name of a handoff: `.PHASE.VISIT`.
fn is_visit(rest: &str) -> bool {
    let visit = rest.strip_prefix('.').and_then(|rest| rest.rsplit_once('.'));
    visit.is_some_and(|(phase, visit)| !phase.is_empty() && visit.parse::<u32>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_handoffs_of_the_run_belong_to_its_archive() {
        let belongs = |inner: &str| is_archive_file("t", Path::new(inner));
        for file in ["handoffs/t.yaml", "handoffs/t.a.1.report.json", "reports/t.a.b.2.md", "journal/t.a.1.yaml"] {
            assert!(belongs(file), "{file}");
        }
        for file in [
            "run.sh",
            "handoffs/evil.yaml",
            "handoffs/t.a.yaml",
            "handoffs/t..1.yaml",
            "reports/t.a.1.sh",
            "journal/t.md",
            "handoffs/t.a.1.yaml/x",
            "journal",
            "files/t.a.1.yaml",
            "handoffs/tt.a.1.yaml",
        ] {
            assert!(!belongs(file), "{file}");
        }
    }
}
