//! The addresses of the API, one module per resource, and what all of them share: the OpenAPI description, lists, answers to
//! what is not there.

mod agents;
mod answers;
mod artifacts;
mod attempts;
mod briefings;
mod check;
mod claims;
mod events;
mod gates;
mod handoffs;
mod health;
mod openapi;
mod queries;
mod runs;
mod terms;
mod work;
mod workflows;

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use baton_engine::HandoffId;
use baton_engine::handoff::Handoff;
use baton_page::address::encoded;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::problem_json::ProblemJson;
use crate::server::Server;

/// How many things a list has if nobody says otherwise.
const LIMIT: u32 = 100;

/// How many things a list has at most.
const LIMIT_MAX: u32 = 1_000;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Baton",
        description = "Handoffs, runs and gates over HTTP. Every answer is JSON; a refusal is application/problem+json.",
    ),
    security(("token" = [])),
)]
struct Description;

/// Returns what the API answers.
pub(crate) fn routes() -> Router<Server> {
    let (router, _) = documented().split_for_parts();
    let description = openapi_json();
    let described = || async move { ([(header::CONTENT_TYPE, "application/json")], description) };
    router.route("/api/openapi.json", axum::routing::get(described)).method_not_allowed_fallback(wrong_method)
}

/// Returns the description of the API, as OpenAPI 3.1.
pub fn openapi_json() -> String {
    let (_, description) = documented().split_for_parts();
    openapi::render(description)
}

fn documented() -> OpenApiRouter<Server> {
    OpenApiRouter::with_openapi(Description::openapi())
        .routes(routes!(health::healthz))
        .routes(routes!(health::readyz))
        .routes(routes!(health::metrics))
        .routes(routes!(handoffs::list, handoffs::send))
        .routes(routes!(handoffs::show))
        .routes(routes!(handoffs::send_all))
        .routes(routes!(attempts::log))
        .routes(routes!(attempts::prompt))
        .routes(routes!(claims::claim))
        .routes(routes!(briefings::brief))
        .routes(routes!(work::acknowledge))
        .routes(routes!(work::heartbeat))
        .routes(routes!(work::report))
        .routes(routes!(work::fail))
        .routes(routes!(work::cancel))
        .routes(routes!(work::requeue))
        .routes(routes!(check::check))
        .routes(routes!(gates::list))
        .routes(routes!(gates::show))
        .routes(routes!(gates::decide))
        .routes(routes!(runs::list, runs::start))
        .routes(routes!(runs::show))
        .routes(routes!(runs::cancel))
        .routes(routes!(runs::resume))
        .routes(routes!(runs::retry))
        .routes(routes!(runs::journal))
        .routes(routes!(runs::graph))
        .routes(routes!(events::of_run))
        .routes(routes!(events::of_all))
        .routes(routes!(workflows::list))
        .routes(routes!(workflows::show))
        .routes(routes!(agents::list))
        .routes(routes!(agents::show, agents::set))
        .routes(routes!(artifacts::show))
        .routes(routes!(artifacts::handed))
        .routes(routes!(queries::ask))
}

/// The problem when the API has nothing at an address.
pub(crate) fn nothing_here() -> ProblemJson {
    ProblemJson::new(StatusCode::NOT_FOUND, "unknown", "there is nothing at this address")
        .hint("GET /api/openapi.json lists all addresses")
}

/// The problem when an address does not take a method.
pub(crate) async fn wrong_method() -> ProblemJson {
    ProblemJson::new(StatusCode::METHOD_NOT_ALLOWED, "wrong_method", "this address does not take this method")
}

/// Answers with JSON, or with "not modified" if the caller has just that.
fn conditional(headers: &HeaderMap, body: &Value) -> Response {
    conditional_on(headers, &body.to_string(), body)
}

/// Answers with JSON, or with "not modified" if the caller has it as of this version.
fn conditional_on(headers: &HeaderMap, version: &str, body: &Value) -> Response {
    let text = body.to_string();
    let digest = Sha256::digest(version.as_bytes());
    let tag: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    let tag = format!("\"{tag}\"");
    let wanted = headers.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let is_known =
        wanted.split(',').map(|tag| tag.trim().trim_start_matches("W/")).any(|known| known == tag || known == "*");
    let mut response = if is_known {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        ([(header::CONTENT_TYPE, "application/json")], text).into_response()
    };
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    response
}

/// Answers that something was made, or that it was there before, and where it is.
fn created(existing: bool, place: &[&str], body: Value) -> Response {
    let status = if existing { StatusCode::OK } else { StatusCode::CREATED };
    (status, [(header::LOCATION, address(place))], Json(body)).into_response()
}

/// Returns the address of something in the API.
fn address(place: &[&str]) -> String {
    place.iter().fold("/api/v1".to_owned(), |address, part| format!("{address}/{}", encoded(part)))
}

/// Makes a page of what was read with one more than it may have. Returns it, and the last one on it if more follow.
fn page(mut found: Vec<Handoff>, limit: u32) -> (Vec<Handoff>, Option<HandoffId>) {
    let has_more = found.len() > limit as usize;
    found.truncate(limit as usize);
    let next = found.last().filter(|_| has_more).map(|last| last.id.clone());
    (found, next)
}

/// Reads how many things a list is to have.
fn limit(wanted: Option<u32>) -> Result<u32, ProblemJson> {
    match wanted.unwrap_or(LIMIT) {
        limit @ 1..=LIMIT_MAX => Ok(limit),
        _ => Err(ProblemJson::new(
            StatusCode::BAD_REQUEST,
            "bad_query",
            format!("limit is a number from 1 to {LIMIT_MAX}"),
        )),
    }
}
