//! What came of an agent's latest work: worked out from the journal of each handoff, once.

use baton_engine::engine::Problem;
use baton_engine::evidence::ClaimFinding;
use baton_engine::handoff::{Handoff, StateName};
use baton_engine::journal::{Event, Fact};
use baton_engine::lifecycle::Command;
use baton_engine::session::Spending;
use baton_engine::store::Filter;
use baton_page::agents::AgentFigures;

use super::memory::lock;
use crate::server::Server;

/// How many of an agent's latest ended handoffs the figures cover.
pub(super) const RECENT_MAX: u32 = 100;

/// How many handoffs are remembered.
const REMEMBERED_MAX: usize = 20_000;

/// What came of one handoff that has ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EndedFigures {
    /// The version of the handoff that it is about.
    version: u64,
    claims: u64,
    refuted: u64,
    spending: Spending,
}

/// Returns what handoffs have spent, as far as their agents' programs tell. Signs of life tell the sum so far, and how an
/// attempt ended tells its last word on it.
pub(super) fn spending(events: &[Event]) -> Spending {
    let (mut spending, mut attempt) = (Spending::default(), None);
    for event in events {
        match event.fact() {
            Ok(Fact::Happened(Command::Claim(_))) => spending += Option::take(&mut attempt).unwrap_or_default(),
            Ok(Fact::Happened(Command::Heartbeat(heartbeat))) => attempt = heartbeat.spent.or(attempt),
            Ok(Fact::Happened(Command::Report(report))) => attempt = report.spent.or(attempt),
            Ok(Fact::Happened(Command::Fail(fail))) => attempt = fail.spent.or(attempt),
            _ => {}
        }
    }
    spending += attempt.unwrap_or_default();
    spending
}

/// Works out what came of a handoff.
fn ended(handoff: &Handoff, events: &[Event]) -> EndedFigures {
    let (mut claims, mut refuted) = (0, 0);
    for event in events {
        if let Ok(Fact::Happened(Command::Verify(verify))) = event.fact() {
            claims += verify.examined.len() as u64;
            let wrong = verify.examined.iter().filter(|claim| claim.verdict == ClaimFinding::Refuted);
            refuted += wrong.count() as u64;
        }
    }
    EndedFigures { version: handoff.version, claims, refuted, spending: spending(events) }
}

impl Server {
    /// Returns what came of the latest work of an agent.
    pub(super) async fn agent_figures(&self, agent: &str) -> Result<AgentFigures, Problem> {
        let states = vec![StateName::Completed, StateName::Failed];
        let filter = Filter { agent: Some(agent.to_owned()), states, after: None, limit: RECENT_MAX };
        let mut figures = AgentFigures::default();
        for handoff in self.engine.store.list(&filter).await? {
            let of_one = self.ended_figures(&handoff).await?;
            figures.ended += 1;
            if handoff.state.name() == StateName::Completed {
                figures.verified += 1;
                figures.first_pass += u64::from(handoff.attempts <= 1);
            }
            figures.claims += of_one.claims;
            figures.refuted += of_one.refuted;
            figures.spending += of_one.spending;
        }
        Ok(figures)
    }

    async fn ended_figures(&self, handoff: &Handoff) -> Result<EndedFigures, Problem> {
        let known = lock(&self.pages.ended).get(&handoff.id).filter(|known| known.version == handoff.version).copied();
        if let Some(known) = known {
            return Ok(known);
        }
        let figures = ended(handoff, &self.engine.store.history_of(&handoff.id).await?);
        let mut remembered = lock(&self.pages.ended);
        if remembered.len() >= REMEMBERED_MAX {
            remembered.clear();
        }
        remembered.insert(handoff.id.clone(), figures);
        Ok(figures)
    }
}
