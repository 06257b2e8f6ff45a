//! Values that can be written in a short and in a long way.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use super::GateFields;
use crate::diagnostic::{Finding, Place, excerpt};
use crate::model::terms::GateType;
use crate::tree::Node;
use crate::wire::{Reader, Wire, closest};

/// A command: one text for the shell, or a program and its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandLine {
    /// For `sh -c`.
    Shell(String),
    /// A program and its arguments.
    Program(Vec<String>),
}

impl Default for CommandLine {
    fn default() -> Self {
        CommandLine::Shell(String::new())
    }
}

impl CommandLine {
    /// Returns whether there is nothing to run.
    pub fn is_empty(&self) -> bool {
        match self {
            CommandLine::Shell(text) => text.trim().is_empty(),
            CommandLine::Program(words) => words.first().is_none_or(|program| program.is_empty()),
        }
    }

    /// Returns the program and its arguments as they are started.
    pub fn words(&self) -> Vec<String> {
        match self {
            CommandLine::Shell(text) => vec!["sh".to_owned(), "-c".to_owned(), text.clone()],
            CommandLine::Program(words) => words.clone(),
        }
    }
}

impl std::fmt::Display for CommandLine {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CommandLine::Shell(text) => formatter.write_str(text),
            CommandLine::Program(words) => formatter.write_str(&words.join(" ")),
        }
    }
}

impl Wire for CommandLine {
    const EXPECTED: &'static str = "a command: text for the shell, or a list with the program and its arguments";

    fn read(node: Node<'_>, reader: &mut Reader) -> Option<Self> {
        let is_text = |node: &Node<'_>| matches!(node, Node::Text(_) | Node::Plain(_));
        match node {
            Node::Text(text) => Some(CommandLine::Shell(text.into_owned())),
            Node::List(nodes) if nodes.iter().all(is_text) => {
                Some(CommandLine::Program(nodes.into_iter().filter_map(|node| String::read(node, reader)).collect()))
            }
            other => {
                reader.wrong_type(Self::EXPECTED, other);
                None
            }
        }
    }

    fn write(&self) -> Value {
        match self {
            CommandLine::Shell(text) => json!(text),
            CommandLine::Program(words) => json!(words),
        }
    }
}

impl JsonSchema for CommandLine {
    fn schema_name() -> Cow<'static, str> {
        "CommandLine".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" }, "minItems": 1 }],
            "description": "Text for the shell, or a program and its arguments.",
        })
    }
}

/// When several phases have passed together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PassWhen {
    /// All of them passed.
    #[default]
    AllMustPass,
    /// At least one passed.
    AnyPass,
    /// Strictly more than half passed.
    MajorityPass,
    /// At least so many passed.
    AtLeast(u64),
}

impl PassWhen {
    const WORDS: [&'static str; 3] = ["all_must_pass", "any_pass", "majority_pass"];

    /// Returns whether so many of so many are enough.
    pub fn is_met(self, passed: usize, total: usize) -> bool {
        match self {
            PassWhen::AllMustPass => passed == total,
            PassWhen::AnyPass => passed > 0,
            PassWhen::MajorityPass => passed * 2 > total,
            PassWhen::AtLeast(least) => passed as u64 >= least,
        }
    }
}

impl std::fmt::Display for PassWhen {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            PassWhen::AllMustPass => formatter.write_str("all_must_pass"),
            PassWhen::AnyPass => formatter.write_str("any_pass"),
            PassWhen::MajorityPass => formatter.write_str("majority_pass"),
            PassWhen::AtLeast(least) => write!(formatter, "at_least: {least}"),
        }
    }
}

impl Wire for PassWhen {
    const EXPECTED: &'static str = "`all_must_pass`, `any_pass`, `majority_pass` or `at_least: N`";

    fn read(node: Node<'_>, reader: &mut Reader) -> Option<Self> {
        let same = crate::wire::same_word;
        let read = match &node {
            Node::Text(word) if same(word, "all_must_pass") => Some(PassWhen::AllMustPass),
            Node::Text(word) if same(word, "any_pass") => Some(PassWhen::AnyPass),
            Node::Text(word) if same(word, "majority_pass") => Some(PassWhen::MajorityPass),
            Node::Text(word) => {
                let place = Place::Value(reader.pointer());
                let message = format!("unknown `pass_when` `{}`", excerpt(word));
                let meant = Self::WORDS.iter().find(|known| {
                    known.starts_with(&*word.to_ascii_lowercase()) && !word.is_empty()
                        || closest(word, &[known]).is_some()
                });
                let help = match meant {
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None => format!("use one of: {}, {{at_least: 2}}", Self::WORDS.join(", ")),
                };
                reader.findings.push(Finding::new(&crate::rules::unknown_kind::RULE, place, message).help(help));
                reader.keep(json!(word));
                return None;
            }
            Node::Object(members) => match members.as_slice() {
                [(name, Node::Plain(number))] if name == "at_least" => number.parse().ok().map(PassWhen::AtLeast),
                [(name, Node::Number(number))] if name == "at_least" => number.as_u64().map(PassWhen::AtLeast),
                _ => None,
            },
            _ => None,
        };
        if read.is_none() {
            reader.wrong_type(Self::EXPECTED, node);
        }
        read
    }

    fn write(&self) -> Value {
        match self {
            PassWhen::AtLeast(least) => json!({ "at_least": least }),
            rule => json!(rule.to_string()),
        }
    }
}

impl JsonSchema for PassWhen {
    fn schema_name() -> Cow<'static, str> {
        "PassWhen".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                { "enum": PassWhen::WORDS },
                {
                    "type": "object",
                    "properties": { "at_least": { "type": "integer", "minimum": 1 } },
                    "required": ["at_least"],
                    "additionalProperties": false,
                },
            ],
            "description": "How many must pass.",
        })
    }
}

/// Whether a person must approve: the type of the gate alone, or the gate with its particulars.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Review {
    /// The gate.
    pub gate: GateFields,
    /// Whether it was written as its type alone.
    pub bare: bool,
}

impl Wire for Review {
    const EXPECTED: &'static str = "`blocking`, `advisory`, `auto`, or an object with the gate";

    fn read(node: Node<'_>, reader: &mut Reader) -> Option<Self> {
        match node {
            Node::Object(_) => GateFields::read(node, reader).map(|gate| Review { gate, bare: false }),
            Node::Text(_) => GateType::read(node, reader).map(|r#type| Review {
                gate: GateFields { r#type: Some(r#type), ..GateFields::default() },
                bare: true,
            }),
            other => {
                reader.wrong_type(Self::EXPECTED, other);
                None
            }
        }
    }

    fn write(&self) -> Value {
        match (self.gate.r#type, self.bare) {
            (Some(r#type), true) => r#type.write(),
            _ => self.gate.write(),
        }
    }
}

impl JsonSchema for Review {
    fn schema_name() -> Cow<'static, str> {
        "Review".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (word, gate) = (generator.subschema_for::<GateType>(), generator.subschema_for::<GateFields>());
        json_schema!({ "anyOf": [word, gate], "description": "Whether a person must approve." })
    }
}
