//! What the folders compare with a JSON Schema, and what they say about one that is not there.

use baton_protocol::schema::Violation;
use baton_protocol::surroundings::Schemas as _;
use serde_json::Value;

use super::{Directory, DirectoryError};

/// How many violations are reported; the first ones say enough.
const TOLD_MAX: usize = 20;

impl Directory {
    /// Compares a value with a schema. `None` means that the schema is not there; then there is a warning, or an error if
    /// the folders were opened strictly.
    pub(super) fn check_schema(
        &self,
        name: &str,
        value: &Value,
        warnings: &mut Vec<String>,
    ) -> Result<Option<Vec<Violation>>, DirectoryError> {
        let Some(schema) = self.schemas.find(name) else {
            if self.strict {
                return Err(DirectoryError::MissingSchema {
                    name: name.to_owned(),
                    folder: self.schemas.folder.clone(),
                });
            }
            warnings.push(format!("the schema `{name}` is not in {}: not checked", self.schemas.folder.display()));
            return Ok(None);
        };
        let broken = |fault| DirectoryError::BrokenSchema { path: self.schemas.folder.join(name), fault };
        let schema = schema.map_err(broken)?;
        if schema.is_valid(value) {
            return Ok(Some(Vec::new()));
        }
        let mut violations = schema.violations(value);
        violations.truncate(TOLD_MAX);
        Ok(Some(violations))
    }
}
