//! Everything that a server answers, the API and the page, and what holds for all of it: limits, strangers, our own mistakes.

use axum::extract::DefaultBodyLimit;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{Router, middleware};
use tower_http::catch_panic::CatchPanicLayer;

use crate::access;
use crate::incoming::BODY_BYTES_MAX;
use crate::problem_json::ProblemJson;
use crate::server::Server;
use crate::{answer_form, api, web};

/// Returns everything that a server answers.
pub(crate) fn router(server: Server) -> Router {
    web::routes(&server)
        .merge(api::routes())
        .layer(middleware::from_fn_with_state(server.clone(), access::refuse_strangers))
        .layer(middleware::from_fn_with_state(server.clone(), answer_form::store_form_of_problems))
        .layer(middleware::from_fn_with_state(server.clone(), crate::metrics::count))
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .layer(CatchPanicLayer::custom(our_mistake))
        .with_state(server)
}

/// Answers a request in which the server made a mistake.
pub(crate) fn our_mistake(_: Box<dyn std::any::Any + Send>) -> Response {
    ProblemJson::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "internal error, please report it").into_response()
}
