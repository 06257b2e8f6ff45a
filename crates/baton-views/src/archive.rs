//! What stays of a handoff in a folder: the request as a package, what the agent wrote, and the record of what happened.
//!
//! `handoffs/<id>.yaml` is the request as a package and nothing else, so that every reader of packages understands it. What
//! the agent wrote stands beside it as it was written: a package as `handoffs/<id>.report.yaml`, anything else in `reports/`.
//! `journal/<id>.yaml` has the rest: what was answered, decided and when, the files that were looked at, and every event
//! letter by letter with its hash. Whoever has a disk writes them there.

mod answer;
mod package;
mod record;

use baton_engine::HandoffId;
use baton_engine::handoff::{Digest, Handoff, WrittenDocument};
use baton_engine::journal::{Event, Fact};
use baton_engine::lifecycle::Command;
use baton_engine::step::Role;
use baton_protocol::convert::{Form, render};
use serde_json::{Value, json};

/// A file of the archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchiveFile {
    /// Its path in the folder of the run.
    pub path: String,
    /// What is in it.
    pub text: String,
}

/// Why a handoff cannot be archived.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArchiveFault {
    /// Its first event is missing, or is another one.
    #[error("the journal does not say how the handoff {0} was accepted")]
    NotAccepted(HandoffId),
}

/// A handoff with everything that is archived of it.
#[derive(Debug, Clone)]
pub struct ArchivedHandoff {
    handoff: Handoff,
    events: Vec<Event>,
    request: WrittenDocument,
    report: Option<WrittenDocument>,
}

/// The files of a handoff.
#[derive(Debug, Clone)]
pub struct HandoffFiles {
    /// The files.
    pub files: Vec<ArchiveFile>,
    /// What a package cannot say, as pointers into the request; the record has all of it.
    pub losses: Vec<String>,
}

impl ArchivedHandoff {
    /// Takes a handoff and all of its events.
    pub fn new(handoff: Handoff, events: Vec<Event>) -> Result<ArchivedHandoff, ArchiveFault> {
        let Some(request) = events.first().and_then(request) else {
            return Err(ArchiveFault::NotAccepted(handoff.id));
        };
        let report = events.iter().rev().find_map(report);
        Ok(ArchivedHandoff { handoff, events, request, report })
    }

    /// Returns which handoff it is.
    pub fn id(&self) -> &HandoffId {
        &self.handoff.id
    }

    /// Returns its files: what was asked and answered, and its record.
    pub fn files(&self) -> HandoffFiles {
        let package = package::of(&self.handoff, &self.request);
        let record = record::of(&self.handoff, &self.events, &self.request, &package.losses);
        let record = file(format!("journal/{}.yaml", self.handoff.id), render(&record, Form::Yaml));
        let answered = self.report.as_ref().and_then(|report| answered(&self.handoff, report));
        let files = [asked_as(&self.handoff, &package.value)].into_iter().chain(answered).chain([record]).collect();
        HandoffFiles { files, losses: package.losses }
    }

    /// Returns what identifies the files of the workspace that were kept.
    pub fn kept_files(&self) -> impl Iterator<Item = Digest> {
        self.events.iter().flat_map(|event| match event.fact() {
            Ok(Fact::Happened(Command::Verify(verify))) => verify.kept,
            Ok(_) | Err(_) => Vec::new(),
        })
    }
}

/// Returns the file that tells what was asked in a handoff.
pub fn asked(handoff: &Handoff, request: &WrittenDocument) -> ArchiveFile {
    asked_as(handoff, &package::of(handoff, request).value)
}

/// Returns the file with what the agent of a handoff wrote. Of steps without an agent Baton writes the report itself.
pub fn answered(handoff: &Handoff, report: &WrittenDocument) -> Option<ArchiveFile> {
    let role = handoff.terms.step.as_ref().map(|step| step.role);
    matches!(role, None | Some(Role::Work | Role::Delegation)).then(|| answer::of(&handoff.id, report))
}

/// Returns a handoff as `state/current.json` lists it.
pub fn entry(handoff: &Handoff) -> Value {
    json!({
        "id": handoff.id.as_str(),
        "timestamp": handoff.accepted_at,
        "from": handoff.terms.from,
        "to": handoff.terms.to,
        "status": handoff.state.name().as_str(),
    })
}

fn asked_as(handoff: &Handoff, package: &Value) -> ArchiveFile {
    file(format!("handoffs/{}.yaml", handoff.id), render(package, Form::Yaml))
}

fn file(path: String, text: String) -> ArchiveFile {
    ArchiveFile { path, text }
}

fn request(first: &Event) -> Option<WrittenDocument> {
    match first.fact() {
        Ok(Fact::Accepted(accept)) => Some(accept.request),
        Ok(Fact::Happened(_) | Fact::Refused(_)) | Err(_) => None,
    }
}

fn report(event: &Event) -> Option<WrittenDocument> {
    match event.fact() {
        Ok(Fact::Happened(Command::Report(report))) => Some(report.document),
        Ok(_) | Err(_) => None,
    }
}
