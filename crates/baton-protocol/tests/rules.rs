//! Every rule has a fixture that fails, one that passes, and a snapshot of what people see.
//!
//! `tests/fixtures/RULE/fail*` must be found by the rule and `pass*` must not; both may be folders. Around them
//! may stand `request.json` (what they answer), `turn.json` (whose turn it was in a run), `schemas/` (what requests name) and `workspace/` (what claims are about).
//! Fixtures of the group `workflow` are workflow files, with the files that they speak of beside them.
//! Rules that are applied when work is examined have their fixtures where that happens, with real processes and files.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use baton_protocol::model::{Document, Request};
use baton_protocol::read::Format;
use baton_protocol::rules::{self, Group, Rule};
use baton_protocol::schema::{CompiledSchema, SchemaFault};
use baton_protocol::surroundings::{PathState, Schemas, Workspace};
use baton_protocol::workflow::{self, Files, NestedWorkflow};
use baton_protocol::{Dialect, Hints, Judgement, Settings, Surroundings};
use serde_json::Value;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

struct Folder(PathBuf);

impl Workspace for Folder {
    fn look(&self, path: &str) -> PathState {
        let full = self.0.join(path);
        match (path.split('/').any(|part| part == "..") || path.starts_with('/'), fs::metadata(&full)) {
            (true, _) => PathState::Outside,
            (_, Err(_)) => PathState::Missing,
            (_, Ok(found)) if found.is_dir() => {
                PathState::Folder { empty: fs::read_dir(&full).expect("readable").next().is_none() }
            }
            (_, Ok(found)) => PathState::File { bytes: found.len() },
        }
    }

    fn count_lines(&self, path: &str) -> Option<usize> {
        fs::read_to_string(self.0.join(path)).ok().map(|text| text.lines().count())
    }

    fn read_json(&self, path: &str) -> Option<Value> {
        serde_json::from_slice(&fs::read(self.0.join(path)).ok()?).ok()
    }
}

impl Schemas for Folder {
    fn find(&self, name: &str) -> Option<Result<Arc<CompiledSchema>, SchemaFault>> {
        let schema = serde_json::from_slice(&fs::read(self.0.join(name)).ok()?).expect("a schema is JSON");
        Some(CompiledSchema::new(&schema).map(Arc::new))
    }
}

impl Files for Folder {
    fn look(&self, path: &str) -> PathState {
        match fs::metadata(self.0.join(path)) {
            Err(_) => PathState::Missing,
            Ok(found) if found.is_dir() => PathState::Folder { empty: false },
            Ok(found) => PathState::File { bytes: found.len() },
        }
    }

    fn has_program(&self, program: &str) -> bool {
        if program.contains('/') {
            self.0.join(program).is_file()
        } else {
            ["sh", "cargo", "git", "python3"].contains(&program)
        }
    }

    fn has_variable(&self, name: &str) -> bool {
        name == "OPENROUTER_API_KEY"
    }

    fn is_in_workspace(&self, path: &str) -> bool {
        path == "target/maker.sh"
    }

    fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.0.join(folder)).into_iter().flatten();
        entries.map(|entry| entry.expect("entry").file_name().to_string_lossy().into_owned()).collect()
    }

    fn names_in_workspace(&self, folder: &str) -> Vec<String> {
        if folder == "target" { vec!["maker.sh".to_owned()] } else { Vec::new() }
    }

    fn nested(&self, path: &str) -> Option<NestedWorkflow> {
        let bytes = fs::read(self.0.join(path)).ok()?;
        Some(NestedWorkflow { workflow: workflow::read(&bytes).workflow, leads_back: path.ends_with("fail.yaml") })
    }
}

fn request(folder: &Path) -> Option<Request> {
    let bytes = fs::read(folder.join("request.json")).ok()?;
    match baton_protocol::read(&bytes, Hints::default()).document {
        Some(Document::Request(request)) => Some(*request),
        other => panic!("{} is no request: {other:?}", folder.display()),
    }
}

fn judge(rule: &Rule, file: &Path, folder: &Path) -> Judgement {
    match rule.group {
        Group::Workflow => judge_workflow(file, folder),
        _ => judge_document(file, folder),
    }
}

fn judge_workflow(file: &Path, folder: &Path) -> Judgement {
    let bytes = fs::read(file).expect("readable");
    let files = Folder(folder.to_owned());
    workflow::judge(&bytes, &workflow::read(&bytes), Some(&files), &Settings::default())
}

fn judge_document(file: &Path, folder: &Path) -> Judgement {
    let bytes = fs::read(file).expect("readable");
    let path = file.to_string_lossy().replace('\\', "/");
    let request = request(folder);
    let workspace = Some(Folder(folder.join("workspace"))).filter(|folder| folder.0.exists());
    let schemas = Some(Folder(folder.join("schemas"))).filter(|folder| folder.0.exists());
    let turn: Value = fs::read(folder.join("turn.json"))
        .map(|bytes| serde_json::from_slice(&bytes).expect("a turn is JSON"))
        .unwrap_or_default();
    let surroundings = Surroundings {
        times_are_kept: false,
        path: Some(&path),
        request: request.as_ref(),
        workspace: workspace.as_ref().map(|folder| folder as &dyn Workspace),
        schemas: schemas.as_ref().map(|folder| folder as &dyn Schemas),
        agent: turn["agent"].as_str(),
        phase: turn["phase"].as_str(),
        output_directory: turn["output_directory"].as_str(),
    };
    let hints = Hints { format: Format::of_path(&path), dialect: None };
    let reading = baton_protocol::read(&bytes, hints);
    baton_protocol::judge(&bytes, &reading, &surroundings, &Settings::default())
}

