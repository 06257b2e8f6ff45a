//! Answers: puts the artifact in its place, lists it, and moves the handoff to `completed`.

use std::io::Read as _;
use std::path::Path;

use baton_engine::HandoffId;
use baton_host::open_regular;
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::artifact::Copied;
use super::handoff::written;
use super::registry::{Entry, active};
use super::{ArtifactFile, Directory, DirectoryError, Folder, FolderHandoff, NotedResult};

/// No more of an artifact is compared with a schema.
const OUTPUT_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// How a handoff was done.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Completion {
    /// The attempt that did it; whichever is current if it does not say.
    pub attempt: Option<u32>,
    /// What was made.
    pub artifact: Option<ArtifactFile>,
    /// What the agent checked, such as `typescript_errors`.
    pub validation: Map<String, Value>,
    /// Counts and measurements, such as `components_generated`.
    pub metadata: Map<String, Value>,
    /// What to do next.
    pub next_steps: Vec<String>,
    /// What should be looked at.
    pub warnings: Vec<String>,
    /// What went wrong on the way.
    pub errors: Vec<String>,
}

impl Directory {
    /// Moves a handoff to `completed`. Output that breaks its schema is refused, and the handoff stays in progress.
    pub fn complete(
        &self,
        id: &HandoffId,
        completion: &Completion,
        now: Timestamp,
    ) -> Result<NotedResult<FolderHandoff>, DirectoryError> {
        let held = self.hold(id, completion.attempt)?;
        let mut warnings = Vec::new();
        let mut copied = match &completion.artifact {
            Some(artifact) => Some(self.copy_artifact(&held.handoff, id.as_str(), artifact, now)?),
            None => None,
        };
        let checked = self.check_output(&held.handoff, copied.as_ref(), &mut warnings)?;
        let kind = completion.artifact.as_ref().and_then(|artifact| artifact.kind.clone());
        let kind = kind.or_else(|| held.handoff.text(&["expected_output", "artifact_type"]).map(str::to_owned));

        let mut done = held.handoff.clone();
        done.set("status", Folder::Completed.status());
        done.set("timestamp_completed", written(now));
        done.set("completed_at", written(now));
        done.set_execution_time(now);
        done.set("output", output(copied.as_ref(), kind.as_deref(), checked));
        let seen = copied
            .as_ref()
            .map(|copied| [("artifact_sha256", json!(copied.sha256)), ("artifact_bytes", json!(copied.bytes))]);
        done.add("metadata", with(completion.metadata.clone(), seen.into_iter().flatten()));
        // What the agent says about itself counts; that the schema was satisfied is ours to add.
        let passed = checked.then(|| ("status", json!("passed")));
        done.add("validation", with(completion.validation.clone(), passed));
        done.add("next_steps", completion.next_steps.clone());
        done.add("warnings", [completion.warnings.clone(), warnings.clone()].concat());
        done.add("errors", completion.errors.clone());
        done.clear(&["last_error"]);

        let place = self.path(Folder::Completed, id);
        let next = self.files.write_beside(&place, &done.to_bytes())?;
        let Some(copied) = &mut copied else {
            self.take(held)?.publish(Folder::Completed, next)?;
            return Ok(NotedResult { result: done, warnings });
        };
        let registry = self.registry()?;
        if registry.is_of_another(&copied.path, id.as_str())? {
            let fault = "the artifact of another handoff is there".to_owned();
            return Err(DirectoryError::Destination { destination: copied.path.clone(), fault });
        }
        // Only the winner touches the artifact, and whoever sees the answer finds the artifact listed.
        let taken = self.take(held)?;
        let put = copied.put(self).and_then(|()| registry.add(&entry(copied, kind, &done, id, now)));
        if let Err(error) = put {
            taken.give_back();
            return Err(error);
        }
        taken.publish(Folder::Completed, next)?;
        Ok(NotedResult { result: done, warnings })
    }

    /// Compares the artifact of an answer, where it was found, with a schema. Specialists of others do not look themselves.
    pub fn check_answer(
        &self,
        answer: &FolderHandoff,
        found: Option<&Path>,
        schema: &str,
    ) -> Result<(), DirectoryError> {
        let no_output = |fault: String| DirectoryError::NoOutput { schema: schema.to_owned(), fault };
        let path = answer.artifact_path().ok_or_else(|| no_output("it names no artifact".to_owned()))?;
        let found = found.ok_or_else(|| no_output(format!("{path} is not there")))?;
        let mut bytes = Vec::new();
        let read = open_regular(found).and_then(|file| file.take(OUTPUT_BYTES_MAX).read_to_end(&mut bytes));
        read.map_err(|error| no_output(format!("{path}: {error}")))?;
        let value = serde_json::from_slice(&bytes).map_err(|error| no_output(format!("{path}: {error}")))?;
        match self.check_schema(schema, &value, &mut Vec::new())? {
            Some(violations) if !violations.is_empty() => {
                Err(DirectoryError::Violations { what: "the output", schema: schema.to_owned(), violations })
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Compares the artifact with the schema that the request names. Returns whether it could.
    fn check_output(
        &self,
        handoff: &FolderHandoff,
        copied: Option<&Copied<'_>>,
        warnings: &mut Vec<String>,
    ) -> Result<bool, DirectoryError> {
        let Some(schema) = handoff.text(&["expected_output", "schema"]) else { return Ok(false) };
        let no_output = |fault: String| DirectoryError::NoOutput { schema: schema.to_owned(), fault };
        let copied = copied.ok_or_else(|| no_output("there is no artifact".to_owned()))?;
        if !self.schemas.has(schema) && !self.strict {
            // An artifact that is not JSON is fine as long as nothing says that it should be.
            self.check_schema(schema, &Value::Null, warnings)?;
            return Ok(false);
        }
        let value = copied.to_json().map_err(no_output)?;
        match self.check_schema(schema, &value, warnings)? {
            Some(violations) if violations.is_empty() => Ok(true),
            Some(violations) => {
                Err(DirectoryError::Violations { what: "the output", schema: schema.to_owned(), violations })
            }
            None => Ok(false),
        }
    }
}

fn output(copied: Option<&Copied<'_>>, kind: Option<&str>, checked: bool) -> Map<String, Value> {
    let mut output = Map::new();
    if let Some(copied) = copied {
        output.insert("artifact_id".to_owned(), copied.id.clone().into());
        output.insert("artifact_path".to_owned(), copied.path.clone().into());
        output.extend(kind.map(|kind| ("artifact_type".to_owned(), kind.into())));
    }
    if checked {
        output.insert("schema_compliance".to_owned(), "valid".into());
    }
    output
}

/// Adds members that are not there yet.
fn with<'m>(mut members: Map<String, Value>, more: impl IntoIterator<Item = (&'m str, Value)>) -> Map<String, Value> {
    for (name, value) in more {
        members.entry(name).or_insert(value);
    }
    members
}

fn entry(copied: &Copied<'_>, kind: Option<String>, handoff: &FolderHandoff, id: &HandoffId, now: Timestamp) -> Entry {
    let mut dependencies: Vec<String> = handoff.dependencies().into_iter().map(|dependency| dependency.name).collect();
    dependencies.sort();
    dependencies.dedup();
    Entry {
        artifact_id: copied.id.clone(),
        path: copied.path.clone(),
        kind,
        phase: handoff.members.get("target").and_then(|target| target.get("phase")).cloned(),
        agent_id: handoff.to().map(str::to_owned),
        status: active(),
        dependencies,
        handoff_id: id.to_string(),
        sha256: copied.sha256.clone(),
        bytes: copied.bytes,
        created_at: written(now),
    }
}
