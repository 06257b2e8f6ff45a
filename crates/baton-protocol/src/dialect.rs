//! The six written forms of the documents: five dialects that teams use, and the native one.
//!
//! Each dialect is one file that detects, reads, writes and describes its documents. Nothing here judges content.

pub mod mailbox;
pub mod metadata_block;
pub mod native;
pub mod package;
pub mod phase_block;
pub mod task;

use std::fmt;

use schemars::Schema;
use serde_json::{Map, Value};

use crate::model::{Document, Extensions, Kind};
use crate::read::{self, DEPTH_MAX};
use crate::tree::Node;
use crate::wire::Reader;

/// A wire form of handoff documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Dialect {
    /// The JSON block that ends an agent's Markdown output.
    MetadataBlock,
    /// The metadata block with phase, summary, files and blockers.
    PhaseBlock,
    /// YAML with a `handoff` or `acknowledgment` root.
    Package,
    /// JSON with task id, phase and decision.
    Task,
    /// JSON files that move from folder to folder.
    Mailbox,
    /// The canonical form itself.
    Native,
}

impl Dialect {
    /// All dialects.
    pub const ALL: [Dialect; 6] = [
        Dialect::MetadataBlock,
        Dialect::PhaseBlock,
        Dialect::Package,
        Dialect::Task,
        Dialect::Mailbox,
        Dialect::Native,
    ];

