//! What came of an agent's latest work, for the page and the API alike: worked out from the journal of each handoff, once.

use baton_engine::HandoffId;
use baton_engine::engine::Problem;
use baton_engine::evidence::ClaimFinding;
use baton_engine::handoff::{Handoff, StateName, Terms};
use baton_engine::journal::{Event, Fact};
use baton_engine::lifecycle::Command;
use baton_engine::session::Spending;
use baton_engine::store::Filter;
use baton_page::agents::AgentFigures;

use crate::server::Server;
use crate::web::lock;

/// How many of an agent's latest ended handoffs the figures cover.
pub(crate) const RECENT_MAX: u32 = 100;

/// How many pages of handoffs are looked through for those of one queue.
const PAGES_MAX: usize = 20;

/// How many handoffs are remembered.
const REMEMBERED_MAX: usize = 20_000;

/// What came of one handoff that has ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EndedFigures {
    /// The version of the handoff that it is about.
    version: u64,
    attempts: u64,
    claims: u64,
    refuted: u64,
    spending: Spending,
}

/// Returns what handoffs have spent, as far as their agents' programs tell. Signs of life tell the sum so far, and how an
/// attempt ended tells its last word on it.
pub(crate) fn spending(events: &[Event]) -> Spending {
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
    let (mut attempts, mut claims, mut refuted) = (0, 0, 0);
    for event in events {
        match event.fact() {
            Ok(Fact::Happened(Command::Claim(_))) => attempts += 1,
            Ok(Fact::Happened(Command::Verify(verify))) => {
                claims += verify.examined.len() as u64;
                let wrong = verify.examined.iter().filter(|claim| claim.verdict == ClaimFinding::Refuted);
                refuted += wrong.count() as u64;
            }
            _ => {}
        }
    }
    EndedFigures { version: handoff.version, attempts, claims, refuted, spending: spending(events) }
}

impl Server {
    /// Returns what came of the latest work in the queues that people know by this name.
    pub(crate) async fn agent_figures(&self, name: &str) -> Result<AgentFigures, Problem> {
        let states = [StateName::Completed, StateName::Failed];
        let mut figures = AgentFigures::default();
        for handoff in self.handoffs_in_queue(name, &states, None, RECENT_MAX).await? {
            let of_one = self.ended_figures(&handoff).await?;
            figures.ended += 1;
            figures.completed += u64::from(handoff.state.name() == StateName::Completed);
            figures.first_pass += u64::from(handoff.was_accepted_first_time());
            figures.attempts += of_one.attempts;
            figures.claims += of_one.claims;
            figures.refuted += of_one.refuted;
            figures.spending += of_one.spending;
        }
        Ok(figures)
    }

    /// Lists the handoffs in the queues that people know by this name, the newest first.
    pub(crate) async fn handoffs_in_queue(
        &self,
        name: &str,
        states: &[StateName],
        after: Option<&HandoffId>,
        limit: u32,
    ) -> Result<Vec<Handoff>, Problem> {
        let mut all = Vec::new();
        for queue in Terms::queues_called(name) {
            let mut after = after.cloned();
            let mut found = Vec::new();
            // The name of an agent also means its queues in workflows, which are not meant here.
            for _ in 0..PAGES_MAX {
                let filter = Filter { agent: Some(queue.clone()), states: states.to_vec(), after, limit };
                let page = self.engine.store.list(&filter).await?;
                let is_last = page.len() < limit as usize;
                after = page.last().map(|last| last.id.clone());
                found.extend(page.into_iter().filter(|handoff| handoff.terms.queue() == queue));
                if is_last || found.len() >= limit as usize {
                    break;
                }
            }
            all.extend(found);
        }
        all.sort_by_key(|handoff| std::cmp::Reverse(handoff.accepted_at));
        all.truncate(limit as usize);
        Ok(all)
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
