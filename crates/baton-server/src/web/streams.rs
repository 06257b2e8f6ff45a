//! Which parts of pages change, as they do.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use baton_engine::HandoffId;
use serde::Deserialize;

use super::visitor::Visitor;
use crate::event_stream::{self, StreamForm};
use crate::incoming::{InPath, Search};
use crate::problem_json::ProblemJson;
use crate::server::Server;

/// Where to begin.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Beginning {
    after: Option<u64>,
}

/// Follows a run. When it is over, browsers are told not to come again.
pub(super) async fn of_run(
    State(server): State<Server>,
    visitor: Visitor,
    InPath(id): InPath<String>,
    headers: HeaderMap,
    Search(given): Search<Beginning>,
) -> Result<Response, ProblemJson> {
    let principal = visitor.principal()?;
    principal.looks_at_all()?;
    let run = server.journal_named(principal, &id).await?;
    let after = event_stream::beginning(&headers, given.after)?.unwrap_or(0);
    // The run comes before its events, so that none is missed.
    let root = match HandoffId::parse(run.as_str()) {
        Ok(root) => server.engine.store.find(&root).await?,
        Err(_) => None,
    };
    let is_finished = root.is_some_and(|root| root.state.name().is_finished());
    if is_finished && server.engine.store.history(&run, after, 1).await?.is_empty() {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    Ok(event_stream::of_run(server, principal.clone(), run, after, StreamForm::Fragments))
}

/// Follows everything.
pub(super) async fn of_all(
    State(server): State<Server>,
    visitor: Visitor,
    headers: HeaderMap,
    Search(given): Search<Beginning>,
) -> Result<Response, ProblemJson> {
    let principal = visitor.principal()?;
    principal.looks_at_all()?;
    match event_stream::beginning(&headers, given.after)? {
        Some(after) => Ok(event_stream::of_all(server, principal.clone(), after, StreamForm::Fragments)),
        None => {
            let now = server.engine.store.last_position().await?;
            Ok(event_stream::of_all_from_now(server, principal.clone(), now))
        }
    }
}
