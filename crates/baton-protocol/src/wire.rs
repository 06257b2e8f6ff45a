//! How typed structures are read from a tree and written back, without losing what they do not know.
//!
//! A structure is declared once with `wire!`: that gives its fields, its reader, its writer and its JSON Schema.
//! Reading never stops at the first mistake. What the structure cannot hold (unknown members, wrong types,
//! explicit nulls) is kept as residue under its JSON pointer, so that writing back loses nothing.

mod advice;
mod macros;
mod scalars;
pub mod words;
mod yes_or_no;

pub use advice::{Advice, Foreign};
pub(crate) use macros::{vocabulary, wire};
pub use scalars::Label;
pub use words::{closest, distinct, fits, same_word, suggest};
pub use yes_or_no::yes_or_no;

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use crate::diagnostic::{Finding, Findings, Place, excerpt};
use crate::rules;
use crate::tree::{self, Node};

/// A value that can be in a document.
pub trait Wire: Sized + JsonSchema {
    /// What is expected, for messages: "text", "a list".
    const EXPECTED: &'static str;

    /// Whether nothing at all is a value like any other.
    const TAKES_NULL: bool = false;

    /// Reads a value. When it has the wrong shape the reader is told, the value stays as residue, and this is `None`.
    fn read(node: Node<'_>, reader: &mut Reader) -> Option<Self>;

    /// Writes the value.
    fn write(&self) -> Value;
}

/// A member of a structure: an optional value or a list, absent by default.
pub trait Member: Default {
    /// Whether nothing at all is a value like any other.
    const TAKES_NULL: bool = false;

    /// Fills the member from a value that is not null.
    fn fill(&mut self, node: Node<'_>, reader: &mut Reader);

    /// Writes the member, unless it is absent.
    fn write_member(&self) -> Option<Value>;

    /// Returns the schema of the member when it is there.
    fn schema(generator: &mut SchemaGenerator) -> Schema;
}

impl<T: Wire> Member for Option<T> {
    const TAKES_NULL: bool = T::TAKES_NULL;

    fn fill(&mut self, node: Node<'_>, reader: &mut Reader) {
        *self = T::read(node, reader);
    }

    fn write_member(&self) -> Option<Value> {
        self.as_ref().map(Wire::write)
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<T>()
    }
}

impl<T: Wire + Default> Member for Vec<T> {
    fn fill(&mut self, node: Node<'_>, reader: &mut Reader) {
        let nodes = match node {
            Node::List(nodes) if nodes.is_empty() => return reader.keep(Value::Array(Vec::new())),
            Node::List(nodes) => nodes,
            other => return reader.wrong_type("a list", other),
        };
        // A wrong item leaves a default in its place, so that the items behind it keep their index.
        *self = nodes.into_iter().enumerate().map(|(index, node)| reader.item(index, node)).collect();
    }

    fn write_member(&self) -> Option<Value> {
        (!self.is_empty()).then(|| Value::Array(self.iter().map(Wire::write).collect()))
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        let items = generator.subschema_for::<T>();
        json_schema!({ "type": "array", "items": items })
    }
}

impl Member for Map<String, Value> {
    fn fill(&mut self, node: Node<'_>, reader: &mut Reader) {
        match node {
            Node::Object(members) if members.is_empty() => reader.keep(Value::Object(Map::new())),
            Node::Object(members) => *self = tree::into_map(members),
            other => reader.wrong_type("an object", other),
        }
    }

    fn write_member(&self) -> Option<Value> {
        (!self.is_empty()).then(|| Value::Object(self.clone()))
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object" })
    }
}

/// One step of a path.
#[derive(Debug, Clone)]
enum Token {
    Name(Cow<'static, str>),
    /// A name that the author has chosen.
    Chosen(String),
    Index(usize),
}

/// Collects what is found while a tree is read.
#[derive(Debug, Default)]
pub struct Reader {
    path: Vec<Token>,
    /// How mistakes are answered, where whatever the structures do not know is a mistake.
    advice: Option<&'static Advice>,
    /// Where something is wrong that follows from a mistake reported before it.
    pub unsaid: Vec<String>,
    /// Members that were meant by unknown names: the structure that they are in, and what they are called.
    pub assumed: Vec<(String, &'static str)>,
    /// What is wrong.
    pub findings: Findings,
    /// What the structures could not hold, by pointer.
    pub residue: Vec<(String, Value)>,
}

impl Reader {
    /// Makes a reader of documents that have no members but those of their structures.
    pub fn with_advice(advice: &'static Advice) -> Self {
        Reader { advice: Some(advice), ..Reader::default() }
    }

    /// Returns the JSON pointer of the value being read.
    pub fn pointer(&self) -> String {
        self.path.iter().fold(String::new(), |pointer, token| match token {
            Token::Name(name) => join(&pointer, name),
            Token::Chosen(name) => join(&pointer, name),
            Token::Index(index) => format!("{pointer}/{index}"),
        })
    }

