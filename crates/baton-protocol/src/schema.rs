//! JSON Schemas: those of our own documents, and those that requests name for their data.

use std::fmt;

use schemars::Schema;
use serde_json::{Value, json};

use crate::dialect::Dialect;
use crate::rules::missing_field;

/// A schema that was compiled once and can be used many times.
#[derive(Debug)]
pub struct CompiledSchema(jsonschema::Validator);

/// One way in which a value breaks its schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// JSON pointer into the value.
    pub pointer: String,
    /// What is wrong.
    pub message: String,
}

/// Why a schema cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SchemaFault {
    /// Its file cannot be read.
    Unreadable(String),
    /// Its file is not JSON.
    NotJson(String),
    /// It is JSON, but not a schema.
    NotASchema(String),
}
impl fmt::Display for SchemaFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SchemaFault::Unreadable(why) => write!(formatter, "it cannot be read: {why}"),
            SchemaFault::NotJson(why) | SchemaFault::NotASchema(why) => formatter.write_str(why),
        }
    }
}
impl std::error::Error for SchemaFault {}
impl CompiledSchema {
    /// Compiles a schema; the error says why it is not valid.
    pub fn new(schema: &Value) -> Result<CompiledSchema, SchemaFault> {
        jsonschema::validator_for(schema)
            .map(CompiledSchema)
            .map_err(|error| SchemaFault::NotASchema(error.to_string()))
    }

    /// Returns whether a value satisfies the schema.
    pub fn is_valid(&self, value: &Value) -> bool {
        self.0.is_valid(value)
    }

    /// Returns every way in which a value breaks the schema.
    pub fn violations(&self, value: &Value) -> Vec<Violation> {
        let violation = |error: jsonschema::ValidationError<'_>| Violation {
            pointer: error.instance_path().to_string(),
            message: error.to_string(),
        };
        self.0.iter_errors(value).map(violation).collect()
    }
}

/// Returns the names of all published schemas.
pub fn names() -> Vec<&'static str> {
    all().into_iter().map(|(name, _)| name).collect()
}

/// Returns every published schema by name.
pub fn all() -> Vec<(&'static str, Value)> {
    let mut schemas = of_documents();
    schemas.push(published("workflow", crate::workflow::schema()));
    schemas
}

/// Returns the schemas of the documents of all dialects, by name.
pub fn of_documents() -> Vec<(&'static str, Value)> {
    Dialect::ALL.into_iter().flat_map(Dialect::schemas).map(|(name, schema)| published(name, schema)).collect()
}

fn published(name: &'static str, mut schema: Schema) -> (&'static str, Value) {
    schema.insert("$id".to_owned(), format!("urn:baton:schema:{name}:1").into());
    (name, schema.to_value())
}

/// Returns one published schema.
pub fn find(name: &str) -> Option<Value> {
    // Whoever looks for one need not wait for all of them to be made.
    let own = name.split_once('.').and_then(|(dialect, _)| Dialect::parse(dialect));
    let schemas = match own {
        Some(dialect) => dialect.schemas().into_iter().map(|(name, schema)| published(name, schema)).collect(),
        None => all(),
    };
    schemas.into_iter().find(|(known, _)| *known == name).map(|(_, schema)| schema)
}

/// Returns a schema as programs take it that hand it to a model: without what names it and the draft that it is written in,
/// formats that only Rust knows, and lists of types. Claude Code refuses the first, and warns about the others. A time is not
/// required: a model has no clock, and whoever receives its answer knows when it came.
pub fn for_model(mut schema: Value) -> Value {
    if let Some(members) = schema.as_object_mut() {
        members.remove("$schema");
        members.remove("$id");
    }
    simplify(&mut schema);
    schema
}

fn simplify(node: &mut Value) {
    match node {
        Value::Array(items) => items.iter_mut().for_each(simplify),
        Value::Object(members) => {
            members.values_mut().for_each(simplify);
            if let Some(Value::Array(required)) = members.get_mut("required") {
                required.retain(|member| !member.as_str().is_some_and(missing_field::is_time));
            }
            if members.get("format").and_then(Value::as_str).is_some_and(|format| format.contains("int")) {
                members.remove("format");
            }
            if let Some(Value::Array(types)) = members.get("type").filter(|_| !members.contains_key("anyOf")) {
                let each: Value = types.iter().map(|one| json!({ "type": one })).collect();
                members.remove("type");
                members.insert("anyOf".to_owned(), each);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
