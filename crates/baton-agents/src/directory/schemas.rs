//! The JSON Schemas that requests name, from the folder `schemas`, each compiled once for as long as it stays the same.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use baton_protocol::schema::{Compiled, Violation};
use serde_json::Value;

use super::{Directory, Error};

/// How many violations are told; the first ones say enough.
const TOLD_MAX: usize = 20;

/// A compiled schema, and when its file was written.
type Cached = (Option<SystemTime>, Arc<Compiled>);

/// A folder of schemas.
#[derive(Debug)]
pub(super) struct SchemaFolder {
    folder: PathBuf,
    compiled: Mutex<HashMap<String, Cached>>,
}

impl SchemaFolder {
    /// Looks into a folder, which need not exist.
    pub(super) fn new(folder: PathBuf) -> SchemaFolder {
        SchemaFolder { folder, compiled: Mutex::default() }
    }

    /// Says whether there is a schema of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        is_plain(name) && self.folder.join(name).is_file()
    }

    /// Finds a schema; `None` if there is none of this name.
    fn find(&self, name: &str) -> Result<Option<Arc<Compiled>>, Error> {
        let path = self.folder.join(name);
        // The name comes from a document: it must stay inside the folder.
        let Some(found) = Some(&path).filter(|_| is_plain(name)).and_then(|path| fs::metadata(path).ok()) else {
            return Ok(None);
        };
        let mut compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        let modified = found.modified().ok();
        if let Some((_, known)) = compiled.get(name).filter(|(when, _)| *when == modified && modified.is_some()) {
            return Ok(Some(Arc::clone(known)));
        }
        let bytes = fs::read(&path).map_err(|error| Error::io("read", &path, error))?;
        let schema = serde_json::from_slice(&bytes).map_err(|error| error.to_string());
        let schema = schema.and_then(|schema: Value| Compiled::new(&schema));
        let schema = Arc::new(schema.map_err(|fault| Error::BrokenSchema { path, fault })?);
        compiled.insert(name.to_owned(), (modified, Arc::clone(&schema)));
        Ok(Some(schema))
    }
}

fn is_plain(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\', '\0'])
}

impl Directory {
    /// Compares a value with a schema. `None` means that the schema is not there; then there is a warning, or an error if
    /// the folders were opened strictly.
    pub(super) fn check_schema(
        &self,
        name: &str,
        value: &Value,
        warnings: &mut Vec<String>,
    ) -> Result<Option<Vec<Violation>>, Error> {
        let Some(schema) = self.schemas.find(name)? else {
            if self.strict {
                return Err(Error::MissingSchema { name: name.to_owned(), folder: self.schemas.folder.clone() });
            }
            warnings.push(format!("the schema `{name}` is not in {}: not checked", self.schemas.folder.display()));
            return Ok(None);
        };
        if schema.is_valid(value) {
            return Ok(Some(Vec::new()));
        }
        let mut violations = schema.violations(value);
        violations.truncate(TOLD_MAX);
        Ok(Some(violations))
    }
}
