//! Logging in with a token, logging out, and the theme.
//!
//! A session is kept in the store, as a token of its own under the token that has opened it. So it ends at once when that
//! is revoked or expires, every server on the store knows it, and the browser never keeps the token itself.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use baton_engine::token::SESSION_MAX;
use baton_page::address;
use baton_page::entrance::{self, TOKEN_FIELD};
use baton_page::layout::Theme;
use serde::Deserialize;

use super::answering::{html, keep};
use super::cookies::{BrowserSecret, SESSION, THEME};
use super::form::{SentForm, own_place, see};
use super::visitor::Visitor;
use crate::access;
use crate::incoming::Search;
use crate::problem_json::ProblemJson;
use crate::server::Server;

/// How long a browser keeps the theme, in seconds: a year.
const THEME_SECONDS: u64 = 365 * 86_400;

/// Where to go afterwards.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Back {
    back: String,
}

/// Shows the form to log in.
pub(super) async fn form(visitor: Visitor, Search(Back { back }): Search<Back>) -> Response {
    let why = visitor.has_lost_session().then_some("Your session has ended. Log in again to go on.");
    html(entrance::log_in(&visitor.viewer(), own_place(&back), why))
}

/// Opens a session for whoever has a token.
pub(super) async fn log_in(
    State(server): State<Server>,
    visitor: Visitor,
    form: SentForm,
) -> Result<Response, ProblemJson> {
    let (back, now) = (own_place(form.field("back")), server.engine.now());
    let token = match access::presented_token(&server, visitor.address, form.field(TOKEN_FIELD)).await {
        Err(problem) if problem.status() == StatusCode::UNAUTHORIZED => {
            let why = "This token is not valid. It may have expired, or somebody has revoked it.";
            let page = html(entrance::log_in(&visitor.viewer(), back, Some(why)));
            return Ok((StatusCode::UNAUTHORIZED, page).into_response());
        }
        presented => presented?,
    };
    // Sessions that are over would be kept for ever; whoever opens one clears them away.
    server.engine.store.remove_ended_sessions(now).await?;
    // Whatever the browser had before is of no use to whoever may have given it to it.
    let secret = BrowserSecret::of_random(server.host.secret()?);
    let session = token.session(&server.engine.random.word(), secret.digest(), now);
    server.engine.store.add_token(&session).await?;
    let mut response = see(back);
    keep(response.headers_mut(), &visitor.jar.keep(SESSION, &secret.text(), Some(SESSION_MAX.as_secs())));
    Ok(response)
}

/// Ends the session.
pub(super) async fn log_out(
    State(server): State<Server>,
    visitor: Visitor,
    _: SentForm,
) -> Result<Response, ProblemJson> {
    let session = visitor.jar.get(SESSION).and_then(BrowserSecret::parse);
    if let Some(secret) = session
        && let Some(session) = server.engine.store.token_with(&secret.digest()).await?
    {
        server.engine.store.revoke_token(&session.id, server.engine.now()).await?;
    }
    let mut response = see(address::LOG_IN);
    keep(response.headers_mut(), &visitor.jar.keep(SESSION, "", Some(0)));
    Ok(response)
}

/// Keeps the theme that somebody has chosen.
pub(super) async fn set_theme(visitor: Visitor, form: SentForm) -> Response {
    let theme = Theme::parse(form.field("theme")).as_str();
    let mut response = see(own_place(form.field("back")));
    keep(response.headers_mut(), &visitor.jar.keep(THEME, theme, Some(THEME_SECONDS)));
    response
}
