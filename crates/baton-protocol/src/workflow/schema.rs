//! The published schema of workflow files. Unlike those of handoffs it is closed: unknown fields are errors.

use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};

use serde_json::{Value, json};

use super::Workflow;

/// Returns the JSON Schema of workflow files.
pub fn schema() -> Schema {
    let mut schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<Workflow>();
    RecursiveTransform(close).transform(&mut schema);
    schema
}

/// Forbids unknown members where the members are fixed, and members without a value.
fn close(schema: &mut Schema) {
    let Some(Value::Object(members)) = schema.get_mut("properties") else { return };
    for (name, member) in members {
        // The default of an input may be null.
        if let Some(Value::Array(choices)) = member.get_mut("anyOf").filter(|_| name != "default") {
            choices.retain(|choice| *choice != json!({ "type": "null" }));
        }
    }
    schema.insert("additionalProperties".to_owned(), false.into());
}
