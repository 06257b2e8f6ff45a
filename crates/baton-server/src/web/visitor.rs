//! Who looks at a page: found once for each request, before anything is fetched for it.

use std::net::IpAddr;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{Method, StatusCode, header};
use baton_engine::handoff::StateName;
use baton_engine::store::Filter;
use baton_page::address;
use baton_page::layout::{Theme, Viewer};
use jiff::Timestamp;

use super::cookies::{BrowserSecret, CookieJar, LIST, SESSION, THEME, VISITOR};
use crate::access::{self, Principal};
use crate::problem_json::ProblemJson;
use crate::server::Server;

/// How many questions are counted for the badge.
const WAITING_MAX: u32 = 100;

/// Somebody who looks at a page.
#[derive(Clone)]
pub(super) struct Visitor {
    /// Who it is, or why nobody knows.
    principal: Result<Principal, ProblemJson>,
    /// What their browser has sent.
    pub(super) jar: CookieJar,
    /// The secret that their forms are bound to.
    pub(super) secret: BrowserSecret,
    /// Whether their browser does not have it yet.
    pub(super) is_new: bool,
    csrf: String,
    waiting: usize,
    now: Timestamp,
    /// Whether they want HTML; programs such as `curl` get text.
    pub(super) wants_html: bool,
    /// Where they come from, for the limit of wrong tokens.
    pub(super) address: Option<IpAddr>,
    /// The address that they ask for.
    pub(super) here: String,
    /// Whether they follow a link on somebody else's page. A browser does not send our cookies then.
    pub(super) is_from_elsewhere: bool,
}

impl Visitor {
    /// Finds out who makes a request.
    pub(super) async fn of(server: &Server, parts: &Parts) -> Result<Visitor, ProblemJson> {
        let headers = &parts.headers;
        let jar = CookieJar::of(headers, server.transport);
        let session = jar.get(SESSION).and_then(BrowserSecret::parse);
        let known = jar.get(VISITOR).and_then(BrowserSecret::parse);
        let (principal, is_session) = principal(server, parts, session.as_ref()).await;
        let secret = session.filter(|_| is_session).or(known);
        let is_new = secret.is_none();
        let secret = match secret {
            Some(secret) => secret,
            None => BrowserSecret::of_random(server.host.secret()?),
        };
        let accepts = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let wants_html = accepts.contains("text/html");
        let waiting = match &principal {
            Ok(principal) if wants_html && !principal.is_restricted() => waiting(server).await,
            _ => 0,
        };
        let site = headers.get("sec-fetch-site").and_then(|value| value.to_str().ok());
        Ok(Visitor {
            principal,
            csrf: secret.csrf(),
            jar,
            secret,
            is_new,
            waiting,
            now: server.engine.now(),
            wants_html,
            address: access::peer(server, parts),
            here: parts.uri.path_and_query().map(ToString::to_string).unwrap_or_default(),
            is_from_elsewhere: parts.method == Method::GET && site == Some("cross-site"),
        })
    }

    /// Returns who it is, if they may look at anything.
    pub(super) fn principal(&self) -> Result<&Principal, ProblemJson> {
        self.principal.as_ref().map_err(Clone::clone)
    }

    /// Returns what pages know about them.
    pub(super) fn viewer(&self) -> Viewer<'_> {
        let principal = self.principal.as_ref().ok().filter(|principal| !principal.is_anonymous());
        let is_person = principal.is_some_and(Principal::is_person);
        Viewer {
            name: principal.map(|principal| principal.name.as_str()),
            may_decide: is_person,
            may_start: self.principal.as_ref().is_ok_and(|principal| principal.runs_workflows().is_ok()),
            may_control: is_person,
            csrf: &self.csrf,
            runs: self.jar.get(LIST).filter(|address| is_list(address)).unwrap_or(address::RUNS),
            waiting: self.waiting,
            theme: self.jar.get(THEME).map(Theme::parse).unwrap_or_default(),
            now: self.now,
        }
    }

    /// Returns whether their browser still has a session that is over: its token was revoked or has expired.
    pub(super) fn has_lost_session(&self) -> bool {
        self.jar.get(SESSION).is_some_and(|sent| !sent.is_empty()) && self.viewer().name.is_none()
    }

    /// Returns whether a form was made for them.
    pub(super) fn has_sent(&self, csrf: &str) -> bool {
        // The time that this takes says nothing about how much of it is right.
        let same = self.csrf.bytes().zip(csrf.bytes()).fold(0, |differences, (own, sent)| differences | (own ^ sent));
        self.csrf.len() == csrf.len() && same == 0
    }
}

/// Returns whether an address is one of the list of runs, as we write it.
fn is_list(given: &str) -> bool {
    let filter = given.strip_prefix(address::RUNS).unwrap_or(given);
    filter.starts_with('?') && filter.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"?&=%-._~".contains(&byte))
}

/// Finds out who it is, and whether a session says so.
async fn principal(
    server: &Server,
    parts: &Parts,
    session: Option<&BrowserSecret>,
) -> (Result<Principal, ProblemJson>, bool) {
    match Principal::bearer(server, parts).await {
        Ok(Some(principal)) => return (Ok(principal), false),
        Ok(None) => {}
        Err(problem) => return (Err(problem), false),
    }
    if let Some(session) = session {
        match Principal::of_session(server, &session.digest()).await {
            Ok(Some(principal)) => return (Ok(principal), true),
            Ok(None) => {}
            Err(problem) => return (Err(problem), true),
        }
    }
    (Principal::without_token(server).await, false)
}

/// Counts what waits for people. A page without the number is better than none.
async fn waiting(server: &Server) -> usize {
    let filter = Filter { agent: None, states: vec![StateName::AwaitingPerson], after: None, limit: WAITING_MAX };
    server.engine.store.list(&filter).await.map(|waiting| waiting.len()).unwrap_or_default()
}

/// Takes the visitor whom [`super::answering::as_page`] has found.
impl FromRequestParts<Server> for Visitor {
    type Rejection = ProblemJson;

    async fn from_request_parts(parts: &mut Parts, _: &Server) -> Result<Visitor, ProblemJson> {
        let internal =
            || ProblemJson::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "internal error, please report it");
        parts.extensions.get::<Visitor>().cloned().ok_or_else(internal)
    }
}
