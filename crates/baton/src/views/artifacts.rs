//! The artifacts of a run: who made them in which phase, whether they count, and what they were made from.

use std::fs;

use baton_engine::handoff::State;
use baton_engine::run::{Run, TrackedHandoff};
use baton_engine::step::Role;
use baton_protocol::model::{PhaseFindings, Report};
use serde_json::{Map, Value, json};

/// A file that a report says was made.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct MadeFile {
    pub(super) path: String,
    pub(super) kind: Option<String>,
    pub(super) id: Option<String>,
}

/// Returns the handoffs in which agents worked.
pub(super) fn work(run: &Run) -> impl Iterator<Item = &TrackedHandoff> {
    run.handoffs().filter(|tracked| matches!(tracked.step.role, Role::Work | Role::Delegation))
}

/// Returns the files that a handoff made: those that the report names, and the output file that it is in.
pub(super) fn made(tracked: &TrackedHandoff) -> Vec<MadeFile> {
    let Some(told) = &tracked.told else { return Vec::new() };
    let mut files = named(&told.report);
    let output = told.output_file().filter(|path| !is_batons(path));
    if let Some(path) = output.filter(|path| files.iter().all(|file| file.path != *path)) {
        files.push(MadeFile { path: path.to_owned(), kind: Some("output".to_owned()), id: None });
    }
    files
}

/// Returns whether a file is a copy that Baton keeps for itself.
fn is_batons(path: &str) -> bool {
    path.starts_with(".baton/")
}

fn named(report: &Report) -> Vec<MadeFile> {
    let listed = report.artifacts.iter().map(|artifact| {
        let fields = &artifact.fields;
        MadeFile { path: artifact.path().to_owned(), kind: fields.r#type.clone(), id: fields.id.clone() }
    });
    let mut files: Vec<MadeFile> = listed.collect();
    let mut add = |path: Option<&String>, kind: &str, id: Option<&String>| {
        let path = path.filter(|path| files.iter().all(|file| file.path != **path));
        files.extend(path.map(|path| MadeFile { path: path.clone(), kind: Some(kind.to_owned()), id: id.cloned() }));
    };
    if let Some(output) = &report.output {
        let kind = output.artifact_type.as_deref().unwrap_or("output");
        add(output.artifact_path.as_ref(), kind, output.artifact_id.as_ref());
    }
    if let Some(PhaseFindings::Write(write)) = &report.findings {
        write.files_created.iter().for_each(|file| add(file.path.as_ref(), "code", None));
        write.tests_written.iter().for_each(|tests| add(tests.path.as_ref(), "test", None));
    }
    files.retain(|file| !file.path.trim().is_empty());
    files
}

/// Returns the paths of the files that a handoff made.
pub(super) fn paths(tracked: &TrackedHandoff) -> Vec<String> {
    made(tracked).into_iter().map(|file| file.path).collect()
}

/// Returns the entries of the registry, one for each path; who made it last is told.
pub(super) fn registry(run: &Run) -> Vec<Map<String, Value>> {
    let mut entries: Vec<Map<String, Value>> = Vec::new();
    for tracked in work(run) {
        for file in made(tracked) {
            let earlier = entries.iter().position(|entry| entry["path"] == file.path.as_str());
            let version = earlier.map_or(0, |index| entries.remove(index)["version"].as_u64().unwrap_or_default());
            entries.push(entry(run, tracked, file, version + 1));
        }
    }
    entries
}

fn entry(run: &Run, tracked: &TrackedHandoff, file: MadeFile, version: u64) -> Map<String, Value> {
    let sha256 = tracked.examined.iter().filter(|examined| examined.path.as_deref() == Some(&file.path));
    let context = tracked.asked().and_then(|request| request.context.as_ref());
    let given = context.map(|context| context.artifacts.as_slice()).unwrap_or_default();
    let others = given.iter().map(|artifact| artifact.path()).filter(|path| *path != file.path && !is_batons(path));
    let dependencies: Vec<&str> = others.collect();
    let entry = json!({
        "artifact_id": file.id.unwrap_or_else(|| format!("{}:{}", run.id, file.path)),
        "path": file.path,
        "type": file.kind,
        "handoff_id": tracked.handoff.id.as_str(),
        "sha256": sha256.into_iter().find_map(|examined| examined.sha256.clone()),
        "bytes": fs::metadata(run.definition.workspace.join(&file.path)).ok().map(|found| found.len()),
        "created_at": tracked.handoff.changed_at,
        "run": run.id.as_str(),
        "phase": tracked.step.phase,
        "agent": tracked.handoff.terms.to,
        "status": status(tracked),
        "version": version,
        "dependencies": dependencies,
    });
    let Value::Object(mut entry) = entry else { return Map::new() };
    entry.retain(|_, value| !value.is_null());
    entry
}

/// Returns where an artifact is in its life.
fn status(tracked: &TrackedHandoff) -> &'static str {
    match &tracked.handoff.state {
        State::Completed { .. } if tracked.passed() => "approved",
        State::Verifying | State::AwaitingPerson { .. } | State::Blocked { .. } => "proposed",
        // It was sent back, or nothing will come of it.
        State::Completed { .. } | State::Pending { .. } | State::Claimed { .. } => "rejected",
        State::Failed { .. } | State::Cancelled { .. } => "rejected",
    }
}
