//! What must hold for every input. The fuzz targets try it on what they make up, `tests/seeds.rs` on what is kept.

use std::sync::{Arc, LazyLock};

use baton_protocol::convert::{Form, convert, render};
use baton_protocol::diagnostic::{Diagnostic, Place};
use baton_protocol::read::locate::Spans;
use baton_protocol::read::{Block, DEPTH_MAX, Format, VALUES_MAX, json, yaml};
use baton_protocol::schema::{CompiledSchema, SchemaFault};
use baton_protocol::surroundings::{PathState, Schemas, Workspace};
use baton_protocol::tree::{Node, plain_number};
use baton_protocol::wire::{join, same_word};
use baton_protocol::{Dialect, Document, Hints, Reading, Settings, Severity, Surroundings, prose, tokens};
use serde_json::{Value, json};

/// Reads and judges a file in every way, alone and with something around it.
pub fn read(bytes: &[u8]) {
    for format in [None, Some(Format::Json), Some(Format::Yaml), Some(Format::Markdown)] {
        let reading = baton_protocol::read(bytes, Hints { format, dialect: None });
        judge(bytes, &reading, &Surroundings::default());
        let request = match &reading.document {
            Some(Document::Request(request)) => Some(&**request),
            _ => None,
        };
        let path = Some("handoffs/pending/hoff-1.json");
        let known = Surroundings {
            path,
            request,
            workspace: Some(&Somewhere),
            schemas: Some(&Somewhere),
            agent: Some("developer"),
            phase: Some("tools/implementation"),
            output_directory: Some("/w/out"),
            times_are_kept: bytes.len().is_multiple_of(2),
        };
        judge(bytes, &reading, &known);
    }
}

/// Reads the text behind the first byte in the dialect that this byte chooses; then nothing of it may get lost.
pub fn dialects(bytes: &[u8]) {
    let Some((choice, text)) = bytes.split_first() else { return };
    let dialect = Dialect::ALL[usize::from(*choice) % Dialect::ALL.len()];
    let format = match text.trim_ascii_start().first() {
        Some(b'{' | b'[') => Format::Json,
        _ => Format::Yaml,
    };
    let reading = baton_protocol::read(text, Hints { format: Some(format), dialect: Some(dialect) });
    if let (Some(document), Some(block)) = (&reading.document, &reading.block) {
        survives(dialect, document, &block.parse().expect("it was read"));
    }
}

/// Compares the JSON reader with `serde_json`, the YAML reader with the JSON reader, and places with values.
pub fn json_yaml(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let parsed = json::parse(text).map(Node::into_json);
    let Ok(value) = serde_json::from_str::<Value>(text) else {
        assert!(parsed.is_err(), "serde_json refuses {text:?}");
        return;
    };
    if !within_limits(&value) {
        assert!(parsed.is_err(), "over the limits: {text:?}");
        return;
    }
    match parsed {
        Ok(parsed) => {
            assert_eq!(parsed, value, "{text:?}");
            every_value_is_found(&value, text, Format::Json);
        }
        Err(trouble) => {
            let refused = ["duplicate key", "does not fit in 64 bits", "values in one document"];
            assert!(refused.iter().any(|words| trouble.message.contains(words)), "{trouble:?} in {text:?}");
        }
    }
    // What is written again has no key twice and no number that was rounded.
    let clean = value.to_string();
    assert_eq!(json::parse(&clean).map(Node::into_json).as_ref(), Ok(&value), "{clean:?}");
    let written = render(&value, Form::Yaml);
    assert_eq!(yaml::parse(&written).map(Node::into_json).as_ref(), Ok(&value), "{written:?}");
    every_value_is_found(&value, &written, Format::Yaml);
}

/// Judges a text as prose and counts its tokens.
pub fn prose_tokens(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for reason in [prose::vague(text), prose::unmeasurable(text), prose::raw_dump(text)].into_iter().flatten() {
        assert!(!reason.is_empty());
    }
    let count = tokens::count(text);
    assert!(count <= text.len() && (count == 0) == text.is_empty(), "{count} tokens in {text:?}");
    assert_eq!(count, bpe_openai::o200k_base().count(text), "{text:?}");
    for budget in [0, 1, count.saturating_sub(1), count, count + 1, 500] {
        let over = tokens::over_budget(text, budget);
        assert_eq!(over.is_some(), count > budget, "{budget} for {text:?}");
        let whole = text.len() <= tokens::WHOLE_BYTES_MAX;
        assert!(over.is_none_or(|over| over > budget && (over == count || !whole)), "{over:?} for {text:?}");
    }
}

