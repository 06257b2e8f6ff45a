//! Agents: how full their queues are, how these are set, and how their work turns out.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use baton_engine::engine::{Problem, agent_name};
use baton_engine::handoff::{Handoff, StateName};
use baton_engine::store::Filter;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::access::Principal;
use crate::incoming::{InPath, JsonBody, value};
use crate::problem_json::ProblemJson;
use crate::server::Server;

/// How many of the latest finished handoffs the figures cover.
const RECENT_MAX: u32 = 500;

/// List agents: the depth of each queue, and its settings; also agents of known workflows that have had no work
#[utoipa::path(get, path = "/api/v1/agents", tag = "agents", responses((status = 200, description = "The agents")))]
pub(crate) async fn list(State(server): State<Server>, principal: Principal) -> Result<Json<Value>, ProblemJson> {
    let queues = server.queue_counts().await?;
    let own = queues.iter().filter(|(queue, _)| principal.sees_queue(&queue.agent));
    let agents = own.map(|(queue, counts)| baton_views::queue::json(queue, counts));
    Ok(Json(json!({ "version": 1, "agents": agents.collect::<Vec<_>>() })))
}

/// Look at an agent: its queue, and how its latest work turned out
#[utoipa::path(get, path = "/api/v1/agents/{agent}", tag = "agents", params(("agent" = String, Path, description = "Its name, or that of its queue, with / as %2F")),
    responses((status = 200, description = "The agent")))]
pub(crate) async fn show(
    State(server): State<Server>,
    principal: Principal,
    InPath(agent): InPath<String>,
) -> Result<Json<Value>, ProblemJson> {
    let agent = value("agent", agent_name(&agent))?;
    if !principal.sees_queue(&agent) {
        return Err(ProblemJson::unknown(&agent));
    }
    let queue = server.engine.store.queue(&agent).await?;
    let counts = counts(&server, &agent).await?;
    let mut form = baton_views::queue::json(&queue, &counts);
    let states = vec![StateName::Completed, StateName::Failed];
    let filter = Filter { agent: Some(agent), states, after: None, limit: RECENT_MAX };
    form["recent"] = figures(&server.engine.store.list(&filter).await?);
    Ok(Json(json!({ "version": 1, "agent": form })))
}

async fn counts(server: &Server, agent: &str) -> Result<BTreeMap<StateName, u64>, Problem> {
    let of_agent = server.engine.store.census().await?.into_iter().filter(|count| count.agent == agent);
    Ok(of_agent.map(|count| (count.state, count.handoffs)).collect())
}

/// Works out how handoffs turned out. Counts stand beside every share.
fn figures(finished: &[Handoff]) -> Value {
    let completed = finished.iter().filter(|handoff| handoff.state.name() == StateName::Completed);
    let first_pass = completed.clone().filter(|handoff| handoff.attempts <= 1).count();
    let completed = completed.count();
    let share = |part: usize, whole: usize| (whole > 0).then(|| part as f64 / whole as f64);
    let attempts: u64 = finished.iter().map(|handoff| u64::from(handoff.attempts)).sum();
    json!({
        "finished": finished.len(),
        "completed": completed,
        "failed": finished.len() - completed,
        "first_pass": first_pass,
        "first_pass_share": share(first_pass, finished.len()),
        "attempts": attempts,
    })
}

/// The settings of a queue.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct QueueSettings {
    /// Whether nothing is handed out; default: as it is.
    paused: Option<bool>,
    /// How many may be claimed at the same time, 0 for no limit; default: as it is.
    limit: Option<u32>,
}

/// Pause or limit the queue of an agent
#[utoipa::path(patch, path = "/api/v1/agents/{agent}", tag = "agents", params(("agent" = String, Path, description = "Its name, or that of its queue, with / as %2F")),
    request_body = QueueSettings, responses((status = 200, description = "The settings"), (status = 403, description = "This needs an admin")))]
pub(crate) async fn set(
    State(server): State<Server>,
    principal: Principal,
    InPath(agent): InPath<String>,
    JsonBody(new): JsonBody<QueueSettings>,
) -> Result<Json<Value>, ProblemJson> {
    principal.configures()?;
    let agent = value("agent", agent_name(&agent))?;
    let mut queue = server.engine.store.queue(&agent).await?;
    queue.paused = new.paused.unwrap_or(queue.paused);
    queue.concurrency = new.limit.map_or(queue.concurrency, |limit| Some(limit).filter(|limit| *limit > 0));
    server.engine.store.set_queue(&queue).await?;
    Ok(Json(json!({ "version": 1, "agent": baton_views::queue::settings(&queue) })))
}
