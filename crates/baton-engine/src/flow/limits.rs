//! Limits: when a person must look before it goes on. Those of a workflow inside another one hold in there, and those
//! around it hold above them.

use std::borrow::Cow;

use baton_protocol::workflow::Limits;
use jiff::Timestamp;

use crate::definition::{Definition, LocatedPhase};
use crate::handoff::later;
use crate::run::{Run, RunCounters, TrackedHandoff, Used};
use crate::session::{Spent, dollars};
use crate::step::Role;

/// What would come next.
pub(super) struct Next<'a> {
    pub(super) role: Role,
    pub(super) phase: &'a str,
    pub(super) agent: Option<&'a str>,
}

/// Where limits hold, and what counts there: the run, or a visit of a phase that is a workflow of its own.
struct Scope<'r> {
    limits: Option<&'r Limits>,
    counted: Cow<'r, RunCounters>,
    /// The path of that phase; empty for the run.
    path: String,
}

impl Scope<'_> {
    fn given(&self, limit: impl Fn(&Limits) -> Option<u64>) -> Option<u64> {
        self.limits.and_then(limit)
    }

    /// Begins a sentence about what was counted here.
    fn place(&self) -> String {
        if self.path.is_empty() { String::new() } else { format!("in {}: ", self.path) }
    }
}

/// Returns the scopes around a phase, the run first.
fn scopes<'r>(run: &'r Run, located: Option<&LocatedPhase<'r>>) -> Vec<Scope<'r>> {
    let limits = run.definition.workflow.limits.as_ref();
    let mut scopes = vec![Scope { limits, counted: Cow::Borrowed(&run.counted), path: String::new() }];
    let Some(located) = located else { return scopes };
    for (around, inner) in located.around.iter().zip(located.workflows().skip(1)) {
        let Some(visit) = run.latest(&around.path) else { continue };
        let counted = Cow::Owned(run.counted_inside(&visit.handoff.id));
        scopes.push(Scope { limits: inner.workflow.limits.as_ref(), counted, path: around.path.clone() });
    }
    scopes
}

/// Finds a scope whose limit is reached; the limit comes with it.
///
/// What is usual holds in the run as a whole. Of limits that every phase has for itself it holds only where no workflow
/// around the phase says otherwise.
fn over<'s, 'r>(
    scopes: &'s [Scope<'r>],
    limit: impl Fn(&Limits) -> Option<u64>,
    (usual, per_phase): (u64, bool),
    count: impl Fn(&RunCounters) -> u64,
) -> Option<(&'s Scope<'r>, u64)> {
    let is_given = scopes.iter().any(|scope| scope.given(&limit).is_some());
    scopes.iter().enumerate().find_map(|(depth, scope)| {
        let usual = (depth == 0 && !(per_phase && is_given)).then_some(usual);
        let limit = scope.given(&limit).or(usual).filter(|limit| *limit > 0)?;
        (count(&scope.counted) >= limit).then_some((scope, limit))
    })
}

/// Returns the limit that forbids what would come next; `None` if none does.
pub(super) fn reached(run: &Run, next: &Next<'_>, now: Timestamp) -> Option<String> {
    let located = run.definition.locate(next.phase);
    let scopes = scopes(run, located.as_ref());
    let told = |scope: &Scope<'_>, text: String| Some(format!("{}{text}", scope.place()));
    if let Some((scope, limit)) = over(&scopes, |limits| limits.handoffs, (50, false), |counted| counted.handoffs) {
        let made = scope.counted.handoffs;
        return told(scope, format!("{made} handoffs were made; the limit is {limit}"));
    }
    // What a person said at one phase of a round holds for the others.
    let is_allowed = next.role.is_phase() && run.counted.is_allowed_once_more(next.phase);
    let visits = |counted: &RunCounters| counted.visits(next.phase);
    let own = located.as_ref().and_then(|located| located.phase().visits);
    let visited = match own {
        // What a phase says about itself counts in its own workflow, and nothing else does.
        Some(own) => scopes.last().filter(|scope| own > 0 && visits(&scope.counted) >= own).map(|scope| (scope, own)),
        None => over(&scopes, |limits| limits.visits_per_phase, (3, true), visits),
    };
    if let Some((scope, limit)) = visited.filter(|_| next.role.is_phase() && !is_allowed) {
        let (phase, visits) = (next.phase, visits(&scope.counted));
        return Some(format!("the phase {phase} was visited {visits} times; the limit is {limit}"));
    }
    if let Some(agent) = next.agent.filter(|_| !is_allowed) {
        let exchanges = |counted: &RunCounters| counted.exchanges_with(next.phase, agent);
        // The usual limit lets work come back three times.
        let back = |counted: &RunCounters| exchanges(counted).saturating_sub(1);
        if let Some((scope, limit)) = over(&scopes, |limits| limits.ping_pong, (3, true), back) {
            let times = exchanges(&scope.counted);
            return Some(format!("two agents handed work to each other {times} times; the limit is {limit}"));
        }
    }
    if let Some((scope, limit)) = over(&scopes, |limits| limits.tokens, (0, false), |counted| counted.used.tokens) {
        return told(scope, told_tokens(scope.counted.used.tokens, limit));
    }
    if let Some((scope, limit)) = over(&scopes, cost_of, (0, false), |counted| counted.used.cost_micros) {
        return told(scope, told_cost(scope.counted.used.cost_micros, limit));
    }
    let late = scopes.iter().find(|scope| scope.ends_at().is_some_and(|end| end <= now))?;
    told(late, late.told_wall_clock(now))
}

