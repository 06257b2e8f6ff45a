//! Where the views of a run stand: files that Baton keeps current in the workspace and never reads back.

use std::path::PathBuf;

use baton_protocol::workflow::{PlacedView, View};

use crate::driver::{OutputFault, output_directory};
use crate::run::Run;

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
        View::Archive => format!(".project/07-audit/sessions/{}", run.id),
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
