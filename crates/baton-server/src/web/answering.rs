//! How pages are answered: who looks is found first, problems become pages, and the headers that protect a reader are on
//! everything. For programs such as `curl`, problems are text.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use baton_page::layout::{self, CONTENT_SECURITY_POLICY, Viewer};
use baton_page::{address, entrance, live};
use baton_protocol::printable;
use maud::Markup;

use super::cookies::VISITOR;
use super::visitor::Visitor;
use crate::problem_json::ProblemJson;
use crate::server::Server;

/// Returns whether an address belongs to the API, whose problems stay JSON.
pub(super) fn is_of_api(path: &str) -> bool {
    path == "/api" || path.starts_with("/api/")
}

/// Answers with a page.
pub(super) fn html(page: Markup) -> Response {
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], page.into_string()).into_response()
}

/// Answers with plain text.
pub(super) fn text(text: String) -> Response {
    ([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response()
}

/// Answers with the parts of a page that the script asks for.
pub(super) fn fragments(
    viewer: &Viewer<'_>,
    names: &str,
    part: impl Fn(&str) -> Option<Markup>,
) -> Result<Response, ProblemJson> {
    let mut all = String::new();
    for name in names.split_whitespace() {
        let found = if name == live::BADGE { Some(layout::badge(viewer)) } else { part(name) };
        all.push_str(&found.ok_or_else(|| ProblemJson::unknown(name))?.into_string());
    }
    Ok(html(maud::PreEscaped(all)))
}

/// Finds who looks, lets the page be made, and finishes it.
pub(super) async fn as_page(State(server): State<Server>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    if is_of_api(path) || path.starts_with("/static/") {
        return next.run(request).await;
    }
    let method = request.method().clone();
    let (mut parts, body) = request.into_parts();
    let visitor = match Visitor::of(&server, &parts).await {
        Ok(visitor) => visitor,
        Err(problem) => return problem.into_response(),
    };
    let needs_our_cookies = visitor.is_from_elsewhere && visitor.wants_html && visitor.viewer().name.is_none();
    let mut response = if needs_our_cookies {
        html(entrance::from_elsewhere(&visitor.viewer(), &visitor.here))
    } else {
        parts.extensions.insert(visitor.clone());
        let response = next.run(Request::from_parts(parts, body)).await;
        match response.extensions().get::<ProblemJson>() {
            Some(problem) => told(&visitor, &method, problem),
            None => response,
        }
    };
    finish(&visitor, response.headers_mut(), !needs_our_cookies);
    response
}

/// Answers with a problem.
fn told(visitor: &Visitor, method: &Method, problem: &ProblemJson) -> Response {
    let status = problem.status();
    let mut response = if !visitor.wants_html {
        let hint = problem.advice().map(|hint| format!("hint: {hint}\n")).unwrap_or_default();
        text(printable(&format!("{}: {}\n{hint}", title(status).to_lowercase(), problem.detail())))
    } else if status == StatusCode::UNAUTHORIZED && *method == Method::GET {
        return Redirect::to(&address::with_query(address::LOG_IN, &[("back", &visitor.here)])).into_response();
    } else {
        html(entrance::error(&visitor.viewer(), title(status), problem.detail(), problem.advice()))
    };
    *response.status_mut() = status;
    if status == StatusCode::UNAUTHORIZED {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"baton\""));
    }
    if let Some(seconds) = problem.retry_after() {
        response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    }
    response
}

fn title(status: StatusCode) -> &'static str {
    match status {
        StatusCode::UNAUTHORIZED => "Please log in",
        StatusCode::FORBIDDEN => "Not allowed",
        StatusCode::NOT_FOUND => "Not found",
        StatusCode::METHOD_NOT_ALLOWED => "Not possible here",
        StatusCode::CONFLICT => "Not done",
        StatusCode::GONE => "Not kept",
        StatusCode::TOO_MANY_REQUESTS => "Too many tries",
        StatusCode::SERVICE_UNAVAILABLE => "The store is away",
        status if status.is_server_error() => "Something went wrong",
        _ => "Not understood",
    }
}

/// Puts the headers on that protect a reader. What has its own is left as it is.
fn finish(visitor: &Visitor, headers: &mut HeaderMap, keeps_cookie: bool) {
    let all = [
        (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (header::CACHE_CONTROL, "no-store"),
        // The same address is text for programs.
        (header::VARY, "accept, cookie"),
    ];
    for (name, value) in all {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    if visitor.is_new && visitor.wants_html && keeps_cookie {
        keep(headers, &visitor.jar.keep(VISITOR, &visitor.secret.text(), None));
    }
}

/// Lets the browser keep a cookie.
pub(super) fn keep(headers: &mut HeaderMap, cookie: &str) {
    // Cookies are made of letters that may stand in a header.
    if let Ok(value) = HeaderValue::from_str(cookie) {
        headers.append(header::SET_COOKIE, value);
    }
}
