//! The whole judgement of one document beside the least that anybody could do with it: `serde_json` to a `Value`
//! and the `jsonschema` crate with the document's published schema, on the same text, in the same run.
//!
//! Both take turns in short rounds, so that whatever else the machine does hits both; the ratio is the median of the
//! rounds' ratios.
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use baton_protocol::read::{Format, markdown};
use baton_protocol::schema::Compiled;
use baton_protocol::{Hints, Settings, Surroundings, schema};
use serde_json::Value;

/// An example file and the schema of its document.
const DOCUMENTS: &[(&str, &str)] = &[
    ("blocks/architecture.md", "metadata-block.report"),
    ("blocks/implementation.md", "phase-block.report"),
    ("packages/delegation.yaml", "package.request"),
    ("packages/delegation.json", "package.request"),
    ("tasks/research-report.json", "task.report"),
    ("mailbox/handoffs/pending/hoff-20260318-0007.json", "mailbox.request"),
    ("native.json", "native.report"),
];

const ROUNDS: usize = 200;
const ROUND: Duration = Duration::from_millis(5);

/// What is measured: a file, and its document as bare JSON.
struct Subject {
    name: &'static str,
    format: Format,
    bytes: Vec<u8>,
    bare: String,
    schema: Compiled,
}

fn main() {
    println!("| document | bytes | bare parse + schema | whole judgement | documents/s | ratio |");
    println!("|---|--:|--:|--:|--:|--:|");
    for (file, schema) in DOCUMENTS {
        let subject = Subject::load(file, schema);
        let (bare, whole, ratio) = measure(&subject);
        println!(
            "| {} ({file}) | {} | {:.1} µs | {:.1} µs | {:.0} | {ratio:.2} |",
            subject.name,
            subject.bytes.len(),
            bare * 1e6,
            whole * 1e6,
            1.0 / whole
        );
    }
}

impl Subject {
    fn load(file: &str, schema: &'static str) -> Self {
        let bytes = content(file);
        let format = Format::of_path(file).expect("a known extension");
        let text = std::str::from_utf8(&bytes).expect("text");
        let bare = match format {
            Format::Json => text.to_owned(),
            Format::Markdown => markdown::fences(text, 0).pop().expect("a block").block.text.into_owned(),
            // There is no bare YAML reader to compare with: the same document as JSON stands for it.
            Format::Yaml => to_json(text),
        };
        let compiled = Compiled::new(&schema::find(schema).expect("a schema")).expect("a schema");
        let subject = Subject { name: schema, format, bare, schema: compiled, bytes };
        assert!(subject.judge(), "{file} is valid");
        assert!(subject.validate(), "{file} satisfies {schema}");
        subject
    }

    fn judge(&self) -> bool {
        let reading = baton_protocol::read(&self.bytes, Hints { format: Some(self.format), dialect: None });
        baton_protocol::judge(&self.bytes, &reading, &Surroundings::default(), &Settings::default()).valid
    }

    fn validate(&self) -> bool {
        let value: Value = serde_json::from_str(&self.bare).expect("JSON");
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

/// Returns seconds per bare validation, seconds per judgement, and the median of their ratios.
fn measure(subject: &Subject) -> (f64, f64, f64) {
    let mut rounds: Vec<(f64, f64)> =
        (0..ROUNDS).map(|_| (time(|| subject.validate()), time(|| subject.judge()))).skip(ROUNDS / 10).collect();
    rounds.sort_by(|left, right| (left.1 / left.0).total_cmp(&(right.1 / right.0)));
    let (bare, whole) = rounds[rounds.len() / 2];
    (bare, whole, whole / bare)
}

fn time(run: impl Fn() -> bool) -> f64 {
    let start = Instant::now();
    let mut count = 0;
    while start.elapsed() < ROUND {
        for _ in 0..8 {
            assert!(black_box(run()));
        }
        count += 8;
    }
    start.elapsed().as_secs_f64() / f64::from(count)
}
