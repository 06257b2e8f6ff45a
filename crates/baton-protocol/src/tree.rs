//! The parsed form of a document before it means anything: a tree that borrows from the source text.
//!
//! JSON and YAML both end here. The tree keeps the order of members, never holds a key twice, and knows
//! nothing about dialects. Positions are not kept; `read::locate` finds them when there is something to report.

use std::borrow::Cow;

use serde_json::{Map, Number, Value};

/// One value of a document.
#[derive(Debug, Clone, PartialEq)]
pub enum Node<'t> {
    /// `null`, or an empty YAML value.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A JSON number.
    Number(Number),
    /// An unquoted YAML scalar that reads as a number. Where text is expected it is its own text, so that
    /// the id `007` or the version `1.10` arrive as they were written.
    Plain(Cow<'t, str>),
    /// A string.
    Text(Cow<'t, str>),
    /// A list.
    List(Vec<Node<'t>>),
    /// An object, in source order.
    Object(Vec<(Cow<'t, str>, Node<'t>)>),
}

impl<'t> Node<'t> {
    /// Returns the member `key` of an object.
    pub fn get(&self, key: &str) -> Option<&Node<'t>> {
        match self {
            Node::Object(members) => members.iter().find(|(name, _)| name == key).map(|(_, node)| node),
            _ => None,
        }
    }

    /// Returns whether this is an object with the member `key`.
    pub fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Returns the text of a string.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Node::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Names the kind of value, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Node::Null => "null",
            Node::Bool(_) => "a boolean",
            Node::Number(_) | Node::Plain(_) => "a number",
            Node::Text(_) => "text",
            Node::List(_) => "a list",
            Node::Object(_) => "an object",
        }
    }

    /// Converts into an owned JSON value.
    pub fn into_json(self) -> Value {
        match self {
            Node::Null => Value::Null,
            Node::Bool(value) => Value::Bool(value),
            Node::Number(number) => Value::Number(number),
            Node::Plain(text) => plain_number(&text).map_or_else(|| Value::String(text.into_owned()), Value::Number),
            Node::Text(text) => Value::String(text.into_owned()),
            Node::List(items) => Value::Array(items.into_iter().map(Node::into_json).collect()),
            Node::Object(members) => Value::Object(into_map(members)),
        }
    }
}

/// Converts the members of an object into an owned map.
pub fn into_map(members: Vec<(Cow<'_, str>, Node<'_>)>) -> Map<String, Value> {
    members.into_iter().map(|(key, node)| (key.into_owned(), node.into_json())).collect()
}

/// Parses a YAML scalar as a number if it is written as JSON would write one.
///
/// `010`, `1_000` and `0x1F` are numbers to some YAML readers and text to others; they stay text here.
pub fn plain_number(text: &str) -> Option<Number> {
    serde_json::from_str::<Number>(text).ok()
}
