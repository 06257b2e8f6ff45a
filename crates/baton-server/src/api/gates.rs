//! What waits for a person, and deciding it. A decision names the digest of what was looked at, and needs an approver's token.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use baton_engine::RunId;
use baton_engine::engine::{GivenDecision, InboxPlace};
use baton_engine::handoff::Handoff;
use baton_engine::known::LABEL_BYTES_MAX;
use baton_engine::lifecycle::{Decide, Decision};
use baton_engine::ssh::Signature;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};

use super::{conditional, limit};
use crate::access::Principal;
use crate::acting;
use crate::answer_form::AnswerForm;
use crate::incoming::{InPath, JsonBody, Search, optional};
use crate::problem_json::ProblemJson;
use crate::server::Server;

/// What is to be listed.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Listing {
    /// Of this run only.
    run: Option<String>,
    /// Behind this place: `next` of the page before.
    after: Option<String>,
    /// How many at most; default: 100.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
}

/// List what waits for a person, the longest first
#[utoipa::path(get, path = "/api/v1/gates", tag = "gates", params(Listing),
    responses((status = 200, description = "What waits, with the digest that a decision names")))]
pub(crate) async fn list(
    State(server): State<Server>,
    principal: Principal,
    Search(listing): Search<Listing>,
) -> Result<Json<Value>, ProblemJson> {
    principal.looks_at_all()?;
    let limit = limit(listing.limit)?;
    let run = optional("run", listing.run.as_deref(), |run| RunId::parse(run))?;
    let after = optional("after", listing.after.as_deref(), str::parse::<InboxPlace>)?;
    let page = server.engine.inbox(run.as_ref(), after.as_ref(), limit).await?;
    let waiting: Vec<Value> =
        page.waiting.iter().map(|(handoff, question)| baton_views::question::json(handoff, question)).collect();
    let next = page.next.map(|place| place.to_string());
    Ok(Json(json!({ "version": 1, "waiting": waiting, "next": next, "more": page.more })))
}

/// Look at one thing that waits for a person
#[utoipa::path(get, path = "/api/v1/gates/{id}", tag = "gates", params(("id" = String, Path, description = "The id of the handoff")),
    responses((status = 200, description = "What is asked"), (status = 404, description = "It does not wait for a person")))]
pub(crate) async fn show(
    State(server): State<Server>,
    principal: Principal,
    InPath(id): InPath<String>,
    headers: HeaderMap,
) -> Result<Response, ProblemJson> {
    let handoff = acting::asked(&server, &principal, &id).await?;
    let Some(question) = server.engine.question(&handoff).await? else {
        return Err(nothing_asked(&server, &handoff).await);
    };
    Ok(conditional(&headers, &json!({ "version": 1, "gate": baton_views::question::json(&handoff, &question) })))
}

async fn nothing_asked(server: &Server, handoff: &Handoff) -> ProblemJson {
    let detail = format!("{} does not wait for a person: it is {}", handoff.id, handoff.state.name());
    let problem = ProblemJson::new(StatusCode::NOT_FOUND, "not_waiting", detail);
    match acting::last_decision(server, handoff).await {
        Some((decide, at)) => problem.with("decided", as_json(&decide, at)),
        None => problem,
    }
}

/// A decision.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewDecision {
    /// `approve`, `reject`, `answer` or `ask`.
    decision: DecisionWord,
    /// What must be done differently, the answer or the choice, or the question; nothing for `approve`.
    text: Option<String>,
    /// What was looked at: `digest` of the gate, or at least 12 characters of it.
    #[serde(default)]
    #[schema(required = true)]
    shown: String,
    /// What the person says beyond that.
    note: Option<String>,
    /// A name to show; the token or the signature says who the person is.
    #[serde(rename = "as")]
    label: Option<String>,
    /// An SSH signature of the decision, as `ssh-keygen -Y sign -n baton` makes it of what `baton approve --to-sign` prints.
    signature: Option<String>,
}

/// What was decided.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DecisionWord {
    /// It counts.
    Approve,
    /// It must be done again.
    Reject,
    /// What was asked for, or one of the choices.
    Answer,
    /// The person wants to know something first.
    Ask,
}

/// Decide what waits for a person
///
/// With a `signature` the decision is that of the owner of the key, and counts at gates that demand signatures. One that was
/// forged, or made for something else, is refused and recorded.
///
/// The decision counts for exactly what was shown: if that has changed, it is refused. If somebody else has decided, the
/// answer says who.
#[utoipa::path(post, path = "/api/v1/gates/{id}/decision", tag = "gates", params(("id" = String, Path, description = "The id of the handoff")),
    request_body = NewDecision, responses((status = 200, description = "What became of the handoff"),
        (status = 403, description = "The caller may not decide this"), (status = 409, description = "It has changed, or was decided by somebody else")))]
pub(crate) async fn decide(
    State(server): State<Server>,
    principal: Principal,
    form: AnswerForm,
    InPath(id): InPath<String>,
    JsonBody(new): JsonBody<NewDecision>,
) -> Result<Json<Value>, ProblemJson> {
    acting::is_known(&principal)?;
    let handoff = acting::asked(&server, &principal, &id).await?;
    if new.shown.trim().is_empty() {
        let detail = "`shown` is missing: a decision names what was looked at";
        let hint = format!("send the `digest` of GET /api/v1/gates/{} as `shown`", handoff.id);
        return Err(ProblemJson::bad_value("/shown", detail).hint(hint));
    }
    let given = GivenDecision {
        decision: decision(new.decision, new.text.unwrap_or_default()),
        shown: new.shown,
        label: optional("/as", new.label.as_deref(), label)?,
        signature: optional("/signature", new.signature.as_deref(), Signature::read)?,
        note: new.note,
    };
    match acting::decide(&server, &principal, &handoff, given).await {
        Ok(applied) => Ok(Json(form.applied(&server, &applied))),
        Err(unrecorded) => match unrecorded.decided {
            Some((decide, at)) => Err(unrecorded.problem.with("decided", as_json(&decide, at))),
            None => Err(unrecorded.problem),
        },
    }
}

/// Reads what somebody wants to be called.
fn label(text: &str) -> Result<String, String> {
    let is_line = !text.trim().is_empty() && text.len() <= LABEL_BYTES_MAX && !text.contains(char::is_control);
    if is_line { Ok(text.trim().to_owned()) } else { Err(format!("one line of at most {LABEL_BYTES_MAX} bytes")) }
}

fn decision(word: DecisionWord, text: String) -> Decision {
    match word {
        DecisionWord::Approve => Decision::Approve,
        DecisionWord::Reject => Decision::Reject { feedback: text },
        DecisionWord::Answer => Decision::Answer { answers: text },
        DecisionWord::Ask => Decision::Ask { question: text },
    }
}

fn as_json(decide: &Decide, at: Timestamp) -> Value {
    json!({
        "by": decide.who(),
        "door": decide.door,
        "at": at,
        "decision": decide.decision.verb(),
    })
}