impl Scope<'_> {
    /// Returns when it has taken as long as it may.
    fn ends_at(&self) -> Option<Timestamp> {
        let limit = self.limits?.wall_clock.filter(|limit| limit.milliseconds > 0)?;
        Some(later(self.counted.since, limit.milliseconds))
    }

    fn told_wall_clock(&self, now: Timestamp) -> String {
        let elapsed = now.duration_since(self.counted.since).unsigned_abs();
        let limit = self.limits.and_then(|limits| limits.wall_clock).unwrap_or_default();
        let what = if self.path.is_empty() { "the run" } else { "it" };
        format!("{what} has taken {} s; the limit is {} s", elapsed.as_secs(), limit.as_std().as_secs_f64())
    }
}

/// Returns the budget that is used up for an agent that works or would work again, if it has used this much more than
/// the journal says; `None` if a person has let it go on since.
pub(super) fn overspent(run: &Run, tracked: &TrackedHandoff, more: Used) -> Option<String> {
    let located = run.definition.locate(&tracked.step.phase);
    for scope in scopes(run, located.as_ref()) {
        let (used, asked) = (scope.counted.used, scope.counted.asked_at);
        let limit = |limit: Option<u64>| limit.filter(|limit| *limit > 0).unwrap_or(u64::MAX);
        let (tokens, cost) =
            (used.tokens.saturating_add(more.tokens), used.cost_micros.saturating_add(more.cost_micros));
        let allowed = limit(scope.given(|limits| limits.tokens));
        if tokens >= threshold(allowed, asked.tokens) {
            return Some(format!("{}{}", scope.place(), told_tokens(tokens, allowed)));
        }
        let allowed = limit(scope.given(cost_of));
        if cost >= threshold(allowed, asked.cost_micros) {
            return Some(format!("{}{}", scope.place(), told_cost(cost, allowed)));
        }
    }
    None
}

/// Returns where a person is asked next: at the limit, and whenever as much has been used once more since they let it go on.
fn threshold(allowed: u64, asked: u64) -> u64 {
    if asked < allowed { allowed } else { asked.saturating_add(allowed) }
}

/// Returns whether anything in a workflow limits what may be spent.
pub(super) fn has_budget(definition: &Definition) -> bool {
    let limited = |definition: &Definition| {
        let limits = definition.workflow.limits.as_ref();
        limits.is_some_and(|limits| limits.tokens.is_some() || limits.cost.is_some())
    };
    limited(definition) || definition.nested.values().any(has_budget)
}

fn cost_of(limits: &Limits) -> Option<u64> {
    Spent::micros(limits.cost.as_ref()?.as_f64()?)
}

fn told_tokens(used: u64, limit: u64) -> String {
    format!("{used} tokens were used; the limit is {limit}")
}

fn told_cost(used: u64, limit: u64) -> String {
    format!("{} were spent; the limit is {}", exactly(used), exactly(limit))
}

/// Returns an amount with as many digits as it has, so that what is spent can be told from the limit.
fn exactly(micros: u64) -> String {
    if micros.is_multiple_of(10_000) { dollars(micros) } else { format!("${}", micros as f64 / 1e6) }
}

/// Returns when the run has taken as long as it may.
pub(super) fn wall_clock_ends_at(run: &Run) -> Option<Timestamp> {
    scopes(run, None).first()?.ends_at()
}

/// Writes how long the run has taken, and how long it may.
pub(super) fn told_wall_clock(run: &Run, now: Timestamp) -> String {
    scopes(run, None).first().map(|scope| scope.told_wall_clock(now)).unwrap_or_default()
}

/// Returns whether the same failure has reached its limit.
pub fn same_failure(run: &Run, phase: &str, failure: &str) -> bool {
    let located = run.definition.locate(phase);
    let again = |counted: &RunCounters| counted.failures(phase, failure) + 1;
    over(&scopes(run, located.as_ref()), |limits| limits.same_failure, (3, true), again).is_some()
}

/// Returns the smallest limit of one thing that a workflow around a phase sets; the largest number if all of them say
/// that there is none.
pub(crate) fn smallest(located: &LocatedPhase<'_>, limit: impl Fn(&Limits) -> Option<u64>) -> Option<u64> {
    let given = located.workflows().filter_map(|definition| definition.workflow.limits.as_ref().and_then(&limit));
    given.map(|limit| if limit == 0 { u64::MAX } else { limit }).min()
}

#[cfg(test)]
mod tests {
    #[test]
    fn amounts_are_told_with_all_digits_that_they_have() {
        assert_eq!(super::told_cost(5_250, 5_000), "$0.00525 were spent; the limit is $0.005");
        assert_eq!(super::told_cost(1_500_004, 1_500_000), "$1.500004 were spent; the limit is $1.50");
    }
}
