//! `baton schema`: the published schemas, and that valid documents satisfy them.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use baton_testbed::Maker;
use insta::assert_snapshot;
use serde_json::Value;

use crate::sandbox::Sandbox;

fn repository() -> PathBuf {
    fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).expect("the repository exists")
}

fn schema(name: &str) -> Value {
    let run = Sandbox::new().baton(&["schema", name]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{run}");
    run.json()
}

fn names() -> Vec<String> {
    Sandbox::new().baton(&["schema"]).stdout.lines().map(str::to_owned).collect()
}

#[test]
fn the_schemas_are_listed() {
    assert_snapshot!(Sandbox::new().baton(&["schema"]), @"
metadata-block.report
phase-block.report
package.request
package.acknowledgment
task.request
task.report
mailbox.request
mailbox.report
mailbox.failure
native.request
native.acknowledgment
native.report
workflow
--- exit 0
");
    let listed = Sandbox::new().baton(&["schema", "--json"]).json();
    assert_eq!(listed["version"], 1);
    let in_json: Vec<&str> =
        listed["schemas"].as_array().unwrap().iter().filter_map(|schema| schema["name"].as_str()).collect();
    assert_eq!(in_json, names());
}

/// Calls for every object in a value.
fn each_object(value: &Value, visit: &mut dyn FnMut(&serde_json::Map<String, Value>)) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| each_object(item, visit)),
        Value::Object(members) => {
            visit(members);
            members.values().for_each(|member| each_object(member, visit));
        }
        _ => {}
    }
}

#[test]
fn every_report_schema_can_be_handed_to_a_model() {
    let reports: Vec<String> = names().into_iter().filter(|name| name.ends_with(".report")).collect();
    assert_eq!(reports.len(), 5);
    for name in reports {
        let run = Sandbox::new().baton(&["schema", &name, "--for-model"]);
        assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{run}");
        let (plain, whole) = (run.json(), schema(&name));
        assert!(jsonschema::meta::is_valid(&plain), "{name}");
        assert_eq!(plain["type"], "object", "{name}");
        let required = |schema: &Value| schema["required"].as_array().cloned().unwrap_or_default();
        let mut expected = required(&whole);
        expected.retain(|member| member != "timestamp");
        assert_eq!(required(&plain), expected, "{name}");
        each_object(&plain, &mut |members| {
            assert!(!members.contains_key("$schema") && !members.contains_key("$id"), "{name}: {members:?}");
            assert!(!members.get("type").is_some_and(Value::is_array), "{name}: {members:?}");
        });
        // What satisfies one satisfies the other.
        let (plain, whole) = (jsonschema::validator_for(&plain).unwrap(), jsonschema::validator_for(&whole).unwrap());
        let root = schema(&name);
        let (mut seed, mut text) = (7_usize, || "words".to_owned());
        let mut roll = |sides: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % sides
        };
        let mut maker = Maker { root: &root, roll: &mut roll, text: &mut text };
        for _ in 0..200 {
            let document = maker.value(&root);
            assert!(plain.is_valid(&document) && whole.is_valid(&document), "{name}: {document}");
        }
    }
}

#[test]
fn every_schema_is_a_schema_with_a_name_of_its_own() {
    for name in names() {
        let schema = schema(&name);
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema", "{name}");
        assert_eq!(schema["$id"], format!("urn:baton:schema:{name}:1"));
        assert!(jsonschema::meta::is_valid(&schema), "{name}");
        assert!(schema["title"].is_string() && schema["description"].is_string(), "{name}");
    }
}

#[test]
fn the_files_in_the_repository_are_what_the_program_prints() {
    let folder = repository().join("schemas");
    for name in names() {
        let file = folder.join(format!("{name}.json"));
        let Ok(text) = fs::read_to_string(&file) else { panic!("{} is missing", file.display()) };
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), schema(&name), "{name}");
    }
}

/// Validates files that the program calls valid against the schemas of their kinds. Returns what breaks them.
fn complaints(files: &[PathBuf]) -> Vec<String> {
    let sandbox = Sandbox::new();
    let paths: Vec<&str> = files.iter().map(|file| file.to_str().expect("the path is text")).collect();
    let result = sandbox.check_json(&paths);
    let (mut validators, mut complaints) = (HashMap::new(), Vec::new());
    for file in result["files"].as_array().expect("files") {
        let word = |name: &str| file[name].as_str().unwrap_or_else(|| panic!("{file} has no {name}"));
        let (path, dialect) = (word("path"), word("dialect"));
        let document: Value = match path.ends_with(".json") {
            true => serde_json::from_str(&fs::read_to_string(path).expect("readable")).expect("JSON"),
            false => sandbox.baton(&["convert", "--json", "--to", dialect, path]).json()["document"].clone(),
        };
        let mut name = format!("{dialect}.{}", word("document"));
        if name == "mailbox.report" && document["status"] == "failed" {
            name = "mailbox.failure".to_owned();
        }
        let validator = validators
            .entry(name.clone())
            .or_insert_with(|| jsonschema::validator_for(&schema(&name)).expect("a schema"));
        let short = path.rsplit_once("/tests/fixtures/").map_or(path, |(_, short)| short);
        complaints
            .extend(validator.iter_errors(&document).map(|error| format!("{short}{}: {error}", error.instance_path())));
    }
    assert_eq!(result["files"].as_array().map(Vec::len), Some(files.len()));
    complaints
}

fn files_below(folder: &Path, wanted: &dyn Fn(&Path) -> bool, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => files_below(&path, wanted, found),
            false if wanted(&path) => found.push(path),
            false => {}
        }
    }
    found.sort();
}

#[test]
fn every_example_satisfies_the_schema_of_its_kind() {
    let mut files = Vec::new();
    let not_a_handoff = |path: &Path| {
        path.components().any(|part| ["schemas", "artifacts"].iter().any(|name| part.as_os_str() == *name))
    };
    files_below(&repository().join("examples/handoffs"), &|path| !not_a_handoff(path), &mut files);
    assert!(files.len() >= 12, "{files:?}");
    assert_eq!(complaints(&files), [""; 0]);
}

#[test]
fn every_passing_fixture_satisfies_the_schema_of_its_kind() {
    let mut files = Vec::new();
    let passes = |path: &Path| {
        let text = path.to_string_lossy();
        text.contains("/pass")
            && text.ends_with(".json")
            && !text.contains("/schemas/")
            && !text.contains("/workspace/")
    };
    files_below(&repository().join("crates/baton-protocol/tests/fixtures"), &passes, &mut files);
    // To a strict parser, a byte order mark is not JSON.
    files.retain(|file| !fs::read(file).expect("readable").starts_with(b"\xEF\xBB\xBF"));
    assert!(files.len() > 80);
    // Words are read without regard to case, `-` and `_`; the schemas name the usual spelling only.
    assert_snapshot!(complaints(&files).join("\n"), @r#"
    report-echo-mismatch/pass.json/phase: "WRITE" is not one of "research", "write" or 2 other candidates
    status-folder-mismatch/pass/in-progress/hoff-31.json/status: "in-progress" is not one of "pending", "in_progress" or 2 other candidates
    unknown-decision/pass.json/decision: "proceed" is not one of "PROCEED", "STOP" or "CLARIFY"
    unknown-priority/pass.json/priority: "Critical" is not valid under any of the schemas listed in the 'anyOf' keyword
    unknown-status/pass-task.json/status: "COMPLETE" is not one of "complete", "partial" or "blocked"
    unknown-status/pass.json/status: "Needs-Review" is not one of "complete", "blocked" or 2 other candidates
    "#);
}
