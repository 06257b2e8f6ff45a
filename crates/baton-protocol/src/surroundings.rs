//! What is known around a document: its path, its request, the workspace and the schemas.
//!
//! The two traits are ports: this crate does no I/O, so the caller provides access to files and schemas.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::model::Request;
use crate::schema::{CompiledSchema, SchemaFault};
use crate::wire::same_word;

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathState {
    /// Nothing.
    Missing,
    /// Something, but not inside the workspace (also through a link).
    Outside,
    /// A folder.
    Folder {
        /// Whether it has no entries.
        empty: bool,
    },
    /// A file.
    File {
        /// How large it is.
        bytes: u64,
    },
    /// Something that could not be looked at.
    Unreadable,
}

/// A workspace that can be looked at.
pub trait Workspace {
    /// Returns what is at a path, relative to the workspace or absolute.
    fn look(&self, path: &str) -> PathState;
    /// Counts the lines of a file; `None` if it cannot be read.
    fn count_lines(&self, path: &str) -> Option<usize>;
    /// Reads a JSON file; `None` if it cannot be read or is not JSON.
    fn read_json(&self, path: &str) -> Option<Value>;
}

/// The JSON Schemas that requests name.
pub trait Schemas {
    /// Finds a schema by the name in the request; compiled once, used many times. The error says why it is not a
    /// schema.
    fn find(&self, name: &str) -> Option<Result<Arc<CompiledSchema>, SchemaFault>>;
}

/// What is known around a document.
#[derive(Clone, Copy, Default)]
pub struct Surroundings<'a> {
    /// Where the document was found, with `/` between folders.
    pub path: Option<&'a str>,
    /// The request that the document answers.
    pub request: Option<&'a Request>,
    /// The workspace that its claims are about.
    pub workspace: Option<&'a dyn Workspace>,
    /// The schemas that its data must satisfy.
    pub schemas: Option<&'a dyn Schemas>,
    /// The agent that the document must be from.
    pub agent: Option<&'a str>,
    /// The path of the phase that the agent worked in, such as `tools/get-issue/build`.
    pub phase: Option<&'a str>,
    /// The output directory that the agent was given.
    pub output_directory: Option<&'a str>,
    /// Whether somebody with a clock notes when the document arrives. Then the times that it says itself cannot make it
    /// invalid: a language model has no clock.
    pub times_are_kept: bool,
}

impl Surroundings<'_> {
    /// Returns the name of the folder that holds the document.
    pub fn folder(&self) -> Option<&str> {
        self.path?.rsplit('/').nth(1)
    }

    /// Returns whether a word names the phase that the agent worked in: its whole path, its last part, or as the
    /// request calls it.
    pub fn is_own_phase(&self, word: &str) -> bool {
        let path = self.phase.into_iter().flat_map(|path| [path, path.rsplit('/').next().unwrap_or(path)]);
        let asked = self.request.and_then(|request| request.phase.as_ref()).map(ToString::to_string);
        path.map(str::to_owned).chain(asked).any(|own| same_word(&own, word))
    }
}

impl fmt::Debug for Surroundings<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Surroundings")
            .field("path", &self.path)
            .field("request", &self.request)
            .field("workspace", &self.workspace.is_some())
            .field("schemas", &self.schemas.is_some())
            .field("agent", &self.agent)
            .field("phase", &self.phase)
            .field("output_directory", &self.output_directory)
            .field("times_are_kept", &self.times_are_kept)
            .finish()
    }
}
