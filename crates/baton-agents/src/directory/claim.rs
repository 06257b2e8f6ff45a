//! Takes on work: moves a request from `pending` to `in-progress`, for exactly one claimant.

use std::collections::HashSet;
use std::fs::TryLockError;
use std::io;

use baton_engine::HandoffId;
use baton_engine::failure::{Code, Failure};
use baton_protocol::schema::Violation;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::handoff::{same_agent, written};
use super::{Directory, DirectoryError, Folder, FolderHandoff, NotedResult, files};

/// A handoff that was claimed.
#[derive(Debug, Clone, PartialEq)]
pub struct FolderClaim {
    /// Which.
    pub id: HandoffId,
    /// The number of the attempt; whoever finishes it says it again, so that a late one is refused.
    pub attempt: u32,
    /// Its document.
    pub handoff: FolderHandoff,
}

/// What became of one candidate.
enum Tried {
    /// It is ours.
    Won(Box<FolderClaim>),
    /// Somebody else has it, or it is not ready.
    Passed,
}

/// Why a request cannot be worked on.
struct Unfit {
    failure: Failure,
    /// What the failure says about the input.
    validation: Option<Value>,
}

impl Directory {
    /// Claims the most urgent handoff that waits for an agent; `None` if there is none.
    ///
    /// A request whose input breaks its schema, or that names an artifact which is not there, is not handed out: this
    /// attempt fails, with a warning here.
    pub fn claim(&self, agent: &str, now: Timestamp) -> Result<NotedResult<Option<FolderClaim>>, DirectoryError> {
        let (mut warnings, mut tried, mut thorough) = (Vec::new(), HashSet::new(), false);
        loop {
            let candidates = self.waiting_for(agent, now, &tried, thorough)?;
            if candidates.is_empty() {
                if thorough {
                    return Ok(NotedResult { result: None, warnings });
                }
                thorough = true;
            }
            for id in candidates {
                let outcome = self.try_claim(&id, agent, now, &mut warnings)?;
                self.forget(&id);
                if let Tried::Won(claim) = outcome {
                    return Ok(NotedResult { result: Some(*claim), warnings });
                }
                tried.insert(id);
            }
        }
    }

    fn try_claim(
        &self,
        id: &HandoffId,
        agent: &str,
        now: Timestamp,
        warnings: &mut Vec<String>,
    ) -> Result<Tried, DirectoryError> {
        let from = self.path(Folder::Pending, id);
        let Ok(Some(file)) = files::open(&from) else { return Ok(Tried::Passed) };
        // The lock tells a sweep that the claimant lives. Whoever does not get it leaves the handoff to the other.
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(Tried::Passed),
            Err(TryLockError::Error(error)) => return Err(DirectoryError::io("lock", &from, error)),
        }
        if !files::leads_to(&from, &file) {
            return Ok(Tried::Passed);
        }
        let Ok(mut handoff) = FolderHandoff::parse(&files::read(&file, &from)?) else { return Ok(Tried::Passed) };
        if !is_ready(&handoff, id, agent, now, warnings) {
            return Ok(Tried::Passed);
        }
        let finished = [Folder::Completed, Folder::Failed].into_iter().find(|folder| self.path(*folder, id).exists());
        if let Some(folder) = finished {
            warnings.push(format!("`{id}` waits, but another handoff of this id is {} already", folder.as_str()));
            return Ok(Tried::Passed);
        }
        let unfit = match self.unfit(&handoff, warnings) {
            // One request with a schema that cannot be used must not keep the agent from all others.
            Err(error @ (DirectoryError::MissingSchema { .. } | DirectoryError::BrokenSchema { .. })) => {
                warnings.push(format!("`{id}` is left alone: {error}"));
                return Ok(Tried::Passed);
            }
            other => other?,
        };
        let attempt = handoff.attempt();
        handoff.set("status", Folder::InProgress.status());
        handoff.set("started_at", written(now));
        handoff.set("attempt", attempt);
        handoff.set("claimed_by", agent);
        handoff.clear(&["not_before"]);

        // Everything that can fail for want of room comes before the rename, which decides who won.
        let place = self.path(Folder::InProgress, id);
        let rewritten = self.files.write_beside(&place, &handoff.to_bytes())?;
        match self.files.rename_new(&from, &place) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Tried::Passed),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                warnings.push(format!("`{id}` waits, but another handoff of this id is in progress"));
                return Ok(Tried::Passed);
            }
            Err(error) => return Err(DirectoryError::io("claim", &from, error)),
        }
        if let Err(error) = rewritten.place_over(&place) {
            // Nobody knows that we had it.
            let _ = self.rename_back(&place, &from);
            return Err(DirectoryError::io("claim", &place, error));
        }
        self.files.sync_folder(&self.folder(Folder::InProgress))?;
        let Some(unfit) = unfit else {
            return Ok(Tried::Won(Box::new(FolderClaim { id: id.clone(), attempt, handoff })));
        };
        let mut held = self.hold(id, Some(attempt))?;
        if let Some(validation) = unfit.validation {
            held.handoff.set("validation", validation);
        }
        let failed = self.fail_held(held, &unfit.failure, now)?;
        warnings.push(match failed.again_at {
            Some(time) => format!("`{id}` waits until {time:.0}: {}", unfit.failure.text()),
            None => format!("`{id}` failed: {}", unfit.failure.text()),
        });
        Ok(Tried::Passed)
    }

    /// Returns why a request cannot be worked on; `None` if it can.
    fn unfit(&self, handoff: &FolderHandoff, warnings: &mut Vec<String>) -> Result<Option<Unfit>, DirectoryError> {
        if let Some(unfit) = self.broken_input(handoff, warnings)? {
            return Ok(Some(unfit));
        }
        let missing = self.missing_dependency(handoff)?.map(|dependency| {
            let message = format!("the artifact `{}` is missing ({} names it)", dependency.name, dependency.member);
            Unfit { failure: Failure::new(Code::dependency_missing(), message), validation: None }
        });
        Ok(missing)
    }

    fn broken_input(
        &self,
        handoff: &FolderHandoff,
        warnings: &mut Vec<String>,
    ) -> Result<Option<Unfit>, DirectoryError> {
        let Some(schema) = handoff.text(&["input", "schema"]) else { return Ok(None) };
        let input = handoff.members.get("input").and_then(|input| input.get("data")).unwrap_or(&Value::Null);
        let violations = self.check_schema(schema, input, warnings)?.unwrap_or_default();
        let Some(first) = violations.first() else { return Ok(None) };
        let place = if first.pointer.is_empty() { "/" } else { &first.pointer };
        let message = format!("the input breaks `{schema}`: at {place}: {}", first.message);
        let error =
            |found: &Violation| json!({ "field": found.pointer, "error": found.message, "schema_path": schema });
        let errors: Vec<Value> = violations.iter().map(error).collect();
        Ok(Some(Unfit {
            failure: Failure::new(Code::schema_validation_failed(), message),
            validation: Some(json!({ "status": "failed", "errors": errors })),
        }))
    }
}

fn is_ready(handoff: &FolderHandoff, id: &HandoffId, agent: &str, now: Timestamp, warnings: &mut Vec<String>) -> bool {
    if handoff.id().is_some_and(|said| said != id.as_str()) {
        warnings.push(format!("`{id}.json` calls itself `{}`: left alone", handoff.id().unwrap_or_default()));
        return false;
    }
    handoff.to().is_some_and(|to| same_agent(to, agent)) && handoff.time("not_before").is_none_or(|time| time <= now)
}
