//! The agents, their queues and what came of their latest work; the handoffs of one of them.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::response::Response;
use baton_engine::engine::agent_name;
use baton_engine::handoff::StateName;
use baton_engine::queue::Queue;
use baton_engine::step::{CHECK, GROUP, HUMAN, ORCHESTRATOR};
use baton_page::agents::{self, AgentList, AgentRow, AgentWork};
use baton_page::{live, plain};
use serde::Deserialize;

use super::answering::{fragments, html, text};
use super::visitor::Visitor;
use crate::agent_figures::RECENT_MAX;
use crate::incoming::{InPath, Search, value};
use crate::problem_json::ProblemJson;
use crate::server::Server;

/// How many of those that wait are looked at for the oldest.
const WAITING_MAX: u32 = 1_000;

/// How many handoffs of an agent stand on a page.
const PER_PAGE: u32 = 50;

/// Which part is asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Part {
    fragment: Option<String>,
    /// The handoffs behind this one.
    after: String,
}

/// Shows the agents.
pub(super) async fn list(
    State(server): State<Server>,
    visitor: Visitor,
    Search(part): Search<Part>,
) -> Result<Response, ProblemJson> {
    let principal = visitor.principal()?;
    let mut rows = Vec::new();
    for (queue, counts) in server.queue_counts().await? {
        let is_agent = ![ORCHESTRATOR, CHECK, GROUP, HUMAN].contains(&queue.agent.as_str());
        if is_agent && principal.sees_queue(&queue.agent) {
            rows.push(row(&server, queue, &counts).await?);
        }
    }
    let list = AgentList { rows: &rows, recent: RECENT_MAX };
    let viewer = visitor.viewer();
    match &part.fragment {
        Some(names) => {
            fragments(&viewer, names, |name| (name == live::AGENTS).then(|| agents::fragment(&viewer, &list)))
        }
        None if visitor.wants_html => Ok(html(agents::page(&viewer, &list))),
        None => Ok(text(plain::agents(&list, viewer.now))),
    }
}

/// Shows one agent with its handoffs, those of runs and all others.
pub(super) async fn show(
    State(server): State<Server>,
    visitor: Visitor,
    InPath(name): InPath<String>,
    Search(part): Search<Part>,
) -> Result<Response, ProblemJson> {
    let principal = visitor.principal()?;
    let name = value("agent", agent_name(&name))?;
    let known = server.queue_counts().await?.into_iter().find(|(queue, _)| queue.agent == name);
    let (queue, counts) = known.filter(|_| principal.sees_queue(&name)).ok_or_else(|| ProblemJson::unknown(&name))?;
    let row = row(&server, queue, &counts).await?;
    let after = match part.after.as_str() {
        "" => None,
        id => Some(server.visible(principal, id).await?.id),
    };
    let mut handoffs = server.handoffs_in_queue(&name, &[], after.as_ref(), PER_PAGE + 1).await?;
    let has_more = handoffs.len() > PER_PAGE as usize;
    handoffs.truncate(PER_PAGE as usize);
    let next = handoffs.last().filter(|_| has_more).map(|last| last.id.clone());
    let work = AgentWork { row: &row, handoffs: &handoffs, next: next.as_ref(), recent: RECENT_MAX };
    let viewer = visitor.viewer();
    match &part.fragment {
        Some(names) => {
            fragments(&viewer, names, |name| (name == live::AGENTS).then(|| agents::work_fragment(&viewer, &work)))
        }
        None if visitor.wants_html => Ok(html(agents::work_page(&viewer, &work))),
        None => Ok(text(plain::agent(&work, viewer.now))),
    }
}

async fn row(server: &Server, queue: Queue, counts: &BTreeMap<StateName, u64>) -> Result<AgentRow, ProblemJson> {
    let count = |state: StateName| counts.get(&state).copied().unwrap_or_default();
    let waiting = count(StateName::Pending);
    Ok(AgentRow {
        is_paused: queue.paused,
        limit: queue.concurrency,
        waiting,
        oldest: if waiting > 0 { oldest(server, &queue.agent).await? } else { None },
        working: count(StateName::Claimed) + count(StateName::Verifying),
        held_up: count(StateName::AwaitingPerson) + count(StateName::Blocked),
        figures: server.agent_figures(&queue.agent).await?,
        name: queue.agent,
    })
}

/// Returns since when the oldest of those that wait for an agent waits.
async fn oldest(server: &Server, name: &str) -> Result<Option<jiff::Timestamp>, ProblemJson> {
    let waiting = server.handoffs_in_queue(name, &[StateName::Pending], None, WAITING_MAX).await?;
    Ok(waiting.iter().map(|handoff| handoff.accepted_at).min())
}
