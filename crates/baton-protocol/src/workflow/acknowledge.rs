//! Whether an agent must say that it understood, and how soon: `true`, `false` or `{within: 2m}`.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use super::Duration;
use crate::tree::Node;
use crate::wire::{Reader, Wire};

/// Whether an agent must say that it understood before its report counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AcknowledgeChoice {
    /// Whether it must.
    pub asked: bool,
    /// How soon after the attempt began; any time before the report if it does not say.
    pub within: Option<Duration>,
}

impl Wire for AcknowledgeChoice {
    const EXPECTED: &'static str = "`true`, `false` or `{within: 2m}`";

    fn read(node: Node<'_>, reader: &mut Reader) -> Option<Self> {
        let read = match node {
            Node::Bool(asked) => return Some(AcknowledgeChoice { asked, within: None }),
            Node::Object(mut members) if members.len() == 1 && members[0].0 == "within" => members.remove(0).1,
            other => {
                reader.wrong_type(Self::EXPECTED, other);
                return None;
            }
        };
        let mut within: Option<Duration> = None;
        reader.member("within", &mut within, read);
        within.map(|within| AcknowledgeChoice { asked: true, within: Some(within) })
    }

    fn write(&self) -> Value {
        match self.within {
            Some(within) => json!({ "within": within.to_string() }),
            None => json!(self.asked),
        }
    }
}

impl JsonSchema for AcknowledgeChoice {
    fn schema_name() -> Cow<'static, str> {
        "Acknowledge".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                { "type": "boolean" },
                {
                    "type": "object",
                    "properties": { "within": generator.subschema_for::<Duration>() },
                    "required": ["within"],
                    "additionalProperties": false,
                },
            ],
            "description": "Whether it must say that it understood, and how soon.",
        })
    }
}
