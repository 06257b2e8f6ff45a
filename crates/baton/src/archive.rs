//! The archive: what stays of handoffs in the folders of a project, written from the journal and never read as truth.
//!
//! `.project/07-audit/sessions/<run>/handoffs/<id>.yaml` is the request as a package and nothing else, so that every
//! reader of packages understands it. `…/<run>/journal/<id>.yaml` has the rest: what was answered, decided and when,
//! and every event letter by letter with its hash. `state/current.json` lists the latest handoffs.

mod package;
mod record;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use baton_engine::handoff::{Handoff, Written};
use baton_engine::journal::{Event, Fact};
use baton_engine::store::{Filter, Store};
use baton_engine::{HandoffId, RunId};
use baton_protocol::convert::{Form, render};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::atomic_file;
use crate::command_error::CommandError;

/// How many events are fetched at once.
const PAGE: u32 = 1_000;

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
    request: Written,
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
        let written = tokio::task::spawn_blocking(move || write_lives(&folder, lives, write)).await;
        written.unwrap_or_else(|error| Err(CommandError::internal(format!("writing the archive stopped: {error}"))))
    }

    /// Writes the list of the latest handoffs, the newest last.
    pub(crate) async fn write_current(&self, store: &dyn Store) -> Result<(), CommandError> {
        let filter = Filter { agent: None, states: Vec::new(), limit: CURRENT_MAX };
        let newest_first = store.list(&filter).await?;
        let listed: Vec<Value> = newest_first.iter().rev().map(entry).collect();
        write(&self.root.join("state/current.json"), &render(&json!({ "handoffs": listed }), Form::Json))
    }
}

/// Writes the record of one run into a folder of its own. The journal has all of it, so nothing is flushed.
pub(crate) async fn write_record(folder: &Path, store: &dyn Store, run: &RunId) -> Result<(), CommandError> {
    let lives = lives(store, run).await?;
    let listed: Vec<Value> = lives.iter().map(|life| entry(&life.handoff)).collect();
    write_lives(folder, lives, put)?;
    put(&folder.join("state/current.json"), &render(&json!({ "handoffs": listed }), Form::Json))
}

fn write_lives(folder: &Path, lives: Vec<Life>, write: fn(&Path, &str) -> Result<(), CommandError>) -> Outcome {
    let mut archived = Archived::default();
    for life in lives {
        let id = life.handoff.id.clone();
        let package = package::of(&life.handoff, &life.request);
        write(&folder.join(format!("handoffs/{id}.yaml")), &render(&package.value, Form::Yaml))?;
        let record = record::of(&life.handoff, &life.events, &life.request, &package.losses);
        write(&folder.join(format!("journal/{id}.yaml")), &render(&record, Form::Yaml))?;
        if !package.losses.is_empty() {
            archived.losses.push((id, package.losses));
        }
        archived.handoffs += 1;
    }
    Ok(archived)
}

fn entry(handoff: &Handoff) -> Value {
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
    let mut after = 0;
    loop {
        let page = store.history(run, after, PAGE).await?;
        let Some(last) = page.last() else { break };
        after = last.seq;
        for event in page {
            events.entry(event.handoff.clone()).or_default().push(event);
        }
    }
    let mut lives = Vec::new();
    for (handoff, _) in store.handoffs_of(run).await? {
        let events = events.remove(&handoff.id).unwrap_or_default();
        let request = events.first().and_then(request).ok_or_else(|| {
            CommandError::no(format!("the journal does not tell how the handoff {} was accepted", handoff.id))
                .hint(format!("baton audit verify {run} says what is wrong"))
        })?;
        lives.push(Life { handoff, events, request });
    }
    Ok(lives)
}

fn request(first: &Event) -> Option<Written> {
    match first.fact() {
        Ok(Fact::Accepted(accept)) => Some(accept.request),
        Ok(Fact::Happened(_) | Fact::Refused(_)) | Err(_) => None,
    }
}

fn write(path: &Path, text: &str) -> Result<(), CommandError> {
    atomic_file::write(path, text.as_bytes())
        .map_err(|error| CommandError::usage(format!("cannot write {}: {error}", path.display())))
}

fn put(path: &Path, text: &str) -> Result<(), CommandError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(path, text));
    written.map_err(|error| CommandError::usage(format!("cannot write {}: {error}", path.display())))
}
