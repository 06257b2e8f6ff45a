//! The page for people: its addresses, one module per part of the site. What stands on a page is for `baton-page`; this
//! fetches it, takes forms, and knows who looks.

mod agents;
mod answering;
mod check;
mod comparison;
mod cookies;
mod entrance;
mod form;
mod handoff;
mod inbox;
mod memory;
mod question;
mod run;
mod runs;
mod since;
mod starting;
mod streams;
mod visitor;
mod whole;

use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use axum::{Router, middleware};
use baton_page::run::Tab;
use baton_page::{address, assets};
use tower_http::catch_panic::CatchPanicLayer;

pub(crate) use memory::{PageMemory, lock};

use crate::incoming::InPath;
use crate::problem_json::ProblemJson;
use crate::router::our_mistake;
use crate::server::Server;
use crate::{api, looking};
use visitor::Visitor;

/// Returns what the page answers, and what is said about addresses at which nothing is.
pub(crate) fn routes(server: &Server) -> Router<Server> {
    Router::new()
        .route("/", get(|| async { Redirect::to(address::RUNS) }))
        .route(address::RUNS, get(runs::list))
        .route(address::START, get(starting::form).post(starting::start))
        .route("/runs/{run}", run::tab(Tab::Overview))
        .route("/runs/{run}/flow", run::tab(Tab::Flow))
        .route("/runs/{run}/handoffs", run::tab(Tab::Handoffs))
        .route("/runs/{run}/handoffs/{id}", get(handoff::show))
        .route("/runs/{run}/handoffs/{id}/{part}", get(whole::of_handoff))
        .route("/runs/{run}/journal", run::tab(Tab::Journal))
        .route("/runs/{run}/events", get(streams::of_run))
        .route("/runs/{run}/cancel", post(run::cancel))
        .route("/runs/{run}/resume", post(run::resume))
        .route("/runs/{run}/retry", post(run::retry))
        .route(address::EVENTS, get(streams::of_all))
        .route(address::INBOX, get(inbox::list))
        .route("/inbox/{id}", get(question::show))
        .route("/inbox/{id}/decide", post(question::decide))
        .route("/inbox/{id}/{part}", get(whole::of_question))
        .route(address::AGENTS, get(agents::list))
        .route("/agents/{agent}", get(agents::show))
        .route(address::CHECK, get(check::form).post(check::judge))
        .route(address::RULES, get(check::rules))
        .route("/rules/{name}", get(check::rule))
        .route(address::COMPARE, get(comparison::show))
        .route(address::LOG_IN, get(entrance::form).post(entrance::log_in))
        .route(address::LOG_OUT, post(entrance::log_out))
        .route(address::THEME, post(entrance::set_theme))
        .route("/artifacts/{run}/{digest}", get(artifact))
        .route("/static/{file}", get(static_file))
        .fallback(nothing_here)
        .method_not_allowed_fallback(api::wrong_method)
        .layer(CatchPanicLayer::custom(our_mistake))
        .layer(middleware::from_fn_with_state(server.clone(), answering::as_page))
}

async fn nothing_here(request: Request) -> ProblemJson {
    if answering::is_of_api(request.uri().path()) {
        return api::nothing_here();
    }
    ProblemJson::new(StatusCode::NOT_FOUND, "unknown", "there is nothing at this address")
}

/// A file that a report named, as it was examined.
async fn artifact(
    State(server): State<Server>,
    visitor: Visitor,
    InPath((run, digest)): InPath<(String, String)>,
) -> Result<Response, ProblemJson> {
    looking::artifact(&server, visitor.principal()?, &run, &digest).await
}

/// The style sheet, the script and the icon. Their names change with what is in them.
async fn static_file(InPath(file): InPath<String>) -> Result<Response, ProblemJson> {
    let found = assets::find(&format!("/static/{file}")).ok_or_else(|| ProblemJson::unknown(&file))?;
    let headers = [
        (header::CONTENT_TYPE, found.content_type),
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    Ok((headers, found.text).into_response())
}
