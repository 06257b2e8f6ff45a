//! Handoffs: sending, listing, looking at one.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use baton_engine::engine::{Problem, WantedTerms, Yardstick, accepted_request, agent_name, shown_document};
use baton_engine::handoff::StateName;
use baton_engine::lifecycle::Accept;
use baton_engine::store::{AcceptedHandoff, Filter, StoreError};
use baton_views::details::HandoffDetails;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};

use super::terms::NewRequest;
use super::{conditional, created, limit, page};
use crate::access::Principal;
use crate::answer_form::AnswerForm;
use crate::incoming::{InPath, JsonBody, Search, idempotency_key, json_objects, optional};
use crate::problem_json::ProblemJson;
use crate::server::Server;

/// Send a request to an agent
///
/// The document is judged as `baton check` does. Sending the same request with the same `Idempotency-Key` or id again gives
/// the handoff that is there, with 200 instead of 201.
#[utoipa::path(post, path = "/api/v1/handoffs", tag = "handoffs", request_body = NewRequest,
    params(("Idempotency-Key" = Option<String>, Header, description = "Sending the same key again gives the same handoff")),
    responses((status = 201, description = "The handoff was accepted", headers(("Location" = String, description = "Where it is"))),
        (status = 200, description = "It was sent before", headers(("Location" = String, description = "Where it is"))), (status = 409, description = "The key or id belongs to another request"),
        (status = 422, description = "The document or the terms are not valid")))]
pub(crate) async fn send(
    State(server): State<Server>,
    principal: Principal,
    headers: HeaderMap,
    JsonBody(new): JsonBody<NewRequest>,
) -> Result<Response, ProblemJson> {
    principal.writes()?;
    let key = idempotency_key(&headers)?;
    let (accept, terms) = wanted(&server, &principal, &new, &principal.name, key).await?;
    let mut accepted = delivered(&server, &principal, vec![accept], &terms).await?;
    let Some(accepted) = accepted.pop() else { return Err(ProblemJson::unknown("handoff")) };
    let body = json!({
        "version": 1,
        "existing": accepted.existing,
        "handoff": baton_views::handoff::json(&accepted.handoff),
    });
    Ok(created(accepted.existing, &["handoffs", accepted.handoff.id.as_str()], body))
}

/// Requests that are sent together.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewBatch {
    /// The requests, in their order.
    #[serde(deserialize_with = "json_objects")]
    requests: Vec<NewRequest>,
}

/// Send several requests: all of them, or none if one cannot be accepted
#[utoipa::path(post, path = "/api/v1/batches", tag = "handoffs", request_body = NewBatch,
    responses((status = 200, description = "What was accepted, in the same order; `existing` says what was there before"),
        (status = 409, description = "A key or id belongs to another request"), (status = 422, description = "A document or its terms are not valid")))]
pub(crate) async fn send_all(
    State(server): State<Server>,
    principal: Principal,
    form: AnswerForm,
    JsonBody(batch): JsonBody<NewBatch>,
) -> Result<Json<Value>, ProblemJson> {
    principal.writes()?;
    let mut accepts = Vec::with_capacity(batch.requests.len());
    for (index, new) in batch.requests.iter().enumerate() {
        let at = |problem: ProblemJson| problem.within(&format!("/requests/{index}"));
        accepts.push(wanted(&server, &principal, new, &principal.name, None).await.map_err(at)?.0);
    }
    // Each request has terms of its own, so that nothing can be said here about durations that count from now.
    let accepted = delivered(&server, &principal, accepts, &WantedTerms::default()).await?;
    Ok(Json(form.accepted(&server, &accepted)))
}

/// Reads and judges a request of somebody who may send it. Returns the handoff that it asks for.
pub(super) async fn wanted(
    server: &Server,
    principal: &Principal,
    new: &NewRequest,
    sender: &str,
    key: Option<&str>,
) -> Result<(Accept, WantedTerms), ProblemJson> {
    let valid = new.judge(&Yardstick::of_project(&server.engine.settings))?;
    let mut wanted = new.new_handoff(sender, key)?;
    wanted.terms.key = wanted.terms.key.map(|key| principal.own_key(&key));
    if let Some(agent) = principal.agent() {
        // Whoever works for one agent cannot speak for another.
        wanted.terms.from = Some(agent.to_owned());
    }
    if let Some(run) = new.run.as_ref().filter(|_| principal.is_restricted()) {
        wanted.run = Some(server.visible(principal, run).await?.run);
    }
    if let Some(caller) = &new.returns_to {
        let caller = server.visible(principal, caller).await?;
        principal.works_on(&caller)?;
        wanted.returns_to = Some(caller.id);
    }
    let terms = wanted.terms.clone();
    Ok((server.engine.accept(&valid, wanted)?, terms))
}

