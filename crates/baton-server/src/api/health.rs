//! Whether the server lives, whether it can work, and its figures.

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use crate::access::Principal;
use crate::problem_json::ProblemJson;
use crate::server::Server;

/// Whether the server lives
#[utoipa::path(get, path = "/healthz", tag = "server", security(()), responses((status = 200, description = "It lives")))]
pub(crate) async fn healthz() -> Json<Value> {
    Json(json!({ "status": "ok", "version": env!("CARGO_PKG_VERSION") }))
}

/// Whether the server can work: its store answers, and it is not about to end
#[utoipa::path(get, path = "/readyz", tag = "server", security(()),
    responses((status = 200, description = "It can work"), (status = 503, description = "It cannot at the moment")))]
pub(crate) async fn readyz(State(server): State<Server>) -> Result<Json<Value>, ProblemJson> {
    if server.is_closing() {
        return Err(ProblemJson::new(StatusCode::SERVICE_UNAVAILABLE, "closing", "the server is about to end"));
    }
    server.engine.store.last_position().await?;
    Ok(Json(json!({ "status": "ready", "runs_driven": server.driving.count() })))
}

/// The figures of the server, for Prometheus
#[utoipa::path(get, path = "/metrics", tag = "server",
    responses((status = 200, description = "Figures in the OpenMetrics format", content_type = "application/openmetrics-text", body = String)))]
pub(crate) async fn metrics(State(server): State<Server>, principal: Principal) -> Result<Response, ProblemJson> {
    principal.looks_at_all()?;
    let text = server.metrics.text(&server).await?;
    Ok(([(header::CONTENT_TYPE, "application/openmetrics-text; version=1.0.0; charset=utf-8")], text).into_response())
}
