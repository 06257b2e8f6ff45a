//! Writes the archive: what stays of handoffs in the folders of a project, taken from the journal and never read as truth.
//!
//! `.project/07-audit/sessions/<run>/` has the files of each handoff, as `baton_views::archive` makes them, and in
//! `files/<sha256>` the files that were looked at, as far as they were kept. `state/current.json` lists the latest handoffs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use baton_engine::handoff::{Digest, Handoff};
use baton_engine::journal::Event;
use baton_engine::pages::JournalPages;
use baton_engine::run::Run;
use baton_engine::store::{Filter, Store};
use baton_engine::{HandoffId, RunId};
use baton_host::{SharedFolder, atomic_file};
use baton_protocol::convert::{Form, render};
use baton_views::archive::{ArchiveFile, ArchivedHandoff, HandoffFiles, entry};
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
        let handoffs = handoffs(store, run).await?;
        let kept: BTreeSet<Digest> = handoffs.iter().flat_map(ArchivedHandoff::kept_files).collect();
        for digest in kept {
            let (root, path) = (self.root.clone(), folder.join("files").join(&digest.0));
            let content = store.content(run, &digest).await?;
            let content = content.filter(|bytes| Digest::of(bytes) == digest).ok_or_else(|| {
                CommandError::no(format!("a stored file of {run} was changed (sha256 {})", digest.0))
                    .hint(format!("baton audit verify {run} shows what is wrong"))
            })?;
            blocking(move || write_bytes(&root, &path, &content)).await?;
        }
        let root = self.root.clone();
        blocking(move || write_handoffs(&root, &folder, &handoffs)).await
    }

    /// Writes the list of the latest handoffs, the newest last.
    pub(crate) async fn write_current(&self, store: &dyn Store) -> Result<(), CommandError> {
        let filter = Filter { agent: None, states: Vec::new(), after: None, limit: CURRENT_MAX };
        let newest_first = store.list(&filter).await?;
        let listed: Vec<Value> = newest_first.iter().rev().map(entry).collect();
        write(&self.root, &self.root.join("state/current.json"), &render(&json!({ "handoffs": listed }), Form::Json))
    }
}

/// Returns the files of a run: what was asked and answered, and the journal of each handoff.
pub(crate) async fn session(store: &dyn Store, run: &RunId) -> Result<Vec<ArchiveFile>, CommandError> {
    Ok(handoffs(store, run).await?.iter().flat_map(|handoff| handoff.files().files).collect())
}

/// Writes the files of a run into a folder of its workspace. The journal has all of it, so the disk is not waited for.
pub(crate) fn write_session(workspace: &Path, folder: &Path, files: &[ArchiveFile]) -> Result<(), CommandError> {
    files.iter().try_for_each(|file| put(workspace, &folder.join(&file.path), &file.text))
}

/// Writes the record of a run: its files, the list of its handoffs, and a summary.
pub(crate) fn write_record(
    workspace: &Path,
    folder: &Path,
    (files, summary): (&[ArchiveFile], &str),
    run: &Run,
) -> Result<(), CommandError> {
    write_session(workspace, folder, files)?;
    put(workspace, &folder.join("summary.txt"), summary)?;
    put(workspace, &folder.join("state/current.json"), &render(&views::current(run), Form::Json))
}

fn write_handoffs(root: &Path, folder: &Path, handoffs: &[ArchivedHandoff]) -> Outcome {
    let mut archived = Archived::default();
    for handoff in handoffs {
        let HandoffFiles { files, losses } = handoff.files();
        files.iter().try_for_each(|file| write(root, &folder.join(&file.path), &file.text))?;
        if !losses.is_empty() {
            archived.losses.push((handoff.id().clone(), losses));
        }
        archived.handoffs += 1;
    }
    Ok(archived)
}

/// Collects the handoffs of a run, each with its events.
async fn handoffs(store: &dyn Store, run: &RunId) -> Result<Vec<ArchivedHandoff>, CommandError> {
    let mut events: BTreeMap<HandoffId, Vec<Event>> = BTreeMap::new();
    for event in JournalPages::after(store, run, 0).collect().await? {
        events.entry(event.handoff.clone()).or_default().push(event);
    }
    let with_events = |handoff: Handoff| {
        let events = events.remove(&handoff.id).unwrap_or_default();
        ArchivedHandoff::new(handoff, events).map_err(|fault| {
            CommandError::no(fault.to_string()).hint(format!("baton audit verify {run} shows what is wrong"))
        })
    };
    store.handoffs_of(run).await?.into_iter().map(|(handoff, _)| handoff).map(with_events).collect()
}

/// Does something that takes its time on the disk.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, CommandError> + Send + 'static,
) -> Result<T, CommandError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(CommandError::internal(format!("writing the archive stopped: {error}"))))
}

fn write(root: &Path, path: &Path, text: &str) -> Result<(), CommandError> {
    write_bytes(root, path, text.as_bytes())
}

fn write_bytes(root: &Path, path: &Path, bytes: &[u8]) -> Result<(), CommandError> {
    // Agents may work in the project.
    SharedFolder::stays_below(root, path.parent().unwrap_or(root))
        .and_then(|()| atomic_file::write(path, bytes))
        .map_err(|error| CommandError::usage(format!("cannot write {}: {error}", path.display())))
}

fn put(workspace: &Path, path: &Path, text: &str) -> Result<(), CommandError> {
    SharedFolder::make(workspace, path.parent().unwrap_or(workspace))
        .and_then(|folder| folder.write(path.file_name().unwrap_or_default(), text.as_bytes()))
        .map_err(|error| CommandError::usage(format!("cannot write {}: {error}", path.display())))
}
