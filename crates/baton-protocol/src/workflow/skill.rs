//! A skill that an agent must use: its name, or its name with what it is for.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use crate::tree::Node;
use crate::wire::{Reader, Wire};

/// A skill that an agent must use.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Skill {
    /// Its name, as reports name it.
    pub name: String,
    /// What it is for; part of the prompt.
    pub purpose: Option<String>,
}

impl Skill {
    /// Names a skill without a purpose.
    pub fn named(name: impl Into<String>) -> Skill {
        Skill { name: name.into(), purpose: None }
    }
}

impl fmt::Display for Skill {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.name)?;
        self.purpose.iter().try_for_each(|purpose| write!(formatter, ": {purpose}"))
    }
}

impl Wire for Skill {
    const EXPECTED: &'static str = "the name of a skill, or `name: what it is for`";

    fn read(node: Node<'_>, reader: &mut Reader) -> Option<Self> {
        match node {
            Node::Text(text) => Some(match text.split_once(": ") {
                Some((name, purpose)) => {
                    Skill { name: name.trim().to_owned(), purpose: Some(purpose.trim().to_owned()) }
                }
                None => Skill::named(text.trim()),
            }),
            Node::Object(members) if members.len() == 1 && matches!(members[0].1, Node::Text(_) | Node::Plain(_)) => {
                let (name, purpose) = members.into_iter().next()?;
                Some(Skill { name: name.into_owned(), purpose: String::read(purpose, reader) })
            }
            other => {
                reader.wrong_type(Self::EXPECTED, other);
                None
            }
        }
    }

    fn write(&self) -> Value {
        match &self.purpose {
            Some(purpose) => Value::Object(Map::from_iter([(self.name.clone(), json!(purpose))])),
            None => json!(self.name),
        }
    }
}

impl JsonSchema for Skill {
    fn schema_name() -> Cow<'static, str> {
        "Skill".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                { "type": "string" },
                { "type": "object", "additionalProperties": { "type": "string" }, "minProperties": 1, "maxProperties": 1 },
            ],
            "description": "The name of a skill, or its name and what it is for.",
        })
    }
}
