//! What the API and the page look at alike: runs in lists, where a run stands, queues, files by what identifies them.

use std::collections::BTreeMap;

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use baton_engine::Fence;
use baton_engine::engine::Problem;
use baton_engine::handoff::{Digest, Handoff, StateName};
use baton_engine::queue::{Queue, QueueHolds};
use baton_engine::run::Run;
use baton_views::details::ListedRun;
use baton_views::standing::RunStanding;

use crate::access::Principal;
use crate::host::AttemptFile;
use crate::problem_json::ProblemJson;
use crate::server::Server;

/// A queue with how many handoffs are in each state.
pub(crate) type QueueCounts = (Queue, BTreeMap<StateName, u64>);

/// Returns a run as it stands in a list.
pub(crate) async fn listed(server: &Server, root: Handoff, holds: &QueueHolds) -> Result<ListedRun, Problem> {
    let inside = server.engine.store.handoffs_of(&root.run).await?;
    let inside: Vec<Handoff> = inside.into_iter().map(|(handoff, _)| handoff).collect();
    let workflow = server.engine.workflow_name(&root.run).await?;
    Ok(ListedRun::of(root, &inside, workflow, server.engine.now(), holds, |claimant| server.host.is_dead(claimant)))
}

impl Server {
    /// Returns the queues with how many handoffs are in each state. Agents of the workflows that runs can be started from are
    /// among them before they have anything to do.
    pub(crate) async fn queue_counts(&self) -> Result<Vec<QueueCounts>, Problem> {
        let known = self.host.workflows().into_iter().flat_map(|workflow| workflow.queues);
        self.engine.queue_counts(known.collect()).await
    }

    /// Returns whether a file was handed over to a handoff. What its own agent names in a report does not count: it could name
    /// whatever it wants to read.
    pub(crate) async fn was_handed(&self, digest: &Digest, handoff: &Handoff) -> Result<bool, Problem> {
        let files = self.engine.files_handed_to(handoff).await?;
        Ok(files.iter().any(|file| file.sha256.as_ref() == Some(&digest.0)))
    }
}

/// Returns where a run stands.
pub(crate) fn standing(server: &Server, run: &Run) -> RunStanding {
    let inside = run.handoffs().map(|tracked| &tracked.handoff);
    let is_dead = |claimant: &str| server.host.is_dead(claimant);
    RunStanding::of(&run.root().handoff, inside, server.engine.now(), is_dead)
}

/// Sends a file as it was when a report was examined. It is sent as plain text or bytes, whatever its name was, and no
/// browser runs anything in it.
pub(crate) async fn artifact(
    server: &Server,
    principal: &Principal,
    run: &str,
    digest: &str,
) -> Result<Response, ProblemJson> {
    principal.looks_at_all()?;
    let run = server.journal_named(principal, run).await?;
    let found = server.engine.store.content(&run, &Digest(digest.to_lowercase())).await?;
    Ok(sent(found.ok_or_else(|| ProblemJson::unknown(digest))?))
}

/// Sends a file that was handed over to a handoff that the caller sees.
pub(crate) async fn artifact_of_handoff(
    server: &Server,
    principal: &Principal,
    id: &str,
    digest: &str,
) -> Result<Response, ProblemJson> {
    let handoff = server.visible(principal, id).await?;
    let wanted = Digest(digest.to_lowercase());
    let is_readable = !principal.is_restricted() || server.was_handed(&wanted, &handoff).await?;
    let found = if is_readable { server.engine.store.content(&handoff.run, &wanted).await? } else { None };
    Ok(sent(found.ok_or_else(|| ProblemJson::unknown(digest))?))
}

/// Returns all that an attempt was told or has written.
pub(crate) async fn attempt_file(
    server: &Server,
    principal: &Principal,
    handoff: &Handoff,
    attempt: Fence,
    file: AttemptFile,
) -> Result<String, ProblemJson> {
    let is_for_them = principal.sees_attempts(handoff);
    let found = match server.engine.definition_of(handoff).await?.filter(|_| is_for_them) {
        Some(definition) => server.host.attempt_file(&definition, handoff, attempt, file).await,
        None => None,
    };
    let what = match file {
        AttemptFile::Prompt => "prompt",
        AttemptFile::Log => "output",
    };
    found.ok_or_else(|| {
        let why = format!("no {what} of attempt {attempt} is kept on this machine");
        ProblemJson::new(StatusCode::NOT_FOUND, "unknown", why)
    })
}

fn sent(bytes: Vec<u8>) -> Response {
    let is_text = std::str::from_utf8(&bytes).is_ok_and(|text| !text.contains('\0'));
    let headers = [
        (header::CONTENT_TYPE, if is_text { "text/plain; charset=utf-8" } else { "application/octet-stream" }),
        (header::CONTENT_DISPOSITION, if is_text { "inline" } else { "attachment" }),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // What has this digest never changes.
        (header::CACHE_CONTROL, "private, max-age=31536000, immutable"),
    ];
    (headers, bytes).into_response()
}