    /// Keeps a value that the structure cannot hold.
    pub fn keep(&mut self, value: Value) {
        self.residue.push((self.pointer(), value));
    }

    /// Reports a value of the wrong type and keeps it.
    pub fn wrong_type(&mut self, expected: &str, node: Node<'_>) {
        let help = self.right_type(expected, &node);
        self.wrong_value(self.should_be(expected, node.kind()), help, node);
    }

    /// Reports a value that should be a structure and keeps it. A text that stands for its only required member, or for the
    /// one that the list is named after, is shown as that member.
    pub fn wrong_structure(&mut self, expected: &str, required: &[(&str, &str)], known: &[&str], node: Node<'_>) {
        let names =
            self.path.iter().rev().filter_map(|token| if let Token::Name(name) = token { Some(name) } else { None });
        let singular = names.take(1).find_map(|list| list.strip_suffix('s'));
        let meant = match required {
            [(name, _)] => Some(*name),
            _ => known.iter().copied().find(|name| Some(*name) == singular),
        };
        let help = match (&node, meant) {
            (Node::Text(text), Some(name)) if self.advice.is_none() => {
                Some(format!("write {} in its place", json!({ *name: excerpt(text) })))
            }
            _ => self.right_type(expected, &node),
        };
        self.wrong_value(self.should_be(expected, node.kind()), help, node);
    }

    /// The message when the value being read should be something else. It names the value, because not every reader
    /// sees its place.
    pub fn should_be(&self, expected: &str, found: &str) -> String {
        let (indices, name): (String, Option<&str>) =
            self.path.iter().fold((String::new(), None), |(indices, name), token| match token {
                Token::Name(name) => (String::new(), Some(name.as_ref())),
                Token::Chosen(name) => (String::new(), Some(name)),
                Token::Index(index) => (format!("{indices}[{index}]"), name),
            });
        let name = name.map_or_else(|| "this".to_owned(), |name| format!("`{}{indices}`", excerpt(name)));
        format!("{name} should be {expected}, but it is {found}")
    }

    /// Reports a value that cannot be what its field means, in words of its own, and keeps it.
    pub fn wrong_value(&mut self, message: String, help: Option<String>, node: Node<'_>) {
        if self.repeats_itself() {
            self.unsaid.push(self.pointer());
        } else {
            let finding = Finding::new(&rules::wrong_type::RULE, Place::Value(self.pointer()), message);
            self.findings.push(Finding { help, ..finding });
        }
        self.keep(node.into_json());
    }

    /// Reports a word outside a vocabulary and keeps it.
    pub fn unknown_word(&mut self, rule: &'static rules::Rule, what: &str, word: &str, known: &[&str]) {
        let finding = Finding::new(rule, Place::Value(self.pointer()), format!("unknown {what} `{}`", excerpt(word)));
        self.findings.push(finding.help(suggest(word, known)));
        self.keep(Value::String(word.to_owned()));
    }

    /// Reports a member that the structure does not know and keeps it, unless it is known which one was meant: then that one
    /// is given back, and what follows from it is judged as if it had been written.
    pub fn unknown_member<'t>(
        &mut self,
        name: &str,
        node: Node<'t>,
        known: &[&'static str],
    ) -> Option<(&'static str, Node<'t>)> {
        let meant = self.meant(name, known);
        self.path.push(Token::Name(Cow::Owned(name.to_owned())));
        let pointer = self.pointer();
        let rule = self.advice.map_or(&rules::unknown_field::RULE, |advice| advice.unknown);
        self.findings.add(rule, || {
            let message = format!("`{}` is not a field of this document", excerpt(name));
            Finding::new(rule, Place::Name(pointer), message).help(match meant {
                Some(Foreign::Renamed(close)) => format!("did you mean `{close}`?"),
                Some(Foreign::Explained(advice)) => advice.to_owned(),
                None if rule.severity == crate::Severity::Error => format!("use one of: {}", known.join(", ")),
                None => "it is kept, but ignored".to_owned(),
            })
        });
        let recovered = match (meant, self.advice) {
            (Some(Foreign::Renamed(meant)), Some(_)) => Some((meant, node)),
            _ => {
                self.keep(node.into_json());
                None
            }
        };
        self.path.pop();
        recovered
    }

    /// Fills a member that was written under an unknown name. What is wrong with its value is not said before its author has
    /// agreed that this member was meant.
    pub(crate) fn assume<T>(&mut self, meant: &'static str, fill: impl FnOnce(&mut Reader) -> T) {
        let before = std::mem::take(&mut self.findings);
        fill(self);
        let within = std::mem::replace(&mut self.findings, before).into_vec();
        self.unsaid.extend(within.into_iter().map(|finding| finding.place.pointer().to_owned()));
        self.assumed.push((self.pointer(), meant));
    }

    /// Keeps a member that belongs to the dialect but not to this document, without a word.
    pub fn keep_member(&mut self, name: &str, node: Node<'_>) {
        self.path.push(Token::Name(Cow::Owned(name.to_owned())));
        self.keep(node.into_json());
        self.path.pop();
    }

