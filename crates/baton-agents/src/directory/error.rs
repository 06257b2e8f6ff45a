//! What can go wrong with the folders. Every error names the path or the handoff, and nothing was changed.

use std::io;
use std::path::{Path, PathBuf};

use baton_engine::HandoffId;
use baton_engine::id::UnsafeId;
use baton_protocol::schema::{SchemaFault, Violation};

use super::Folder;

/// Why an operation was not carried out.
#[derive(Debug, thiserror::Error)]
pub enum DirectoryError {
    /// The folders are not there.
    #[error("no handoffs: {path} is not a folder")]
    NoFolder {
        /// Where they should be.
        path: PathBuf,
    },
    /// The operating system refused.
    #[error("cannot {action} {path}: {source}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// With what.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The identifier cannot be a file name.
    #[error("`{id}`: {fault}")]
    UnsafeId {
        /// What was given.
        id: String,
        /// Why it cannot.
        fault: UnsafeId,
    },
    /// Nobody knows the handoff.
    #[error("there is no handoff `{id}`")]
    UnknownId {
        /// What was given.
        id: String,
        /// A handoff with a similar name.
        close: Option<String>,
    },
    /// Several handoffs begin like this.
    #[error("`{prefix}` could be {} handoffs: {}", ids.len(), shown(ids))]
    AmbiguousId {
        /// What was given.
        prefix: String,
        /// Those that begin with it.
        ids: Vec<String>,
    },
    /// A handoff of this name exists.
    #[error("there is a handoff `{id}` in {} already", folder.as_str())]
    Exists {
        /// Which.
        id: HandoffId,
        /// Where.
        folder: Folder,
    },
    /// The handoff is not being worked on.
    #[error("handoff `{id}` is not in progress: it is {}", folder.as_str())]
    NotInProgress {
        /// Which.
        id: HandoffId,
        /// Where it is instead.
        folder: Folder,
    },
    /// The attempt is over, and another one began or may begin.
    #[error("attempt {given} of handoff `{id}` has ended: attempt {current} is current")]
    AttemptOver {
        /// Which.
        id: HandoffId,
        /// The attempt of the caller.
        given: u32,
        /// The attempt in progress.
        current: u32,
    },
    /// Another process is finishing the handoff at this moment.
    #[error("handoff `{id}` is being finished by another process")]
    Busy {
        /// Which.
        id: HandoffId,
    },
    /// What was given breaks its schema.
    #[error("{what} breaks its schema `{schema}` in {} {}", violations.len(), places(violations))]
    Violations {
        /// Input or output.
        what: &'static str,
        /// The schema.
        schema: String,
        /// Where and how.
        violations: Vec<Violation>,
    },
    /// The output cannot be compared with its schema.
    #[error("the output must satisfy `{schema}`, but {fault}")]
    NoOutput {
        /// The schema.
        schema: String,
        /// Why it cannot.
        fault: String,
    },
    /// A schema is named but not there, and that was not to be overlooked.
    #[error("the schema `{name}` is not in {folder}")]
    MissingSchema {
        /// Its name.
        name: String,
        /// Where it should be.
        folder: PathBuf,
    },
    /// A schema is not valid.
    #[error("{path} is not a JSON Schema: {fault}")]
    BrokenSchema {
        /// Where it is.
        path: PathBuf,
        /// Why it is not valid.
        fault: SchemaFault,
    },
    /// A file that should be JSON is not.
    #[error("{path} cannot be read as JSON: {fault}")]
    Unreadable {
        /// Where it is.
        path: PathBuf,
        /// Why not.
        fault: String,
    },
    /// The artifact would not be written where artifacts belong.
    #[error("the artifact cannot be written to `{destination}`: {fault}")]
    Destination {
        /// What the request asks for.
        destination: String,
        /// Why not.
        fault: String,
    },
}

impl DirectoryError {
    /// The error when the operating system refuses something.
    pub(super) fn io(action: &'static str, path: &Path, source: io::Error) -> DirectoryError {
        DirectoryError::Io { action, path: path.to_owned(), source }
    }

    /// Returns the advice for this error, if there is any.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            DirectoryError::NoFolder { .. } => "make the folders with `baton dir init DIR`".to_owned(),
            DirectoryError::UnknownId { close: Some(close), .. } => format!("did you mean `{close}`?"),
            DirectoryError::UnknownId { .. } => "`baton dir status DIR` lists them".to_owned(),
            DirectoryError::AmbiguousId { .. } => "write more of the id".to_owned(),
            DirectoryError::UnsafeId { .. } => "use letters, digits, `-`, `_` and `.`".to_owned(),
            DirectoryError::Exists { .. } => "choose another id, or leave it out".to_owned(),
            DirectoryError::NotInProgress { folder: Folder::Pending, .. } => "claim it first".to_owned(),
            DirectoryError::AttemptOver { .. } => "drop this result; the later attempt will answer".to_owned(),
            DirectoryError::Busy { .. } => "check its status and try again".to_owned(),
            DirectoryError::Violations { what: "the output", .. } | DirectoryError::NoOutput { .. } => {
                "correct the artifact and complete again; the handoff is still in progress".to_owned()
            }
            DirectoryError::Violations { .. } => "correct it; nothing was written".to_owned(),
            DirectoryError::MissingSchema { .. } => "add it, or omit --strict".to_owned(),
            DirectoryError::Destination { .. } => "use a new path inside the folder".to_owned(),
            DirectoryError::Io { source, .. } => return hint_of(source),
            DirectoryError::NotInProgress { .. }
            | DirectoryError::BrokenSchema { .. }
            | DirectoryError::Unreadable { .. } => return None,
        })
    }
}

fn hint_of(error: &io::Error) -> Option<String> {
    let hint = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "free space on the disk; nothing was changed",
        io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
            "the folder must be writable for you; nothing was changed"
        }
        io::ErrorKind::Unsupported => "this file system has no file locks; use a local one",
        _ => return None,
    };
    Some(hint.to_owned())
}

fn places(violations: &[Violation]) -> &'static str {
    if violations.len() == 1 { "place" } else { "places" }
}

fn shown(ids: &[String]) -> String {
    let mut text = ids.iter().take(3).cloned().collect::<Vec<_>>().join(", ");
    if ids.len() > 3 {
        text.push_str(", …");
    }
    text
}
