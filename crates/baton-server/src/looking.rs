//! What the API and the page look at alike: runs in lists, where a run stands, files by what identifies them.

use axum::http::header;
use axum::response::{IntoResponse, Response};
use baton_engine::engine::Problem;
use baton_engine::handoff::{Digest, Handoff};
use baton_engine::run::Run;
use baton_views::details::ListedRun;
use baton_views::standing::RunStanding;

use crate::access::Principal;
use crate::problem_json::ProblemJson;
use crate::server::Server;

/// Returns a run as it stands in a list.
pub(crate) async fn listed(server: &Server, root: Handoff) -> Result<ListedRun, Problem> {
    let inside = server.engine.store.handoffs_of(&root.run).await?;
    let inside: Vec<Handoff> = inside.into_iter().map(|(handoff, _)| handoff).collect();
    let workflow = server.engine.workflow_name(&root.run).await?;
    Ok(ListedRun::of(root, &inside, workflow, server.engine.now(), |claimant| server.host.is_dead(claimant)))
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
    let bytes = found.ok_or_else(|| ProblemJson::unknown(digest))?;
    let is_text = std::str::from_utf8(&bytes).is_ok_and(|text| !text.contains('\0'));
    let headers = [
        (header::CONTENT_TYPE, if is_text { "text/plain; charset=utf-8" } else { "application/octet-stream" }),
        (header::CONTENT_DISPOSITION, if is_text { "inline" } else { "attachment" }),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // What has this digest never changes.
        (header::CACHE_CONTROL, "private, max-age=31536000, immutable"),
    ];
    Ok((headers, bytes).into_response())
}
