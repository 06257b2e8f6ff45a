//! The archive: what stays of handoffs in the folders of a project, written from the journal and never read as truth.
//!
//! `.project/07-audit/sessions/<run>/handoffs/<id>.yaml` is the request as a package and nothing else, so that every
//! reader of packages understands it. What the agent wrote stands beside it as it was written: a package as
//! `handoffs/<id>.report.yaml`, anything else in `reports/`. `…/<run>/journal/<id>.yaml` has the rest: what was
//! answered, decided and when, the files that were looked at, and every event letter by letter with its hash;
//! `…/<run>/files/<sha256>` are those files, as far as they were kept. `state/current.json` lists the latest handoffs.

mod answer;
mod package;
mod record;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use baton_engine::handoff::{Digest, Handoff, WrittenDocument};
use baton_engine::journal::{Event, Fact};
use baton_engine::lifecycle::Command;
use baton_engine::pages::JournalPages;
use baton_engine::run::Run;
use baton_engine::step::Role;
use baton_engine::store::{Filter, Store};
use baton_engine::{HandoffId, RunId};
use baton_host::atomic_file;
use baton_protocol::convert::{Form, render};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::command_error::CommandError;
use crate::views;

/// How many handoffs `state/current.json` lists; the archive has them all.
const CURRENT_MAX: u32 = 10_000;

/// Where an archive is.
#[derive(Debug, Clone)]
pub(crate) struct Archive {
    root: PathBuf,
}

/// What archiving a run gave.
#[derive(Debug, Default)]
pub(crate) struct Archived {
    /// How many handoffs were written.
    pub handoffs: u64,
    /// What a package cannot say, by handoff, as pointers into the request; the record beside it has all of it.
    pub losses: Vec<(HandoffId, Vec<String>)>,
}

/// How archiving a run went.
pub(crate) type Outcome = Result<Archived, CommandError>;

/// How many runs are written at the same time. Each takes a reader of the store, and its memory.
pub(crate) const TOGETHER: usize = 16;

/// A handoff with its events.
struct Life {
    handoff: Handoff,
    events: Vec<Event>,
    request: WrittenDocument,
    report: Option<WrittenDocument>,
}

/// A file of the archive: its path in the folder of the run, and its text.
pub(crate) type ArchiveFile = (String, String);

/// Returns the file that tells what was asked in a handoff.
pub(crate) fn asked(handoff: &Handoff, request: &WrittenDocument) -> ArchiveFile {
    asked_as(handoff, &package::of(handoff, request))
}

fn asked_as(handoff: &Handoff, package: &package::Package) -> ArchiveFile {
    (format!("handoffs/{}.yaml", handoff.id), render(&package.value, Form::Yaml))
}

/// Returns the file with what the agent of a handoff wrote. Of steps without an agent Baton writes the report itself.
pub(crate) fn answered(handoff: &Handoff, report: &WrittenDocument) -> Option<ArchiveFile> {
    let role = handoff.terms.step.as_ref().map(|step| step.role);
    matches!(role, None | Some(Role::Work | Role::Delegation)).then(|| answer::of(&handoff.id, report))
}

impl Archive {
    /// Takes a project's folder.
    pub(crate) fn at(root: &Path) -> Archive {
        Archive { root: root.to_owned() }
    }

    /// Writes runs at the same time, so that they share the disk's flushes; each that went well is on the disk when
    /// this returns.
    pub(crate) async fn write_runs(&self, store: &Arc<dyn Store>, runs: Vec<RunId>) -> Vec<(RunId, Outcome)> {
        let mut writing = JoinSet::new();
        for run in runs {
            let (archive, store) = (self.clone(), Arc::clone(store));
            writing.spawn(async move {
                let written = archive.write_run(store.as_ref(), &run).await;
                (run, written)
            });
        }
        writing.join_all().await
    }

    async fn write_run(&self, store: &dyn Store, run: &RunId) -> Outcome {
        let folder = self.root.join(".project/07-audit/sessions").join(run.as_str());
        let lives = lives(store, run).await?;
        let kept: BTreeSet<Digest> = lives.iter().flat_map(|life| kept_files(&life.events)).collect();
        for digest in kept {
            let path = folder.join("files").join(&digest.0);
            let content = store.content(run, &digest).await?;
            let content = content.filter(|bytes| Digest::of(bytes) == digest).ok_or_else(|| {
                CommandError::no(format!("a file that was kept in {run} is not what it was (sha256 {})", digest.0))
                    .hint(format!("baton audit verify {run} says what is wrong"))
            })?;
            blocking(move || write_bytes(&path, &content)).await?;
        }
        blocking(move || write_lives(&folder, &lives)).await
    }

    /// Writes the list of the latest handoffs, the newest last.
    pub(crate) async fn write_current(&self, store: &dyn Store) -> Result<(), CommandError> {
        let filter = Filter { agent: None, states: Vec::new(), after: None, limit: CURRENT_MAX };
        let newest_first = store.list(&filter).await?;
        let listed: Vec<Value> = newest_first.iter().rev().map(entry).collect();
        write(&self.root.join("state/current.json"), &render(&json!({ "handoffs": listed }), Form::Json))
    }
}

