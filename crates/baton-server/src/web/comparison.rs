//! Two runs side by side.

use axum::extract::State;
use axum::response::Response;
use baton_page::comparison::{self, ComparedRun};
use baton_page::layout::Viewer;
use baton_page::plain;
use serde::Deserialize;

use super::answering::{html, text};
use super::run::SeenRecord;
use super::visitor::Visitor;
use crate::incoming::Search;
use crate::problem_json::ProblemJson;
use crate::server::Server;

/// Which runs.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Pair {
    a: String,
    b: String,
}

/// Shows both.
pub(super) async fn show(
    State(server): State<Server>,
    visitor: Visitor,
    Search(pair): Search<Pair>,
) -> Result<Response, ProblemJson> {
    let principal = visitor.principal()?;
    principal.looks_at_all()?;
    let a = SeenRecord::of(&server, &server.visible_run(principal, pair.a.trim()).await?).await?;
    let b = SeenRecord::of(&server, &server.visible_run(principal, pair.b.trim()).await?).await?;
    let viewer = visitor.viewer();
    let (a, b) = (compared(&a, &viewer), compared(&b, &viewer));
    if visitor.wants_html { Ok(html(comparison::page(&viewer, &a, &b))) } else { Ok(text(plain::comparison(&a, &b))) }
}

fn compared<'s>(seen: &'s SeenRecord, viewer: &Viewer<'_>) -> ComparedRun<'s> {
    ComparedRun { run: &seen.record.run, summary: &seen.summary, state: seen.page(None).state(viewer) }
}
