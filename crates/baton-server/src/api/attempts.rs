//! What attempts were told and have written, as far as that is on this machine.

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use baton_engine::Fence;

use crate::access::Principal;
use crate::host::AttemptFile;
use crate::incoming::InPath;
use crate::looking;
use crate::problem_json::ProblemJson;
use crate::server::Server;

/// Read all that an attempt has written
///
/// The logs of its agent's program from their first line, without what only a terminal understands.
#[utoipa::path(get, path = "/api/v1/handoffs/{id}/attempts/{fence}/log", tag = "handoffs",
    params(("id" = String, Path, description = "The handoff"), ("fence" = u64, Path, description = "The fence of the attempt: 1 is the first")),
    responses((status = 200, description = "The log", content_type = "text/plain", body = String), (status = 404, description = "It is not kept on this machine")))]
pub(crate) async fn log(
    State(server): State<Server>,
    principal: Principal,
    InPath((id, fence)): InPath<(String, u64)>,
) -> Result<Response, ProblemJson> {
    file(&server, &principal, &id, fence, AttemptFile::Log).await
}

/// Read what an attempt was told
///
/// The prompt of its agent.
#[utoipa::path(get, path = "/api/v1/handoffs/{id}/attempts/{fence}/prompt", tag = "handoffs",
    params(("id" = String, Path, description = "The handoff"), ("fence" = u64, Path, description = "The fence of the attempt: 1 is the first")),
    responses((status = 200, description = "The prompt", content_type = "text/plain", body = String), (status = 404, description = "It is not kept on this machine")))]
pub(crate) async fn prompt(
    State(server): State<Server>,
    principal: Principal,
    InPath((id, fence)): InPath<(String, u64)>,
) -> Result<Response, ProblemJson> {
    file(&server, &principal, &id, fence, AttemptFile::Prompt).await
}

async fn file(
    server: &Server,
    principal: &Principal,
    id: &str,
    fence: u64,
    file: AttemptFile,
) -> Result<Response, ProblemJson> {
    let handoff = server.visible(principal, id).await?;
    let text = looking::attempt_file(server, principal, &handoff, Fence(fence), file).await?;
    let headers = [(header::CONTENT_TYPE, "text/plain; charset=utf-8"), (header::X_CONTENT_TYPE_OPTIONS, "nosniff")];
    Ok((headers, text).into_response())
}