/// Returns the files of a fixture whose first name begins with `prefix`.
fn files(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    fn walk(path: PathBuf, found: &mut Vec<PathBuf>) {
        if path.is_dir() {
            fs::read_dir(path).expect("readable").for_each(|entry| walk(entry.expect("entry").path(), found))
        } else {
            found.push(path)
        }
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap_or_else(|_| panic!("{} is missing", folder.display())) {
        let entry = entry.expect("entry");
        if entry.file_name().to_string_lossy().starts_with(prefix) {
            walk(entry.path(), &mut found);
        }
    }
    found.sort();
    found
}

fn codes(judgement: &Judgement) -> Vec<&'static str> {
    judgement.diagnostics.iter().map(|diagnostic| diagnostic.code).collect()
}

#[test]
fn every_rule_finds_its_failing_fixture_and_spares_its_passing_one() {
    let mut complaints = Vec::new();
    for rule in rules::ALL.iter().filter(|rule| !rule.is_examined()) {
        let folder = fixtures().join(rule.name);
        let (failing, passing) = (files(&folder, "fail"), files(&folder, "pass"));
        if failing.is_empty() || passing.is_empty() {
            complaints.push(format!("{}: needs a fail and a pass fixture", rule.name));
        }
        for file in failing {
            if !codes(&judge(rule, &file, &folder)).contains(&rule.name) {
                complaints.push(format!("{}: nothing found in {}", rule.name, file.display()));
            }
        }
        for file in passing {
            let judgement = judge(rule, &file, &folder);
            if codes(&judgement).contains(&rule.name) || !judgement.valid {
                complaints.push(format!("{}: {} has {:?}", rule.name, file.display(), judgement.diagnostics));
            }
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn what_people_see_of_every_failing_fixture() {
    for rule in rules::ALL.iter().filter(|rule| !rule.is_examined()) {
        let folder = fixtures().join(rule.name);
        let mut seen = String::new();
        for file in files(&folder, "fail") {
            let name = file.strip_prefix(&folder).expect("below").to_string_lossy().replace('\\', "/");
            seen.push_str(&format!("{name}\n"));
            for diagnostic in judge(rule, &file, &folder).diagnostics {
                seen.push_str(&format!(
                    "  {}:{} {} {} [{}] {}\n",
                    diagnostic.line,
                    diagnostic.column,
                    diagnostic.severity,
                    diagnostic.code,
                    diagnostic.pointer,
                    diagnostic.message
                ));
                seen.extend(diagnostic.help.map(|help| format!("      help: {help}\n")));
            }
        }
        insta::assert_snapshot!(rule.name, seen);
    }
}

#[test]
fn the_manual_of_every_rule_has_its_parts() {
    for rule in rules::ALL {
        for part in ["## What it checks", "## Why it matters", "## Example", "## Use instead"] {
            assert!(rule.docs.contains(part), "{} lacks “{part}”", rule.name);
        }
        assert!(Rule::find(rule.name).is_some_and(|found| std::ptr::eq(found, *rule)));
    }
}

#[test]
fn every_fixture_belongs_to_a_rule() {
    for entry in fs::read_dir(fixtures()).expect("readable") {
        let name = entry.expect("entry").file_name();
        assert!(Rule::find(&name.to_string_lossy()).is_some(), "no rule {name:?}");
    }
}

/// What the reading finds comes first, so that it can be told what follows from it. A time that nobody misses is taken out
/// of the middle.
#[test]
fn missing_time_is_no_finding_where_somebody_keeps_it_and_the_rest_is_found_as_before() {
    let block = |status: &str| {
        format!(
            "# Review\n\n```json\n{{\"agent\": \"reviewer\", \"output_type\": \"review\", \"status\": \"{status}\", \
             \"feature_directory\": \"out\"}}\n```\n"
        )
    };
    let judged = |status: &str, times_are_kept: bool| {
        let text = block(status);
        let hints = Hints { format: None, dialect: Some(Dialect::MetadataBlock) };
        let reading = baton_protocol::read(text.as_bytes(), hints);
        let surroundings = Surroundings { times_are_kept, ..Surroundings::default() };
        let judgement = baton_protocol::judge(text.as_bytes(), &reading, &surroundings, &Settings::default());
        judgement.diagnostics.iter().map(|found| format!("{} {}", found.code, found.message)).collect::<Vec<_>>()
    };
    for status in ["complete", "done"] {
        let (asked, kept) = (judged(status, false), judged(status, true));
        let is_time = |found: &&String| found.contains("timestamp");
        assert_eq!(asked.iter().filter(is_time).count(), 1, "{asked:?}");
        assert_eq!(kept, asked.iter().filter(|found| !is_time(found)).cloned().collect::<Vec<_>>());
    }
}
