//! Who gives to whom: those whose results a handoff goes on from.

use crate::flow;
use crate::lifecycle::Decision;
use crate::run::{Run, Tracked};
use crate::step::{Role, Step};

/// Returns the handoffs whose results a step goes on from, the oldest first: the phase before it; after a group every
/// member; inside a group what the group itself goes on from; and for a phase that is visited again what it had the
/// first time, and whoever sent it back.
pub(crate) fn givers<'r>(run: &'r Run, step: &Step) -> Vec<&'r Tracked> {
    let mut found = Vec::new();
    collect(run, step, &mut found);
    found
}

/// Returns the visit of the same phase before this one.
pub(super) fn earlier_visit<'r>(run: &'r Run, step: &Step) -> Option<&'r Tracked> {
    let before = step.visit.checked_sub(1).filter(|visit| *visit > 0 && step.role.is_phase())?;
    let id = flow::identifier(run, &step.phase, before).ok()?;
    run.find(&id).filter(|earlier| earlier.step.phase == step.phase)
}

/// Returns the visits of the same phase before this one, the first one first.
pub(crate) fn earlier_visits<'r>(run: &'r Run, step: &Step) -> Vec<&'r Tracked> {
    let mut visits: Vec<&Tracked> =
        std::iter::successors(earlier_visit(run, step), |visit| earlier_visit(run, &visit.step)).collect();
    visits.reverse();
    visits
}

fn collect<'r>(run: &'r Run, step: &Step, found: &mut Vec<&'r Tracked>) {
    let Some(before) = step.after.as_ref().and_then(|after| run.find(after)) else { return };
    if Some(&before.handoff.id) == step.within.as_ref() {
        return collect(run, &before.step, found);
    }
    // Of earlier visits only the first counts: whoever sent the work back later has been answered since.
    let first = earlier_visits(run, step).into_iter().next();
    if let Some(first) = first {
        collect(run, &first.step, found);
        for giver in found.iter_mut() {
            *giver = run.latest(&giver.step.phase).filter(|latest| latest.passed()).unwrap_or(giver);
        }
    }
    // What the agent said itself comes to it as its own earlier report.
    if before.step.phase != step.phase {
        expand(run, before, first.is_none(), found);
    }
}

/// Adds a handoff that gives, or those that stand behind it.
fn expand<'r>(run: &'r Run, giver: &'r Tracked, behind: bool, found: &mut Vec<&'r Tracked>) {
    match giver.step.role {
        Role::Work => add(found, giver),
        Role::Check | Role::Gate => {
            // A check and a gate have little to say: what came before them is what matters.
            if behind {
                collect(run, &giver.step, found);
            }
            if speaks(giver) {
                add(found, giver);
            }
        }
        Role::Group => {
            for member in members(run, giver) {
                expand(run, member, true, found);
            }
            if !giver.passed() {
                add(found, giver);
            }
        }
        Role::Run | Role::Delegation | Role::Escalation | Role::Failure | Role::Limit => {}
    }
}

fn speaks(giver: &Tracked) -> bool {
    let said = giver.decided.as_ref().is_some_and(|decide| {
        decide.note.is_some() || matches!(decide.decision, Decision::Answer { .. } | Decision::Reject { .. })
    });
    said || !giver.passed()
}

/// Adds a giver, in the place of an earlier visit of the same phase.
fn add<'r>(found: &mut Vec<&'r Tracked>, giver: &'r Tracked) {
    found.retain(|known| known.step.phase != giver.step.phase);
    found.push(giver);
}

/// Returns the last step of each member of a group, in the order in which the members began.
fn members<'r>(run: &'r Run, group: &Tracked) -> Vec<&'r Tracked> {
    let nested = run.definition.locate(&group.step.phase).is_some_and(|located| located.phase().workflow.is_some());
    let inside = group.step.phase.len() + 1;
    let mut lanes: Vec<(&str, &Tracked)> = Vec::new();
    let mut places: std::collections::HashMap<&str, usize> = std::collections::HashMap::new();
    for member in run.inside(&group.handoff.id).filter(|member| member.step.role.is_phase()) {
        let rest = member.step.phase.get(inside..).unwrap_or_default();
        let lane = if nested { "" } else { rest.split('/').next().unwrap_or_default() };
        match places.get(lane) {
            Some(place) => lanes[*place].1 = member,
            None => {
                places.insert(lane, lanes.len());
                lanes.push((lane, member));
            }
        }
    }
    lanes.into_iter().map(|(_, last)| last).collect()
}
