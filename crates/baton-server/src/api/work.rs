//! What a claimant says about a handoff, and calling one off or bringing it back.

use axum::Json;
use axum::extract::State;
use baton_engine::Fence;
use baton_engine::engine::{AppliedCommand, HandedIn, Yardstick, parse_lease};
use baton_engine::failure::{Code, CommandStream, Failure, FailureOutput, Transience};
use baton_engine::handoff::Handoff;
use baton_engine::lifecycle::Accept;
use baton_engine::store::ClaimedHandoff;
use baton_protocol::Kind;
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::handoffs::wanted;
use super::terms::NewRequest;
use crate::access::Principal;
use crate::answer_form::AnswerForm;
use crate::incoming::{GivenDocument, InPath, JsonBody, json_objects, optional, value};
use crate::problem_json::ProblemJson;
use crate::server::Server;

/// Finds the handoff that a claimant works on.
pub(super) async fn worked_on(server: &Server, principal: &Principal, id: &str) -> Result<Handoff, ProblemJson> {
    let handoff = server.visible(principal, id).await?;
    principal.works_on(&handoff)?;
    Ok(handoff)
}

/// Finds the handoff that a claimant reports about, with what was asked.
async fn claimed_work(
    server: &Server,
    principal: &Principal,
    id: &str,
    fence: Fence,
) -> Result<ClaimedHandoff, ProblemJson> {
    let claimed = server.claimed.take(id, fence, server.engine.now());
    if let Some(claimed) = claimed.filter(|claimed| principal.sees(&claimed.handoff)) {
        principal.works_on(&claimed.handoff)?;
        return Ok(claimed);
    }
    let handoff = worked_on(server, principal, id).await?;
    let request = server.engine.request(&handoff.id).await?;
    Ok(ClaimedHandoff { handoff, request })
}

/// Whether the request was understood.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewAcknowledgment {
    /// The fence of the claim.
    fence: u64,
    /// The acknowledgment; default: understood, starting.
    document: Option<Value>,
    /// The dialect of the document; default: it is recognised.
    dialect: Option<String>,
}

/// Acknowledge a claimed request
#[utoipa::path(post, path = "/api/v1/handoffs/{id}/acknowledgment", tag = "work", params(("id" = String, Path, description = "Its id")),
    request_body = NewAcknowledgment, responses((status = 200, description = "What became of the handoff"), (status = 409, description = "The claim is over")))]
pub(crate) async fn acknowledge(
    State(server): State<Server>,
    principal: Principal,
    form: AnswerForm,
    InPath(id): InPath<String>,
    JsonBody(new): JsonBody<NewAcknowledgment>,
) -> Result<Json<Value>, ProblemJson> {
    let handoff = worked_on(&server, &principal, &id).await?;
    let given = match &new.document {
        Some(document) => {
            let definition = server.engine.definition_of(&handoff).await?;
            let yardstick = Yardstick::of_handoff(&handoff, None, definition.as_ref(), &server.engine.settings);
            let valid = GivenDocument::of(document, new.dialect.as_deref())?.valid(&yardstick.for_acknowledgments())?;
            Some(valid.of_kind(Kind::Acknowledgment)?)
        }
        None => None,
    };
    Ok(Json(
        form.applied(
            &server,
            &server.engine.acknowledge(&handoff, Fence(new.fence), given, &principal.caller()).await?,
        ),
    ))
}

/// A sign of life.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewHeartbeat {
    /// The fence of the claim.
    fence: u64,
    /// How long without another one; default: as long as before.
    lease: Option<String>,
}

/// Extend the lease of a claim
#[utoipa::path(post, path = "/api/v1/handoffs/{id}/heartbeat", tag = "work", params(("id" = String, Path, description = "Its id")),
    request_body = NewHeartbeat, responses((status = 200, description = "What became of the handoff"), (status = 409, description = "The claim is over")))]
