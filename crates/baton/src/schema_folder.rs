//! The JSON Schemas that requests name, from one folder, each compiled once.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use baton_protocol::schema::Compiled;
use baton_protocol::surroundings::Schemas;

/// The folders of schemas that are in use, by their path.
#[derive(Debug, Default)]
pub(crate) struct SchemaFolders(Mutex<HashMap<PathBuf, Arc<SchemaFolder>>>);

impl SchemaFolders {
    /// Returns the folder at a path; always the same one, so that its schemas are compiled once.
    pub(crate) fn at(&self, path: PathBuf) -> Arc<SchemaFolder> {
        let mut folders = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(folders.entry(path.clone()).or_insert_with(|| Arc::new(SchemaFolder::new(path))))
    }
}

/// A schema, or why it is none; `None` if there is no such file.
type Found = Option<Result<Arc<Compiled>, String>>;

/// A folder of schemas.
#[derive(Debug)]
pub(crate) struct SchemaFolder {
    folder: PathBuf,
    compiled: Mutex<HashMap<String, Found>>,
}

impl SchemaFolder {
    /// Looks into a folder, which need not exist.
    fn new(folder: PathBuf) -> Self {
        SchemaFolder { folder, compiled: Mutex::default() }
    }

    /// Finds `ROOT/schemas` for a file in `ROOT/handoffs/…`, if there is one.
    pub(crate) fn beside(file: &Path) -> Option<PathBuf> {
        let full = std::path::absolute(file).ok()?;
        let is_handoffs = |folder: &&Path| folder.file_name().is_some_and(|name| name == "handoffs");
        let root = full.ancestors().find(is_handoffs)?.parent()?;
        Some(root.join("schemas")).filter(|folder| folder.is_dir())
    }

    fn compile(&self, name: &str) -> Found {
        // The name comes from a document: it must stay a plain file name.
        if name.contains(['/', '\\']) || name.starts_with('.') {
            return None;
        }
        let bytes = fs::read(self.folder.join(name)).ok()?;
        let schema = serde_json::from_slice(&bytes).map_err(|error| error.to_string());
        Some(schema.and_then(|schema| Compiled::new(&schema)).map(Arc::new))
    }
}

impl Schemas for SchemaFolder {
    fn find(&self, name: &str) -> Found {
        let mut compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        compiled.entry(name.to_owned()).or_insert_with(|| self.compile(name)).clone()
    }
}
