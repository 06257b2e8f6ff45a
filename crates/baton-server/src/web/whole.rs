//! All of what a page shows a part of, as text at an address of its own: documents, prompts, logs, changes of files, and
//! everything that is decided about.

use axum::extract::State;
use axum::response::Response;
use baton_engine::Fence;
use baton_engine::evidence::SeenFile;
use baton_engine::handoff::Handoff;
use baton_page::exhibit::ExhibitContent;
use baton_page::plain;
use baton_protocol::printable;
use serde::Deserialize;

use super::answering::text;
use super::handoff::{self, SeenHandoff, files};
use super::question;
use super::since::Since;
use super::visitor::Visitor;
use crate::host::AttemptFile;
use crate::incoming::{InPath, Search};
use crate::looking;
use crate::problem_json::ProblemJson;
use crate::server::Server;

/// What of a part is asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Which {
    /// The attempt; the last one if none is named.
    attempt: Option<u64>,
    /// The file, by its path in the workspace.
    path: Option<String>,
}

/// Gives a part of a handoff.
pub(super) async fn of_handoff(
    State(server): State<Server>,
    visitor: Visitor,
    InPath((run, id, part)): InPath<(String, String, String)>,
    Search(which): Search<Which>,
) -> Result<Response, ProblemJson> {
    let principal = visitor.principal()?;
    let handoff = handoff::find(&server, principal, &run, &id).await?;
    let attempt = which.attempt.map_or(handoff.fence, Fence);
    let whole = match part.as_str() {
        "prompt" => looking::attempt_file(&server, principal, &handoff, attempt, AttemptFile::Prompt).await?,
        "log" => looking::attempt_file(&server, principal, &handoff, attempt, AttemptFile::Log).await?,
        "text" | "request" | "report" | "file" => {
            let seen = SeenHandoff::of(&server, principal, handoff, Some(attempt.0)).await?;
            match part.as_str() {
                "text" => plain::handoff(&visitor.viewer(), &seen.page()),
                "request" => printable(&seen.request.text),
                "report" => printable(&seen.report.ok_or_else(|| ProblemJson::unknown("report"))?.text),
                _ => changes(&server, &seen.handoff, &files(&seen.examined), which.path.as_deref()).await?,
            }
        }
        _ => return Err(ProblemJson::unknown(&part)),
    };
    Ok(text(whole))
}

/// Gives a part of what is decided about.
pub(super) async fn of_question(
    State(server): State<Server>,
    visitor: Visitor,
    InPath((id, part)): InPath<(String, String)>,
    Search(which): Search<Which>,
) -> Result<Response, ProblemJson> {
    let principal = visitor.principal()?;
    let handoff = server.visible(principal, &id).await?;
    let question = question::asked(&server, &handoff).await?.ok_or_else(|| ProblemJson::unknown(&id))?;
    match part.as_str() {
        "text" => Ok(text(question::as_text(&server, &visitor, &handoff, &question).await?)),
        "file" => Ok(text(changes(&server, &handoff, &files(&question.examined), which.path.as_deref()).await?)),
        "since" => {
            let since = Since::around(&server, principal, &handoff, &question).await?;
            let since = since.ok_or_else(|| ProblemJson::unknown(&part))?;
            let path = which.path.as_deref();
            let changes = since.text(&server, path).await;
            changes.map(text).ok_or_else(|| ProblemJson::unknown(path.unwrap_or_default()))
        }
        _ => Err(ProblemJson::unknown(&part)),
    }
}

/// Returns what has changed in a file, or all of it.
async fn changes(
    server: &Server,
    handoff: &Handoff,
    files: &[SeenFile],
    path: Option<&str>,
) -> Result<String, ProblemJson> {
    let path = path.unwrap_or_default();
    let file = files.iter().find(|file| file.path == path).ok_or_else(|| ProblemJson::unknown(path))?;
    let definition = server.engine.definition_of(handoff).await?;
    let exhibits = server.host.exhibits(&handoff.run, definition.as_ref(), std::slice::from_ref(file)).await;
    match exhibits.into_iter().next().map(|exhibit| exhibit.content) {
        Some(ExhibitContent::NotShown(why)) => Ok(printable(&format!("{path}: {why}\n"))),
        Some(content) => Ok(printable(content.text())),
        None => Err(ProblemJson::unknown(path)),
    }
}
