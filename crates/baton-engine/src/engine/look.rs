//! Looking at handoffs and runs: their events, and the documents in them.

use std::collections::HashSet;

use baton_protocol::model::Document;

use super::{Engine, Problem};
use crate::answer;
use crate::definition::Definition;
use crate::driver;
use crate::evidence::{self, ExaminedClaim, SeenFile};
use crate::handoff::{Digest, Handoff, StateName, WrittenDocument};
use crate::id::{HandoffId, RunId};
use crate::journal::{Event, Fact};
use crate::lifecycle::Command;
use crate::pages::JournalPages;
use crate::people::Question;
use crate::run::Run;
use crate::store::{Store, StoreError};

/// A run, and its journal.
#[derive(Debug)]
pub struct RunRecord {
    /// The run, as its journal tells it.
    pub run: Run,
    /// The journal.
    pub events: Vec<Event>,
}

impl Engine {
    /// Returns the events of a run, in their order.
    pub async fn events_of_run(&self, run: &RunId) -> Result<Vec<Event>, Problem> {
        Ok(JournalPages::after(&*self.store, run, 0).collect().await?)
    }

    /// Returns what is asked in a handoff.
    pub async fn request(&self, id: &HandoffId) -> Result<WrittenDocument, Problem> {
        let request = self.store.request(id).await?;
        request.ok_or_else(|| StoreError::NotFound(id.clone()).into())
    }

    /// Reads a run from its journal.
    pub async fn run(&self, id: &RunId) -> Result<RunRecord, Problem> {
        let events = self.events_of_run(id).await?;
        let run = Run::of_journal(&events).map_err(|why| Problem::BrokenRun { run: id.clone(), why })?;
        Ok(RunRecord { run, events })
    }

    /// Reads on in a run that was read before; `None` if nothing has happened since.
    pub async fn run_since(&self, known: &RunRecord) -> Result<Option<RunRecord>, Problem> {
        let id = &known.run.id;
        let new = JournalPages::after(&*self.store, id, known.run.seq).collect().await?;
        if new.is_empty() {
            return Ok(None);
        }
        let (mut run, mut events) = (known.run.clone(), known.events.clone());
        for event in &new {
            run.absorb(event).map_err(|why| Problem::BrokenRun { run: id.clone(), why })?;
        }
        events.extend(new);
        Ok(Some(RunRecord { run, events }))
    }

    /// Returns what a person is asked about a handoff; `None` if it does not wait for a person.
    pub async fn question(&self, handoff: &Handoff) -> Result<Option<Question>, Problem> {
        Ok(Question::of(handoff, &self.events_of_run(&handoff.run).await?))
    }

    /// Returns those checks and groups among handoffs that were completed with a result that is not good. Their state does
    /// not tell: a command that says no has done its work.
    pub async fn not_passed(&self, handoffs: &[Handoff]) -> Result<HashSet<HandoffId>, Problem> {
        let is_drivers = |handoff: &&Handoff| handoff.terms.step.as_ref().is_some_and(|step| step.role.is_drivers());
        let mut found = HashSet::new();
        for handoff in handoffs.iter().filter(is_drivers).filter(|handoff| !handoff.is_run()) {
            if handoff.state.name() == StateName::Completed
                && let Some(document) = reported_document(&self.store.history_of(&handoff.id).await?)
                && let Some(Document::Report(report)) = document.read()
                && !answer::passes(&report)
            {
                found.insert(handoff.id.clone());
            }
        }
        Ok(found)
    }

    /// Returns what the run of a handoff was started with; `None` if the handoff belongs to no workflow.
    pub async fn definition_of(&self, handoff: &Handoff) -> Result<Option<Definition>, Problem> {
        match handoff.terms.step {
            Some(_) => self.definition(&handoff.run).await,
            None => Ok(None),
        }
    }

    /// Returns the files that a handoff is given by those before it in its run, as they were when they were examined.
    pub async fn files_handed_to(&self, handoff: &Handoff) -> Result<Vec<SeenFile>, Problem> {
        if handoff.terms.step.is_none() {
            return Ok(Vec::new());
        }
        let run = self.run_now(&handoff.run).await?;
        Ok(run.find(&handoff.id).map(|tracked| driver::files_handed_to(&run, tracked)).unwrap_or_default())
    }

    /// Returns what a run was started with; `None` if it belongs to no workflow.
    pub async fn definition(&self, run: &RunId) -> Result<Option<Definition>, Problem> {
        Ok(definition(self.store.as_ref(), run).await?)
    }
}

async fn definition(store: &dyn Store, run: &RunId) -> Result<Option<Definition>, StoreError> {
    let first = store.history(run, 0, 1).await?;
    let Some(first) = first.first() else { return Ok(None) };
    // What cannot be read must not look like a handoff without a run.
    let Fact::Accepted(accept) = first.fact().map_err(|why| why.at(&first.place()))? else { return Ok(None) };
    if accept.terms.step.is_none() {
        return Ok(None);
    }
    Definition::of_request(&accept.request).map(Some).map_err(|why| why.at(&first.place()))
}

/// Returns the request of a handoff.
pub fn accepted_request(events: &[Event]) -> Result<WrittenDocument, Problem> {
    let accepted = events.iter().find_map(|event| match event.fact() {
        Ok(Fact::Accepted(accept)) => Some(accept.request),
        _ => None,
    });
    accepted.ok_or_else(|| StoreError::Damaged("the request of this handoff is not in its journal".to_owned()).into())
}

/// Returns the document with this digest: a report, a failure or an acknowledgment.
pub fn shown_document(events: &[Event], digest: Option<&Digest>) -> Option<WrittenDocument> {
    let digest = digest?;
    events.iter().rev().filter_map(document_of).find(|document| document.digest() == *digest)
}

/// Returns the last report.
pub fn reported_document(events: &[Event]) -> Option<WrittenDocument> {
    events.iter().rev().find_map(|event| match event.fact() {
        Ok(Fact::Happened(Command::Report(report))) => Some(report.document),
        _ => None,
    })
}

/// Returns the document of an event, if it had an effect.
pub fn document_of(event: &Event) -> Option<WrittenDocument> {
    match event.fact().ok()? {
        Fact::Accepted(accept) => Some(accept.request),
        Fact::Happened(Command::Report(report)) => Some(report.document),
        Fact::Happened(Command::Acknowledge(acknowledge)) => Some(acknowledge.document),
        Fact::Happened(Command::Fail(fail)) => fail.document,
        Fact::Happened(_) | Fact::Refused(_) => None,
    }
}

/// Returns the evidence for each claim of the last report; empty if it was not verified.
pub fn examined_of(events: &[Event]) -> Vec<ExaminedClaim> {
    for event in events.iter().rev() {
        match event.fact() {
            // A gate is about what the phases before it have left.
            Ok(Fact::Accepted(accept)) => return evidence::handed_over(&accept.terms.files),
            // That approved files are as they were adds nothing to what was seen of them.
            Ok(Fact::Happened(Command::Verify(verify))) if !verify.examined.is_empty() => return verify.examined,
            // What was seen before belongs to another report.
            Ok(Fact::Happened(Command::Report(report))) => return report.examined,
            _ => {}
        }
    }
    Vec::new()
}