fn judge(bytes: &[u8], reading: &Reading<'_>, surroundings: &Surroundings<'_>) {
    let settings = Settings::default();
    let judgement = baton_protocol::judge(bytes, reading, surroundings, &settings);
    let allowed = judgement.allowed.iter().map(|allowed| &allowed.diagnostic);
    points_into(bytes, judgement.diagnostics.iter().chain(allowed));
    if judgement.valid {
        assert_eq!(judgement.count(Severity::Error), 0);
        assert!(reading.findings.as_slice().iter().all(|finding| finding.rule.name != "unreadable"));
        match reading.document.as_ref().expect("what is valid was read") {
            Document::Report(report) => assert!(report.outcome.is_some(), "valid without an outcome"),
            Document::Request(_) | Document::Acknowledgment(_) => {}
        }
    } else {
        assert!(judgement.count(Severity::Error) > 0, "not valid, and nobody says why");
    }
    let again = baton_protocol::judge(bytes, reading, surroundings, &settings);
    assert_eq!(judgement.diagnostics, again.diagnostics);
    assert_eq!(judgement.allowed, again.allowed);
    assert_eq!(judgement.valid, again.valid);
}

fn points_into<'d>(bytes: &[u8], diagnostics: impl Iterator<Item = &'d Diagnostic>) {
    let text = std::str::from_utf8(bytes).ok();
    let ends: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at] == b'\n').collect();
    for diagnostic in diagnostics {
        let span = &diagnostic.span;
        assert!(span.start <= span.end && span.end <= bytes.len(), "{diagnostic:?} is outside");
        assert!(text.is_none_or(|text| text.get(span.clone()).is_some()), "{diagnostic:?} cuts a character");
        assert_eq!(diagnostic.line, ends.partition_point(|end| *end < span.start) + 1, "{diagnostic:?}");
        assert!(diagnostic.column >= 1, "{diagnostic:?}");
        assert!(!diagnostic.message.contains(char::is_control), "{diagnostic:?} is not one line of plain text");
    }
}

/// Writing and reading again changes nothing, the native form carries everything, and losses are named.
fn survives(dialect: Dialect, document: &Document, original: &Node<'_>) {
    let written = dialect.write(document).expect("its own dialect writes it");
    nothing_lost(original, &written, dialect);
    let again = dialect.write(&read_value(dialect, &written)).expect("its own dialect writes it");
    assert_eq!(written, again, "written in {dialect} a second time");
    for to in Dialect::ALL {
        let Ok(conversion) = convert(document, dialect, to) else {
            assert_ne!(to, Dialect::Native);
            continue;
        };
        for pointer in &conversion.losses {
            assert!(written.pointer(pointer).is_some(), "{dialect} to {to}: there is no {pointer} in {written}");
        }
        // Unknown fields stand deeper in the native form, so that it may exceed the limits.
        if !within_limits(&conversion.value) {
            continue;
        }
        let arrived = read_value(to, &conversion.value);
        if to == Dialect::Native {
            assert!(conversion.losses.is_empty(), "{dialect} to native: {:?} in {written}", conversion.losses);
            nothing_lost(original, &dialect.write(&arrived).expect("it came from there"), dialect);
        }
    }
}

fn read_value(dialect: Dialect, value: &Value) -> Document {
    let text = value.to_string();
    let reading = baton_protocol::read(text.as_bytes(), Hints { format: Some(Format::Json), dialect: Some(dialect) });
    reading.document.unwrap_or_else(|| panic!("{dialect} does not read {text}: {:?}", reading.findings))
}

fn nothing_lost(original: &Node<'_>, arrived: &Value, dialect: Dialect) {
    let mut found = Vec::new();
    lost(original, Some(arrived), "", &mut found);
    assert!(found.is_empty(), "{dialect} lost {found:#?} of {original:?}");
}

