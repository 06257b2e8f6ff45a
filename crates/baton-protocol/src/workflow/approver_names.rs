//! Who may decide at a gate, by name.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use crate::tree::Node;
use crate::wire::{Reader, Wire};

/// Names of those who may decide. An empty list differs from a missing one: it allows nobody, which is a mistake.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ApproverNames(pub Vec<String>);

impl ApproverNames {
    /// Returns whether somebody can have a name: an account, or a principal of allowed signers that is not a pattern.
    pub fn is_possible(name: &str) -> bool {
        let is_odd = |letter: char| letter.is_control() || letter.is_whitespace() || "*?!,\"".contains(letter);
        !name.is_empty() && !name.contains(is_odd)
    }
}

impl Wire for ApproverNames {
    const EXPECTED: &'static str = "a list of names";

    fn read(node: Node<'_>, reader: &mut Reader) -> Option<Self> {
        match node {
            Node::List(nodes) => Some(ApproverNames(
                nodes.into_iter().enumerate().map(|(index, node)| reader.item(index, node)).collect(),
            )),
            other => {
                reader.wrong_type(Self::EXPECTED, other);
                None
            }
        }
    }

    fn write(&self) -> Value {
        json!(self.0)
    }
}

impl JsonSchema for ApproverNames {
    fn schema_name() -> Cow<'static, str> {
        "ApproverNames".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "array",
            "items": { "type": "string" },
            "minItems": 1,
            "description": "Names of those who may decide: principals that `baton.toml` names, or accounts.",
        })
    }
}
