//! What whoever has claimed a handoff is told.

use axum::Json;
use axum::extract::State;
use baton_engine::Fence;
use baton_engine::driver::HandInWay;
use baton_engine::engine::Yardstick;
use baton_engine::store::ClaimedHandoff;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::artifacts::handed_over;
use super::work::worked_on;
use crate::access::Principal;
use crate::host::ClaimBriefing;
use crate::incoming::{InPath, JsonBody};
use crate::problem_json::ProblemJson;
use crate::server::Server;

/// For whom the prompt is.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewBriefing {
    /// The fence of the claim.
    fence: u64,
    /// How the report is handed in; default: `command`.
    hand_in: Option<HandInWord>,
}

/// How a report is handed in.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum HandInWord {
    /// With `baton report`.
    Command,
    /// In the output of a program, which somebody else reads and hands in.
    Output,
}

/// Get the prompt for a claimed handoff, and what its report is judged by
#[utoipa::path(post, path = "/api/v1/handoffs/{id}/briefing", tag = "work", params(("id" = String, Path, description = "Its id")),
    request_body = NewBriefing, responses((status = 200, description = "The prompt, or why there is none"), (status = 409, description = "The claim is over")))]
pub(crate) async fn brief(
    State(server): State<Server>,
    principal: Principal,
    InPath(id): InPath<String>,
    JsonBody(new): JsonBody<NewBriefing>,
) -> Result<Json<Value>, ProblemJson> {
    let handoff = worked_on(&server, &principal, &id).await?;
    let id = handoff.id.clone();
    // Asking costs nothing, so that a claim which is over is told by the lifecycle: a sign of life would be refused.
    server.engine.held(&handoff, Fence(new.fence))?;
    let request = server.engine.request(&handoff.id).await?;
    let way = match new.hand_in {
        None | Some(HandInWord::Command) => HandInWay::Command,
        Some(HandInWord::Output) => HandInWay::Output,
    };
    let briefing = server.host.brief(&ClaimedHandoff { handoff, request }, way).await?;
    let ClaimBriefing { prompt, no_prompt, missing_artifacts, shortened, phase, output_directory, .. } = briefing;
    Ok(Json(json!({
        "version": 1,
        "prompt": prompt,
        "no_prompt": no_prompt,
        "missing_artifacts": missing_artifacts,
        "shortened": shortened,
        "phase": phase,
        "output_directory": output_directory,
        "yardstick": briefing.yardstick.as_ref().map(Yardstick::json),
        "artifacts": handed_over(&id, &briefing.handed_over),
        "traceparent": briefing.traceparent,
    })))
}