/// Collects every pointer under which `original` says something that `arrived` does not say.
fn lost(original: &Node<'_>, arrived: Option<&Value>, pointer: &str, found: &mut Vec<String>) {
    let same = match (original, arrived) {
        (Node::Object(members), Some(Value::Object(there))) => {
            members.iter().for_each(|(name, value)| lost(value, there.get(&**name), &join(pointer, name), found));
            true
        }
        (Node::List(items), Some(Value::Array(there))) if items.len() == there.len() => {
            let pairs = items.iter().zip(there).enumerate();
            pairs.for_each(|(index, (item, there))| lost(item, Some(there), &format!("{pointer}/{index}"), found));
            true
        }
        (Node::Null, Some(Value::Null)) => true,
        (Node::Bool(said), Some(Value::Bool(there))) => said == there,
        (Node::Number(said), Some(Value::Number(there))) => said == there,
        (Node::Plain(said), Some(Value::Number(there))) => {
            // An integer arrives with all its digits.
            let digits = said.bytes().all(|byte| byte.is_ascii_digit());
            plain_number(said).as_ref() == Some(there) && (!digits || there.to_string() == **said)
        }
        (Node::Plain(said), Some(Value::String(there))) => said == there,
        (Node::Text(said), Some(Value::String(there))) => same_word(said, there),
        _ => false,
    };
    if !same {
        found.push(format!("{pointer}: {original:?} arrived as {arrived:?}"));
    }
}

fn every_value_is_found(value: &Value, text: &str, format: Format) {
    let spans = Spans::of(&Block::whole(format, text, 0));
    let mut rest = vec![(String::new(), value)];
    while let Some((pointer, value)) = rest.pop() {
        assert!(spans.has(&pointer), "{pointer} is not found in {text:?}");
        for place in [Place::Value(pointer.clone()), Place::Name(pointer.clone())] {
            assert!(text.get(spans.find(&place)).is_some(), "{place:?} is outside {text:?}");
        }
        match value {
            Value::Array(items) => {
                rest.extend(items.iter().enumerate().map(|(index, item)| (format!("{pointer}/{index}"), item)));
            }
            Value::Object(members) => {
                rest.extend(members.iter().map(|(name, value)| (join(&pointer, name), value)));
            }
            leaf if format == Format::Json => {
                let there = &text[spans.find(&Place::Value(pointer))];
                assert_eq!(serde_json::from_str::<Value>(there).ok().as_ref(), Some(leaf), "in {text:?}");
            }
            _ => {}
        }
    }
}

/// Returns whether a value may stand in one document.
fn within_limits(value: &Value) -> bool {
    let mut values = 0;
    let mut rest = vec![(value, 0)];
    while let Some((value, depth)) = rest.pop() {
        values += 1;
        match value {
            Value::Array(items) => rest.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(members) => rest.extend(members.values().map(|item| (item, depth + 1))),
            _ => continue,
        }
        if depth >= DEPTH_MAX {
            return false;
        }
    }
    values <= VALUES_MAX
}

/// Answers every question about the workspace and the schemas by the name alone.
struct Somewhere;

impl Workspace for Somewhere {
    fn look(&self, path: &str) -> PathState {
        match path.len() % 6 {
            0 => PathState::Missing,
            1 => PathState::Outside,
            2 => PathState::Folder { empty: path.starts_with('e') },
            3 => PathState::Unreadable,
            _ => PathState::File { bytes: path.len() as u64 % 3 },
        }
    }

    fn count_lines(&self, path: &str) -> Option<usize> {
        (path.len() % 6 > 3).then_some(40)
    }

    fn read_json(&self, path: &str) -> Option<Value> {
        path.len().is_multiple_of(2).then(|| json!({ "name": path }))
    }
}

impl Schemas for Somewhere {
    fn find(&self, name: &str) -> Option<Result<Arc<CompiledSchema>, SchemaFault>> {
        static SCHEMA: LazyLock<Arc<CompiledSchema>> = LazyLock::new(|| {
            let schema = json!({
                "type": "object", "required": ["name"],
                "properties": { "name": { "type": "string", "maxLength": 9 }, "rows": { "items": { "minimum": 1 } } }
            });
            Arc::new(CompiledSchema::new(&schema).expect("a schema"))
        });
        (!name.len().is_multiple_of(3)).then(|| Ok(Arc::clone(&SCHEMA)))
    }
}