pub(crate) async fn heartbeat(
    State(server): State<Server>,
    principal: Principal,
    form: AnswerForm,
    InPath(id): InPath<String>,
    JsonBody(new): JsonBody<NewHeartbeat>,
) -> Result<Json<Value>, ProblemJson> {
    let handoff = worked_on(&server, &principal, &id).await?;
    let lease = optional("/lease", new.lease.as_deref(), parse_lease)?;
    Ok(Json(
        form.applied(&server, &server.engine.heartbeat(&handoff, Fence(new.fence), lease, &principal.caller()).await?),
    ))
}

/// What came out of an attempt.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "fence": 1, "document": { "baton": 1, "document": "report", "id": "csv-07", "outcome": "complete",
    "summary": "Found the writer of rows in src/csv.rs, function write_row." } }))]
pub(crate) struct NewReport {
    /// The fence of the claim.
    fence: u64,
    /// The report in any dialect: a JSON object, or text as it was written.
    #[schema(schema_with = super::openapi::document)]
    document: Value,
    /// The dialect of the document; default: what the workflow says, or it is recognised.
    dialect: Option<String>,
    /// Requests to send in the same transaction, if the report completes the handoff.
    #[serde(default, deserialize_with = "json_objects")]
    next: Vec<NewRequest>,
}

/// Hand in the report of a claimed handoff
///
/// A report that is not valid changes nothing: the handoff stays claimed, and the report can be mended.
#[utoipa::path(post, path = "/api/v1/handoffs/{id}/report", tag = "work", params(("id" = String, Path, description = "Its id")),
    request_body = NewReport, responses((status = 200, description = "What became of the handoff"), (status = 409, description = "The claim is over"),
        (status = 422, description = "The report is not valid")))]
pub(crate) async fn report(
    State(server): State<Server>,
    principal: Principal,
    form: AnswerForm,
    InPath(id): InPath<String>,
    JsonBody(new): JsonBody<NewReport>,
) -> Result<Json<Value>, ProblemJson> {
    let fence = Fence(new.fence);
    let claimed = claimed_work(&server, &principal, &id, fence).await?;
    let ClaimedHandoff { handoff, request } = &claimed;
    let definition = server.engine.definition_of(handoff).await?;
    let yardstick = server.engine.yardstick(handoff, Some(request), definition.as_ref()).await?;
    let document = GivenDocument::of(&new.document, new.dialect.as_deref())?.valid(&yardstick)?;
    let mut next = Vec::with_capacity(new.next.len());
    for wanted in &new.next {
        next.push(following(&server, &principal, handoff, wanted).await?);
    }
    let changed = server.host.changed(handoff, fence).await;
    let handed_in = HandedIn { fence, changed, ..HandedIn::of(&claimed, &yardstick, document) };
    Ok(Json(form.applied(&server, &server.engine.report(handed_in, next, &principal.caller()).await?)))
}

/// Makes the handoff that comes next, in the same run. Whoever sends it may do no more than with a request of its own.
async fn following(
    server: &Server,
    principal: &Principal,
    handoff: &Handoff,
    next: &NewRequest,
) -> Result<Accept, ProblemJson> {
    let (next, _) = wanted(server, principal, next, &handoff.terms.to, None).await?;
    Ok(Accept { run: handoff.run.clone(), ..next })
}

/// Why an attempt failed.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "fence": 1, "code": "TIMEOUT", "message": "the tests did not end" }))]
pub(crate) struct NewFailure {
    /// The fence of the claim.
    fence: u64,
    /// Which kind of failure: a known code such as `TIMEOUT`, or capital letters of your own.
    code: String,
    /// What happened.
    message: String,
    /// The last that was said about it, by whatever failed.
    output: Option<String>,
    /// Where that was said: `stdout` or `stderr`.
    #[schema(value_type = Option<String>)]
    stream: Option<CommandStream>,
    /// What the claimant advises to do about it.
    help: Option<String>,
    /// Whether trying again may help; default: what the code says.
    transient: Option<bool>,
    /// A report about the failure.
    document: Option<Value>,
    /// The dialect of the document; default: it is recognised.
    dialect: Option<String>,
}

