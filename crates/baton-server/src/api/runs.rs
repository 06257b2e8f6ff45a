//! Runs of workflows: starting, listing, looking at one, stopping and going on.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use baton_engine::EventKind;
use baton_engine::engine::{RunRecord, plain_key};
use baton_engine::flow::{self, Restart};
use baton_engine::handoff::Handoff;
use baton_engine::store::AcceptedHandoff;
use baton_views::details::RunDetails;
use baton_views::event;
use baton_views::graph::{self, of_run::marked};
use baton_views::run_summary::RunSummary;
use baton_views::standing::RunStanding;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use utoipa::{IntoParams, ToSchema};

use super::work::NewCancellation;
use super::{address, conditional_on, created, limit, page};
use crate::access::Principal;
use crate::acting::{self, WantedRun};
use crate::incoming::{InPath, JsonBody, Search, idempotency_key, value};
use crate::looking;
use crate::problem_json::ProblemJson;
use crate::server::Server;

/// A run to start.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "workflow": "sample", "inputs": { "feature": "dates" }, "workspace": "feature-7" }))]
pub(crate) struct NewRun {
    /// The name of a workflow that the server knows.
    workflow: String,
    /// What it is given, by name.
    #[serde(default)]
    #[schema(value_type = Object)]
    inputs: Map<String, Value>,
    /// A folder inside the server's workspace; default: that itself.
    workspace: Option<String>,
    /// The id of the run; default: the name of the workflow and a few letters.
    id: Option<String>,
}

/// Start a run of a workflow
///
/// Starting the same run with the same `Idempotency-Key` or id again gives the run that is there, with 200 instead of 201,
/// whether it goes on or has ended.
#[utoipa::path(post, path = "/api/v1/runs", tag = "runs", request_body = NewRun,
    params(("Idempotency-Key" = Option<String>, Header, description = "Sending the same key again gives the same run")),
    responses((status = 201, description = "The run was recorded, and this server drives it", headers(("Location" = String, description = "Where it is"))),
        (status = 200, description = "It was started before", headers(("Location" = String, description = "Where it is"))),
        (status = 404, description = "Unknown workflow"), (status = 409, description = "The key or id belongs to something else, or another run works in the workspace"),
        (status = 422, description = "The inputs do not fit")))]
pub(crate) async fn start(
    State(server): State<Server>,
    principal: Principal,
    headers: HeaderMap,
    JsonBody(new): JsonBody<NewRun>,
) -> Result<Response, ProblemJson> {
    let key = idempotency_key(&headers)?.map(|key| value("/key", plain_key(key))).transpose()?;
    let NewRun { workflow, inputs, workspace, id } = new;
    let wanted = WantedRun { workflow, inputs, workspace, id, key };
    let AcceptedHandoff { handoff: root, existing } = acting::start_run(&server, &principal, wanted).await?;
    let handoff = baton_views::handoff::json(&root);
    let body = json!({ "version": 1, "existing": existing, "run": root.run, "handoff": handoff });
    Ok(created(existing, &["runs", root.run.as_str()], body))
}

/// Which runs to list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Listing {
    /// Behind this one: `next` of the page before.
    after: Option<String>,
    /// How many at most; default: 100.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
}

/// List runs of workflows, the newest first
#[utoipa::path(get, path = "/api/v1/runs", tag = "runs", params(Listing),
    responses((status = 200, description = "A page of runs; `next` is the cursor of the page behind it")))]
pub(crate) async fn list(
    State(server): State<Server>,
    principal: Principal,
    Search(listing): Search<Listing>,
) -> Result<Json<Value>, ProblemJson> {
    principal.looks_at_all()?;
    let limit = limit(listing.limit)?;
    let after = match &listing.after {
        Some(id) => Some(server.engine.resolve_run(id).await?.id),
        None => None,
    };
    let (roots, next) = page(server.engine.run_roots(after, limit + 1).await?, limit);
    let mut runs = Vec::with_capacity(roots.len());
    let holds = server.engine.queue_holds().await?;
    for root in roots {
        runs.push(looking::listed(&server, root, &holds).await?.json());
    }
    Ok(Json(json!({ "version": 1, "runs": runs, "next": next })))
}

/// Look at a run: its phases, what goes on, what waits for people
#[utoipa::path(get, path = "/api/v1/runs/{id}", tag = "runs", params(("id" = String, Path, description = "Its id, or `last`")),
    responses((status = 200, description = "The run"), (status = 304, description = "The caller has this"), (status = 404, description = "There is none")))]
pub(crate) async fn show(
    State(server): State<Server>,
    principal: Principal,
    InPath(id): InPath<String>,
    headers: HeaderMap,
) -> Result<Response, ProblemJson> {
    let root = server.visible_run(&principal, &id).await?;
    let record = server.engine.run(&root.run).await?;
    let standing = looking::standing(&server, &record.run);
    let version = version(&record, &standing);
    Ok(conditional_on(&headers, &version, &details(&server, &record, &standing)))
}

/// Returns what a run is as of: its last event but for signs of life, and where it stands. How long it takes changes all the time.
fn version(record: &RunRecord, standing: &RunStanding) -> String {
    let told = record.events.iter().rev().find(|event| !event.is(EventKind::Extended));
    let hash = told.map(|event| event.hash.to_string()).unwrap_or_default();
    format!("{hash} {} {}", standing.word(), standing.driver().unwrap_or_default())
}

fn details(server: &Server, record: &RunRecord, standing: &RunStanding) -> Value {
    let RunRecord { run, events } = record;
    let summary = RunSummary::of(run, events, server.engine.now());
    let waiting = run.waiting().filter_map(|tracked| {
        let question = flow::question(run, tracked)?;
        Some(baton_views::question::json(&tracked.handoff, &question))
    });
    RunDetails { run, summary: &summary, standing, waiting: waiting.collect() }.json()
}

