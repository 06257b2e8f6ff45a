//! What waits for people.

use axum::extract::State;
use axum::response::Response;
use baton_engine::engine::InboxPlace;
use baton_page::inbox::{self, InboxList};
use baton_page::{live, plain};
use serde::Deserialize;

use super::answering::{fragments, html, text};
use super::visitor::Visitor;
use crate::incoming::{Search, optional};
use crate::problem_json::ProblemJson;
use crate::server::Server;

/// How many questions stand on a page.
const PER_PAGE: u32 = 30;

/// Which part of the inbox is asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Part {
    after: Option<String>,
    fragment: Option<String>,
}

/// Shows the inbox.
pub(super) async fn list(
    State(server): State<Server>,
    visitor: Visitor,
    Search(part): Search<Part>,
) -> Result<Response, ProblemJson> {
    visitor.principal()?.looks_at_all()?;
    let after = optional("after", part.after.as_deref(), str::parse::<InboxPlace>)?;
    let found = server.engine.inbox(None, after.as_ref(), PER_PAGE).await?;
    let next = found.next.map(|place| place.to_string());
    let list = InboxList { waiting: &found.waiting, next: next.as_deref(), more: found.more };
    let viewer = visitor.viewer();
    match &part.fragment {
        Some(names) => fragments(&viewer, names, |name| (name == live::INBOX).then(|| inbox::fragment(&viewer, &list))),
        None if visitor.wants_html => Ok(html(inbox::page(&viewer, &list))),
        None => Ok(text(plain::inbox(&list, viewer.now))),
    }
}
