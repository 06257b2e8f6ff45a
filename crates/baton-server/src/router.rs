//! Everything that a server answers, the API and the page, and what holds for all of it: limits, strangers, our own mistakes.

use std::any::Any;
use std::panic::AssertUnwindSafe;

use axum::extract::{DefaultBodyLimit, MatchedPath, Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::{Router, middleware};
use futures_util::FutureExt as _;

use crate::access;
use crate::answer_form::AnswerForm;
use crate::incoming::{self, BODY_BYTES_MAX};
use crate::problem_json::ProblemJson;
use crate::server::Server;
use crate::{api, web};

/// Returns everything that a server answers.
pub(crate) fn router(server: Server) -> Router {
    web::routes(&server)
        .merge(api::routes())
        .layer(middleware::from_fn_with_state(server.clone(), answer))
        .with_state(server)
}

/// Answers a request, whatever it is about. It is one layer on purpose: each layer copies all those within it for each request.
async fn answer(State(server): State<Server>, mut request: Request, next: Next) -> Response {
    let form = AnswerForm::wanted(request.headers());
    let route = request.extensions().get::<MatchedPath>().map_or("none", MatchedPath::as_str).to_owned();
    let method = request.method().as_str().to_owned();
    let response =
        match access::refuse_strangers(&server, &request).and_then(|()| incoming::refuse_conditions(&request)) {
            Err(problem) => problem.into_response(),
            Ok(()) => {
                DefaultBodyLimit::max(BODY_BYTES_MAX).apply(&mut request);
                AssertUnwindSafe(next.run(request)).catch_unwind().await.unwrap_or_else(our_mistake)
            }
        };
    let response = form.of_problem(response);
    server.metrics.count_request(route, method, response.status());
    response
}

/// Answers a request in which the server made a mistake.
pub(crate) fn our_mistake(_: Box<dyn Any + Send>) -> Response {
    ProblemJson::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "internal error, please report it").into_response()
}
