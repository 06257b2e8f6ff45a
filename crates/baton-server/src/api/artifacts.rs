//! Files as they were when a report was examined, by what identifies them.

use axum::extract::State;
use axum::response::Response;
use baton_engine::HandoffId;
use baton_engine::evidence::SeenFile;
use serde_json::{Value, json};

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

/// Read a file that was handed over to a handoff
///
/// For agents on other machines: whoever sees the handoff may read these files, and no others of the run. `artifacts` of a claim
/// lists them.
#[utoipa::path(get, path = "/api/v1/handoffs/{id}/artifacts/{digest}", tag = "artifacts",
    params(("id" = String, Path, description = "The handoff"), ("digest" = String, Path, description = "The SHA-256 of the file")),
    responses((status = 200, description = "The file", content((Vec<u8> = "application/octet-stream"), (String = "text/plain"))), (status = 404, description = "It was not handed over, or not kept")))]
pub(crate) async fn handed(
    State(server): State<Server>,
    principal: Principal,
    InPath((id, digest)): InPath<(String, String)>,
) -> Result<Response, ProblemJson> {
    looking::artifact_of_handoff(&server, &principal, &id, &digest).await
}

/// Lists files that were handed over, each with its address.
pub(super) fn handed_over(id: &HandoffId, files: &[SeenFile]) -> Vec<Value> {
    let file = |file: &SeenFile| {
        let sha256 = file.sha256.as_ref()?;
        let address = format!("/api/v1/handoffs/{id}/artifacts/{sha256}");
        Some(json!({ "path": file.path, "sha256": sha256, "address": address }))
    };
    files.iter().filter_map(file).collect()
}
