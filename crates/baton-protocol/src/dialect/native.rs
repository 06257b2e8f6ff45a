//! The native form: the canonical documents themselves, versioned, without loss.

use schemars::Schema;
use serde_json::{Map, Value};

use super::schema_of;
use crate::diagnostic::{Finding, Place, excerpt};
use crate::model::{Acknowledgment, Document, Kind, Report, Request};
use crate::rules;
use crate::tree::Node;
use crate::wire::{Reader, Wire, suggest};

/// The version of the native form that is read and written.
pub const VERSION: u64 = 1;

/// The member that holds the version.
const VERSION_MEMBER: &str = "baton";
/// The member that names the document.
const DOCUMENT_MEMBER: &str = "document";

pub(super) fn detect(node: &Node<'_>) -> bool {
    node.has(VERSION_MEMBER)
}

pub(super) fn read(node: Node<'_>, reader: &mut Reader) -> Option<Document> {
    let Node::Object(mut members) = node else {
        reader.wrong_type("an object", node);
        return None;
    };
    reader.require(&[(VERSION_MEMBER, "the version of the form, 1"), (DOCUMENT_MEMBER, "what this is")], &members);
    let mut take = |name: &str| members.iter().position(|(key, _)| key == name).map(|index| members.remove(index).1);
    let (version, document) = (take(VERSION_MEMBER), take(DOCUMENT_MEMBER));
    check_version(version?, reader)?;
    let kind = reader.below(DOCUMENT_MEMBER, |reader| read_kind(document?, reader))?;
    let node = Node::Object(members);
    let document = match kind {
        Kind::Request => Document::Request(Box::new(Request::read(node, reader)?)),
        Kind::Acknowledgment => Document::Acknowledgment(Box::new(Acknowledgment::read(node, reader)?)),
        Kind::Report => Document::Report(Box::new(Report::read(node, reader)?)),
    };
    refuse_own_extensions(&document, reader).then_some(document)
}

/// Extensions are what other dialects said; what a native document says itself stands in its place.
fn refuse_own_extensions(document: &Document, reader: &mut Reader) -> bool {
    let own = document.extensions().iter().position(|extensions| extensions.dialect.as_deref() == Some("native"));
    if let Some(index) = own {
        let place = Place::Value(format!("/extensions/{index}/dialect"));
        let message = "a native document has no extensions of the native dialect";
        reader.findings.push(
            Finding::new(&rules::unknown_dialect::RULE, place, message).help("write the fields where they belong"),
        );
    }
    own.is_none()
}

fn check_version(version: Node<'_>, reader: &mut Reader) -> Option<()> {
    let version = reader.below(VERSION_MEMBER, |reader| u64::read(version, reader))?;
    if version == VERSION {
        return Some(());
    }
    let place = Place::Value(format!("/{VERSION_MEMBER}"));
    let message = format!("version {version} of the native form is not known; this program reads version {VERSION}");
    reader
        .findings
        .push(Finding::new(&rules::unknown_dialect::RULE, place, message).help("use a newer version of baton"));
    None
}

fn read_kind(node: Node<'_>, reader: &mut Reader) -> Option<Kind> {
    // That it is missing has been said.
    if node == Node::Null {
        return None;
    }
    let word = String::read(node, reader)?;
    let kind = Kind::ALL.into_iter().find(|kind| crate::wire::same_word(kind.as_str(), &word));
    if kind.is_none() {
        let known = Kind::ALL.map(Kind::as_str);
        let message = format!("unknown document `{}`", excerpt(&word));
        let place = Place::Value(reader.pointer());
        reader.findings.push(Finding::new(&rules::unknown_dialect::RULE, place, message).help(suggest(&word, &known)));
    }
    kind
}

pub(super) fn write(document: &Document) -> Value {
    let mut map = Map::new();
    map.insert(VERSION_MEMBER.to_owned(), VERSION.into());
    map.insert(DOCUMENT_MEMBER.to_owned(), document.kind().as_str().into());
    match document {
        Document::Request(request) => request.write_members(&mut map),
        Document::Acknowledgment(acknowledgment) => acknowledgment.write_members(&mut map),
        Document::Report(report) => report.write_members(&mut map),
    }
    // What this document said beyond the form was added last by reading; it is put back by pointer instead.
    let own = document.extensions().last().is_some_and(|last| last.dialect.as_deref() == Some("native"));
    if own && let Some(Value::Array(extensions)) = map.get_mut("extensions") {
        extensions.pop();
        if extensions.is_empty() {
            map.shift_remove("extensions");
        }
    }
    Value::Object(map)
}

pub(super) fn schemas() -> Vec<(&'static str, Schema)> {
    vec![
        ("native.request", with_head(schema_of::<Request>(), Kind::Request)),
        ("native.acknowledgment", with_head(schema_of::<Acknowledgment>(), Kind::Acknowledgment)),
        ("native.report", with_head(schema_of::<Report>(), Kind::Report)),
    ]
}

fn with_head(schema: Schema, kind: Kind) -> Schema {
    let mut schema = schema.to_value();
    schema["properties"][VERSION_MEMBER] =
        serde_json::json!({ "const": VERSION, "description": "Version of the form." });
    schema["properties"][DOCUMENT_MEMBER] =
        serde_json::json!({ "const": kind.as_str(), "description": "What this is." });
    if let Some(required) = schema["required"].as_array_mut() {
        required.extend([VERSION_MEMBER.into(), DOCUMENT_MEMBER.into()]);
    }
    Schema::try_from(schema).unwrap_or_default()
}
