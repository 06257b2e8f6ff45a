//! The JSON Schemas that requests name, from a folder, each compiled once for as long as its file stays the same.

use std::collections::HashMap;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use baton_host::open_followed;
use baton_protocol::schema::{CompiledSchema, SchemaFault};
use baton_protocol::surroundings::Schemas;
use serde_json::Value;

/// No more of a schema is read.
const SCHEMA_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// The folders of schemas that are in use, by their path.
#[derive(Debug, Default)]
pub struct SchemaFolders(Mutex<HashMap<PathBuf, Arc<SchemaFolder>>>);

impl SchemaFolders {
    /// Returns the folder at a path; always the same one, so that its schemas are compiled once.
    pub fn at(&self, path: PathBuf) -> Arc<SchemaFolder> {
        let mut folders = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(folders.entry(path.clone()).or_insert_with(|| Arc::new(SchemaFolder::new(path))))
    }
}

/// A schema, or why it cannot be used.
type Outcome = Result<Arc<CompiledSchema>, SchemaFault>;

/// A folder of schemas.
#[derive(Debug)]
pub struct SchemaFolder {
    /// Where it is.
    pub folder: PathBuf,
    /// What was found, and when the file was written.
    compiled: Mutex<HashMap<String, (Option<SystemTime>, Outcome)>>,
}

impl SchemaFolder {
    /// Looks into a folder, which need not exist.
    pub fn new(folder: PathBuf) -> SchemaFolder {
        SchemaFolder { folder, compiled: Mutex::default() }
    }

    /// Finds `ROOT/schemas` for a file in `ROOT/handoffs/…`, if there is one.
    pub fn beside(file: &Path) -> Option<PathBuf> {
        let full = std::path::absolute(file).ok()?;
        let is_handoffs = |folder: &&Path| folder.file_name().is_some_and(|name| name == "handoffs");
        let root = full.ancestors().find(is_handoffs)?.parent()?;
        Some(root.join("schemas")).filter(|folder| folder.is_dir())
    }

    /// Returns whether there is a schema of this name.
    pub fn has(&self, name: &str) -> bool {
        self.path(name).is_some_and(|path| path.is_file())
    }

    /// The name comes from a document: it must stay inside the folder.
    fn path(&self, name: &str) -> Option<PathBuf> {
        let is_plain = !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\', '\0']);
        is_plain.then(|| self.folder.join(name))
    }
}

impl Schemas for SchemaFolder {
    fn find(&self, name: &str) -> Option<Outcome> {
        let path = self.path(name)?;
        let modified = fs::metadata(&path).ok()?.modified().ok();
        let mut compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((when, known)) = compiled.get(name)
            && modified.is_some()
            && *when == modified
        {
            return Some(known.clone());
        }
        let found = compile(&path).map(Arc::new);
        compiled.insert(name.to_owned(), (modified, found.clone()));
        Some(found)
    }
}

fn compile(path: &Path) -> Result<CompiledSchema, SchemaFault> {
    let mut bytes = Vec::new();
    let read = open_followed(path).and_then(|file| file.take(SCHEMA_BYTES_MAX).read_to_end(&mut bytes));
    read.map_err(|error| SchemaFault::Unreadable(error.to_string()))?;
    let schema: Value = serde_json::from_slice(&bytes).map_err(|error| SchemaFault::NotJson(error.to_string()))?;
    CompiledSchema::new(&schema)
}

#[cfg(test)]
mod tests {
    use baton_testbed::Scratch;
    use serde_json::json;

    use super::*;

    #[test]
    fn schema_is_compiled_again_only_when_its_file_has_changed() {
        let scratch = Scratch::new();
        scratch.write("a.json", r#"{"type": "string"}"#);
        let folder = SchemaFolder::new(scratch.root().to_owned());
        let find = || folder.find("a.json").expect("it is there").expect("it is a schema");
        let first = find();
        assert!(Arc::ptr_eq(&first, &find()));
        scratch.write("a.json", r#"{"type": "number"}"#);
        let other = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(5);
        fs::File::options()
            .write(true)
            .open(scratch.path("a.json"))
            .and_then(|file| file.set_modified(other))
            .expect("set");
        assert!(first.is_valid(&json!("x")) && !find().is_valid(&json!("x")));
    }

    #[test]
    fn names_stay_inside_the_folder_and_what_is_broken_says_why() {
        let scratch = Scratch::new();
        scratch.write("in/broken.json", "{").write("out.json", "{}").write("in/.hidden", "{}").folder("in/folder");
        let folder = SchemaFolder::new(scratch.path("in"));
        for name in ["", "../out.json", ".hidden", "folder/../../out.json", "a\0b", "absent.json"] {
            assert!(folder.find(name).is_none() && !folder.has(name), "{name:?}");
        }
        assert!(folder.has("broken.json") && folder.find("broken.json").is_some_and(|found| found.is_err()));
        assert!(!folder.has("folder"));
    }
}