/// Call a run off, with everything that is open in it
#[utoipa::path(post, path = "/api/v1/runs/{id}/cancel", tag = "runs", params(("id" = String, Path, description = "Its id")),
    request_body = NewCancellation, responses((status = 200, description = "The run was called off"), (status = 409, description = "It is finished")))]
pub(crate) async fn cancel(
    State(server): State<Server>,
    principal: Principal,
    InPath(id): InPath<String>,
    JsonBody(new): JsonBody<NewCancellation>,
) -> Result<Json<Value>, ProblemJson> {
    let applied = acting::cancel_run(&server, &principal, &id, new.reason).await?;
    Ok(Json(json!({ "version": 1, "handoff": baton_views::handoff::json(&applied.handoff) })))
}

/// Go on with a run that nobody drives. It does nothing if the run is driven, or over
#[utoipa::path(post, path = "/api/v1/runs/{id}/resume", tag = "runs", params(("id" = String, Path, description = "Its id")),
    responses((status = 202, description = "This server drives it, if nobody else does")))]
pub(crate) async fn resume(
    State(server): State<Server>,
    principal: Principal,
    InPath(id): InPath<String>,
) -> Result<Response, ProblemJson> {
    Ok(accepted(&acting::resume_run(&server, &principal, &id).await?))
}

/// From where a run begins again.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewRetry {
    /// The phase to do again, with everything after it; default: the one that the run came to last.
    from: Option<String>,
    /// What the agent of that phase must know.
    note: Option<String>,
    /// Inputs that are different from then on. There is no way back with other inputs past a place where a person decides.
    #[serde(default)]
    #[schema(value_type = Object)]
    inputs: Map<String, Value>,
}

/// Let a run that nobody drives begin again from a phase
#[utoipa::path(post, path = "/api/v1/runs/{id}/retry", tag = "runs", params(("id" = String, Path, description = "Its id")),
    request_body = NewRetry, responses((status = 202, description = "It begins again, and this server drives it"),
        (status = 409, description = "It is driven, or there is no way back to this phase")))]
pub(crate) async fn retry(
    State(server): State<Server>,
    principal: Principal,
    InPath(id): InPath<String>,
    JsonBody(new): JsonBody<NewRetry>,
) -> Result<Response, ProblemJson> {
    let NewRetry { from, note, inputs } = new;
    let root = acting::retry_run(&server, &principal, &id, &Restart { from, note, inputs }).await?;
    Ok(accepted(&root))
}

fn accepted(root: &Handoff) -> Response {
    let place = address(&["runs", root.run.as_str()]);
    (StatusCode::ACCEPTED, [(header::LOCATION, place)], Json(json!({ "version": 1, "run": root.run }))).into_response()
}

/// Which events to read.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Pages {
    /// Behind this number: `next` of the page before.
    after: Option<u64>,
    /// How many at most; default: 100.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
}

/// Read the journal of a run
#[utoipa::path(get, path = "/api/v1/runs/{id}/journal", tag = "runs", params(("id" = String, Path, description = "Its id"), Pages),
    responses((status = 200, description = "Events in their order; `next` is the number to go on behind, if there may be more")))]
pub(crate) async fn journal(
    State(server): State<Server>,
    principal: Principal,
    InPath(id): InPath<String>,
    Search(pages): Search<Pages>,
) -> Result<Json<Value>, ProblemJson> {
    principal.looks_at_all()?;
    let limit = limit(pages.limit)?;
    let run = server.journal_named(&principal, &id).await?;
    let events = server.engine.store.history(&run, pages.after.unwrap_or(0), limit).await?;
    let next = events.last().filter(|_| events.len() == limit as usize).map(|last| last.seq);
    let events: Vec<Value> = events.iter().map(|found| event::letter_by_letter(found, None)).collect();
    Ok(Json(json!({ "version": 1, "run": run, "events": events, "next": next })))
}

/// How a picture is to be drawn.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Picture {
    /// Default: `json`.
    #[param(inline)]
    format: Option<PictureFormat>,
}

/// The form of a picture.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PictureFormat {
    /// Nodes and edges.
    #[default]
    Json,
    /// A drawing.
    Svg,
    /// Text for Mermaid.
    Mermaid,
    /// Text for Graphviz.
    Dot,
}

/// Draw a run: its phases, how far each is, and the way that it took
#[utoipa::path(get, path = "/api/v1/runs/{id}/graph", tag = "runs", params(("id" = String, Path, description = "Its id"), Picture),
    responses((status = 200, description = "The picture", content(
        (Object = "application/json"), (String = "image/svg+xml"), (String = "text/plain")))))]
pub(crate) async fn graph(
    State(server): State<Server>,
    principal: Principal,
    InPath(id): InPath<String>,
    Search(picture): Search<Picture>,
) -> Result<Response, ProblemJson> {
    principal.looks_at_all()?;
    let root = server.visible_run(&principal, &id).await?;
    let run = server.engine.run(&root.run).await?.run;
    let drawn = marked(&run, server.engine.now());
    let text = |kind: &'static str, text: String| ([(header::CONTENT_TYPE, kind)], text).into_response();
    Ok(match picture.format.unwrap_or_default() {
        PictureFormat::Json => Json(graph::json::render(&drawn)).into_response(),
        PictureFormat::Svg => text("image/svg+xml", graph::svg::render(&drawn)),
        PictureFormat::Mermaid => text("text/plain; charset=utf-8", graph::mermaid::render(&drawn)),
        PictureFormat::Dot => text("text/plain; charset=utf-8", graph::dot::render(&drawn)),
    })
}
