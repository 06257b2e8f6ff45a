//! How the phases of a workflow follow each other: every phase with its place, and the ways between them.

use std::collections::HashMap;

use super::{GateFields, Phase, Workflow};
use crate::wire::fits;

/// What a phase does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PhaseKind {
    /// An agent works.
    Agent,
    /// A command passes or fails.
    Check,
    /// Phases run at the same time.
    Parallel,
    /// Phases run once for each item of a list.
    Foreach,
    /// Another workflow runs.
    Workflow,
    /// A person decides.
    Gate,
}

impl PhaseKind {
    /// All kinds, in the order of the fields.
    pub const ALL: [PhaseKind; 6] = [
        PhaseKind::Agent,
        PhaseKind::Check,
        PhaseKind::Parallel,
        PhaseKind::Foreach,
        PhaseKind::Workflow,
        PhaseKind::Gate,
    ];

    /// Returns the field that makes a phase of this kind.
    pub fn as_str(self) -> &'static str {
        match self {
            PhaseKind::Agent => "agent",
            PhaseKind::Check => "check",
            PhaseKind::Parallel => "parallel",
            PhaseKind::Foreach => "foreach",
            PhaseKind::Workflow => "workflow",
            PhaseKind::Gate => "gate",
        }
    }
}

impl Phase {
    /// Returns every kind that the phase claims to be; a sound phase has exactly one.
    pub fn kinds(&self) -> Vec<PhaseKind> {
        let claims = |kind: &PhaseKind| match kind {
            PhaseKind::Agent => self.agent.is_some(),
            PhaseKind::Check => self.check.is_some(),
            PhaseKind::Parallel => !self.parallel.is_empty(),
            PhaseKind::Foreach => self.foreach.is_some(),
            PhaseKind::Workflow => self.workflow.is_some(),
            PhaseKind::Gate => self.gate.is_some(),
        };
        PhaseKind::ALL.into_iter().filter(claims).collect()
    }

    /// Returns what the phase does, if it is one thing.
    pub fn sole_kind(&self) -> Option<PhaseKind> {
        match self.kinds()[..] {
            [kind] => Some(kind),
            _ => None,
        }
    }

    /// Returns the gates of the phase with their members: its own, and that of its review.
    pub fn gates(&self) -> impl Iterator<Item = (&'static str, &GateFields)> {
        let own = self.gate.as_ref().map(|gate| ("gate", gate));
        own.into_iter().chain(self.review.as_ref().map(|review| ("review", &review.gate)))
    }
}

impl GateFields {
    /// Returns whether it demands something of those who decide.
    pub fn names_deciders(&self) -> bool {
        !self.approver_names().is_empty() || self.at_least.is_some() || self.signed == Some(true)
    }

    /// Returns the names of those who may decide; none if everybody may.
    pub fn approver_names(&self) -> &[String] {
        self.approvers.as_ref().map_or(&[], |names| &names.0)
    }
}

/// Where a phase stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Within {
    /// In the list of the workflow.
    Top,
    /// Beside phases that run at the same time.
    Parallel,
    /// In the list that runs for each item.
    Foreach,
}

/// A phase and its place.
#[derive(Debug, Clone)]
pub struct FlowStep<'w> {
    /// The phase.
    pub phase: &'w Phase,
    /// Its JSON pointer.
    pub pointer: String,
    /// The step that it belongs to.
    pub parent: Option<usize>,
    /// What kind of list it is in.
    pub within: Within,
    list: usize,
}

/// Why one phase may follow another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// It is the next one.
    Next,
    /// The first one failed.
    Failure,
    /// A person chose it.
    Choice,
    /// A route leads there.
    Route,
}

/// All phases of a workflow, in the order of the file; a phase stands before those inside it.
#[derive(Debug, Clone, Default)]
pub struct Flow<'w> {
    /// The phases.
    pub steps: Vec<FlowStep<'w>>,
    lists: Vec<Vec<usize>>,
    names: HashMap<(usize, &'w str), usize>,
    followers: Vec<Vec<(usize, Way)>>,
}

impl<'w> Flow<'w> {
    /// Looks at a workflow.
    pub fn of(workflow: &'w Workflow) -> Self {
        let mut flow = Flow::default();
        flow.add(&workflow.phases, "/phases", None, Within::Top);
        flow.followers = (0..flow.steps.len()).map(|step| flow.written_followers(step)).collect();
        flow.add_routes(workflow);
        flow
    }

    fn add(&mut self, phases: &'w [Phase], pointer: &str, parent: Option<usize>, within: Within) {
        let list = self.lists.len();
        self.lists.push(Vec::new());
        for (index, phase) in phases.iter().enumerate() {
            let pointer = format!("{pointer}/{index}");
            let own = self.steps.len();
            self.lists[list].push(own);
            self.names.entry((list, phase.id())).or_insert(own);
            self.steps.push(FlowStep { phase, pointer: pointer.clone(), parent, within, list });
            self.add(&phase.parallel, &format!("{pointer}/parallel"), Some(own), Within::Parallel);
            self.add(&phase.phases, &format!("{pointer}/phases"), Some(own), Within::Foreach);
        }
    }

