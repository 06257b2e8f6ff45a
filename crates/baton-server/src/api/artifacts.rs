//! Files as they were when a report was examined, by what identifies them.

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use baton_engine::handoff::Digest;

use crate::access::Principal;
use crate::incoming::InPath;
use crate::problem_json::ProblemJson;
use crate::server::Server;

/// Read a file that a report of this run named, as it was examined
///
/// It is sent as plain text or bytes, whatever its name was, and no browser runs anything in it.
#[utoipa::path(get, path = "/api/v1/runs/{id}/artifacts/{digest}", tag = "artifacts",
    params(("id" = String, Path, description = "The run"), ("digest" = String, Path, description = "The SHA-256 of the file")),
    responses((status = 200, description = "The file", content((Vec<u8> = "application/octet-stream"), (String = "text/plain"))), (status = 404, description = "It was not kept")))]
pub(crate) async fn show(
    State(server): State<Server>,
    principal: Principal,
    InPath((id, digest)): InPath<(String, String)>,
) -> Result<Response, ProblemJson> {
    principal.looks_at_all()?;
    let run = server.journal_named(&principal, &id).await?;
    let found = server.engine.store.content(&run, &Digest(digest.to_lowercase())).await?;
    let bytes = found.ok_or_else(|| ProblemJson::unknown(&digest))?;
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
