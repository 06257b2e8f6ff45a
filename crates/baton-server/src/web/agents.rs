//! The agents, their queues and what came of their latest work.

use axum::extract::State;
use axum::response::Response;
use baton_engine::handoff::{Handoff, StateName, Terms};
use baton_engine::step::{CHECK, HUMAN, ORCHESTRATOR};
use baton_engine::store::Filter;
use baton_page::agents::{self, AgentList, AgentRow};
use baton_page::{live, plain};
use serde::Deserialize;

use super::answering::{fragments, html, text};
use super::figures::RECENT_MAX;
use super::visitor::Visitor;
use crate::incoming::Search;
use crate::problem_json::ProblemJson;
use crate::server::Server;

/// How many of those that wait are looked at for the oldest.
const WAITING_MAX: u32 = 1_000;

/// Which part is asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Part {
    fragment: Option<String>,
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
        let is_agent = ![ORCHESTRATOR, CHECK, HUMAN].contains(&queue.agent.as_str());
        if !is_agent || !principal.sees_queue(&queue.agent) {
            continue;
        }
        let count = |state: StateName| counts.get(&state).copied().unwrap_or_default();
        let waiting = count(StateName::Pending);
        rows.push(AgentRow {
            is_paused: queue.paused,
            limit: queue.concurrency,
            waiting,
            oldest: if waiting > 0 { oldest(&server, &queue.agent).await? } else { None },
            working: count(StateName::Claimed) + count(StateName::Verifying),
            held_up: count(StateName::AwaitingPerson) + count(StateName::Blocked),
            figures: server.agent_figures(&queue.agent).await?,
            name: Terms::readable_queue(&queue.agent).to_owned(),
        });
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

/// Returns since when the oldest of those that wait for an agent waits.
async fn oldest(server: &Server, agent: &str) -> Result<Option<jiff::Timestamp>, ProblemJson> {
    let states = vec![StateName::Pending];
    let filter = Filter { agent: Some(agent.to_owned()), states, after: None, limit: WAITING_MAX };
    let waiting = server.engine.store.list(&filter).await?;
    Ok(waiting.iter().map(|handoff: &Handoff| handoff.accepted_at).min())
}
