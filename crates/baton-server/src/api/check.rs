//! Judging a document without sending it.

use axum::Json;
use axum::extract::State;
use baton_engine::engine::Yardstick;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::access::Principal;
use crate::incoming::{GivenDocument, JsonBody};
use crate::problem_json::ProblemJson;
use crate::server::Server;

/// A document to judge.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "document": { "baton": 1, "document": "request", "id": "csv-07", "instructions": "Find the writer of rows." } }))]
pub(crate) struct NewCheck {
    /// The document in any dialect: a JSON object, or text as it was written.
    #[schema(schema_with = super::openapi::document)]
    document: Value,
    /// Its dialect; default: it is recognised.
    dialect: Option<String>,
}

/// Judge a document as `baton check` does
#[utoipa::path(post, path = "/api/v1/check", tag = "check", request_body = NewCheck,
    responses((status = 200, description = "The verdict: whether it is valid, and what the rules say")))]
pub(crate) async fn check(
    State(server): State<Server>,
    _: Principal,
    JsonBody(new): JsonBody<NewCheck>,
) -> Result<Json<Value>, ProblemJson> {
    let given = GivenDocument::of(&new.document, new.dialect.as_deref())?;
    let judged = given.judge(&Yardstick::of_project(&server.engine.settings));
    Ok(Json(json!({
        "version": 1,
        "dialect": judged.dialect.map(|dialect| dialect.as_str()),
        "document": judged.kind.map(|kind| kind.as_str()),
        "valid": judged.judgement.valid,
        "diagnostics": judged.judgement.diagnostics.iter().map(baton_views::diagnostic::json).collect::<Vec<_>>(),
        "allowed": judged.judgement.allowed.iter().map(baton_views::diagnostic::allowed_json).collect::<Vec<_>>(),
    })))
}
