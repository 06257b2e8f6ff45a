//! Who gives to whom: those whose results a handoff goes on from.

use std::collections::HashMap;

use crate::lifecycle::Decision;
use crate::run::{Run, TrackedHandoff};
use crate::step::{Role, Step};

/// Returns the handoffs whose results a step goes on from, the oldest first: the phase before it; after a group every
/// member; inside a group what the group itself goes on from; and for a phase that is visited again what it had the
/// first time, and whoever sent it back.
pub(crate) fn givers<'r>(run: &'r Run, step: &Step) -> Vec<&'r TrackedHandoff> {
    let mut found = Found::default();
    collect(run, step, &mut found);
    found.in_order()
}

/// Those that were found, each phase once.
#[derive(Default)]
struct Found<'r> {
    /// An earlier visit of a phase leaves a hole where it was.
    givers: Vec<Option<&'r TrackedHandoff>>,
    places: HashMap<&'r str, usize>,
}

impl<'r> Found<'r> {
    /// Adds a giver, in place of an earlier visit of the same phase.
    fn add(&mut self, giver: &'r TrackedHandoff) {
        if let Some(before) = self.places.insert(&giver.step.phase, self.givers.len()) {
            self.givers[before] = None;
        }
        self.givers.push(Some(giver));
    }

    fn in_order(self) -> Vec<&'r TrackedHandoff> {
        self.givers.into_iter().flatten().collect()
    }
}

/// Returns the visit of the same phase before this one.
pub(super) fn earlier_visit<'r>(run: &'r Run, step: &Step) -> Option<&'r TrackedHandoff> {
    step.visit.checked_sub(1).filter(|_| step.role.is_phase()).and_then(|before| run.visit(&step.phase, before))
}

/// Returns the visits of the same phase before this one, the first one first.
pub(crate) fn earlier_visits<'r>(run: &'r Run, step: &Step) -> Vec<&'r TrackedHandoff> {
    let mut visits: Vec<&TrackedHandoff> =
        std::iter::successors(earlier_visit(run, step), |visit| earlier_visit(run, &visit.step)).collect();
    visits.reverse();
    visits
}

fn collect<'r>(run: &'r Run, step: &Step, found: &mut Found<'r>) {
    let Some(before) = step.after.as_ref().and_then(|after| run.find(after)) else { return };
    if Some(&before.handoff.id) == step.within.as_ref() {
        return collect(run, &before.step, found);
    }
    // Of earlier visits only the first counts: whoever sent the work back later has been answered since.
    let first = earlier_visits(run, step).into_iter().next();
    if let Some(first) = first {
        collect(run, &first.step, found);
        for giver in found.givers.iter_mut().flatten() {
            *giver = run.latest(&giver.step.phase).filter(|latest| latest.passed()).unwrap_or(giver);
        }
    }
    // What the agent said itself comes to it as its own earlier report.
    if before.step.phase != step.phase {
        expand(run, before, first.is_none(), found);
    }
}

/// Adds a handoff that gives, or those that are behind it.
fn expand<'r>(run: &'r Run, giver: &'r TrackedHandoff, behind: bool, found: &mut Found<'r>) {
    match giver.step.role {
        Role::Work => found.add(giver),
        Role::Check | Role::Gate => {
            // A check and a gate have little to say: what came before them is what matters.
            if behind {
                collect(run, &giver.step, found);
            }
            if speaks(giver) {
                found.add(giver);
            }
        }
        Role::Group => {
            for member in members(run, giver) {
                expand(run, member, false, found);
            }
            if !giver.passed() {
                found.add(giver);
            }
        }
        Role::Run | Role::Delegation | Role::Escalation | Role::Failure | Role::Limit => {}
    }
}

fn speaks(giver: &TrackedHandoff) -> bool {
    let said = giver.decided.as_ref().is_some_and(|decide| {
        decide.note.is_some() || matches!(decide.decision, Decision::Answer { .. } | Decision::Reject { .. })
    });
    said || !giver.passed()
}

/// Returns the latest visit of every phase inside a group, in the order in which they began.
pub(crate) fn members<'r>(run: &'r Run, group: &TrackedHandoff) -> Vec<&'r TrackedHandoff> {
    let mut latest: Vec<&TrackedHandoff> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for member in run.members(&group.handoff.id) {
        match places.get(member.step.phase.as_str()) {
            Some(place) => latest[*place] = member,
            None => {
                places.insert(&member.step.phase, latest.len());
                latest.push(member);
            }
        }
    }
    latest
}
