//! One handoff: everything that is known about it, from the store and from this machine.

use std::collections::BTreeSet;

use axum::extract::State;
use axum::response::Response;
use baton_engine::driver;
use baton_engine::engine::{accepted_request, examined_of, shown_document};
use baton_engine::evidence::{ExaminedClaim, SeenFile, seen_files};
use baton_engine::handoff::Handoff;
use baton_page::exhibit::Exhibit;
use baton_page::handoff::{self, HandoffPage};
use baton_page::{live, plain};
use serde::Deserialize;

use super::answering::{fragments, html, text};
use super::figures::spending;
use super::visitor::Visitor;
use crate::incoming::{InPath, Search};
use crate::problem_json::ProblemJson;
use crate::server::Server;

/// How many files are shown; more stand in the evidence.
const FILES_MAX: usize = 40;

/// Which part is asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Part {
    fragment: Option<String>,
}

/// Shows files that were examined, each once.
pub(super) async fn exhibits(
    server: &Server,
    handoff: &Handoff,
    examined: &[ExaminedClaim],
) -> Result<Vec<Exhibit>, ProblemJson> {
    let mut shown = BTreeSet::new();
    // A report may name a file as made and as changed.
    let files: Vec<SeenFile> =
        seen_files(examined).filter(|file| shown.insert(file.path.clone())).take(FILES_MAX).collect();
    let definition = server.engine.definition_of(handoff).await?;
    Ok(server.host.exhibits(&handoff.run, definition.as_ref(), &files).await)
}

/// Shows a handoff.
pub(super) async fn show(
    State(server): State<Server>,
    visitor: Visitor,
    InPath((run, id)): InPath<(String, String)>,
    Search(part): Search<Part>,
) -> Result<Response, ProblemJson> {
    let principal = visitor.principal()?;
    let handoff = server.visible(principal, &id).await?;
    if handoff.run.as_str() != run {
        return Err(ProblemJson::unknown(&id));
    }
    // Whoever sees this handoff only does not see what stands beside it in the run.
    let root = if handoff.terms.step.is_some() && !principal.is_restricted() {
        Some(server.visible_run(principal, &run).await?)
    } else {
        None
    };
    let record = match &root {
        Some(root) => Some(server.run_record(root).await?),
        None => None,
    };
    let tracked = record.as_ref().and_then(|record| record.run.find(&handoff.id));
    let events = server.engine.store.history_of(&handoff.id).await?;
    let request = accepted_request(&events)?;
    let report = shown_document(&events, handoff.last_report.as_ref());
    let examined = examined_of(&events);
    let exhibits = exhibits(&server, &handoff, &examined).await?;
    let given = record.as_ref().zip(tracked).map(|(record, tracked)| driver::handed_to(&record.run, tracked));
    let attempt = match server.engine.definition_of(&handoff).await? {
        Some(definition) => server.host.attempt(&definition, &handoff).await,
        None => Default::default(),
    };
    let spent = spending(&events);
    let page = HandoffPage {
        handoff: &handoff,
        run: record.as_ref().map(|record| &record.run),
        request: &request,
        report: report.as_ref(),
        given: given.as_deref().unwrap_or_default(),
        examined: &examined,
        exhibits: &exhibits,
        prompt: attempt.prompt.as_deref(),
        output: attempt.output.as_deref(),
        spending: spent,
        tokens: tracked.map_or_else(|| spent.spent.tokens(), |tracked| tracked.tokens()),
        events: &events,
    };
    let viewer = visitor.viewer();
    match &part.fragment {
        Some(names) => {
            fragments(&viewer, names, |name| (name == live::HANDOFF).then(|| handoff::fragment(&viewer, &page)))
        }
        None if visitor.wants_html => Ok(html(handoff::page(&viewer, &page))),
        None => Ok(text(plain::handoff(&viewer, &page))),
    }
}
