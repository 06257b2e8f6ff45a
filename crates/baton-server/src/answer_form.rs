//! In which form an answer is wanted: as it is shown to people and programs, or as it is stored, for a program that uses
//! the server as its store and shows it itself.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::{HeaderMap, HeaderValue, header, request::Parts};
use axum::response::{IntoResponse, Response};
use baton_engine::engine::AppliedCommand;
use baton_engine::store::{AcceptedHandoff, ClaimedHandoff};
use baton_engine::stored::exchange::{ClaimRecord, HandoffRecord};
use serde_json::{Value, json};

use crate::problem_json::ProblemJson;
use crate::server::Server;

/// Asks for the stored form.
const STORED: &str = "application/vnd.baton.stored+json";

/// In which form an answer is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnswerForm {
    /// As it is shown.
    Shown,
    /// As it is stored.
    Stored,
}

impl FromRequestParts<Server> for AnswerForm {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &Server) -> Result<AnswerForm, Infallible> {
        Ok(AnswerForm::wanted(&parts.headers))
    }
}

impl AnswerForm {
    /// Returns the form that a request asks for.
    pub(crate) fn wanted(headers: &HeaderMap) -> AnswerForm {
        let accept = headers.get(header::ACCEPT).map(HeaderValue::as_bytes);
        if accept == Some(STORED.as_bytes()) { AnswerForm::Stored } else { AnswerForm::Shown }
    }

    /// Adds to a problem what a store would have said, for whoever asked for the form of the store; nobody else needs it.
    pub(crate) fn of_problem(self, response: Response) -> Response {
        match response.extensions().get::<ProblemJson>() {
            Some(problem) if self == AnswerForm::Stored => problem.clone().in_stored_form().into_response(),
            _ => response,
        }
    }

    /// Answers with what became of a handoff.
    pub(crate) fn applied(self, server: &Server, applied: &AppliedCommand) -> Value {
        let AppliedCommand { handoff, repeated } = applied;
        match self {
            AnswerForm::Shown => {
                json!({ "version": 1, "handoff": baton_views::handoff::json(handoff), "repeated": repeated })
            }
            AnswerForm::Stored => stored(server, &json!({ "handoff": record(handoff), "repeated": repeated })),
        }
    }

    /// Answers with what was accepted.
    pub(crate) fn accepted(self, server: &Server, accepted: &[AcceptedHandoff]) -> Value {
        match self {
            AnswerForm::Shown => {
                let shown = accepted.iter().map(|AcceptedHandoff { handoff, existing }| {
                    json!({ "existing": existing, "handoff": baton_views::handoff::json(handoff) })
                });
                json!({ "version": 1, "accepted": shown.collect::<Vec<_>>() })
            }
            AnswerForm::Stored => {
                let records = accepted.iter().map(
                    |AcceptedHandoff { handoff, existing }| json!({ "existing": existing, "handoff": record(handoff) }),
                );
                stored(server, &records.collect())
            }
        }
    }
}

/// Answers with what was claimed, as it is stored.
pub(crate) fn stored_claims(server: &Server, claimed: &[ClaimedHandoff]) -> Value {
    stored(server, &json!(claimed.iter().map(ClaimRecord::from).collect::<Vec<_>>()))
}

/// Puts an answer in its frame, with the time: everybody who uses a store shares its clock.
pub(crate) fn stored(server: &Server, answer: &Value) -> Value {
    json!({ "version": 1, "time": server.engine.now(), "answer": answer })
}

fn record(handoff: &baton_engine::Handoff) -> Value {
    json!(HandoffRecord::from(handoff))
}
