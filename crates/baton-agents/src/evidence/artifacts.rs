//! Artifacts: every file that a report says was made is there, has content, and lies in the workspace.

use std::path::Path;

use baton_engine::evidence::{Examined, Scene};
use baton_protocol::model::Report;
use baton_protocol::rules::{artifact_empty, artifact_missing, artifact_outside_workspace};
use baton_protocol::surroundings::{Sight, Workspace};

use super::changes::{Changes, Trace};
use super::entry::{refuted, verified};
use super::named;
use super::snapshot::hash;
use crate::workspace::Folder;

/// Larger files are not hashed: it would take longer than people wait.
const HASHED_BYTES: u64 = 1024 * 1024 * 1024;

/// Looks at every artifact of a report.
pub(super) fn examine(workspace: &Folder, scene: &Scene, report: &Report, changes: &Changes) -> Vec<Examined> {
    let eyes = Places::open(workspace, scene, changes);
    named::made(report).into_iter().map(|path| eyes.examine(path)).collect()
}

/// Where artifacts may lie: in the workspace, and in the folders that the agent was given.
struct Places<'a> {
    workspace: &'a Folder,
    given: Vec<Folder>,
    changes: &'a Changes,
}

impl<'a> Places<'a> {
    fn open(workspace: &'a Folder, scene: &Scene, changes: &'a Changes) -> Self {
        let given = scene.output_directory.iter().chain([&scene.folder]);
        Places { workspace, given: given.filter_map(|folder| Folder::open(folder).ok()).collect(), changes }
    }

    /// Finds the folder that a path lies in, and what stands there. Only an absolute path leads to a given folder.
    fn look(&self, path: &str) -> (&Folder, Sight) {
        let sight = self.workspace.look(path);
        let absolute = path.starts_with('/') && sight == Sight::Outside;
        let mut given = self.given.iter().filter(|_| absolute).map(|folder| (folder, folder.look(path)));
        given.find(|(_, sight)| *sight != Sight::Outside).unwrap_or((self.workspace, sight))
    }

    fn examine(&self, path: &str) -> Examined {
        let claim = format!("claims to have made `{path}`");
        let there = format!("`{path}` exists");
        let (folder, sight) = self.look(path);
        match sight {
            Sight::Missing => refuted(&artifact_missing::RULE, claim, "but it does not exist"),
            Sight::Unreadable => refuted(&artifact_missing::RULE, claim, "but it cannot be looked at"),
            Sight::Outside => refuted(&artifact_outside_workspace::RULE, claim, "but it lies outside the workspace"),
            Sight::File { bytes: 0 } => refuted(&artifact_empty::RULE, claim, "but it is an empty file"),
            Sight::Folder { empty: true } => refuted(&artifact_empty::RULE, claim, "but it is an empty folder"),
            Sight::Folder { empty: false } => {
                verified(&artifact_missing::RULE, there, format!("a folder with something in it{}", self.since(path)))
            }
            Sight::File { bytes } => {
                let file = folder.open_file(path).filter(|_| bytes <= HASHED_BYTES);
                let sha256 = file.and_then(|file| hash(file).ok());
                let unit = if bytes == 1 { "byte" } else { "bytes" };
                let seen = format!("{bytes} {unit}{}", self.since(path));
                Examined { sha256, ..verified(&artifact_missing::RULE, there, seen) }
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
