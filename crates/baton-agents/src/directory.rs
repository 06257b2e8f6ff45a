//! Handoffs as JSON files that move through folders, both sides, without a database.
//!
//! A handoff is one file, `handoffs/FOLDER/ID.json`. It is claimed by renaming it, so exactly one claimant wins; it
//! is finished by renaming it to a private name, so exactly one finisher wins. Whatever appears under its own name in a
//! folder is complete and on the disk: it was written beside it and renamed. A process that dies between two steps leaves
//! something that the next [`sweep`](Directory::sweep) puts right. Plain scripts may be on the other side; they know
//! neither locks nor atomic writes, so what cannot be read yet is looked at again.

mod artifact;
mod claim;
mod complete;
mod create;
mod dependencies;
mod error;
mod fail;
mod files;
mod finish;
mod handoff;
mod hint;
mod id_check_lock;
mod index;
mod locate;
mod queue;
mod registry;
mod schemas;
mod settled;
mod status;
mod sweep;
mod unclaimed;
mod wait;
mod watch;

#[cfg(test)]
mod crash_tests;
#[cfg(test)]
mod model_tests;
#[cfg(test)]
mod sandbox;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use baton_engine::HandoffId;

pub use artifact::ArtifactFile;
pub use baton_protocol::model::terms::Priority;
pub use claim::FolderClaim;
pub use complete::Completion;
pub use create::NewFolderHandoff;
pub use error::DirectoryError;
pub use fail::FailedAttempt;
pub use handoff::{FolderHandoff, TIMEOUT_DEFAULT};
pub use locate::LocatedHandoff;
pub use registry::{Entry, list_artifacts_of_run};
pub use status::{FolderRow, Status};
pub use sweep::{SweepProblem, SweepResult};
pub use wait::WaitEnd;
pub use watch::{POLL, Watch};

use files::Files;
use queue::Queue;

use crate::schema_folder::SchemaFolder;

/// Where a handoff is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Folder {
    /// Waiting to be claimed, or for its next attempt.
    Pending,
    /// Claimed.
    InProgress,
    /// Done.
    Completed,
    /// Given up.
    Failed,
}

impl Folder {
    /// All folders, in the order of a handoff's life.
    pub const ALL: [Folder; 4] = [Folder::Pending, Folder::InProgress, Folder::Completed, Folder::Failed];

    /// Returns the name of the folder.
    pub fn as_str(self) -> &'static str {
        match self {
            Folder::Pending => "pending",
            Folder::InProgress => "in-progress",
            Folder::Completed => "completed",
            Folder::Failed => "failed",
        }
    }

    /// Returns the status of the handoffs in it.
    pub fn status(self) -> &'static str {
        match self {
            Folder::InProgress => "in_progress",
            other => other.as_str(),
        }
    }
}

/// The folders of one project.
///
/// ```
/// use baton_agents::directory::{Completion, Directory, Folder, NewFolderHandoff};
/// # let now = jiff::Timestamp::UNIX_EPOCH;
/// # let scratch = baton_testbed::Scratch::new();
///
/// let folders = Directory::init(&scratch.path("project"))?;
/// folders.create(&NewFolderHandoff::new("@lead", "@finder", serde_json::json!({"task": "find the writer"})), now)?;
/// let claim = folders.claim("@finder", now)?.result.expect("it is the only one");
/// assert!(folders.claim("@finder", now)?.result.is_none());
///
/// let done = Completion { attempt: Some(claim.attempt), ..Completion::default() };
/// folders.complete(&claim.id, &done, now)?;
/// assert_eq!(folders.look(&claim.id)?.folder, Folder::Completed);
/// # Ok::<(), baton_agents::directory::DirectoryError>(())
/// ```
#[derive(Debug)]
pub struct Directory {
    root: PathBuf,
    files: Files,
    schemas: SchemaFolder,
    strict: bool,
    queue: Mutex<Queue>,
}

/// A result, and what should be looked at although it worked.
#[derive(Debug, Clone, PartialEq)]
pub struct NotedResult<T> {
    /// The result.
    pub result: T,
    /// What should be looked at, one line each.
    pub warnings: Vec<String>,
}

impl Directory {
    /// Makes the folders; those that exist stay as they are.
    pub fn init(root: &Path) -> Result<Directory, DirectoryError> {
        let make = |path: &Path| {
            fs::create_dir_all(path).map_err(|source| DirectoryError::io("make the folder", path, source))
        };
        for folder in Folder::ALL {
            make(&root.join("handoffs").join(folder.as_str()))?;
        }
        for name in ["artifacts", "context", "schemas"] {
            make(&root.join(name))?;
        }
        let directory = Directory::open(root)?;
        directory.files.sync_folder(&root.join("handoffs"))?;
        directory.files.sync_folder(root)?;
        Ok(directory)
    }

    /// Opens folders that exist. A script makes only those that it needs, so the others are made now.
    pub fn open(root: &Path) -> Result<Directory, DirectoryError> {
        let handoffs = root.join("handoffs");
        match fs::metadata(&handoffs) {
            Ok(found) if found.is_dir() => {}
            Ok(_) => return Err(DirectoryError::NoFolder { path: handoffs }),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Err(DirectoryError::NoFolder { path: handoffs });
            }
            Err(error) => return Err(DirectoryError::io("look at", &handoffs, error)),
        }
        for folder in Folder::ALL {
            // Where nothing may be written, reading still works, and writing tells what is wrong.
            let _ = fs::create_dir(handoffs.join(folder.as_str()));
        }
        Ok(Directory::bare(root))
    }

    /// Makes the value alone, whatever the folders are.
    fn bare(root: &Path) -> Directory {
        Directory {
            root: root.to_owned(),
            files: Files::default(),
            schemas: SchemaFolder::new(root.join("schemas")),
            strict: false,
            queue: Mutex::default(),
        }
    }

    /// Decides whether a schema that is named but not there is an error instead of a warning.
    #[must_use]
    pub fn strict(mut self, strict: bool) -> Directory {
        self.strict = strict;
        self
    }

    /// Takes the schemas from another folder than `schemas`.
    #[must_use]
    pub fn schemas_in(mut self, folder: &Path) -> Directory {
        self.schemas = SchemaFolder::new(folder.to_owned());
        self
    }

    /// Returns the folder that everything lies in.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the path of one of the four folders.
    pub fn folder(&self, folder: Folder) -> PathBuf {
        self.root.join("handoffs").join(folder.as_str())
    }

    /// Returns the path that a handoff has in a folder.
    pub fn path(&self, folder: Folder, id: &HandoffId) -> PathBuf {
        self.folder(folder).join(format!("{id}.json"))
    }
}

/// Returns the handoff that a file name belongs to; `None` for temporary files, other files and unsafe names.
fn id_of(name: &str) -> Option<HandoffId> {
    HandoffId::parse(name.strip_suffix(".json")?).ok()
}
