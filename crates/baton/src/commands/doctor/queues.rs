//! The queues: leases that nobody rescued, dead letters, and queues that are paused.

use std::collections::{BTreeMap, BTreeSet};

use baton_engine::handoff::StateName;
use baton_engine::step::Role;
use baton_engine::store::{Filter, StoreError};
use baton_engine::{Handoff, HandoffId, RunId};
use baton_views::words::counted;
use jiff::Timestamp;

use super::Sign;
use crate::store::Session;

/// How many handoffs of each kind are looked at.
const LOOKED_AT_MAX: u32 = 10_000;

pub(super) async fn look(session: &Session) -> Result<Vec<Sign>, StoreError> {
    let filter = Filter { agent: None, states: vec![StateName::Claimed], after: None, limit: LOOKED_AT_MAX };
    let claimed = session.store.list(&filter).await?;
    let ends = claimed.iter().filter_map(|handoff| handoff.wakes_at());
    let failed = Filter { states: vec![StateName::Failed], ..filter };
    let failed = session.store.list(&failed).await?;
    let mut signs = vec![leases(ends.collect(), session.now()), dead_letters(&failed)];
    signs.extend(runs(session, &failed).await?);
    let queues = session.store.queues().await?;
    let paused: BTreeSet<&str> = queues.iter().filter(|queue| queue.paused).map(|queue| queue.agent.as_str()).collect();
    signs.push(match paused.is_empty() {
        true => Sign::fine("queues", "none is paused"),
        false => Sign::warning(
            "queues",
            format!("paused: {}", paused.into_iter().collect::<Vec<_>>().join(", ")),
            "nothing is handed out until `baton queue resume AGENT`",
        ),
    });
    Ok(signs)
}

fn leases(ends: Vec<Timestamp>, now: Timestamp) -> Sign {
    let expired = ends.iter().filter(|end| **end <= now).count();
    match expired {
        0 => Sign::fine("leases", format!("{} held, none has expired", ends.len())),
        _ => Sign::warning(
            "leases",
            match expired {
                1 => "1 has expired and was not rescued".to_owned(),
                _ => format!("{expired} have expired and were not rescued"),
            },
            "any worker or `baton claim` rescues what has expired: is one running?",
        ),
    }
}

/// Counts what was given up and belongs to no run of a workflow.
fn dead_letters(failed: &[Handoff]) -> Sign {
    let mut each: BTreeMap<&str, u64> = BTreeMap::new();
    for handoff in failed.iter().filter(|handoff| handoff.terms.step.is_none()) {
        *each.entry(&handoff.terms.to).or_default() += 1;
    }
    let total: u64 = each.values().sum();
    if total == 0 {
        return Sign::fine("dead letters", "none");
    }
    let each: Vec<String> = each.iter().map(|(agent, count)| format!("{count} {agent}")).collect();
    let were = if total == 1 { "was" } else { "were" };
    Sign::warning(
        "dead letters",
        format!("{} {were} given up ({})", counted(total, "handoff"), each.join(", ")),
        "`baton list --state failed` shows them, `baton requeue ID` brings one back",
    )
}

/// Names runs that have not ended and in which something was given up: only their driver, or a person it asks, can go on.
async fn runs(session: &Session, failed: &[Handoff]) -> Result<Option<Sign>, StoreError> {
    // A gate that was rejected is no failure.
    let is_step = |handoff: &&Handoff| {
        let role = handoff.terms.step.as_ref().map(|step| step.role);
        role.is_some_and(|role| !matches!(role, Role::Run | Role::Gate))
    };
    let steps = failed.iter().filter(is_step);
    let of_runs: BTreeSet<&RunId> = steps.map(|handoff| &handoff.run).collect();
    let mut open = Vec::new();
    for run in of_runs {
        let Ok(root) = HandoffId::parse(run.as_str()) else { continue };
        let root = session.store.find(&root).await?;
        if root.is_some_and(|root| !root.state.name().is_finished() && root.lease().is_none()) {
            open.push(run.as_str());
        }
    }
    if open.is_empty() {
        return Ok(None);
    }
    let (says, run) = match open[..] {
        [run] => (format!("a step of {run} has failed, and the run is not running"), run),
        _ => (format!("steps have failed in runs that are not running: {}", open.join(", ")), "RUN"),
    };
    let hint = format!("`baton show {run}` shows why and what a person must decide, `baton resume {run}` continues");
    Ok(Some(Sign::warning("runs", says, hint)))
}
