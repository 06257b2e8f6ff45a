//! Values that can be written in a short and in a long way.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use super::GateFields;
use crate::model::terms::GateType;
use crate::tree::Node;
use crate::wire::{Reader, Wire};

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
    /// Says whether there is nothing to run.
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

/// A length of time: `90s`, `30m`, `2h`, `1d`, `500ms`, or a number of seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Duration {
    /// In milliseconds.
    pub milliseconds: u64,
}

impl Duration {
    /// Reads a length of time.
    pub fn parse(text: &str) -> Option<Duration> {
        let text = text.trim();
        let end = text.find(|character: char| !character.is_ascii_digit() && character != '.').unwrap_or(text.len());
        let number: f64 = text[..end].parse().ok()?;
        let factor = match text[end..].trim() {
            "ms" => 1.0,
            "" | "s" => 1_000.0,
            "m" | "min" => 60_000.0,
            "h" => 3_600_000.0,
            "d" => 86_400_000.0,
            _ => return None,
        };
        let milliseconds = number * factor;
        // As text it would be a number of its own; nobody waits for a thousand years.
        (milliseconds.is_finite() && milliseconds < 3.2e13).then_some(Duration { milliseconds: milliseconds as u64 })
    }

    /// Returns it as the standard library has it.
    pub fn as_std(self) -> std::time::Duration {
        std::time::Duration::from_millis(self.milliseconds)
    }
}

impl std::fmt::Display for Duration {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (amount, unit) = match self.milliseconds {
            0 => (0, "s"),
            ms if ms % 86_400_000 == 0 => (ms / 86_400_000, "d"),
            ms if ms % 3_600_000 == 0 => (ms / 3_600_000, "h"),
            ms if ms % 60_000 == 0 => (ms / 60_000, "m"),
            ms if ms % 1_000 == 0 => (ms / 1_000, "s"),
            ms => (ms, "ms"),
        };
        write!(formatter, "{amount}{unit}")
    }
}

impl Wire for Duration {
    const EXPECTED: &'static str = "a length of time, such as `90s`, `30m` or `2h`";

    fn read(node: Node<'_>, reader: &mut Reader) -> Option<Self> {
        let read = match &node {
            Node::Text(text) | Node::Plain(text) => Duration::parse(text),
            Node::Number(number) => Duration::parse(&number.to_string()),
            _ => None,
        };
        if read.is_none() {
            reader.wrong_type(Self::EXPECTED, node);
        }
        read
    }

    fn write(&self) -> Value {
        json!(self.to_string())
    }
}

impl JsonSchema for Duration {
    fn schema_name() -> Cow<'static, str> {
        "Duration".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                { "type": "number", "minimum": 0 },
                { "type": "string", "pattern": "^[0-9]+(\\.[0-9]+)? *(ms|s|m|min|h|d)?$" },
            ],
            "description": "A length of time: a number of seconds, or a number with ms, s, m, h or d.",
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

    /// Says whether so many of so many are enough.
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
                reader.unknown_word(&crate::rules::unknown_kind::RULE, "rule of aggregation", word, &Self::WORDS);
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
