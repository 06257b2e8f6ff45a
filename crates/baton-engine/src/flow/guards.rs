//! Where people decide on the way to a phase: nobody begins again behind such a place if the run would otherwise come to it first.
//!
//! Only what the workflow says counts, not what was asked: a gate that its `when` left out once may be asked the next time.

use std::collections::HashSet;

use baton_protocol::workflow::{Flow, GateFields, Phase, Way};

use crate::definition::Definition;
use crate::run::{Run, TrackedHandoff};
use crate::step::Role;

/// A phase of a run's own workflow, with whatever may lead to it.
pub(super) struct Approach<'r> {
    run: &'r Run,
    flow: Flow<'r>,
    /// The steps of the workflow itself, without what is inside of them, in their order.
    outer: Vec<usize>,
    phase: usize,
    /// Which steps may lead to the phase.
    origins: Vec<bool>,
}

impl<'r> Approach<'r> {
    /// Looks at the way to a phase; `None` if the workflow has no such phase.
    pub(super) fn to(run: &'r Run, phase: &str) -> Option<Approach<'r>> {
        let flow = Flow::of(&run.definition.workflow);
        let outer = flow.lists().first().cloned().unwrap_or_default();
        let phase = outer.iter().copied().find(|step| flow.steps[*step].phase.id() == phase)?;
        let origins = flow.origins(phase);
        Some(Approach { run, flow, outer, phase, origins })
    }

    /// Finds where a person decides, or has decided how the run goes on, between its beginning and the phase.
    pub(super) fn decided_before(&self) -> Option<&'r str> {
        let first = *self.outer.first()?;
        if first == self.phase {
            return None;
        }
        let has_decided = |tracked: &&TrackedHandoff| tracked.decided.is_some();
        let decided: HashSet<&str> =
            self.run.handoffs().filter(has_decided).map(|tracked| outermost(&tracked.step.phase)).collect();
        let mut ahead = self.ahead_of(first);
        ahead.insert(first);
        self.find(&ahead, |step| self.asks(step) || decided.contains(self.id(step)))
    }

