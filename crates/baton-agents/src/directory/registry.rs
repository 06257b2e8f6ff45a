//! The list of all artifacts, `artifacts/registry.json`: replaced as a whole, by one process at a time.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use baton_engine::RunId;
use baton_host::SharedFolder;
use memchr::{memchr, memchr_iter, memmem};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Directory, DirectoryError, files};

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
    /// The phase in which it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Value>,
    /// Who made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// Where it is in its life: `active` from the moment that it is listed.
    #[serde(default = "active")]
    pub status: String,
    /// The artifacts that its request names, by id or path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<String>,
    /// The handoff that it answers.
    pub handoff_id: String,
    /// The digest of its content.
    pub sha256: String,
    /// How large it is.
    pub bytes: u64,
    /// When it was put there.
    pub created_at: String,
}

/// The status of an artifact that can be used.
pub(super) fn active() -> String {
    "active".to_owned()
}

/// The whole list. Entries of others are kept as they are.
#[derive(Debug, Default, Serialize, Deserialize)]
struct List {
    version: u32,
    artifacts: Vec<Map<String, Value>>,
}

/// What the entries of a list add up to.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Statistics {
    artifacts: u64,
    bytes: u64,
    by_type: BTreeMap<String, u64>,
    by_phase: BTreeMap<String, u64>,
    by_agent: BTreeMap<String, u64>,
}

impl Statistics {
    fn of(entries: &[Map<String, Value>]) -> Statistics {
        let mut statistics = Statistics::default();
        entries.iter().for_each(|entry| statistics.count(entry));
        statistics
    }

    fn count(&mut self, entry: &Map<String, Value>) {
        self.artifacts += 1;
        self.bytes += entry.get("bytes").and_then(Value::as_u64).unwrap_or(0);
        // A run names the agent of its entries as its workflow does.
        let agent = if entry.contains_key("agent_id") { "agent_id" } else { "agent" };
        let tables = [("type", &mut self.by_type), ("phase", &mut self.by_phase), (agent, &mut self.by_agent)];
        for (name, table) in tables {
            let key = match entry.get(name) {
                Some(Value::String(text)) => text.clone(),
                Some(Value::Number(number)) => number.to_string(),
                _ => continue,
            };
            *table.entry(key).or_default() += 1;
        }
    }
}

/// The list, locked until it is dropped.
#[derive(Debug)]
pub(super) struct Registry<'d> {
    directory: &'d Directory,
    text: String,
    /// Whether it is as Baton writes it, and need not be parsed.
    ours: bool,
    _lock: File,
}

impl Directory {
    /// Returns the artifacts that are listed.
    pub fn artifacts(&self) -> Result<Vec<Entry>, DirectoryError> {
        let entry = |members| serde_json::from_value(Value::Object(members)).ok();
        Ok(self.read_registry()?.artifacts.into_iter().filter_map(entry).collect())
    }

    fn registry_path(&self) -> PathBuf {
        self.root.join("artifacts").join("registry.json")
    }

    fn read_registry(&self) -> Result<List, DirectoryError> {
        self.parse_registry(&self.registry_text()?)
    }

    fn registry_text(&self) -> Result<String, DirectoryError> {
        let path = self.registry_path();
        let mut text = String::new();
        match files::open(&path)? {
            Some(mut file) => {
                file.read_to_string(&mut text).map_err(|error| DirectoryError::io("read", &path, error))?
            }
            None => return Ok(one_per_line(&List { version: 1, ..List::default() })),
        };
        Ok(text)
    }

    fn parse_registry(&self, text: &str) -> Result<List, DirectoryError> {
        let fault = |error: serde_json::Error| DirectoryError::Unreadable {
            path: self.registry_path(),
            fault: error.to_string(),
        };
        serde_json::from_str(text).map_err(fault)
    }

    /// Returns where an artifact is listed to be, relative to the root, by its id; the inner `None` if it does not say.
    pub(super) fn listed_path(&self, id: &str) -> Result<Option<Option<String>>, DirectoryError> {
        let text = self.registry_text()?;
        if is_ours(&text) && !mentions(&text, id) {
            return Ok(None);
        }
        let is = |entry: &&Map<String, Value>| {
            ["artifact_id", "id"].iter().any(|name| entry.get(*name).is_some_and(|known| known == id))
        };
        let path = |entry: &Map<String, Value>| {
            let path = ["path", "file_path", "artifact_path"].iter().find_map(|name| entry.get(*name)?.as_str());
            path.map(str::to_owned)
        };
        Ok(self.parse_registry(&text)?.artifacts.iter().find(is).map(path))
    }

    /// Locks and reads the list.
    pub(super) fn registry(&self) -> Result<Registry<'_>, DirectoryError> {
        let folder = self.root.join("artifacts");
        self.files.make_folder(&folder)?;
        let path = folder.join(LOCK);
        let opened = SharedFolder::open(&self.root, &folder).and_then(|folder| folder.open_or_create(LOCK.as_ref()));
        let lock = opened.map_err(|error| DirectoryError::io("open", &path, error))?;
        lock.lock().map_err(|error| DirectoryError::io("lock", &path, error))?;
        let text = self.registry_text()?;
        let registry = Registry { directory: self, ours: is_ours(&text), text, _lock: lock };
        if !registry.ours {
            // What cannot be read is told before anything is changed.
            self.parse_registry(&registry.text)?;
        }
        Ok(registry)
    }
}

