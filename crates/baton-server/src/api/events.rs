//! Live events.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::access::Principal;
use crate::event_stream::{self, StreamForm};
use crate::incoming::{InPath, Search};
use crate::problem_json::ProblemJson;
use crate::server::Server;

/// Where to begin.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Beginning {
    /// Behind this number; `Last-Event-ID` goes before it. Default: of a run from its first event, of all runs from now.
    after: Option<u64>,
}

/// Follow a run: its events from the first one, and then as they happen
///
/// The id of each event is its number in the journal, so `Last-Event-ID` goes on exactly where the stream broke off. The
/// stream ends with the event `end` when the run is over.
#[utoipa::path(get, path = "/api/v1/runs/{id}/events", tag = "events", params(("id" = String, Path, description = "Its id"), Beginning),
    responses((status = 200, description = "Server-sent events", content_type = "text/event-stream", body = String),
        (status = 400, description = "`Last-Event-ID` or `after` is not the id of an event that has happened")))]
pub(crate) async fn of_run(
    State(server): State<Server>,
    principal: Principal,
    InPath(id): InPath<String>,
    headers: HeaderMap,
    Search(beginning): Search<Beginning>,
) -> Result<Response, ProblemJson> {
    principal.looks_at_all()?;
    let run = server.journal_named(&principal, &id).await?;
    let after = event_stream::beginning(&headers, beginning.after)?.unwrap_or(0);
    if after > 0 && server.engine.store.history(&run, after - 1, 1).await?.is_empty() {
        return Err(event_stream::beyond());
    }
    Ok(event_stream::of_run(server, principal, run, after, StreamForm::Journal))
}

/// Follow everything that happens in the store
///
/// The id of an event is the position up to which the stream is complete: after a break, `Last-Event-ID` misses nothing, and
/// may bring a few events again. `run` and `seq` identify an event.
#[utoipa::path(get, path = "/api/v1/events", tag = "events", params(Beginning),
    responses((status = 200, description = "Server-sent events", content_type = "text/event-stream", body = String),
        (status = 400, description = "`Last-Event-ID` or `after` is not the id of an event that has happened")))]
pub(crate) async fn of_all(
    State(server): State<Server>,
    principal: Principal,
    headers: HeaderMap,
    Search(beginning): Search<Beginning>,
) -> Result<Response, ProblemJson> {
    principal.looks_at_all()?;
    let last = server.engine.store.last_position().await?;
    let after = event_stream::beginning(&headers, beginning.after)?.unwrap_or(last);
    if after > last {
        return Err(event_stream::beyond());
    }
    Ok(event_stream::of_all(server, principal, after, StreamForm::Journal))
}