    /// Finds where a person decides, or has not found good what was reported, between what the run has done since it came to the
    /// phase last and the phase. What happened before a place in the run does not count.
    pub(super) fn guard(&self, since: usize) -> Option<&'r str> {
        let phase = self.id(self.phase);
        let handoffs = || self.run.handoffs().enumerate().skip(since).filter(|(_, it)| it.step.role.is_phase());
        let (entered, _) = handoffs().rfind(|(_, tracked)| tracked.step.phase == phase)?;
        let later: Vec<&TrackedHandoff> = handoffs().filter(|(place, _)| *place > entered).map(|(_, it)| it).collect();
        let is_done = |step: &usize| later.iter().any(|tracked| outermost(&tracked.step.phase) == self.id(*step));
        let turned_down = |step: usize| {
            later.iter().any(|it| outermost(&it.step.phase) == self.id(step) && is_turned_down(self.run, it))
        };
        // Whatever the run does after the phase was reached from there, with everything before it decided.
        let is_before = |step: &usize| *step != self.phase && !self.comes_after(*step);
        let done: HashSet<usize> = self.outer.iter().copied().filter(is_before).filter(is_done).collect();
        let ahead = done.iter().flat_map(|step| self.ahead_of(*step)).collect();
        self.find(&ahead, |step| self.asks(step))
            .or_else(|| self.find(&done, |step| self.asks(step) || turned_down(step)))
            .or_else(|| self.decided_once_more(&later))
    }

    /// Finds where a person decides on the way from work that was done since to the phase, as long as everything succeeds and
    /// whatever a person chooses. In a circle such a place may come after the phase at first, and before it the next time.
    fn decided_once_more(&self, later: &[&TrackedHandoff]) -> Option<&'r str> {
        let is_work = |it: &&&TrackedHandoff| matches!(it.step.role, Role::Work | Role::Check) && it.passed();
        let worked: HashSet<&str> = later.iter().filter(is_work).map(|it| outermost(&it.step.phase)).collect();
        let mut done = self.outer.iter().filter(|step| **step != self.phase && worked.contains(self.id(**step)));
        let leads_on = |step: usize| self.on_from(step).contains(&self.phase);
        let gate = done.find_map(|step| {
            self.on_from(*step).into_iter().find(|at| *at != self.phase && self.asks(*at) && leads_on(*at))
        });
        gate.map(|gate| self.id(gate))
    }

    /// Returns the steps that the run may come to from a step, up to the phase, if nothing fails.
    fn on_from(&self, step: usize) -> Vec<usize> {
        let (mut open, mut met) = (vec![step], Vec::new());
        while let Some(here) = open.pop() {
            let ways = self.flow.followers(here).iter().filter(|(_, way)| matches!(way, Way::Next | Way::Choice));
            for (to, _) in ways.filter(|(to, _)| *to != step) {
                if !met.contains(to) {
                    met.push(*to);
                    open.extend((*to != self.phase).then_some(*to));
                }
            }
        }
        met
    }

    /// Finds the first of some steps that leads to the phase, and does not come after it anyway.
    fn find(&self, among: &HashSet<usize>, counts: impl Fn(usize) -> bool) -> Option<&'r str> {
        let is_before = |step: usize| step != self.phase && self.origins[step] && !self.comes_after(step);
        self.outer
            .iter()
            .copied()
            .find(|step| among.contains(step) && is_before(*step) && counts(*step))
            .map(|it| self.id(it))
    }

    /// Returns the steps that may follow a step before the run comes to the phase.
    fn ahead_of(&self, step: usize) -> HashSet<usize> {
        let (mut open, mut met) = (vec![step], HashSet::new());
        while let Some(here) = open.pop() {
            let followers = self.flow.followers(here).iter().map(|(to, _)| *to).filter(|to| *to != self.phase);
            open.extend(followers.filter(|to| met.insert(*to)));
        }
        met
    }

    /// Returns whether the run comes to a step after the phase if everything succeeds. In a circle, the one that it comes to first
    /// from its beginning comes first.
    fn comes_after(&self, step: usize) -> bool {
        let is_first = || {
            let from_beginning = self.outer.first().map(|first| self.line(*first)).unwrap_or_default();
            let place = |step| match self.outer.first() == Some(&step) {
                true => Some(0),
                false => from_beginning.iter().position(|at| *at == step).map(|place| place + 1),
            };
            place(self.phase).is_some_and(|own| place(step).is_some_and(|other| own < other))
        };
        self.line(self.phase).contains(&step) && (!self.line(step).contains(&self.phase) || is_first())
    }

    /// Returns the steps that follow a step as long as everything succeeds.
    fn line(&self, step: usize) -> Vec<usize> {
        let mut line = Vec::new();
        let mut at = self.flow.next(step);
        while let Some(next) = at.filter(|next| !line.contains(next) && *next != step) {
            line.push(next);
            at = self.flow.next(next);
        }
        line
    }

    fn asks(&self, step: usize) -> bool {
        !gates_in(&self.run.definition, self.flow.steps[step].phase).is_empty()
    }

    fn id(&self, step: usize) -> &'r str {
        self.flow.steps[step].phase.id()
    }
}

/// Returns the gates of a phase and of those inside of it, each with the workflow that it stands in.
pub(super) fn gates_in<'d>(definition: &'d Definition, phase: &'d Phase) -> Vec<(&'d Definition, &'d GateFields)> {
    let nested = phase.workflow.as_ref().and_then(|path| definition.nested.get(path));
    let own = phase.gate.iter().chain(phase.review.iter().map(|review| &review.gate));
    let members = phase.phases.iter().chain(&phase.parallel).map(|member| (definition, member));
    let inner = nested.into_iter().flat_map(|nested| nested.workflow.phases.iter().map(move |member| (nested, member)));
    let deeper = members.chain(inner).flat_map(|(definition, member)| gates_in(definition, member));
    own.map(|gate| (definition, gate)).chain(deeper).collect()
}

/// Returns the phase of the run's own workflow that a phase is, or is part of.
pub(super) fn outermost(path: &str) -> &str {
    path.split('/').next().unwrap_or(path)
}

/// Returns whether a person decides in a phase whether the run goes on.
pub(super) fn asks_person(run: &Run, tracked: &TrackedHandoff) -> bool {
    let is_reviewed =
        || run.definition.locate(&tracked.step.phase).is_some_and(|located| located.phase().review.is_some());
    tracked.step.role == Role::Gate || tracked.step.role.is_phase() && (tracked.decided.is_some() || is_reviewed())
}

/// Returns whether the last report of a phase was not accepted: it waits for a person, says no, or was refuted.
pub(super) fn is_turned_down(run: &Run, tracked: &TrackedHandoff) -> bool {
    let is_latest = || run.latest(&tracked.step.phase).is_some_and(|latest| latest.handoff.id == tracked.handoff.id);
    tracked.step.role.is_phase() && tracked.told.is_some() && !tracked.passed() && is_latest()
}
