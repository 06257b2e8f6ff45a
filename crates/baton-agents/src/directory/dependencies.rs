//! The artifacts that a request builds on: which it names, and which of them are not there.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{Directory, DirectoryError, Folder, FolderHandoff, files, id_of};

/// How many files are looked at for one that is named after an artifact.
const LOOKED_AT_MAX: usize = 10_000;

/// An artifact that a request names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Dependency {
    /// Where the request names it, such as `context.tech_stack_artifact_id`.
    pub(super) member: String,
    /// Its identifier or its path.
    pub(super) name: String,
    by: By,
}

/// How an artifact is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    Id,
    Path,
}

impl FolderHandoff {
    /// Returns the artifacts that the context and the input name.
    pub(super) fn dependencies(&self) -> Vec<Dependency> {
        let mut found = Vec::new();
        collect(self.members.get("context"), "context", &mut found);
        collect(self.members.get("input").and_then(|input| input.get("data")), "input.data", &mut found);
        found
    }
}

/// Goes through a value; a member named `artifact_id`, `…_artifact_id`, `artifact_path` or so names artifacts.
fn collect(value: Option<&Value>, place: &str, found: &mut Vec<Dependency>) {
    match value {
        Some(Value::Object(members)) => {
            for (key, value) in members {
                let member = format!("{place}.{key}");
                match by(key) {
                    Some(by) => named(value).into_iter().for_each(|name| {
                        found.push(Dependency { member: member.clone(), name: name.to_owned(), by });
                    }),
                    None => collect(Some(value), &member, found),
                }
            }
        }
        Some(Value::Array(items)) => {
            for (index, item) in items.iter().enumerate() {
                collect(Some(item), &format!("{place}[{index}]"), found);
            }
        }
        _ => {}
    }
}

fn by(key: &str) -> Option<By> {
    let key = key.strip_suffix('s').unwrap_or(key);
    let is = |word: &str| key == word || key.strip_suffix(word).is_some_and(|before| before.ends_with('_'));
    match () {
        () if is("artifact_id") => Some(By::Id),
        () if is("artifact_path") => Some(By::Path),
        () => None,
    }
}

/// Returns the names that a member holds. An address is not in the folders, and a pattern stands for what is yet to come.
fn named(value: &Value) -> Vec<&str> {
    let items = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    let names = items.iter().filter_map(Value::as_str).map(str::trim);
    names.filter(|name| !name.is_empty() && !name.contains("://") && !name.contains('{')).collect()
}

impl Directory {
    /// Returns the first artifact that a request names and that is not there.
    pub(super) fn missing_dependency(&self, handoff: &FolderHandoff) -> Result<Option<Dependency>, DirectoryError> {
        let workspace = handoff.text(&["context", "workspace"]).map(Path::new);
        for dependency in handoff.dependencies() {
            let there = match dependency.by {
                By::Path => [Some(self.root()), workspace]
                    .into_iter()
                    .flatten()
                    .any(|folder| folder.join(&dependency.name).exists()),
                By::Id => self.has_artifact(&dependency.name)?,
            };
            if !there {
                return Ok(Some(dependency));
            }
        }
        Ok(None)
    }

    /// Returns whether an artifact is listed, lies under its own name, or was named by an answer.
    fn has_artifact(&self, id: &str) -> Result<bool, DirectoryError> {
        if let Some(path) = self.listed_path(id)? {
            return Ok(path.is_none_or(|path| self.root().join(path).exists()));
        }
        let mut left = LOOKED_AT_MAX;
        let lies = ["artifacts", "context"].iter().any(|name| has_file(&self.root().join(name), id, &mut left));
        Ok(lies || self.is_answered_with(id)?)
    }

    /// Returns whether an agent that knows no list of artifacts has answered with this one.
    fn is_answered_with(&self, id: &str) -> Result<bool, DirectoryError> {
        for name in files::names(&self.folder(Folder::Completed))?.iter().take(LOOKED_AT_MAX) {
            let Some(answer) = id_of(name) else { continue };
            let Some((_, answer)) = self.read(Folder::Completed, &answer)? else { continue };
            if answer.text(&["output", "artifact_id"]) == Some(id) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Looks for a file with this name and any ending, in a folder and below.
fn has_file(folder: &Path, name: &str, left: &mut usize) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    for entry in entries {
        if *left == 0 {
            return false;
        }
        *left -= 1;
        let path = entry.path();
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let found = if is_folder {
            has_file(&path, name, left)
        } else {
            path.file_stem().is_some_and(|stem| stem == name) || path.file_name().is_some_and(|whole| whole == name)
        };
        if found {
            return true;
        }
    }
    false
}
