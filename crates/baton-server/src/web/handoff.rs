//! One handoff: everything that is known about it, from the store and from this machine.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use baton_engine::Fence;
use baton_engine::driver;
use baton_engine::engine::{RunRecord, accepted_request, examined_of, shown_document};
use baton_engine::evidence::{ExaminedClaim, SeenFile, seen_files};
use baton_engine::handoff::{Handoff, WrittenDocument};
use baton_engine::handover::Handover;
use baton_engine::journal::Event;
use baton_page::exhibit::{EXHIBITS_MAX, Exhibit};
use baton_page::handoff::{self, HandoffPage};
use baton_page::{live, plain};
use serde::Deserialize;

use super::answering::{fragments, html, text};
use super::visitor::Visitor;
use crate::access::Principal;
use crate::agent_figures::spending;
use crate::host::AttemptTexts;
use crate::incoming::{InPath, Search};
use crate::problem_json::ProblemJson;
use crate::server::Server;

/// Which part is asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Part {
    fragment: Option<String>,
    /// The attempt; the last one if none is named.
    attempt: Option<u64>,
}

/// Returns the files that were examined, each once, the oldest first.
pub(super) fn files(examined: &[ExaminedClaim]) -> Vec<SeenFile> {
    let mut seen = BTreeSet::new();
    // A report may name a file as made and as changed.
    seen_files(examined).filter(|file| seen.insert(file.path.clone())).collect()
}

/// Shows the latest of these files, and counts the others.
pub(super) async fn exhibits(
    server: &Server,
    handoff: &Handoff,
    files: &[SeenFile],
) -> Result<(Vec<Exhibit>, usize), ProblemJson> {
    let left_out = files.len().saturating_sub(EXHIBITS_MAX);
    let definition = server.engine.definition_of(handoff).await?;
    Ok((server.host.exhibits(&handoff.run, definition.as_ref(), &files[left_out..]).await, left_out))
}

/// Reads the run of a handoff. Whoever sees this handoff only does not see what stands beside it in the run.
pub(super) async fn run_around(
    server: &Server,
    principal: &Principal,
    handoff: &Handoff,
) -> Result<Option<Arc<RunRecord>>, ProblemJson> {
    if handoff.terms.step.is_none() || principal.is_restricted() {
        return Ok(None);
    }
    let root = server.visible_run(principal, handoff.run.as_str()).await?;
    Ok(Some(server.run_record(&root).await?))
}

/// A handoff with everything that is known about it.
pub(super) struct SeenHandoff {
    pub(super) handoff: Handoff,
    record: Option<Arc<RunRecord>>,
    pub(super) request: WrittenDocument,
    pub(super) report: Option<WrittenDocument>,
    given: Vec<Handover>,
    pub(super) examined: Vec<ExaminedClaim>,
    exhibits: Vec<Exhibit>,
    exhibits_left_out: usize,
    attempt: Fence,
    texts: AttemptTexts,
    events: Vec<Event>,
}

/// Finds a handoff of a run, if it may be seen.
pub(super) async fn find(server: &Server, principal: &Principal, run: &str, id: &str) -> Result<Handoff, ProblemJson> {
    let handoff = server.visible(principal, id).await?;
    if handoff.run.as_str() == run { Ok(handoff) } else { Err(ProblemJson::unknown(id)) }
}

impl SeenHandoff {
    /// Looks at a handoff; at its last attempt, if no other is named.
    pub(super) async fn of(
        server: &Server,
        principal: &Principal,
        handoff: Handoff,
        attempt: Option<u64>,
    ) -> Result<SeenHandoff, ProblemJson> {
        let record = run_around(server, principal, &handoff).await?;
        let tracked = record.as_ref().and_then(|record| record.run.find(&handoff.id));
        let events = server.engine.store.history_of(&handoff.id).await?;
        let request = accepted_request(&events)?;
        let report = shown_document(&events, handoff.last_report.as_ref());
        let examined = examined_of(&events);
        let (exhibits, exhibits_left_out) = exhibits(server, &handoff, &files(&examined)).await?;
        let given = record.as_ref().zip(tracked).map(|(record, tracked)| driver::handed_to(&record.run, tracked));
        let attempt = attempt.map_or(handoff.fence, Fence);
        let is_for_them = principal.sees_attempts(&handoff);
        let texts = match server.engine.definition_of(&handoff).await?.filter(|_| is_for_them) {
            Some(definition) => server.host.attempt(&definition, &handoff, attempt).await,
            None => AttemptTexts::default(),
        };
        let given = given.unwrap_or_default();
        Ok(SeenHandoff {
            handoff,
            record,
            request,
            report,
            given,
            examined,
            exhibits,
            exhibits_left_out,
            attempt,
            texts,
            events,
        })
    }

    /// Returns what its page shows.
    pub(super) fn page(&self) -> HandoffPage<'_> {
        let run = self.record.as_ref().map(|record| &record.run);
        let tracked = run.and_then(|run| run.find(&self.handoff.id));
        let spending = spending(&self.events);
        HandoffPage {
            handoff: &self.handoff,
            run,
            request: &self.request,
            report: self.report.as_ref(),
            given: &self.given,
            examined: &self.examined,
            exhibits: &self.exhibits,
            exhibits_left_out: self.exhibits_left_out,
            prompt: self.texts.prompt.as_deref(),
            output: self.texts.output.as_deref(),
            attempt: self.attempt,
            spending,
            tokens: tracked.map_or_else(|| spending.spent.tokens(), |tracked| tracked.tokens()),
            events: &self.events,
        }
    }
}

/// Shows a handoff.
pub(super) async fn show(
    State(server): State<Server>,
    visitor: Visitor,
    InPath((run, id)): InPath<(String, String)>,
    Search(part): Search<Part>,
) -> Result<Response, ProblemJson> {
    let principal = visitor.principal()?;
    let handoff = find(&server, principal, &run, &id).await?;
    let seen = SeenHandoff::of(&server, principal, handoff, part.attempt).await?;
    let (page, viewer) = (seen.page(), visitor.viewer());
    match &part.fragment {
        Some(names) => {
            fragments(&viewer, names, |name| (name == live::HANDOFF).then(|| handoff::fragment(&viewer, &page)))
        }
        None if visitor.wants_html => Ok(html(handoff::page(&viewer, &page))),
        None => Ok(text(plain::handoff(&viewer, &page))),
    }
}