    /// Returns the name used everywhere.
    pub fn as_str(self) -> &'static str {
        match self {
            Dialect::MetadataBlock => "metadata-block",
            Dialect::PhaseBlock => "phase-block",
            Dialect::Package => "package",
            Dialect::Task => "task",
            Dialect::Mailbox => "mailbox",
            Dialect::Native => "native",
        }
    }

    /// Finds a dialect by its name.
    pub fn parse(name: &str) -> Option<Dialect> {
        Dialect::ALL.into_iter().find(|dialect| crate::wire::same_word(dialect.as_str(), name))
    }

    /// Recognises the dialect of a document by the marks that only it has.
    ///
    /// A `status` alone does not identify a dialect: any program's output may have one.
    pub fn detect(node: &Node<'_>) -> Option<Dialect> {
        [
            (Dialect::Native, native::detect as fn(&Node<'_>) -> bool),
            (Dialect::Mailbox, mailbox::detect),
            (Dialect::Task, task::detect),
            (Dialect::PhaseBlock, phase_block::detect),
            (Dialect::MetadataBlock, metadata_block::detect),
            (Dialect::Package, package::detect),
        ]
        .into_iter()
        .find(|(_, detect)| detect(node))
        .map(|(dialect, _)| dialect)
    }

    /// Reads a document and keeps what the canonical form cannot hold as extensions.
    pub fn read(self, node: Node<'_>, reader: &mut Reader) -> Option<Document> {
        let mut document = match self {
            Dialect::MetadataBlock => metadata_block::read(node, reader),
            Dialect::PhaseBlock => phase_block::read(node, reader),
            Dialect::Package => package::read(node, reader),
            Dialect::Task => task::read(node, reader),
            Dialect::Mailbox => mailbox::read(node, reader),
            Dialect::Native => native::read(node, reader),
        }?;
        if !reader.residue.is_empty() {
            let fields: Map<String, Value> = reader.residue.drain(..).collect();
            document.extensions_mut().push(Extensions { dialect: Some(self.as_str().to_owned()), fields });
        }
        Some(document)
    }

    /// Writes a document; `None` if the dialect has no such document.
    ///
    /// What the document said in this dialect beyond the canonical form is put back where it stood. It may complete
    /// what is written, but never change what that means.
    pub fn write(self, document: &Document) -> Option<Value> {
        let plain = match self {
            Dialect::MetadataBlock => metadata_block::write(document),
            Dialect::PhaseBlock => phase_block::write(document),
            Dialect::Package => package::write(document),
            Dialect::Task => task::write(document),
            Dialect::Mailbox => mailbox::write(document),
            Dialect::Native => Some(native::write(document)),
        }?;
        let own = |extensions: &&Extensions| extensions.dialect.as_deref() == Some(self.as_str());
        let fields: Vec<_> = document.extensions().iter().filter(own).flat_map(|own| &own.fields).collect();
        if fields.is_empty() {
            return Some(plain);
        }
        let guard = Guard { dialect: self, said: facts(document), written: self.facts_of(&plain) };
        let mut complete = plain.clone();
        fields.iter().for_each(|(pointer, field)| put(&mut complete, pointer, (*field).clone()));
        if guard.admits(&complete) {
            return Some(complete);
        }
        // Only a forged document comes here; each try reads it whole, so there are few.
        let mut extended = plain;
        for (pointer, field) in fields.into_iter().take(TRIED_MAX) {
            let mut longer = extended.clone();
            put(&mut longer, pointer, field.clone());
            if extended.pointer(pointer).is_none() && guard.admits(&longer) {
                extended = longer;
            }
        }
        Some(extended)
    }

    /// Reads what was written and returns what it says in the canonical form.
    fn facts_of(self, value: &Value) -> Option<Value> {
        let text = value.to_string();
        self.read(read::json::parse(&text).ok()?, &mut Reader::default()).map(|document| facts(&document))
    }

    /// Returns whether the dialect has such a document.
    pub fn has(self, kind: Kind) -> bool {
        match (self, kind) {
            (Dialect::MetadataBlock | Dialect::PhaseBlock, kind) => kind == Kind::Report,
            (Dialect::Package, kind) => kind != Kind::Report,
            (Dialect::Task | Dialect::Mailbox, kind) => kind != Kind::Acknowledgment,
            (Dialect::Native, _) => true,
        }
    }

    /// Translates a pointer into the canonical form into the usual one into the document as it was written.
    pub fn source_pointer(self, kind: Kind, canonical: &str) -> String {
        self.source_pointers(kind, canonical).swap_remove(0)
    }

    /// Translates a pointer into the canonical form into pointers into the document as it was written.
    ///
    /// There are several where a member has several spellings; the first is the usual one.
    pub fn source_pointers(self, kind: Kind, canonical: &str) -> Vec<String> {
        let table = match self {
            Dialect::MetadataBlock => metadata_block::POINTERS,
            Dialect::PhaseBlock => phase_block::POINTERS,
            Dialect::Package => package::pointers(kind),
            Dialect::Task => task::pointers(kind),
            Dialect::Mailbox => mailbox::pointers(kind),
            Dialect::Native => &[],
        };
        let below = |prefix: &str| {
            let rest = canonical.strip_prefix(prefix)?;
            (rest.is_empty() || rest.starts_with('/')).then_some(rest)
        };
        let fitting: Vec<_> =
            table.iter().filter_map(|(prefix, source)| Some((prefix.len(), source, below(prefix)?))).collect();
        match fitting.iter().map(|(length, ..)| *length).max() {
            None => vec![canonical.to_owned()],
            Some(longest) => fitting
                .into_iter()
                .filter(|(length, ..)| *length == longest)
                .map(|(_, source, rest)| format!("{source}{rest}"))
                .collect(),
        }
    }

    /// Returns the schema of each of the dialect's documents, by name.
    pub fn schemas(self) -> Vec<(&'static str, Schema)> {
        match self {
            Dialect::MetadataBlock => metadata_block::schemas(),
            Dialect::PhaseBlock => phase_block::schemas(),
            Dialect::Package => package::schemas(),
            Dialect::Task => task::schemas(),
            Dialect::Mailbox => mailbox::schemas(),
            Dialect::Native => native::schemas(),
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Puts a value under a JSON pointer, making the objects on the way.
///
/// A pointer may come from a document: it must not build what would never have been read.
fn put(root: &mut Value, pointer: &str, value: Value) {
    if !pointer.starts_with('/') || pointer.bytes().filter(|byte| *byte == b'/').count() > DEPTH_MAX {
        return;
    }
    let mut here = root;
    for token in pointer.split('/').skip(1) {
        let token = token.replace("~1", "/").replace("~0", "~");
        let below = match here {
            Value::Array(items) => token.parse::<usize>().ok().and_then(|index| items.get_mut(index)),
            other => {
                if !other.is_object() {
                    *other = Value::Object(Map::new());
                }
                other.as_object_mut().map(|members| members.entry(token).or_insert(Value::Null))
            }
        };
        let Some(below) = below else { return };
        here = below;
    }
    *here = value;
}

/// How many extensions are tried one by one where they cannot be taken together.
const TRIED_MAX: usize = 32;

/// Lets extensions complete a document, but not change what it says.
///
/// ```text
/// the report says                    outcome: complete
/// written without extensions         {"status": "complete"}
/// + /note: "kept"                    reads back as complete: admitted
/// + /status: "blocked"               reads back as blocked, which nobody said: not admitted
/// ```
///
/// All of them are tried together first; only a forged document needs them one by one.
struct Guard {
    dialect: Dialect,
    /// What the document says.
    said: Value,
    /// What is read back from it without extensions.
    written: Option<Value>,
}

impl Guard {
    fn admits(&self, candidate: &Value) -> bool {
        let Some(read) = self.dialect.facts_of(candidate) else { return false };
        let known: Vec<&Value> = self.written.iter().chain([&self.said]).collect();
        // Too little may read as another kind of document; then only what was said counts.
        let same_kind = |written: &Value| written["document"] == read["document"];
        let kept = |written: &Value| !same_kind(written) || says(&[&read], written);
        says(&known, &read) && self.written.as_ref().is_none_or(kept)
    }
}

/// Returns what a document says in the canonical form, without extensions and without empty objects.
fn facts(document: &Document) -> Value {
    let mut document = document.clone();
    document.extensions_mut().clear();
    let mut facts = native::write(&document);
    drop_empty(&mut facts);
    facts
}

/// Returns whether everything in `part` is in at least one of the others, at the same place.
fn says(wholes: &[&Value], part: &Value) -> bool {
    match part {
        Value::Object(members) => members.iter().all(|(name, member)| {
            let below: Vec<&Value> = wholes.iter().filter_map(|whole| whole.get(name)).collect();
            says(&below, member)
        }),
        Value::Array(items) => {
            let length = |whole: &&&Value| whole.as_array().is_some_and(|there| there.len() == items.len());
            let wholes: Vec<&Value> = wholes.iter().filter(length).copied().collect();
            items.iter().enumerate().all(|(index, item)| {
                let below: Vec<&Value> = wholes.iter().filter_map(|whole| whole.get(index)).collect();
                says(&below, item)
            })
        }
        leaf => wholes.contains(&leaf),
    }
}

/// Drops members that say nothing: empty objects.
fn drop_empty(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.values_mut().for_each(drop_empty);
            members.retain(|_, member| member.as_object().is_none_or(|below| !below.is_empty()));
        }
        Value::Array(items) => items.iter_mut().for_each(drop_empty),
        _ => {}
    }
}

/// Counts the names that an object has.
fn marks(node: &Node<'_>, names: &[&str]) -> usize {
    names.iter().filter(|name| node.has(name)).count()
}

/// Builds the root schema of a wire type.
fn schema_of<T: schemars::JsonSchema>() -> Schema {
    schemars::generate::SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_extension_changes_a_status() {
        let fields = Map::from_iter([("/status".to_owned(), "blocked".into()), ("/note".to_owned(), "kept".into())]);
        let report = crate::model::Report {
            outcome: Some(crate::model::terms::Outcome::Complete),
            extensions: vec![Extensions { dialect: Some("task".to_owned()), fields }],
            ..Default::default()
        };
        let written = Dialect::Task.write(&Document::Report(Box::new(report)));
        assert_eq!(written, Some(serde_json::json!({"status": "complete", "note": "kept"})));
    }

    #[test]
    fn values_are_put_where_the_pointer_says() {
        let mut value = serde_json::json!({"a": [{"b": 1}]});
        put(&mut value, "/a/0/c", 2.into());
        put(&mut value, "/x~1y/z", 3.into());
        put(&mut value, "/a/7/c", 4.into());
        put(&mut value, "no pointer", 6.into());
        put(&mut value, &"/d".repeat(DEPTH_MAX + 1), 5.into());
        assert_eq!(value, serde_json::json!({"a": [{"b": 1, "c": 2}], "x/y": {"z": 3}}));
    }
}
