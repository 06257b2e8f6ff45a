//! Artifacts: every file that a report says was made is there, has content, and lies in the workspace.

use std::path::Path;

use baton_engine::evidence::{Examined, Scene};
use baton_protocol::model::Report;
use baton_protocol::rules::{artifact_empty, artifact_missing, artifact_outside_workspace};
use baton_protocol::surroundings::{Sight, Workspace};

use super::changes::{Changes, Trace};
use super::entry::{refuted, verified};
use super::files::FileEyes;
use super::named;
use crate::workspace::Folder;

/// Looks at every artifact of a report.
pub(super) fn examine(workspace: &Folder, scene: &Scene, report: &Report, changes: &Changes) -> Vec<Examined> {
    let eyes = Places::open(workspace, scene, changes);
    named::made(report).into_iter().map(|path| eyes.examine(path)).collect()
}

/// Where artifacts may lie: in the workspace, and in the folders that the agent was given.
struct Places<'a> {
    workspace: &'a Folder,
    files: FileEyes<'a>,
    given: Vec<Folder>,
    changes: &'a Changes,
}

impl<'a> Places<'a> {
    fn open(workspace: &'a Folder, scene: &Scene, changes: &'a Changes) -> Self {
        let given = scene.output_directory.iter().chain([&scene.folder]);
        let files = FileEyes::new(workspace, &scene.views);
        Places { workspace, files, given: given.filter_map(|folder| Folder::open(folder).ok()).collect(), changes }
    }

    /// Finds out what stands at a path. Only an absolute one leads to a given folder.
    fn look(&self, path: &str) -> Sight {
        let sight = self.workspace.look(path);
        let absolute = path.starts_with('/') && sight == Sight::Outside;
        let mut given = self.given.iter().filter(|_| absolute).map(|folder| folder.look(path));
        given.find(|sight| *sight != Sight::Outside).unwrap_or(sight)
    }

    fn examine(&self, path: &str) -> Examined {
        let claim = format!("claims to have made `{path}`");
        let there = format!("`{path}` exists");
        match self.look(path) {
            Sight::Missing => refuted(&artifact_missing::RULE, claim, "but it does not exist"),
            Sight::Unreadable => refuted(&artifact_missing::RULE, claim, "but it cannot be looked at"),
            Sight::Outside => refuted(&artifact_outside_workspace::RULE, claim, "but it lies outside the workspace"),
            Sight::File { bytes: 0 } => refuted(&artifact_empty::RULE, claim, "but it is an empty file"),
            Sight::Folder { empty: true } => refuted(&artifact_empty::RULE, claim, "but it is an empty folder"),
            Sight::Folder { empty: false } => {
                let seen = format!("a folder with something in it{}", self.since(path));
                self.files.pin(verified(&artifact_missing::RULE, there, seen), path)
            }
            Sight::File { bytes } => {
                let unit = if bytes == 1 { "byte" } else { "bytes" };
                let seen = format!("{bytes} {unit}{}", self.since(path));
                self.files.pin(verified(&artifact_missing::RULE, there, seen), path)
            }
        }
    }

    /// Tells what was there before the work began, and is as it was: nobody has made it.
    fn since(&self, path: &str) -> &'static str {
        let root = self.workspace.root();
        let trace = named::inside(root, Path::new(path)).map(|inner| self.changes.trace(root, &inner));
        match trace {
            Some(Trace::Same) => ", unchanged since before the work began",
            Some(Trace::Changed(..) | Trace::Never | Trace::Outside | Trace::Unknown(_)) | None => "",
        }
    }
}
