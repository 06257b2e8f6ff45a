//! The wire form of plain values: text, booleans, numbers, labels and anything.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Number, Value};

use super::{Reader, Wire};
use crate::tree::{self, Node};

impl Wire for String {
    const EXPECTED: &'static str = "text";

    fn read(node: Node<'_>, reader: &mut Reader) -> Option<Self> {
        match node {
            Node::Text(text) | Node::Plain(text) => Some(text.into_owned()),
            other => {
                reader.wrong_type(Self::EXPECTED, other);
                None
            }
        }
    }

    fn write(&self) -> Value {
        Value::String(self.clone())
    }
}

impl Wire for bool {
    const EXPECTED: &'static str = "true or false";

    fn read(node: Node<'_>, reader: &mut Reader) -> Option<Self> {
        let meant = node.as_text().and_then(super::yes_or_no);
        match (node, meant) {
            (Node::Bool(value), _) => Some(value),
            (other, Some(meant)) => {
                let message = reader.should_be(Self::EXPECTED, other.kind());
                reader.wrong_value(message, Some(format!("write `{meant}`")), other);
                None
            }
            (other, None) => {
                reader.wrong_type(Self::EXPECTED, other);
                None
            }
        }
    }

    fn write(&self) -> Value {
        Value::Bool(*self)
    }
}

impl Wire for u64 {
    const EXPECTED: &'static str = "a whole number that is not negative";

    fn read(node: Node<'_>, reader: &mut Reader) -> Option<Self> {
        let number = match &node {
            Node::Number(number) => number.as_u64(),
            Node::Plain(text) => text.parse().ok(),
            _ => None,
        };
        let written = match &node {
            Node::Number(number) => Some(number.to_string()),
            Node::Plain(text) => Some(text.to_string()),
            _ => None,
        };
        match (number, written) {
            (None, Some(written)) => {
                let help = reader.right_type(Self::EXPECTED, &node);
                reader.wrong_value(reader.should_be(Self::EXPECTED, &written), help, node);
            }
            (None, None) => reader.wrong_type(Self::EXPECTED, node),
            _ => {}
        }
        number
    }

    fn write(&self) -> Value {
        Value::Number((*self).into())
    }
}

impl Wire for Number {
    const EXPECTED: &'static str = "a number";

    fn read(node: Node<'_>, reader: &mut Reader) -> Option<Self> {
        let number = match &node {
            Node::Number(number) => Some(number.clone()),
            Node::Plain(text) => tree::plain_number(text),
            _ => None,
        };
        if number.is_none() {
            reader.wrong_type(Self::EXPECTED, node);
        }
        number
    }

    fn write(&self) -> Value {
        Value::Number(self.clone())
    }
}

impl Wire for Value {
    const EXPECTED: &'static str = "anything";
    const TAKES_NULL: bool = true;

    fn read(node: Node<'_>, _: &mut Reader) -> Option<Self> {
        Some(node.into_json())
    }

    fn write(&self) -> Value {
        self.clone()
    }
}

/// A step or phase: a number, possibly with a fraction, or a name.
#[derive(Debug, Clone, PartialEq)]
pub enum Label {
    /// A number such as 4.5.
    Number(Number),
    /// A name such as `architecture`.
    Name(String),
}

impl Default for Label {
    fn default() -> Self {
        Label::Name(String::new())
    }
}

impl Label {
    /// Returns the name, if it is one.
    pub fn name(&self) -> Option<&str> {
        match self {
            Label::Name(name) => Some(name),
            Label::Number(_) => None,
        }
    }
}

impl std::fmt::Display for Label {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Label::Number(number) => number.fmt(formatter),
            Label::Name(name) => name.fmt(formatter),
        }
    }
}

impl Wire for Label {
    const EXPECTED: &'static str = "a number or text";

    fn read(node: Node<'_>, reader: &mut Reader) -> Option<Self> {
        match node {
            Node::Number(number) => Some(Label::Number(number)),
            Node::Text(text) => Some(Label::Name(text.into_owned())),
            Node::Plain(text) => match tree::plain_number(&text) {
                Some(number) => Some(Label::Number(number)),
                None => Some(Label::Name(text.into_owned())),
            },
            other => {
                reader.wrong_type(Self::EXPECTED, other);
                None
            }
        }
    }

    fn write(&self) -> Value {
        match self {
            Label::Number(number) => Value::Number(number.clone()),
            Label::Name(name) => Value::String(name.clone()),
        }
    }
}

impl JsonSchema for Label {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Label".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["number", "string"] })
    }
}
