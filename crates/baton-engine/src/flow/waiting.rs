//! Waiting for agents that come for their work themselves: who is waited for, and when the run has waited long enough.
//!
//! `limits.wall_clock` also ends a wait. A person is asked about the run as a whole, and until they have decided nothing
//! new begins in it.

use jiff::Timestamp;

use super::enter::beside;
use super::{FlowFault, gates, limits};
use crate::Fence;
use crate::draft::Draft;
use crate::handoff::State;
use crate::id::HandoffId;
use crate::lifecycle::{Command, Release};
use crate::run::{Run, TrackedHandoff, Used};
use crate::session::Spent;
use crate::step::Role;

/// Where work lies until an agent comes for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comes {
    /// In the queue.
    ToTheQueue,
    /// In a folder, where the driver watches it.
    ToAFolder,
}

/// Returns whether and where the agent of a handoff comes for its work itself.
pub fn comes(run: &Run, tracked: &TrackedHandoff) -> Option<Comes> {
    if !matches!(tracked.step.role, Role::Work | Role::Delegation) {
        return None;
    }
    let located = run.definition.locate(&tracked.step.phase)?;
    let agent = located.definition.workflow.agent(&tracked.handoff.terms.to)?;
    match (agent.queue, &agent.directory) {
        (Some(true), _) => Some(Comes::ToTheQueue),
        (_, Some(_)) => Some(Comes::ToAFolder),
        (_, None) => None,
    }
}

/// Returns whether a person is asked whether the run should go on waiting. Until then nothing else begins.
pub fn is_held(run: &Run) -> bool {
    run.waiting().any(|tracked| is_about_the_run(run, tracked))
}

/// Returns when the run has waited long enough for somebody; `None` if it waits for nobody, or was told to go on.
pub fn waits_until(run: &Run) -> Option<Timestamp> {
    let end = limits::wall_clock_ends_at(run)?;
    let asked = run
        .about(&run.root().handoff.id)
        .rev()
        .any(|tracked| tracked.step.role == Role::Limit && tracked.handoff.accepted_at >= run.counted.since);
    (!asked && !run.is_finished() && awaited(run).is_some()).then_some(end)
}

/// Asks a person whether to go on, if the run has waited long enough or its budget is used up.
pub(super) fn interrupt(draft: &mut Draft) -> Result<(), FlowFault> {
    stop_spending(draft)?;
    stop_waiting(draft)
}

/// Asks a person before an agent is given another turn that no budget is left for. Agents that work are interrupted: their
/// attempts do not count, and where they have sessions these go on afterwards.
fn stop_spending(draft: &mut Draft) -> Result<(), FlowFault> {
    if !limits::has_budget(&draft.run.definition) || is_held(&draft.run) {
        return Ok(());
    }
    let overspent = |tracked: &TrackedHandoff| limits::overspent(&draft.run, tracked, Used::default());
    let Some((id, limit)) = draft
        .run
        .open()
        .filter(|tracked| spends(tracked))
        .find_map(|tracked| Some((tracked.handoff.id.clone(), overspent(tracked)?)))
    else {
        return Ok(());
    };
    let driven =
        |tracked: &&TrackedHandoff| spends(tracked) && tracked.handoff.lease().is_some_and(|lease| lease.driven);
    let driven = draft.run.open().filter(driven).map(|tracked| (tracked.handoff.id.clone(), tracked.handoff.fence));
    for (id, fence) in driven.collect::<Vec<_>>() {
        draft.apply(&id, Command::Release(Release { fence, why: "the budget is used up".to_owned() }))?;
    }
    let root = draft.run.root().handoff.id.clone();
    let (terms, request) = gates::about_spending(draft, &id, &limit)?;
    beside(draft, &id, &root, Role::Limit, terms, request)
}

/// Returns what was spent on an agent beyond what the journal says, if that uses up a budget.
pub fn overspends(run: &Run, tracked: &TrackedHandoff, spent: Spent) -> bool {
    limits::has_budget(&run.definition) && limits::overspent(run, tracked, tracked.beyond_journal(spent)).is_some()
}

fn spends(tracked: &TrackedHandoff) -> bool {
    let is_open = matches!(tracked.handoff.state, State::Pending { .. } | State::Claimed { .. });
    is_open && matches!(tracked.step.role, Role::Work | Role::Delegation)
}

/// Asks a person whether to go on waiting, if the run has waited long enough. A wait for a folder ends; what was asked
/// stays there, and is found again.
fn stop_waiting(draft: &mut Draft) -> Result<(), FlowFault> {
    if waits_until(&draft.run).is_none_or(|end| end > draft.at) {
        return Ok(());
    }
    let Some(awaited) = awaited(&draft.run) else { return Ok(()) };
    let limit = limits::told_wall_clock(&draft.run, draft.at);
    let question = format!("Still waiting for {}: {limit}. Go on waiting?", awaited.handoff.terms.to);
    let (id, root) = (awaited.handoff.id.clone(), draft.run.root().handoff.id.clone());
    let watched = |tracked: &&TrackedHandoff| {
        tracked.handoff.lease().is_some() && comes(&draft.run, tracked) == Some(Comes::ToAFolder)
    };
    let watched: Vec<(HandoffId, Fence)> =
        draft.run.open().filter(watched).map(|tracked| (tracked.handoff.id.clone(), tracked.handoff.fence)).collect();
    for (id, fence) in watched {
        let release = Release { fence, why: "the run has reached its wall-clock limit".to_owned() };
        draft.apply(&id, Command::Release(release))?;
    }
    let (terms, request) = gates::about_waiting(draft, &id, &question)?;
    beside(draft, &id, &root, Role::Limit, terms, request)
}

/// Finds somebody who is waited for: nobody has claimed it from the queue, or it lies in a folder.
fn awaited(run: &Run) -> Option<&TrackedHandoff> {
    run.open().find(|tracked| match tracked.handoff.state {
        State::Pending { .. } => comes(run, tracked).is_some(),
        State::Claimed { .. } => comes(run, tracked) == Some(Comes::ToAFolder),
        State::Verifying | State::Blocked { .. } | State::AwaitingPerson { .. } => false,
        State::Completed { .. } | State::Failed { .. } | State::Cancelled { .. } => false,
    })
}

fn is_about_the_run(run: &Run, tracked: &TrackedHandoff) -> bool {
    tracked.step.role == Role::Limit && tracked.step.about.as_ref() == Some(&run.root().handoff.id)
}