    /// Chooses between two spellings of a member; if they disagree, the second stays as residue.
    pub fn either(&mut self, first: Option<String>, second: Option<String>, second_name: &str) -> Option<String> {
        match (first, second) {
            (Some(first), Some(second)) if first != second => {
                self.keep_member(second_name, Node::Text(Cow::Owned(second)));
                Some(first)
            }
            (first, second) => first.or(second),
        }
    }

    /// Reports the required members that are missing or null.
    pub fn require(&mut self, required: &[(&'static str, &'static str)], members: &[(Cow<'_, str>, Node<'_>)]) {
        self.require_of(required, &[], members);
    }

    /// Reports the required ones of the known members that are missing or null. One that was written under another name is
    /// reported under that.
    pub fn require_of(
        &mut self,
        required: &[(&'static str, &'static str)],
        known: &[&'static str],
        members: &[(Cow<'_, str>, Node<'_>)],
    ) {
        for (name, meaning) in required {
            let (pointer, message) = match members.iter().find(|(key, _)| key == name) {
                None if self.is_under_another_name(name, known, members) => continue,
                None => (self.pointer(), format!("`{name}` is missing")),
                Some((_, Node::Null)) => (join(&self.pointer(), name), format!("`{name}` is required, but it is null")),
                Some(_) => continue,
            };
            let help = self.example_of(name).unwrap_or_else(|| {
                let meaning = meaning.trim().trim_end_matches('.');
                format!("add `{name}`: {}", lower_first(meaning))
            });
            self.findings.push(Finding::new(&rules::missing_field::RULE, Place::Value(pointer), message).help(help));
        }
    }

    /// Reports required members that are there, but blank: a name must not be empty.
    pub fn require_names(&mut self, names: &[&str], node: &Node<'_>) {
        let is_blank = |name: &&&str| node.get(name).and_then(Node::as_text).is_some_and(|text| text.trim().is_empty());
        for name in names.iter().filter(is_blank) {
            let place = Place::Value(join(&self.pointer(), name));
            let finding = Finding::new(&rules::missing_field::RULE, place, format!("`{name}` is blank"));
            self.findings.push(finding.help(format!("fill in `{name}`")));
        }
    }

    /// Fills one member of a structure.
    pub fn member<M: Member>(&mut self, name: &'static str, member: &mut M, node: Node<'_>) {
        self.path.push(Token::Name(Cow::Borrowed(name)));
        match node {
            Node::Null => {
                if !M::TAKES_NULL {
                    self.report_null(name);
                }
                self.keep(Value::Null);
            }
            node => member.fill(node, self),
        }
        self.path.pop();
    }

    /// Reads something below the member `name`.
    pub fn below<T>(&mut self, name: &'static str, read: impl FnOnce(&mut Reader) -> T) -> T {
        self.path.push(Token::Name(Cow::Borrowed(name)));
        let value = read(self);
        self.path.pop();
        value
    }

    /// Reads something below a member whose name the author has chosen.
    pub fn named<T>(&mut self, name: &str, read: impl FnOnce(&mut Reader) -> T) -> T {
        self.path.push(Token::Chosen(name.to_owned()));
        let value = read(self);
        self.path.pop();
        value
    }

    pub(crate) fn item<T: Wire + Default>(&mut self, index: usize, node: Node<'_>) -> T {
        self.path.push(Token::Index(index));
        let item = T::read(node, self).unwrap_or_default();
        self.path.pop();
        item
    }
}

/// Appends a name to a JSON pointer.
pub fn join(pointer: &str, name: &str) -> String {
    if name.contains(['~', '/']) {
        format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"))
    } else {
        format!("{pointer}/{name}")
    }
}

fn lower_first(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map(|first| first.to_lowercase().chain(characters).collect()).unwrap_or_default()
}

/// Describes one member for a schema.
pub struct MemberSchema {
    /// Its name in the document.
    pub name: &'static str,
    /// Whether it must be there.
    pub required: bool,
    /// What it means.
    pub meaning: &'static str,
    /// What it holds when it is there.
    pub schema: Schema,
}

/// Builds the schema of a structure. Unknown members are allowed everywhere: they survive.
pub fn object_schema(meaning: &str, members: Vec<MemberSchema>) -> Schema {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for member in members {
        let mut schema = if member.required {
            member.schema.to_value()
        } else {
            json_schema!({ "anyOf": [member.schema, { "type": "null" }] }).to_value()
        };
        if let Value::Object(schema) = &mut schema {
            schema.insert("description".to_owned(), member.meaning.trim().into());
        }
        if member.required {
            required.push(member.name);
        }
        properties.insert(member.name.to_owned(), schema);
    }
    json_schema!({ "type": "object", "description": meaning.trim(), "properties": properties, "required": required })
}

/// Strips the `r#` of a raw identifier.
pub const fn unraw(name: &'static str) -> &'static str {
    match name.as_bytes() {
        [b'r', b'#', ..] => name.split_at(2).1,
        _ => name,
    }
}
