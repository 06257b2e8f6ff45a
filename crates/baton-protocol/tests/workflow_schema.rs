//! The published schema of workflow files and the reader agree: on the fixtures, and on each of their values replaced.

use std::fs;
use std::path::Path;

use baton_protocol::read::yaml;
use baton_protocol::rules::{self, Group};
use baton_protocol::schema::{self, CompiledSchema};
use baton_protocol::workflow;
use serde_json::{Value, json};

/// What the reader says about the shape, without regard to what the parts mean to each other.
fn complaints(text: &str) -> Vec<String> {
    let reading = workflow::read(text.as_bytes());
    let shape = reading.findings.as_slice().iter().filter(|finding| finding.rule.name != "bad-allow");
    shape.map(|finding| format!("{} {}: {}", finding.rule.name, finding.place.pointer(), finding.message)).collect()
}

/// Returns every workflow file among the fixtures as JSON.
fn fixtures() -> Vec<(String, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut found = Vec::new();
    for rule in rules::ALL.iter().filter(|rule| rule.group == Group::Workflow) {
        for entry in fs::read_dir(folder.join(rule.name)).expect("a fixture") {
            let path = entry.expect("entry").path();
            if path.extension().is_some_and(|extension| extension == "yaml" || extension == "json") {
                let text = fs::read_to_string(&path).expect("text");
                found.push((path.display().to_string(), yaml::parse(&text).expect("YAML").into_json()));
            }
        }
    }
    assert!(found.len() > 40, "only {} fixtures", found.len());
    found
}

/// Returns the pointers of everything below a value.
fn pointers(value: &Value, pointer: &str, found: &mut Vec<String>) {
    let below: Vec<(String, &Value)> = match value {
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name.replace('~', "~0").replace('/', "~1"), value)).collect()
        }
        Value::Array(items) => items.iter().enumerate().map(|(index, value)| (index.to_string(), value)).collect(),
        _ => Vec::new(),
    };
    for (name, value) in below {
        let pointer = format!("{pointer}/{name}");
        pointers(value, &pointer, found);
        found.push(pointer);
    }
}

/// A command without a program, `at_least: 0` and `approvers: []` are read, and a rule says why they are wrong; the schema says
/// it itself.
fn is_left_to_a_rule(pointer: &str, value: &Value) -> bool {
    let last = pointer.rsplit('/').next().unwrap_or_default();
    let has = |pointer, wrong| value.pointer(pointer) == Some(&wrong);
    ["command", "check", "run", "approvers"].contains(&last) && *value == json!([])
        || has("/at_least", json!(0))
        || has("/approvers", json!([]))
}

fn compare(compiled: &CompiledSchema, value: &Value, what: &str) {
    let told = complaints(&value.to_string());
    let broken: Vec<String> = compiled
        .violations(value)
        .into_iter()
        .map(|violation| format!("{}: {}", violation.pointer, violation.message))
        .collect();
    assert_eq!(told.is_empty(), broken.is_empty(), "{what}\nthe reader says {told:#?}\nthe schema says {broken:#?}");
}

#[test]
fn schema_and_reader_agree_on_every_value() {
    let compiled = CompiledSchema::new(&schema::find("workflow").expect("published")).expect("a schema");
    let others = [
        json!(null),
        json!(true),
        json!(5),
        json!("x"),
        json!([]),
        json!({}),
        json!(["x"]),
        json!({"x": 1}),
        json!([{}]),
    ];
    let mut compared = 0;
    for (name, fixture) in fixtures() {
        let mut all = Vec::new();
        pointers(&fixture, "", &mut all);
        if !all.iter().any(|pointer| is_left_to_a_rule(pointer, fixture.pointer(pointer).expect("there"))) {
            compare(&compiled, &fixture, &name);
        }
        if !complaints(&fixture.to_string()).is_empty() {
            continue;
        }
        for pointer in &all {
            for other in others.iter().filter(|other| !is_left_to_a_rule(pointer, other)) {
                let mut changed = fixture.clone();
                *changed.pointer_mut(pointer).expect("there") = other.clone();
                if all
                    .iter()
                    .any(|pointer| changed.pointer(pointer).is_some_and(|value| is_left_to_a_rule(pointer, value)))
                {
                    continue;
                }
                compare(&compiled, &changed, &format!("{name} with {pointer} = {other}"));
                compared += 1;
            }
        }
    }
    assert!(compared > 1000, "only {compared} comparisons");
}
