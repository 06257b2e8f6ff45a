//! The list of all artifacts, `artifacts/registry.json`: replaced as a whole, by one process at a time.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Directory, Error, files};

/// An artifact in the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Its identifier.
    pub artifact_id: String,
    /// Where it is, relative to the root.
    pub path: String,
    /// What kind it is.
    #[serde(rename = "type", default)]
    pub kind: Option<String>,
    /// The handoff that it answers.
    pub handoff_id: String,
    /// The digest of its content.
    pub sha256: String,
    /// How large it is.
    pub bytes: u64,
    /// When it was put there.
    pub created_at: String,
}

/// The whole list. Entries of others are kept as they are.
#[derive(Debug, Default, Serialize, Deserialize)]
struct List {
    version: u32,
    artifacts: Vec<Map<String, Value>>,
}

/// The list, locked until it is dropped.
#[derive(Debug)]
pub(super) struct Registry<'d> {
    directory: &'d Directory,
    list: List,
    _lock: File,
}

impl Directory {
    /// Returns the artifacts that are listed.
    pub fn artifacts(&self) -> Result<Vec<Entry>, Error> {
        let entry = |members| serde_json::from_value(Value::Object(members)).ok();
        Ok(self.read_registry()?.artifacts.into_iter().filter_map(entry).collect())
    }

    fn registry_path(&self) -> PathBuf {
        self.root.join("artifacts").join("registry.json")
    }

    fn read_registry(&self) -> Result<List, Error> {
        let path = self.registry_path();
        let Some(file) = files::open(&path)? else { return Ok(List { version: 1, artifacts: Vec::new() }) };
        let mut text = String::new();
        io::Read::read_to_string(&mut &file, &mut text).map_err(|error| Error::io("read", &path, error))?;
        serde_json::from_str(&text).map_err(|error| Error::Unreadable { path, fault: error.to_string() })
    }

    /// Locks and reads the list.
    pub(super) fn registry(&self) -> Result<Registry<'_>, Error> {
        let folder = self.root.join("artifacts");
        self.files.make_folder(&folder)?;
        let path = folder.join(".registry.lock");
        let opened = OpenOptions::new().write(true).create(true).truncate(false).open(&path);
        let lock = opened.map_err(|error| Error::io("open", &path, error))?;
        lock.lock().map_err(|error| Error::io("lock", &path, error))?;
        Ok(Registry { directory: self, list: self.read_registry()?, _lock: lock })
    }
}

impl Registry<'_> {
    /// Says whether a path belongs to the artifact of another handoff.
    pub(super) fn is_of_another(&self, path: &str, handoff_id: &str) -> bool {
        let is =
            |entry: &Map<String, Value>, name: &str, value: &str| entry.get(name).is_some_and(|said| said == value);
        self.list.artifacts.iter().any(|entry| is(entry, "path", path) && !is(entry, "handoff_id", handoff_id))
    }

    /// Lists an artifact, instead of what has the same id or path.
    pub(super) fn add(mut self, entry: &Entry) -> Result<(), Error> {
        self.list.artifacts.retain(|known| {
            known.get("artifact_id").is_none_or(|id| *id != entry.artifact_id)
                && known.get("path").is_none_or(|path| *path != entry.path)
        });
        let Ok(Value::Object(members)) = serde_json::to_value(entry) else { return Ok(()) };
        self.list.artifacts.push(members);
        let (path, files) = (self.directory.registry_path(), &self.directory.files);
        let written = files.write_beside(&path, &one_per_line(&self.list))?;
        written.place_over(&path).map_err(|error| Error::io("write", &path, error))?;
        files.sync_folder(&self.directory.root.join("artifacts"))
    }
}

fn one_per_line(list: &List) -> Vec<u8> {
    let lines: Vec<String> =
        list.artifacts.iter().map(|entry| serde_json::to_string(entry).unwrap_or_default()).collect();
    format!("{{\"version\": {}, \"artifacts\": [\n{}\n]}}\n", list.version, lines.join(",\n")).into_bytes()
}