async fn delivered(
    server: &Server,
    principal: &Principal,
    requests: Vec<Accept>,
    terms: &WantedTerms,
) -> Result<Vec<AcceptedHandoff>, ProblemJson> {
    match server.engine.send(requests, terms).await {
        Err(Problem::Store(StoreError::Taken { .. })) if principal.is_restricted() => Err(ProblemJson::taken()),
        sent => Ok(sent?),
    }
}

/// Which handoffs to list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Listing {
    /// Of this agent, or in this queue, only.
    agent: Option<String>,
    /// In these states only, separated by commas.
    #[param(
        pattern = "^((pending|claimed|verifying|blocked|awaiting[_-]person|completed|failed|cancelled)(,(pending|claimed|verifying|blocked|awaiting[_-]person|completed|failed|cancelled))*)?$"
    )]
    state: Option<String>,
    /// Behind this one: `next` of the page before.
    after: Option<String>,
    /// How many at most; default: 100.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u32>,
}

/// List handoffs, the newest first
#[utoipa::path(get, path = "/api/v1/handoffs", tag = "handoffs", params(Listing),
    responses((status = 200, description = "A page of handoffs; `next` is the cursor of the page behind it")))]
pub(crate) async fn list(
    State(server): State<Server>,
    principal: Principal,
    Search(listing): Search<Listing>,
) -> Result<Json<Value>, ProblemJson> {
    let limit = limit(listing.limit)?;
    let states = listing.state.as_deref().filter(|words| !words.is_empty());
    let states = states.into_iter().flat_map(|words| words.split(',')).map(state).collect::<Result<_, _>>()?;
    let agent = optional("agent", listing.agent.as_deref(), agent_name)?;
    let agent = match (principal.agent(), agent) {
        (Some(own), None) => Some(own.to_owned()),
        (_, Some(agent)) => {
            if principal.is_restricted() {
                principal.works_for(&agent)?;
            }
            Some(agent)
        }
        (None, None) => None,
    };
    let after = match &listing.after {
        Some(id) => Some(server.visible(&principal, id).await?.id),
        None => None,
    };
    let found = server.engine.store.list(&Filter { agent, states, after, limit: limit + 1 }).await?;
    let (handoffs, next) = page(found, limit);
    let handoffs: Vec<Value> =
        handoffs.iter().filter(|handoff| principal.sees(handoff)).map(baton_views::handoff::json).collect();
    Ok(Json(json!({ "version": 1, "handoffs": handoffs, "next": next })))
}

fn state(word: &str) -> Result<StateName, ProblemJson> {
    let known = StateName::ALL.map(StateName::as_str);
    let state = StateName::parse(&word.replace('-', "_"));
    state.ok_or_else(|| {
        ProblemJson::new(StatusCode::BAD_REQUEST, "bad_query", format!("unknown state `{word}`"))
            .hint(baton_protocol::wire::suggest(word, &known))
    })
}

/// Look at a handoff: its documents, what happened to it, what a person is asked
#[utoipa::path(get, path = "/api/v1/handoffs/{id}", tag = "handoffs", params(("id" = String, Path, description = "Its id")),
    responses((status = 200, description = "The handoff", headers(("ETag" = String, description = "Changes with the answer"))),
        (status = 304, description = "The caller has this"), (status = 404, description = "There is none, or not for the caller")))]
pub(crate) async fn show(
    State(server): State<Server>,
    principal: Principal,
    InPath(id): InPath<String>,
    headers: HeaderMap,
) -> Result<Response, ProblemJson> {
    let handoff = server.visible(&principal, &id).await?;
    let events = server.engine.store.history_of(&handoff.id).await?;
    let question = match handoff.state.name() {
        StateName::AwaitingPerson => server.engine.question(&handoff).await?,
        _ => None,
    };
    let request = accepted_request(&events)?;
    let report = shown_document(&events, handoff.last_report.as_ref());
    let details = HandoffDetails {
        handoff: &handoff,
        request: &request,
        report: report.as_ref(),
        question: question.map(|question| baton_views::question::json(&handoff, &question)),
        events: &events,
    };
    Ok(conditional(&headers, &details.json()))
}