    /// Returns the steps that stand in the same list as a step, with itself, in their order.
    pub fn neighbours(&self, step: usize) -> &[usize] {
        &self.lists[self.steps[step].list]
    }

    /// Returns the lists of phases, each in its order; a list may be empty.
    pub fn lists(&self) -> &[Vec<usize>] {
        &self.lists
    }

    /// Finds a phase by its name in the list of a step.
    pub fn neighbour(&self, step: usize, id: &str) -> Option<usize> {
        self.names.get(&(self.steps[step].list, id)).copied()
    }

    /// Finds a phase by its name in the list of a step or in those around it.
    pub fn visible(&self, step: usize, id: &str) -> Option<usize> {
        self.around(step).find_map(|outer| self.neighbour(outer, id))
    }

    /// Returns a step and the steps that it is in, from the inside.
    pub fn around(&self, step: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(step), |inner| self.steps[*inner].parent)
    }

    /// Returns the steps of the same list that may follow a step, and why.
    pub fn followers(&self, step: usize) -> &[(usize, Way)] {
        &self.followers[step]
    }

    /// Returns the step that follows when all went well; none at the end and among parallel phases.
    pub fn next(&self, step: usize) -> Option<usize> {
        let neighbours = self.neighbours(step);
        match self.steps[step].phase.next.as_deref() {
            _ if self.steps[step].within == Within::Parallel => None,
            Some(id) => self.neighbour(step, id),
            None => neighbours.get(neighbours.partition_point(|other| *other <= step)).copied(),
        }
    }

    fn written_followers(&self, step: usize) -> Vec<(usize, Way)> {
        let phase = self.steps[step].phase;
        let named = |id: &str| self.neighbour(step, id);
        let mut found: Vec<(usize, Way)> = self.next(step).map(|next| (next, Way::Next)).into_iter().collect();
        found.extend(phase.on_failure.as_deref().and_then(named).map(|to| (to, Way::Failure)));
        let choices = phase.gates().flat_map(|(_, gate)| gate.choices.values());
        found.extend(choices.filter_map(|to| named(to.as_str()?)).map(|to| (to, Way::Choice)));
        found
    }

    /// Adds where routes may lead: from the phase of an agent, and from those around it.
    fn add_routes(&mut self, workflow: &Workflow) {
        for step in 0..self.steps.len() {
            let Some(agent) = self.steps[step].phase.agent.as_deref() else { continue };
            let is_meant = |pattern: &str| fits(pattern, agent);
            let fitting = workflow.routes.iter().filter(|route| route.agent.as_deref().is_none_or(is_meant));
            for phase in fitting.filter_map(|route| route.phase.as_deref()) {
                let outer: Vec<usize> = self.around(step).collect();
                for from in outer {
                    let way = self.neighbour(from, phase).map(|to| (to, Way::Route));
                    let ways = &mut self.followers[from];
                    ways.extend(way.filter(|way| !ways.contains(way)));
                }
            }
        }
    }

    /// Marks every step that can be reached from a step, in one or more steps.
    pub fn reach(&self, step: usize) -> Vec<bool> {
        spread(&self.followers, step)
    }

    /// Marks every step from which a step can be reached, in one or more steps.
    pub fn origins(&self, step: usize) -> Vec<bool> {
        let mut backwards = vec![Vec::new(); self.steps.len()];
        for (from, ways) in self.followers.iter().enumerate() {
            ways.iter().for_each(|(to, way)| backwards[*to].push((from, *way)));
        }
        spread(&backwards, step)
    }
}

fn spread(ways: &[Vec<(usize, Way)>], step: usize) -> Vec<bool> {
    let mut reached = vec![false; ways.len()];
    let mut open = vec![step];
    while let Some(here) = open.pop() {
        for (to, _) in &ways[here] {
            if !std::mem::replace(&mut reached[*to], true) {
                open.push(*to);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workflow::read;

    const TEXT: &str = "name: a\nphases:\n  - {id: one, agent: x}\n  - {id: two, check: 'true', on_failure: one}\n  \
- id: three\n    parallel: [{id: one, agent: y}, {id: other, agent: x}]\n  - {id: four, agent: z, next: end}\n  \
- {id: five, agent: x}\nroutes:\n  - {agent: y, reason: r, phase: five}\n";

    #[test]
    fn phases_follow_by_order_failure_and_routes() {
        let workflow = read(TEXT.as_bytes()).workflow.expect("readable");
        let flow = Flow::of(&workflow);
        let id = |step: usize| flow.steps[step].phase.id();
        let ways = |step: usize| flow.followers(step).iter().map(|(to, way)| (id(*to), *way)).collect::<Vec<_>>();
        assert_eq!(ways(1), [("three", Way::Next), ("one", Way::Failure)]);
        assert_eq!(ways(2), [("four", Way::Next), ("five", Way::Route)]);
        assert_eq!((ways(3), ways(5)), (vec![], vec![]));
        assert_eq!(flow.visible(3, "one"), Some(3));
        assert_eq!(flow.visible(4, "two"), Some(1));
        assert_eq!(flow.steps[4].pointer, "/phases/2/parallel/1");
        assert!(flow.reach(0)[0]);
        assert!(!flow.reach(2)[2]);
    }
}
