//! The published schema of workflow files. Unlike those of handoffs it is closed: unknown fields are errors.

use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};

use super::Workflow;

/// Returns the JSON Schema of workflow files.
pub fn schema() -> Schema {
    let mut schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<Workflow>();
    RecursiveTransform(close).transform(&mut schema);
    schema
}

/// Forbids unknown members where the members are fixed.
fn close(schema: &mut Schema) {
    if schema.get("properties").is_some() {
        schema.insert("additionalProperties".to_owned(), false.into());
    }
}