impl Registry<'_> {
    /// Returns whether a path belongs to the artifact of another handoff.
    pub(super) fn is_of_another(&self, path: &str, handoff_id: &str) -> Result<bool, DirectoryError> {
        if self.ours && !mentions(&self.text, path) {
            return Ok(false);
        }
        let list = self.directory.parse_registry(&self.text)?;
        let is =
            |entry: &Map<String, Value>, name: &str, value: &str| entry.get(name).is_some_and(|said| said == value);
        Ok(list.artifacts.iter().any(|entry| is(entry, "path", path) && !is(entry, "handoff_id", handoff_id)))
    }

    /// Lists an artifact, instead of what has the same id or path.
    pub(super) fn add(mut self, entry: &Entry) -> Result<(), DirectoryError> {
        let Ok(Value::Object(members)) = serde_json::to_value(entry) else { return Ok(()) };
        let known = mentions(&self.text, &entry.artifact_id) || mentions(&self.text, &entry.path);
        match split(&self.text).filter(|_| self.ours && !known) {
            // Thousands of entries are neither parsed nor written anew: one line is put before the end.
            Some((entries, mut statistics)) => {
                statistics.count(&members);
                let comma = if entries.ends_with('[') { "" } else { "," };
                let line = serde_json::to_string(entry).unwrap_or_default();
                self.text = format!("{entries}{comma}\n{line}{}", ending(&statistics));
            }
            None => {
                let mut list = self.directory.parse_registry(&self.text)?;
                list.artifacts.retain(|known| {
                    known.get("artifact_id").is_none_or(|id| *id != entry.artifact_id)
                        && known.get("path").is_none_or(|path| *path != entry.path)
                });
                list.artifacts.push(members);
                self.text = one_per_line(&list);
            }
        }
        let text = std::mem::take(&mut self.text);
        self.replace(text)
    }

    /// Puts a list in the place of the one that was read.
    fn replace(self, text: String) -> Result<(), DirectoryError> {
        if text == self.text {
            return Ok(());
        }
        let (path, files) = (self.directory.registry_path(), &self.directory.files);
        let written = files.write_beside(&path, text.as_bytes())?;
        written.place_over(&path).map_err(|error| DirectoryError::io("write", &path, error))?;
        files.sync_folder(&self.directory.root.join("artifacts"))
    }
}

/// Lists what a run knows about its artifacts. An entry with the same path keeps what it says beyond that; one that the
/// run listed before and does not know any more is superseded.
pub fn list_artifacts_of_run(root: &Path, run: &RunId, known: Vec<Map<String, Value>>) -> Result<(), DirectoryError> {
    let directory = Directory::bare(root);
    let registry = directory.registry()?;
    let mut list = directory.parse_registry(&registry.text)?;
    for entry in list.artifacts.iter_mut().filter(|entry| entry.get("run").is_some_and(|named| named == run.as_str())) {
        if known.iter().all(|known| known.get("path") != entry.get("path")) {
            entry.insert("status".to_owned(), "superseded".into());
        }
    }
    for mut known in known {
        match list.artifacts.iter_mut().find(|entry| entry.get("path") == known.get("path")) {
            Some(entry) => {
                // Whoever listed it first has given it its name.
                known.remove("artifact_id");
                entry.extend(known);
            }
            None => list.artifacts.push(known),
        }
    }
    registry.replace(one_per_line(&list))
}

/// Who changes the list holds this file.
const LOCK: &str = ".registry.lock";

/// How a list begins that Baton wrote.
const BEGIN: &str = "{\"version\": 1, \"artifacts\": [";

/// The text between the entries and their statistics.
const MIDDLE: &str = "\n], \"statistics\": ";

/// How it ends.
const END: &str = "}\n";

fn one_per_line(list: &List) -> String {
    let entry = |entry: &Map<String, Value>| format!("\n{}", serde_json::to_string(entry).unwrap_or_default());
    let lines: Vec<String> = list.artifacts.iter().map(entry).collect();
    let ending = ending(&Statistics::of(&list.artifacts));
    format!("{{\"version\": {}, \"artifacts\": [{}{ending}", list.version, lines.join(","))
}

fn ending(statistics: &Statistics) -> String {
    format!("{MIDDLE}{}{END}", serde_json::to_string(statistics).unwrap_or_default())
}

/// Splits a list that Baton wrote into its entries and what they add up to.
fn split(text: &str) -> Option<(&str, Statistics)> {
    let (entries, statistics) = text.strip_suffix(END)?.rsplit_once(MIDDLE)?;
    Some((entries, serde_json::from_str(statistics).ok()?))
}

/// Returns whether a list is as Baton writes it: one object per line, and no text that can be spelled in several ways.
fn is_ours(text: &str) -> bool {
    let Some(lines) = split(text).and_then(|(entries, _)| entries.strip_prefix(BEGIN)) else { return false };
    let (lines, text) = (lines.as_bytes(), text.as_bytes());
    // Every line but the first begins where another ends, and the last ends where the list does.
    let objects = memchr_iter(b'\n', lines)
        .all(|at| lines[at + 1..].starts_with(b"{\"") && (at == 0 || lines[..at].ends_with(b"},")));
    let whole = lines.is_empty() || (lines.starts_with(b"\n") && lines.ends_with(b"}"));
    objects && whole && memchr(b'\\', text).is_none()
}

/// Returns whether a text stands somewhere in a list that Baton wrote.
fn mentions(list: &str, text: &str) -> bool {
    serde_json::to_string(text).is_ok_and(|quoted| memmem::find(list.as_bytes(), quoted.as_bytes()).is_some())
}