/// Returns the files of a run: what was asked and answered, and the journal of each handoff.
pub(crate) async fn session(store: &dyn Store, run: &RunId) -> Result<Vec<ArchiveFile>, CommandError> {
    let lives = lives(store, run).await?;
    Ok(lives.iter().flat_map(|life| files(life, &package::of(&life.handoff, &life.request))).collect())
}

/// Writes the files of a run into a folder. The journal has all of it, so the disk is not waited for.
pub(crate) fn write_session(folder: &Path, files: &[ArchiveFile]) -> Result<(), CommandError> {
    files.iter().try_for_each(|(path, text)| put(&folder.join(path), text))
}

/// Writes the record of a run: its files, and the list of its handoffs.
pub(crate) fn write_record(folder: &Path, files: &[ArchiveFile], run: &Run) -> Result<(), CommandError> {
    write_session(folder, files)?;
    put(&folder.join("state/current.json"), &render(&views::current(run), Form::Json))
}

fn write_lives(folder: &Path, lives: &[Life]) -> Outcome {
    let mut archived = Archived::default();
    for life in lives {
        let package = package::of(&life.handoff, &life.request);
        for (path, text) in files(life, &package) {
            write(&folder.join(path), &text)?;
        }
        if !package.losses.is_empty() {
            archived.losses.push((life.handoff.id.clone(), package.losses));
        }
        archived.handoffs += 1;
    }
    Ok(archived)
}

fn files(life: &Life, package: &package::Package) -> Vec<ArchiveFile> {
    let record = record::of(&life.handoff, &life.events, &life.request, &package.losses);
    let answered = life.report.as_ref().and_then(|report| answered(&life.handoff, report));
    let record = (format!("journal/{}.yaml", life.handoff.id), render(&record, Form::Yaml));
    [asked_as(&life.handoff, package)].into_iter().chain(answered).chain([record]).collect()
}

/// Returns a handoff as `state/current.json` lists it.
pub(crate) fn entry(handoff: &Handoff) -> Value {
    json!({
        "id": handoff.id.as_str(),
        "timestamp": handoff.accepted_at,
        "from": handoff.terms.from,
        "to": handoff.terms.to,
        "status": handoff.state.name().as_str(),
    })
}

/// Collects the handoffs of a run, each with its events.
async fn lives(store: &dyn Store, run: &RunId) -> Result<Vec<Life>, CommandError> {
    let mut events: BTreeMap<HandoffId, Vec<Event>> = BTreeMap::new();
    for event in JournalPages::after(store, run, 0).collect().await? {
        events.entry(event.handoff.clone()).or_default().push(event);
    }
    let mut lives = Vec::new();
    for (handoff, _) in store.handoffs_of(run).await? {
        let events = events.remove(&handoff.id).unwrap_or_default();
        let request = events.first().and_then(request).ok_or_else(|| {
            CommandError::no(format!("the journal does not tell how the handoff {} was accepted", handoff.id))
                .hint(format!("baton audit verify {run} says what is wrong"))
        })?;
        let report = events.iter().rev().find_map(report);
        lives.push(Life { handoff, events, request, report });
    }
    Ok(lives)
}

fn request(first: &Event) -> Option<WrittenDocument> {
    match first.fact() {
        Ok(Fact::Accepted(accept)) => Some(accept.request),
        Ok(Fact::Happened(_) | Fact::Refused(_)) | Err(_) => None,
    }
}

/// Returns what identifies the files that were kept, by these events.
fn kept_files(events: &[Event]) -> Vec<Digest> {
    let kept = |event: &Event| match event.fact() {
        Ok(Fact::Happened(Command::Verify(verify))) => verify.kept,
        Ok(_) | Err(_) => Vec::new(),
    };
    events.iter().flat_map(kept).collect()
}

fn report(event: &Event) -> Option<WrittenDocument> {
    match event.fact() {
        Ok(Fact::Happened(Command::Report(report))) => Some(report.document),
        Ok(_) | Err(_) => None,
    }
}

/// Does something that takes its time on the disk.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, CommandError> + Send + 'static,
) -> Result<T, CommandError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(CommandError::internal(format!("writing the archive stopped: {error}"))))
}

fn write(path: &Path, text: &str) -> Result<(), CommandError> {
    write_bytes(path, text.as_bytes())
}

fn write_bytes(path: &Path, bytes: &[u8]) -> Result<(), CommandError> {
    atomic_file::write(path, bytes)
        .map_err(|error| CommandError::usage(format!("cannot write {}: {error}", path.display())))
}

fn put(path: &Path, text: &str) -> Result<(), CommandError> {
    atomic_file::replace(path, text.as_bytes())
        .map_err(|error| CommandError::usage(format!("cannot write {}: {error}", path.display())))
}
