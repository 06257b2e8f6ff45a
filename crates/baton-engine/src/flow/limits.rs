//! Limits: when a person must look before it goes on.

use baton_protocol::workflow::Limits;
use jiff::Timestamp;

use crate::handoff::later;
use crate::run::Run;
use crate::step::Role;

/// What would come next.
pub(super) struct Next<'a> {
    pub(super) role: Role,
    pub(super) phase: &'a str,
    pub(super) agent: Option<&'a str>,
}

/// Says which limit stands against what would come next; `None` if none does.
pub(super) fn reached(run: &Run, next: &Next<'_>, now: Timestamp) -> Option<String> {
    let limits = limits(run);
    let counted = &run.counted;
    let over = |limit: Option<u64>, usual: u64, count: u64| {
        let limit = limit.unwrap_or(usual);
        (limit > 0 && count >= limit).then_some(limit)
    };
    if let Some(limit) = over(limits.handoffs, 50, counted.handoffs) {
        return Some(format!("{} handoffs were made, and {limit} are allowed", counted.handoffs));
    }
    let visits = counted.visits(next.phase);
    let own = run.definition.locate(next.phase).and_then(|located| located.phase().visits);
    if let Some(limit) = over(own.or(limits.visits_per_phase), 3, visits).filter(|_| next.role.is_phase()) {
        return Some(format!("the phase {} was visited {visits} times, and {limit} are allowed", next.phase));
    }
    if let Some(agent) = next.agent {
        let exchanges = counted.exchanges_with(next.phase, agent);
        // The usual limit lets work come back three times.
        if let Some(limit) = over(limits.ping_pong, 3, exchanges.saturating_sub(1)) {
            return Some(format!("two agents handed work to each other {exchanges} times, and {limit} are allowed"));
        }
    }
    if let Some(limit) = over(limits.tokens, 0, counted.tokens) {
        return Some(format!("{} tokens were used, and {limit} are allowed", counted.tokens));
    }
    wall_clock_ends_at(run).filter(|end| *end <= now).map(|_| told_wall_clock(run, now))
}

/// Returns when the run has taken as long as it may.
pub(super) fn wall_clock_ends_at(run: &Run) -> Option<Timestamp> {
    let limit = run.definition.workflow.limits.as_ref()?.wall_clock.filter(|limit| limit.milliseconds > 0)?;
    Some(later(run.counted.since, limit.milliseconds))
}

/// Says how long the run has taken, and how long it may.
pub(super) fn told_wall_clock(run: &Run, now: Timestamp) -> String {
    let elapsed = now.duration_since(run.counted.since).unsigned_abs();
    let limit = limits(run).wall_clock.unwrap_or_default();
    format!("the run has taken {} s, and {} s are allowed", elapsed.as_secs(), limit.as_std().as_secs_f64())
}

/// Says whether the same failure has now happened as often as is allowed.
pub fn same_failure(run: &Run, phase: &str, failure: &str) -> bool {
    let limit = limits(run).same_failure.unwrap_or(3);
    limit > 0 && run.counted.failures(phase, failure) + 1 >= limit
}

fn limits(run: &Run) -> Limits {
    run.definition.workflow.limits.clone().unwrap_or_default()
}
