//! Files as they were when a report was examined, by what identifies them.

use axum::extract::State;
use axum::response::Response;

use crate::access::Principal;
use crate::incoming::InPath;
use crate::looking;
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
    looking::artifact(&server, &principal, &id, &digest).await
}
