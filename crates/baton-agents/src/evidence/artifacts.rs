//! Artifacts: every file that a report says was made is there, has content, and lies in the workspace.

use std::path::Path;

use baton_engine::evidence::{ExaminedClaim, Scene};
use baton_host::SharedFolder;
use baton_protocol::model::Report;
use baton_protocol::rules::{artifact_empty, artifact_missing, artifact_outside_workspace, file_not_modified};
use baton_protocol::surroundings::{PathState, Workspace};

use super::changes::{Changes, Trace};
use super::entry::{refuted, unchanged, verified};
use super::files::FileEyes;
use super::named;
use crate::workspace::WorkspaceFolder;

/// Looks at every artifact of a report.
pub(super) fn examine(
    workspace: &WorkspaceFolder,
    scene: &Scene,
    report: &Report,
    changes: &Changes,
) -> Vec<ExaminedClaim> {
    let eyes = Places::open(workspace, scene, changes);
    named::made(report).into_iter().map(|path| eyes.examine(path)).collect()
}

/// Where artifacts may lie: in the workspace, and in the folders that the agent was given.
struct Places<'a> {
    workspace: &'a WorkspaceFolder,
    files: FileEyes<'a>,
    given: Vec<WorkspaceFolder>,
    changes: &'a Changes,
    /// Files that the phase may write by their very names.
    outputs: Vec<String>,
}

impl<'a> Places<'a> {
    fn open(workspace: &'a WorkspaceFolder, scene: &Scene, changes: &'a Changes) -> Self {
        let given = scene.output_directory.iter().chain([&scene.folder]);
        // What an agent has linked may lead anywhere.
        let given = given.filter(|folder| SharedFolder::open(&scene.workspace, folder).is_ok());
        let files = FileEyes::new(workspace, &scene.views);
        let outputs = scene.writes.iter().flatten();
        Places {
            workspace,
            files,
            given: given.filter_map(|folder| WorkspaceFolder::open(folder).ok()).collect(),
            changes,
            outputs: outputs.filter_map(|path| named::inside(workspace.root(), Path::new(path))).collect(),
        }
    }

    /// Finds out what is at a path. Only an absolute one leads to a given folder.
    fn look(&self, path: &str) -> PathState {
        let sight = self.workspace.look(path);
        let absolute = path.starts_with('/') && sight == PathState::Outside;
        let mut given = self.given.iter().filter(|_| absolute).map(|folder| folder.look(path));
        given.find(|sight| *sight != PathState::Outside).unwrap_or(sight)
    }

    fn examine(&self, path: &str) -> ExaminedClaim {
        let claim = format!("claims to have made `{path}`");
        let there = format!("`{path}` exists");
        match self.look(path) {
            PathState::Missing => refuted(&artifact_missing::RULE, claim, "but it does not exist"),
            PathState::Unreadable => refuted(&artifact_missing::RULE, claim, "but it cannot be read"),
            PathState::Outside => {
                refuted(&artifact_outside_workspace::RULE, claim, "but it lies outside the workspace")
            }
            PathState::File { bytes: 0 } => refuted(&artifact_empty::RULE, claim, "but it is an empty file"),
            PathState::Folder { empty: true } => refuted(&artifact_empty::RULE, claim, "but it is an empty folder"),
            PathState::File { .. } | PathState::Folder { .. } if self.is_owed(path) => {
                refuted(&file_not_modified::RULE, claim, "but it is unchanged since before the work began")
            }
            PathState::Folder { empty: false } => {
                self.seen(path, verified(&artifact_missing::RULE, there, "a folder with something in it"))
            }
            PathState::File { bytes } => {
                let unit = if bytes == 1 { "byte" } else { "bytes" };
                self.seen(path, verified(&artifact_missing::RULE, there, format!("{bytes} {unit}")))
            }
        }
    }

    /// Returns whether the phase is there to write this very file, and nobody has written it. Whoever writes the same
    /// content once more has done so.
    fn is_owed(&self, path: &str) -> bool {
        let inner = named::inside(self.workspace.root(), Path::new(path));
        let is_left = |inner: &String| self.outputs.contains(inner) && !self.changes.is_rewritten(inner);
        inner.as_ref().is_some_and(is_left) && self.trace(path) == Some(Trace::Same)
    }

    fn trace(&self, path: &str) -> Option<Trace> {
        let root = self.workspace.root();
        named::inside(root, Path::new(path)).map(|inner| self.changes.trace(root, &inner))
    }

    /// Puts down what identifies a file, and whether anybody has made or changed it.
    fn seen(&self, path: &str, there: ExaminedClaim) -> ExaminedClaim {
        let is_same = self.trace(path) == Some(Trace::Same);
        self.files.pin(if is_same { unchanged(there) } else { there }, path)
    }
}
