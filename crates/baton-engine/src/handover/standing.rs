//! What a step stands on: the work, the checks and the gates that were finished on the way to it.

use std::cmp::Reverse;
use std::collections::HashSet;

use crate::handoff::State;
use crate::run::{Run, TrackedHandoff};
use crate::step::{Role, Step};

/// Returns the agents' work, the checks and the gates that a step stands on, the latest first: of each phase on the way to it the last
/// visit, also inside of groups and nested workflows, and also one that failed. What goes on beside it is not on its way.
pub(crate) fn stands_on<'r>(run: &'r Run, step: &'r Step) -> Vec<&'r TrackedHandoff> {
    let mut walk = Walk { run, phases: HashSet::new(), found: Vec::new() };
    let (mut step, mut met) = (step, HashSet::new());
    while let Some(before) = before(run, step).filter(|before| met.insert(before.handoff.id.as_str())) {
        // Around the step is only the group that it belongs to: its members are on the way already, or beside it.
        if step.within.as_ref() != Some(&before.handoff.id) {
            walk.take(before);
        }
        step = &before.step;
    }
    let ended = |tracked: &&TrackedHandoff| tracked.handoff.state.finished_at();
    walk.found.sort_by_key(|tracked| Reverse(ended(tracked)));
    walk.found
}

/// Returns the handoff that a step goes on from, or the group that it begins.
fn before<'r>(run: &'r Run, step: &Step) -> Option<&'r TrackedHandoff> {
    let before = step.after.as_ref().or(step.within.as_ref())?;
    run.find(&run.speaker(before))
}

struct Walk<'r> {
    run: &'r Run,
    /// The phases of which the last visit was met.
    phases: HashSet<&'r str>,
    found: Vec<&'r TrackedHandoff>,
}

impl<'r> Walk<'r> {
    fn take(&mut self, tracked: &'r TrackedHandoff) {
        match tracked.step.role {
            Role::Work | Role::Check | Role::Gate | Role::Group if !self.phases.insert(&tracked.step.phase) => {}
            Role::Work | Role::Check | Role::Gate => {
                let help = self.run.about(&tracked.handoff.id).filter(|other| other.step.role == Role::Delegation);
                let is_done = |tracked: &&TrackedHandoff| matches!(tracked.handoff.state, State::Completed { .. });
                let has_ended = tracked.handoff.state.name().is_finished();
                self.found.extend([tracked].into_iter().filter(|_| has_ended).chain(help.filter(is_done)));
            }
            Role::Group => {
                let members: Vec<&TrackedHandoff> = self.run.members(&tracked.handoff.id).collect();
                members.into_iter().rev().for_each(|member| self.take(member));
            }
            Role::Run | Role::Delegation | Role::Escalation | Role::Failure | Role::Limit => {}
        }
    }
}
