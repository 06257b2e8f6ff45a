//! Nothing is lost: documents made at random from the published schemas, with unknown fields everywhere, are read
//! and written back in their dialect, and through the native form, and everything is still there.

use baton_protocol::convert::{Form, convert, render};
use baton_protocol::read::Format;
use baton_protocol::{Dialect, Document, Hints, Kind, schema};
use baton_testbed::Maker;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

/// Makes a document that satisfies a schema. Each choice is drawn from `dice`, in order.
fn make(schema: &Value, dice: &[Index]) -> Value {
    const TEXTS: [&str; 12] = [
        "plain",
        "",
        " padded ",
        "010",
        "yes",
        "null",
        "1e3",
        "a: b # c",
        "multi\nline\n",
        "ünï → 漢字",
        "\"quoted\" \\",
        "~",
    ];
    let dice = std::cell::RefCell::new(dice.iter());
    let draw = |sides: usize| dice.borrow_mut().next().map_or(0, |die| die.index(sides));
    let (mut roll, mut text) = (draw, || TEXTS[draw(TEXTS.len())].to_owned());
    Maker { root: schema, roll: &mut roll, text: &mut text }.value(schema)
}

/// Returns every pointer under which `original` says something that `arrived` does not say.
fn missing(original: &Value, arrived: Option<&Value>, pointer: &str, found: &mut Vec<String>) {
    match (original, arrived) {
        (Value::Object(members), Some(Value::Object(there))) => {
            members
                .iter()
                .for_each(|(name, value)| missing(value, there.get(name), &format!("{pointer}/{name}"), found));
        }
        (Value::Array(items), Some(Value::Array(there))) if items.len() == there.len() => items
            .iter()
            .enumerate()
            .for_each(|(index, value)| missing(value, there.get(index), &format!("{pointer}/{index}"), found)),
        (value, there) if Some(value) == there => {}
        _ => found.push(format!("{pointer}: {original} arrived as {arrived:?}")),
    }
}

fn lost(original: &Value, arrived: &Value) -> Vec<String> {
    let mut found = Vec::new();
    missing(original, Some(arrived), "", &mut found);
    found
}

fn read_as(dialect: Dialect, value: &Value, form: Form) -> (Option<Document>, Vec<&'static str>) {
    let text = render(value, form);
    let format = match form {
        Form::Json => Format::Json,
        Form::Yaml => Format::Yaml,
        Form::Block => Format::Markdown,
    };
    let reading = baton_protocol::read(text.as_bytes(), Hints { format: Some(format), dialect: Some(dialect) });
    let codes = reading.findings.as_slice().iter().map(|finding| finding.rule.name).collect();
    (reading.document, codes)
}

fn dialect_of(name: &str) -> Dialect {
    Dialect::parse(name.split('.').next().expect("a dialect")).expect("a dialect")
}

/// The status decides which document a mailbox file is, so it must fit the schema that it was made from.
fn fit_status(name: &str, value: &mut Value) {
    match name {
        "mailbox.request" => value["status"] = json!("pending"),
        "mailbox.report" => value["status"] = json!("completed"),
        "mailbox.failure" => value["status"] = json!("failed"),
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, max_shrink_iters: 2000, ..ProptestConfig::default() })]

    #[test]
    fn every_document_of_every_dialect_survives(dice in prop::collection::vec(any::<Index>(), 400)) {
        for (name, schema) in schema::of_documents() {
            let dialect = dialect_of(name);
            let mut value = make(&schema, &dice);
            fit_status(name, &mut value);

            let (document, codes) = read_as(dialect, &value, Form::Json);
            // The schema and the reader must agree about what fits.
            prop_assert!(!codes.contains(&"wrong-type"), "{name}: {codes:?} in {value:#}");
            prop_assert!(!codes.contains(&"unknown-status"), "{name}: {codes:?} in {value:#}");
            let document = document.expect("it was read");
            let again = dialect.write(&document).expect("its own dialect writes it");
            prop_assert!(lost(&value, &again).is_empty(), "{name}: {:#?}\nin {value:#}", lost(&value, &again));

            let native = convert(&document, dialect, Dialect::Native).expect("everything is native");
            prop_assert!(native.losses.is_empty(), "{name} to native: {:?} in {value:#}", native.losses);
            let (back, _) = read_as(Dialect::Native, &native.value, Form::Json);
            let back = dialect.write(&back.expect("it was read")).expect("it came from there");
            prop_assert!(lost(&value, &back).is_empty(), "{name} through native: {:#?}\nin {value:#}", lost(&value, &back));
        }
    }

    #[test]
    fn yaml_and_json_are_the_same_document(dice in prop::collection::vec(any::<Index>(), 400)) {
        for name in ["package.request", "package.acknowledgment", "native.report"] {
            let schema = schema::find(name).expect("a schema");
            let value = make(&schema, &dice);
            let dialect = dialect_of(name);
            let (from_json, _) = read_as(dialect, &value, Form::Json);
            let (from_yaml, _) = read_as(dialect, &value, Form::Yaml);
            prop_assert_eq!(from_json, from_yaml, "{} {:#}", name, value);
        }
    }

    #[test]
    fn any_two_dialects_convert_and_name_what_is_lost(dice in prop::collection::vec(any::<Index>(), 400)) {
        for (name, schema) in schema::of_documents() {
            let from = dialect_of(name);
            let mut value = make(&schema, &dice);
            fit_status(name, &mut value);
            let document = read_as(from, &value, Form::Json).0.expect("it was read");
            for to in Dialect::ALL {
                match convert(&document, from, to) {
                    Ok(conversion) => {
                        let (arrived, _) = read_as(to, &conversion.value, Form::of(to));
                        prop_assert!(arrived.is_some(), "{name} to {to}: {:#}", conversion.value);
                        for pointer in conversion.losses {
                            let written = from.write(&document).expect("written");
                            prop_assert!(written.pointer(&pointer).is_some(), "{name} to {to}: no {pointer}");
                        }
                    }
                    Err(refusal) => prop_assert_eq!(refusal.kind, Kind::Acknowledgment),
                }
            }
        }
    }
}

#[test]
fn every_canonical_member_is_found_where_the_dialect_wrote_it() {
    for (name, schema) in schema::of_documents().into_iter().filter(|(name, _)| !name.starts_with("native")) {
        let dialect = dialect_of(name);
        // Dice that always show 0 make every optional member and no unknown one... except where 0 means "unknown".
        let mut value = make(&schema, &[]);
        fit_status(name, &mut value);
        let document = read_as(dialect, &value, Form::Json).0.expect("it was read");
        let native = Dialect::Native.write(&document).expect("written");
        let mut leaves = Vec::new();
        pointers(&native, "", &mut leaves);
        for leaf in leaves.iter().filter(|leaf| !["/baton", "/document", "/kind"].contains(&leaf.as_str())) {
            if leaf.starts_with("/extensions") {
                continue;
            }
            let spellings = dialect.source_pointers(document.kind(), leaf);
            assert!(
                spellings.iter().any(|pointer| value.pointer(pointer).is_some()),
                "{name}: {leaf} is at none of {spellings:?}"
            );
        }
    }
}

fn pointers(value: &Value, pointer: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            members.iter().for_each(|(name, value)| pointers(value, &format!("{pointer}/{name}"), found))
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, value)| pointers(value, &format!("{pointer}/{index}"), found))
        }
        _ => found.push(pointer.to_owned()),
    }
}
