//! What is measured: an example file of each dialect, and its bare document with its published schema.
//!
//! The bare reader of YAML is `serde-saphyr`; the same document also stands there as JSON.

use std::path::Path;

use baton_protocol::read::{Format, markdown};
use baton_protocol::schema::CompiledSchema;
use baton_protocol::{Hints, Settings, Surroundings, schema};
use serde_json::Value;

/// An example file and the schema of its document.
pub(crate) const DOCUMENTS: &[(&str, &str)] = &[
    ("blocks/architecture.md", "metadata-block.report"),
    ("blocks/implementation.md", "phase-block.report"),
    ("packages/delegation.yaml", "package.request"),
    ("packages/delegation.json", "package.request"),
    ("tasks/research-report.json", "task.report"),
    ("mailbox/handoffs/pending/hoff-20260318-0007.json", "mailbox.request"),
    ("native.json", "native.report"),
    ("with-findings.md", "metadata-block.report"),
    ("long-summary.json", "task.report"),
];

/// What is measured: a file, and the bare text of its document.
pub(crate) struct Subject {
    pub(crate) name: &'static str,
    format: Format,
    pub(crate) bytes: Vec<u8>,
    bare: String,
    schema: CompiledSchema,
}

impl Subject {
    pub(crate) fn load(file: &str, schema: &'static str) -> Self {
        let bytes = content(file);
        let format = Format::of_path(file).expect("a known extension");
        let text = std::str::from_utf8(&bytes).expect("text");
        let bare = match format {
            Format::Json => text.to_owned(),
            Format::Markdown => markdown::fences(text, 0).blocks.pop().expect("a block").block.text.into_owned(),
            Format::Yaml => text.to_owned(),
        };
        let compiled = CompiledSchema::new(&schema::find(schema).expect("a schema")).expect("a schema");
        let subject = Subject { name: schema, format, bare, schema: compiled, bytes };
        assert!(subject.judge(), "{file} is valid");
        assert!(subject.validate(), "{file} satisfies {schema}");
        subject
    }

    /// The whole judgement: read, positions, rules, token count.
    pub(crate) fn judge(&self) -> bool {
        let reading = baton_protocol::read(&self.bytes, Hints { format: Some(self.format), dialect: None });
        baton_protocol::judge(&self.bytes, &reading, &Surroundings::default(), &Settings::default()).valid
    }

    /// The least that anybody could do: parse to a value and apply the schema.
    pub(crate) fn validate(&self) -> bool {
        let value: Value = match self.format {
            Format::Yaml => serde_saphyr::from_str(&self.bare).expect("YAML"),
            Format::Json | Format::Markdown => serde_json::from_str(&self.bare).expect("JSON"),
        };
        self.schema.is_valid(&value)
    }
}

/// Returns the text of an example, or of one made from another.
fn content(file: &str) -> Vec<u8> {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/handoffs");
    let read = |file: &str| std::fs::read(examples.join(file)).expect("an example");
    match file {
        "packages/delegation.json" => {
            to_json(std::str::from_utf8(&read("packages/delegation.yaml")).expect("text")).into_bytes()
        }
        "native.json" => native(&read("blocks/implementation.md")).into_bytes(),
        // Five warnings, so that positions are needed.
        "with-findings.md" => {
            let text = String::from_utf8(read("blocks/architecture.md")).expect("text");
            let text = text.replace("T09:41:17Z", "T00:00:00Z").replace("\"services/ledger", "\"/services/ledger");
            text.replace("  \"status\"", "  \"reviewer\": 1,\n  \"team\": [],\n  \"status\"").into_bytes()
        }
        // A summary of 1.2 kB, so that tokens are counted; it stays within its budget.
        "long-summary.json" => {
            let text = String::from_utf8(read("tasks/research-report.json")).expect("text");
            let long = "Redis is there already: src/keys/store.ts reads keys. ".repeat(16);
            text.replace("Redis is there already: ", &long).into_bytes()
        }
        other => read(other),
    }
}

fn to_json(yaml: &str) -> String {
    let value = baton_protocol::read::yaml::parse(yaml).expect("YAML").into_json();
    serde_json::to_string_pretty(&value).expect("JSON")
}

fn native(block: &[u8]) -> String {
    let reading = baton_protocol::read(block, Hints { format: Some(Format::Markdown), dialect: None });
    let document = reading.document.expect("a report");
    let value = baton_protocol::Dialect::Native.write(&document).expect("native");
    serde_json::to_string_pretty(&value).expect("JSON")
}
