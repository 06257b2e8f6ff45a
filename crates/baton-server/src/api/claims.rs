//! Claiming what waits for an agent, with or without waiting for it.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use baton_engine::driver::HandInWay;
use baton_engine::engine::{agent_name, parse_duration, parse_lease, plain_name};
use baton_engine::queue::QueueHold;
use baton_engine::retry::milliseconds;
use baton_engine::store::{ClaimRequest, ClaimedHandoff};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;
use utoipa::ToSchema;

use super::artifacts::handed_over;
use crate::access::Principal;
use crate::answer_form::{AnswerForm, stored_claims};
use crate::event_hub::{HubEvent, WaitEnd, wait_for};
use crate::event_stream::LOOK_AT_WAITING;
use crate::host::ClaimBriefing;
use crate::incoming::{JsonBody, optional, value};
use crate::problem_json::ProblemJson;
use crate::server::Server;

/// How long a lease is if nobody says otherwise.
const LEASE: Duration = Duration::from_secs(60);

/// The longest that a request waits: proxies do not wait much longer.
const WAIT_MAX: Duration = Duration::from_secs(60);

/// How soon to look again for what is due and was not handed out.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// The most that is claimed at once.
const COUNT_MAX: u32 = 100;

/// What to claim.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "agent": "finder", "lease": "60s" }))]
pub(crate) struct NewClaim {
    /// The agent that works, or its queue.
    agent: String,
    /// Who works, for the record; default: the owner of the token.
    claimant: Option<String>,
    /// How long without a heartbeat; default: 60s.
    lease: Option<String>,
    /// How long to wait until something is ready, at most 60s; default: not at all.
    wait: Option<String>,
    /// How many at most; default: 1.
    #[schema(minimum = 1, maximum = 100)]
    count: Option<u32>,
    /// Whether the claimant itself ends an attempt that takes too long; default: no.
    times_itself: Option<bool>,
    /// Whether the answer has the prompt as well; default: yes. Whoever makes its own from `request` saves the time.
    prompt: Option<bool>,
}

/// Claim what waits for an agent
///
/// Takes the most urgent requests that are ready. With `wait`, the answer comes as soon as something is ready. Nobody else
/// can claim them until the lease ends; heartbeats extend it. `claims` is empty if nothing is ready; `held` says then whether
/// the queue is `paused`, or `full` because as many are claimed as its limit allows.
#[utoipa::path(post, path = "/api/v1/claims", tag = "work", request_body = NewClaim,
    responses((status = 200, description = "What was claimed, with the fence that later calls need")))]
pub(crate) async fn claim(
    State(server): State<Server>,
    principal: Principal,
    form: AnswerForm,
    JsonBody(new): JsonBody<NewClaim>,
) -> Result<Json<Value>, ProblemJson> {
    let agent = value("/agent", agent_name(&new.agent))?;
    principal.works_for(&agent)?;
    let wanted = ClaimRequest {
        claimant: optional("/claimant", new.claimant.as_deref(), plain_name)?.unwrap_or_else(|| principal.name.clone()),
        lease_ms: milliseconds(optional("/lease", new.lease.as_deref(), parse_lease)?.unwrap_or(LEASE)),
        count: count(new.count)?,
        times_itself: new.times_itself.unwrap_or(false),
        agent,
        author: None,
    };
    let wait = optional("/wait", new.wait.as_deref(), parse_duration)?.unwrap_or_default().min(WAIT_MAX);
    let claimed = claim_within(&server, &principal, &wanted, wait).await?;
    claimed.iter().for_each(|claimed| server.claimed.remember(claimed));
    if form == AnswerForm::Stored {
        // Whoever wants the prompt, too, asks for the briefing.
        return Ok(Json(stored_claims(&server, &claimed)));
    }
    let held =
        if claimed.is_empty() { server.engine.queue_holds().await?.remove(&wanted.agent).map(held_word) } else { None };
    let mut claims = Vec::with_capacity(claimed.len());
    for claimed in claimed {
        let is_alone = claimed.handoff.terms.step.is_none();
        let briefing = match new.prompt {
            // There is nothing else to be told about it.
            Some(false) if is_alone => ClaimBriefing::default(),
            wanted => {
                let briefing = server.host.brief(&claimed, HandInWay::Command).await?;
                ClaimBriefing { prompt: briefing.prompt.filter(|_| wanted != Some(false)), ..briefing }
            }
        };
        claims.push(as_json(claimed, briefing));
    }
    Ok(Json(json!({ "version": 1, "claims": claims, "held": held })))
}

/// Claims what is ready, and waits for it if nothing is; empty when the time is over. Only news about this queue wake it:
/// looking costs a transaction, and many wait here.
async fn claim_within(
    server: &Server,
    principal: &Principal,
    wanted: &ClaimRequest,
    limit: Duration,
) -> Result<Vec<ClaimedHandoff>, ProblemJson> {
    let (caller, end) = (principal.caller(), Instant::now() + limit);
    // Before the first look: what happens while we look is heard.
    let mut live = server.hub.listen();
    loop {
        let claimed = server.engine.claim(wanted, &caller).await?;
        if !claimed.is_empty() || Instant::now() >= end {
            return Ok(claimed);
        }
        let due = server.engine.store.next_due(Some(&wanted.agent)).await?;
        let due = due.and_then(|due| Duration::try_from(due.duration_since(server.engine.now())).ok());
        // What is due already, and was not handed out, is held by a pause or a limit: that ends without an event.
        let until = due.map_or(end, |due| end.min(Instant::now() + due.max(LOOK_AGAIN)));
        let is_ours =
            |news: &HubEvent| news.handoff.as_ref().is_some_and(|handoff| handoff.terms.queue() == wanted.agent);
        loop {
            let look = until.min(Instant::now() + LOOK_AT_WAITING);
            let ended = wait_for(server, &mut live, look, is_ours).await;
            if ended == WaitEnd::Closing {
                return Ok(Vec::new());
            }
            // It may have been long: a token that was taken back meanwhile gets nothing.
            if !principal.is_still_let_in(server).await {
                return Err(ProblemJson::unauthorized("this token is not valid any more"));
            }
            if ended == WaitEnd::News || look == until {
                break;
            }
        }
    }
}

/// Names why a queue hands out nothing.
fn held_word(hold: QueueHold) -> &'static str {
    match hold {
        QueueHold::Paused => "paused",
        QueueHold::Full(_) => "full",
    }
}

fn count(wanted: Option<u32>) -> Result<u32, ProblemJson> {
    match wanted.unwrap_or(1) {
        count @ 1..=COUNT_MAX => Ok(count),
        _ => Err(ProblemJson::bad_value("/count", format!("a number from 1 to {COUNT_MAX}"))),
    }
}

fn as_json(claimed: ClaimedHandoff, briefing: ClaimBriefing) -> Value {
    let ClaimedHandoff { handoff, request } = claimed;
    let artifacts = handed_over(&handoff.id, &briefing.handed_over);
    let more = [
        ("prompt", briefing.prompt.into()),
        ("no_prompt", briefing.no_prompt.into()),
        ("missing_artifacts", briefing.missing_artifacts.into()),
        ("artifacts", artifacts.into()),
        ("traceparent", briefing.traceparent.into()),
    ];
    baton_views::handoff::claim(&handoff, &request, more)
}