/// Say that the attempt at a claimed handoff failed
#[utoipa::path(post, path = "/api/v1/handoffs/{id}/failure", tag = "work", params(("id" = String, Path, description = "Its id")),
    request_body = NewFailure, responses((status = 200, description = "What became of the handoff"), (status = 409, description = "The claim is over")))]
pub(crate) async fn fail(
    State(server): State<Server>,
    principal: Principal,
    form: AnswerForm,
    InPath(id): InPath<String>,
    JsonBody(new): JsonBody<NewFailure>,
) -> Result<Json<Value>, ProblemJson> {
    let handoff = worked_on(&server, &principal, &id).await?;
    let failure = Failure::new(value("/code", Code::parse(&new.code))?, new.message);
    let mut failure = match new.output {
        Some(output) => failure.with_output(FailureOutput::LastLines(output)),
        None => failure,
    };
    (failure.stream, failure.help) = (new.stream, new.help);
    failure.chance = match new.transient {
        Some(true) => Transience::Transient,
        Some(false) => Transience::Permanent,
        None => failure.chance,
    };
    let document = match &new.document {
        Some(document) => {
            let definition = server.engine.definition_of(&handoff).await?;
            let yardstick = server.engine.yardstick(&handoff, None, definition.as_ref()).await?;
            let valid = GivenDocument::of(document, new.dialect.as_deref())?.valid(&yardstick)?;
            Some(valid.of_kind(Kind::Report)?.written)
        }
        None => None,
    };
    let fence = Fence(new.fence);
    let changed = server.host.changed(&handoff, fence).await;
    Ok(Json(form.applied(
        &server,
        &server.engine.fail(&handoff, fence, failure, document, changed, &principal.caller()).await?,
    )))
}

/// Why something is called off.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewCancellation {
    /// Why.
    pub(super) reason: Option<String>,
}

/// Call a handoff off. What belongs to a run only a person calls off
#[utoipa::path(post, path = "/api/v1/handoffs/{id}/cancel", tag = "handoffs", params(("id" = String, Path, description = "Its id")),
    request_body = NewCancellation, responses((status = 200, description = "What became of the handoff"), (status = 409, description = "It is finished")))]
pub(crate) async fn cancel(
    State(server): State<Server>,
    principal: Principal,
    form: AnswerForm,
    InPath(id): InPath<String>,
    JsonBody(new): JsonBody<NewCancellation>,
) -> Result<Json<Value>, ProblemJson> {
    principal.writes()?;
    let handoff = server.visible(&principal, &id).await?;
    Ok(Json(form.applied(&server, &server.engine.cancel(&handoff, new.reason, &principal.caller()).await?)))
}

/// What whoever claims it next must know.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewRequeue {
    /// What whoever claims it must know.
    note: Option<String>,
}

/// Bring back a handoff that failed, was cancelled or is blocked
#[utoipa::path(post, path = "/api/v1/handoffs/{id}/requeue", tag = "handoffs", params(("id" = String, Path, description = "Its id")),
    request_body = NewRequeue, responses((status = 200, description = "What became of the handoff"), (status = 409, description = "It cannot be brought back")))]
pub(crate) async fn requeue(
    State(server): State<Server>,
    principal: Principal,
    form: AnswerForm,
    InPath(id): InPath<String>,
    JsonBody(new): JsonBody<NewRequeue>,
) -> Result<Json<Value>, ProblemJson> {
    principal.writes()?;
    let handoff = server.visible(&principal, &id).await?;
    let handoff = server.engine.requeue(&handoff, new.note.as_deref(), &principal.caller()).await?;
    Ok(Json(form.applied(&server, &AppliedCommand { handoff, repeated: false })))
}
