//! Files that a document refers to: artifacts, and line ranges of source files.

use serde_json::Value;

use crate::tree::Node;
use crate::wire::{Reader, Wire, wire};

wire! {
    /// An artifact as an object.
    pub struct ArtifactFields {
        /// Identifier, where the dialect gives one.
        optional id: Option<String>,
        /// Exact path, relative to the workspace.
        required path: Option<String>,
        /// What it is: spec, code, doc, config.
        optional r#type: Option<String>,
        /// What it contains, in a few words.
        optional description: Option<String>,
    }
}

/// A file that was made: a bare path, or an object with its type and description.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Artifact {
    /// Its members.
    pub fields: ArtifactFields,
    /// Whether it was written as a bare path.
    pub bare: bool,
}

impl Artifact {
    /// Makes an artifact of a bare path.
    pub fn bare(path: String) -> Self {
        Artifact { fields: ArtifactFields { path: Some(path), ..ArtifactFields::default() }, bare: true }
    }

    /// Returns the path, empty if it is missing.
    pub fn path(&self) -> &str {
        self.fields.path.as_deref().unwrap_or_default()
    }
}

impl Wire for Artifact {
    const EXPECTED: &'static str = "a path or an object with a path";

    fn read(node: Node<'_>, reader: &mut Reader) -> Option<Self> {
        match node {
            Node::Text(path) => Some(Artifact::bare(path.into_owned())),
            Node::Object(_) => ArtifactFields::read(node, reader).map(|fields| Artifact { fields, bare: false }),
            other => {
                reader.wrong_type(Self::EXPECTED, other);
                None
            }
        }
    }

    fn write(&self) -> Value {
        match (&self.fields.path, self.bare) {
            (Some(path), true) => Value::String(path.clone()),
            _ => self.fields.write(),
        }
    }
}

impl schemars::JsonSchema for Artifact {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Artifact".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let fields = generator.subschema_for::<ArtifactFields>();
        schemars::json_schema!({ "anyOf": [{ "type": "string" }, fields], "description": "A file that was made." })
    }
}

/// A source file with the lines that were looked at, as in `src/lib.rs:10-20`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceRange<'t> {
    /// The path.
    pub path: &'t str,
    /// First and last line, from 1, both included.
    pub lines: Option<(usize, usize)>,
}

impl<'t> SourceRange<'t> {
    /// Splits `path:first-last`, `path:line` or a bare path.
    pub fn parse(text: &'t str) -> Self {
        let lines = |range: &str| -> Option<(usize, usize)> {
            let range = range.trim_start_matches(['L', 'l']);
            match range.split_once('-') {
                Some((first, last)) => Some((first.parse().ok()?, last.trim_start_matches(['L', 'l']).parse().ok()?)),
                None => range.parse().ok().map(|line| (line, line)),
            }
        };
        match text.rsplit_once(':').and_then(|(path, range)| Some((path, lines(range)?))) {
            Some((path, lines)) => SourceRange { path, lines: Some(lines) },
            None => SourceRange { path: text, lines: None },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_split_from_paths() {
        assert_eq!(SourceRange::parse("a/b.rs:1-20"), SourceRange { path: "a/b.rs", lines: Some((1, 20)) });
        assert_eq!(SourceRange::parse("a/b.rs:7"), SourceRange { path: "a/b.rs", lines: Some((7, 7)) });
        assert_eq!(SourceRange::parse("a/b.rs:L7-L9"), SourceRange { path: "a/b.rs", lines: Some((7, 9)) });
        assert_eq!(SourceRange::parse("C:\\x.rs"), SourceRange { path: "C:\\x.rs", lines: None });
    }
}
