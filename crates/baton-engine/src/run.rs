//! A run as its journal tells it: every handoff with its step, its report and what was seen of it, and what was counted.
//!
//! [`Run::absorb`] takes the events one by one. Nothing else changes a run; the same journal gives the same run.

mod agenda;
#[cfg(test)]
pub(crate) mod cost;
mod counted;
mod fault;
mod group;
mod index;
mod parking;
mod tracked;

pub use agenda::Agenda;
pub use counted::{RunCounters, Used};
pub use fault::{JournalFault, RecordFault};
pub(crate) use group::{Group, Lane, Progress};
pub use parking::Parks;
pub(crate) use tracked::Known;
pub use tracked::{LastReport, NextTurn, TrackedHandoff, TrackedSession};

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use rpds::{HashTrieMapSync, VectorSync};

use crate::Fence;
use crate::definition::Definition;
use crate::handoff::{Handoff, StateName, WrittenDocument};
use crate::id::{HandoffId, RunId};
use crate::journal::{Event, Fact};
use crate::lifecycle::{self, Again, Command, Decision, Requeue, Verdict};
use crate::step::{HUMAN, Role, Step};
use counted::chooses;
use index::{Index, Place};

/// What a person says at a limit to start counting anew.
pub const REVISE: &str = "revise";

/// What a person says at a limit to allow one more round; also where it goes then, if what has reached the limit goes on
/// by itself.
pub(crate) const CONTINUE: &str = "continue";

/// Returns the folder of an attempt: `.baton/runs/RUN/STEP/FENCE` in the workspace.
pub fn attempt_folder(workspace: &Path, run: &RunId, handoff: &HandoffId, fence: Fence) -> PathBuf {
    let name = handoff.as_str().strip_prefix(run.as_str()).unwrap_or(handoff.as_str()).trim_start_matches('.');
    workspace.join(".baton/runs").join(run.as_str()).join(name).join(fence.to_string())
}

/// A run as its journal tells it. A copy costs the same however long the run is: it shares everything.
#[derive(Debug, Clone)]
pub struct Run {
    /// Its identifier.
    pub id: RunId,
    /// What it was started with.
    pub definition: Arc<Definition>,
    /// The number of the last event that was absorbed.
    pub seq: u64,
    /// When it was started.
    pub started_at: Timestamp,
    /// When the last event happened.
    pub changed_at: Timestamp,
    /// What was counted since a person last revised the run.
    pub counted: RunCounters,
    /// The same inside each visit of a phase that is a workflow of its own, until it ends.
    inside: HashTrieMapSync<HandoffId, RunCounters>,
    agenda: Agenda,
    handoffs: VectorSync<Arc<TrackedHandoff>>,
    index: Index,
    /// The phase that it begins again from, until that is entered.
    begins_again: Option<Requeue>,
    /// How many handoffs it had when it was given other inputs.
    before_its_inputs: usize,
    /// How far groups have come; the error says why that is unknown.
    groups: HashTrieMapSync<Place, Result<Group, RecordFault>>,
}

impl Run {
    /// Begins with the event that accepted a run; the error says why it does not.
    pub fn begin(event: &Event) -> Result<Run, JournalFault> {
        let Fact::Accepted(accept) = fact_of(event)? else { return Err(JournalFault::NoRequest) };
        if accept.terms.step.as_ref().map(|step| step.role) != Some(Role::Run) {
            return Err(JournalFault::NotARun(event.handoff.clone()));
        }
        let definition = Definition::of_request(&accept.request)?;
        let mut run = Run {
            id: event.run.clone(),
            definition: Arc::new(definition),
            seq: 0,
            started_at: event.at,
            changed_at: event.at,
            counted: RunCounters::since(event.at),
            inside: HashTrieMapSync::new_sync(),
            agenda: Agenda::default(),
            handoffs: VectorSync::new_sync(),
            index: Index::default(),
            begins_again: None,
            before_its_inputs: 0,
            groups: HashTrieMapSync::new_sync(),
        };
        run.absorb(event)?;
        Ok(run)
    }

    /// Builds a run from its whole journal; the error says what is wrong with it.
    pub fn of_journal(events: &[Event]) -> Result<Run, JournalFault> {
        let (first, rest) = events.split_first().ok_or(JournalFault::Empty)?;
        let mut run = Run::begin(first)?;
        rest.iter().try_for_each(|event| run.absorb(event))?;
        Ok(run)
    }

    /// Takes the next event.
    pub fn absorb(&mut self, event: &Event) -> Result<(), JournalFault> {
        if event.seq != self.seq + 1 {
            return Err(JournalFault::OutOfOrder { found: event.seq, before: self.seq });
        }
        let fact = fact_of(event)?;
        let before = self.find(&event.handoff).map(|tracked| &tracked.handoff);
        let handoff = lifecycle::after(before, &fact, event.at)?;
        self.seq = event.seq;
        self.take(handoff, &fact, Known::Nothing);
        Ok(())
    }

    /// Takes what happened to a handoff, and the handoff after it.
    pub(crate) fn take(&mut self, handoff: Handoff, fact: &Fact, known: Known) {
        let place = match self.index.place(&handoff.id) {
            Some(place) => place,
            None => self.add(&handoff, fact),
        };
        let at = handoff.changed_at;
        let tracked = Arc::make_mut(self.handoffs.get_mut(place).expect("every handoff has its place"));
        let (before, changed_before) = (tracked.handoff.state.name(), tracked.handoff.changed_at);
        let (tokens_before, cost_before) =
            (tracked.counted_tokens(), tracked.spending().spent.cost_micros.unwrap_or_default());
        tracked.take(handoff, fact, known);
        self.changed_at = self.changed_at.max(at);
        let tracked = self.handoffs[place].clone();
        let TrackedHandoff { handoff, step, .. } = &*tracked;
        // What is refuted was not decided; what an agent says who asks for help stands.
        let stands = matches!(handoff.state.name(), StateName::Completed | StateName::Blocked);
        if let Some(told) = tracked.told.as_ref().filter(|_| stands && before != handoff.state.name())
            && told.settles_something()
        {
            let lane = self.definition.locate(&step.phase).map(|located| located.lane);
            self.agenda.take(&handoff.id, &lane.unwrap_or_default(), told);
        }
        if let Fact::Happened(Command::Decide(decide)) = fact
            && let (Decision::Answer { .. }, Some(asked)) = (&decide.decision, &decide.asked)
        {
            self.agenda.answered(asked);
        }
        if let (Fact::Happened(Command::Report(_) | Command::Fail(_)), Some(told)) = (fact, &tracked.told) {
            self.index.add_report(place, &told.written);
        }
        let failure = handoff.last_failure.as_ref().filter(|_| is_failure(fact)).map(|failure| failure.to_string());
        let used = Used {
            tokens: tracked.counted_tokens().saturating_sub(tokens_before),
            cost_micros: tracked.spending().spent.cost_micros.unwrap_or_default().saturating_sub(cost_before),
        };
        for nested in self.nested_around(step) {
            let mut counted = self.counted_inside(&nested);
            counted.take(step, &handoff.terms.to, fact, failure.clone(), used);
            self.inside.insert_mut(nested, counted);
        }
        self.counted.take(step, &handoff.terms.to, fact, failure, used);
        if handoff.state.name().is_finished() {
            self.inside.remove_mut(&handoff.id);
        }
        if chooses(step, fact, REVISE) {
            self.counted = RunCounters::since(at);
            self.inside = HashTrieMapSync::new_sync();
        }
        if let Fact::Happened(Command::Requeue(requeue)) = fact
            && requeue.from.is_some()
        {
            self.leave_behind(requeue, at);
        }
        self.index.update(place, &tracked, changed_before);
        self.follow(place, &tracked, fact);
    }

    /// Begins again from a phase: nothing follows any more from what was before, and counting starts anew.
    fn leave_behind(&mut self, requeue: &Requeue, at: Timestamp) {
        self.begins_again = Some(requeue.clone());
        if !requeue.inputs.is_empty() {
            Arc::make_mut(&mut self.definition).inputs.extend(requeue.inputs.clone());
            self.before_its_inputs = self.handoffs.len();
        }
        self.counted = RunCounters::since(at);
        self.inside = HashTrieMapSync::new_sync();
        self.index.leave_behind();
    }

    /// Returns who let it begin again, and from which phase, until that is entered.
    pub(crate) fn begins_again(&self) -> Option<&Requeue> {
        self.begins_again.as_ref()
    }

    /// Returns how many handoffs there were when it was given other inputs; none if it has those that it began with.
    pub(crate) fn before_its_inputs(&self) -> usize {
        self.before_its_inputs
    }

    /// Returns what was counted inside a visit of a phase that is a workflow of its own.
    pub(crate) fn counted_inside(&self, nested: &HandoffId) -> RunCounters {
        let begun = || self.find(nested).map_or(self.counted.since, |group| group.handoff.accepted_at);
        // Nothing was counted since it began, or since a person revised the run.
        self.inside.get(nested).cloned().unwrap_or_else(|| RunCounters::since(begun().max(self.counted.since)))
    }

    /// Returns the visits of phases that are workflows of their own and hold this step, at whatever depth.
    fn nested_around(&self, step: &Step) -> Vec<HandoffId> {
        if self.definition.nested.is_empty() {
            return Vec::new();
        }
        let is_nested = |group: &&TrackedHandoff| {
            self.definition.locate(&group.step.phase).is_some_and(|located| located.phase().workflow.is_some())
        };
        self.around(step).filter(is_nested).map(|group| group.handoff.id.clone()).collect()
    }

    /// Returns the handoffs of the phases that hold a step, the innermost first, and last the run.
    pub(crate) fn around<'r>(&'r self, step: &Step) -> impl Iterator<Item = &'r TrackedHandoff> + use<'r> {
        let holder = |step: &Step| step.within.as_ref().and_then(|within| self.find(within));
        std::iter::successors(holder(step), move |group| holder(&group.step))
    }

    fn add(&mut self, handoff: &Handoff, fact: &Fact) -> Place {
        let place = self.handoffs.len();
        let tracked = TrackedHandoff::new(handoff.clone(), fact);
        self.index.add(place, &tracked);
        if tracked.step.role == Role::Group {
            let located = self.definition.locate(&tracked.step.phase).ok_or(RecordFault::NoPhase);
            let group = located.and_then(|located| Group::new(&located, &tracked));
            self.groups.insert_mut(place, group);
        }
        if tracked.step.role.is_phase() {
            self.begins_again = None;
        }
        if tracked.step.role.is_phase()
            && let Some(Ok(group)) = self.group_around(&tracked).and_then(|group| self.groups.get_mut(&group))
        {
            group.members.push_back_mut(place);
        }
        self.handoffs.push_back_mut(Arc::new(tracked));
        place
    }

    /// Keeps the lane that a handoff belongs to, and looks again at whatever it may let go on.
    fn follow(&mut self, place: Place, tracked: &TrackedHandoff, fact: &Fact) {
        let is_question = matches!(tracked.step.role, Role::Limit | Role::Failure);
        let about = tracked.step.about.as_ref().filter(|_| is_question).and_then(|about| self.index.place(about));
        if let Some(about) = about {
            self.index.mark(about, &self.handoffs[about]);
            if let Fact::Happened(Command::Route(route)) = fact
                && let Some(Ok(group)) = self.groups.get_mut(&about)
            {
                // What a person said at a limit is about the lane that begins next, and not about those after it.
                group.is_waived = route.to == CONTINUE;
            }
        }
        let speaker = about.map_or(place, |_| self.index.place(&self.speaker(&tracked.handoff.id)).unwrap_or(place));
        let member = self.handoffs[speaker].clone();
        let Some(around) = self.group_around(&member).filter(|_| member.step.role.is_phase()) else { return };
        let path = self.handoffs[around].step.phase.clone();
        let rest = member.step.phase.strip_prefix(&path).and_then(|rest| rest.strip_prefix('/')).unwrap_or_default();
        let Some(Ok(group)) = self.groups.get(&around) else { return };
        let Some(lane) = group.lane_of(rest) else { return };
        // Of an earlier visit nobody asks any more how far its lane has come.
        if group.last(lane).is_some_and(|last| last > speaker) {
            return;
        }
        let progress = self.progress(&member);
        if let Some(Ok(group)) = self.groups.get_mut(&around) {
            group.set(lane, Lane { last: speaker, progress });
        }
        self.index.mark(around, &self.handoffs[around]);
    }

    /// Returns the group that a handoff belongs to; `None` for one that belongs to the run itself.
    fn group_around(&self, tracked: &TrackedHandoff) -> Option<Place> {
        let within = tracked.step.within.as_ref().and_then(|within| self.index.place(within))?;
        self.groups.contains_key(&within).then_some(within)
    }

    /// How far a lane has come, by its last visit and what was decided about it.
    fn progress(&self, last: &TrackedHandoff) -> Progress {
        if !last.handoff.routed || !last.handoff.state.name().is_finished() {
            return Progress::Going;
        }
        // A person may have been asked about it, and again about what was decided there; the last decision counts.
        let mut last = last;
        let asks = |tracked: &TrackedHandoff| tracked.route.as_ref().is_some_and(|route| route.to == HUMAN);
        let is_question = |tracked: &&TrackedHandoff| matches!(tracked.step.role, Role::Failure | Role::Limit);
        while let Some(gate) =
            Some(last).filter(|last| asks(last)).and_then(|last| self.about(&last.handoff.id).rev().find(is_question))
        {
            last = gate;
        }
        match last.route.as_ref().filter(|_| last.handoff.routed).map(|route| route.to.as_str()) {
            Some("end") => Progress::Passed,
            Some("stop") => Progress::Failed,
            _ => Progress::Going,
        }
    }

    fn at(&self, place: Place) -> &TrackedHandoff {
        looked_at(&self.handoffs[place])
    }

    /// Returns the handoff of the run itself.
    pub fn root(&self) -> &TrackedHandoff {
        self.at(0)
    }

    /// Returns the folder of an attempt: what its agent was told, and what it said.
    pub fn attempt_folder(&self, handoff: &HandoffId, fence: Fence) -> PathBuf {
        attempt_folder(&self.definition.workspace, &self.id, handoff, fence)
    }

    /// Finds a handoff of the run.
    pub fn find(&self, id: &HandoffId) -> Option<&TrackedHandoff> {
        self.index.place(id).map(|place| self.at(place))
    }

    /// Returns all handoffs, in the order of their acceptance.
    pub fn handoffs(&self) -> impl DoubleEndedIterator<Item = &TrackedHandoff> + ExactSizeIterator {
        self.handoffs.iter().map(|tracked| looked_at(tracked))
    }

    /// Returns the handoffs that are not dealt with, in the order of their acceptance.
    pub fn open(&self) -> impl Iterator<Item = &TrackedHandoff> {
        self.index.open.iter().map(|place| self.at(*place))
    }

    /// Returns what somebody has claimed and holds.
    pub fn held_by<'r>(&'r self, claimant: &'r str) -> impl Iterator<Item = &'r TrackedHandoff> {
        self.open().filter(move |tracked| tracked.handoff.lease().is_some_and(|lease| lease.claimant == claimant))
    }

    /// Returns the handoffs that wait for a person, in the order of their acceptance.
    pub fn waiting(&self) -> impl Iterator<Item = &TrackedHandoff> {
        self.index.waiting.iter().map(|place| self.at(*place))
    }

    /// Returns the handoffs that have changed since somebody looked what follows from them, in the order of their
    /// acceptance.
    pub(crate) fn undecided(&self) -> impl Iterator<Item = &TrackedHandoff> {
        self.index.undecided.iter().map(|place| self.at(*place))
    }

    /// Remembers that somebody has looked what follows from a handoff. Whatever happens to it, or to what it depends on,
    /// makes that forgotten.
    pub(crate) fn looked_at(&mut self, id: &HandoffId) {
        if let Some(place) = self.index.place(id) {
            self.index.undecided.remove_mut(&place);
        }
    }

    /// Returns how far a group has come; the error says why that is unknown.
    pub(crate) fn group(&self, id: &HandoffId) -> Result<&Group, RecordFault> {
        let group = self.index.place(id).and_then(|place| self.groups.get(&place));
        group.ok_or(RecordFault::Gone("the group"))?.as_ref().map_err(RecordFault::clone)
    }

    /// Returns the visits of phases that belong to a group, in the order of their acceptance.
    pub(crate) fn members(&self, group: &HandoffId) -> impl Iterator<Item = &TrackedHandoff> {
        let members = self.group(group).ok().map(|group| group.members.iter());
        members.into_iter().flatten().map(|place| self.at(*place))
    }

    /// Returns the last visit of a phase in a lane.
    pub(crate) fn last_of(&self, lane: Lane) -> &TrackedHandoff {
        self.at(lane.last)
    }

    /// Returns help for a handoff and questions about it, in the order of their acceptance.
    pub(crate) fn about(&self, id: &HandoffId) -> impl DoubleEndedIterator<Item = &TrackedHandoff> {
        self.index.about(id).iter().map(|place| self.at(*place))
    }

    /// Returns the handoff that a question about a limit or a failure is about; any other handoff speaks for itself.
    pub(crate) fn speaker(&self, id: &HandoffId) -> HandoffId {
        let mut speaker = id.clone();
        while let Some(tracked) = self.find(&speaker)
            && matches!(tracked.step.role, Role::Limit | Role::Failure)
            && let Some(about) = &tracked.step.about
        {
            speaker = about.clone();
        }
        speaker
    }

    /// Returns who has handed in the very same document, in the order of their acceptance.
    pub(crate) fn handed_in<'r>(&'r self, document: &'r WrittenDocument) -> impl Iterator<Item = &'r TrackedHandoff> {
        let same = |tracked: &&TrackedHandoff| tracked.told.as_ref().is_some_and(|told| told.written == *document);
        self.index.reports(document).iter().map(|place| self.at(*place)).filter(same)
    }

    /// Returns the agents and commands about which something happened after a time.
    pub(crate) fn worked_since(&self, since: Timestamp) -> impl Iterator<Item = &TrackedHandoff> {
        self.index.worked_since(since).map(|place| self.at(place))
    }

    /// Returns what was decided and what is open.
    pub fn agenda(&self) -> &Agenda {
        &self.agenda
    }

    /// Returns how often a phase was visited.
    pub fn visits(&self, phase: &str) -> u32 {
        u32::try_from(self.index.visits(phase).len()).unwrap_or(u32::MAX)
    }

    /// Returns a visit of a phase, by its number from 1.
    pub(crate) fn visit(&self, phase: &str, number: u32) -> Option<&TrackedHandoff> {
        let place = self.index.visits(phase).get(usize::try_from(number).ok()?.checked_sub(1)?)?;
        Some(self.at(*place))
    }

    /// Returns the latest visit of a phase.
    pub fn latest(&self, phase: &str) -> Option<&TrackedHandoff> {
        self.index.visits(phase).last().map(|place| self.at(*place))
    }

    /// Returns the paths of the phases that were left out and never visited, in the order of the decisions.
    pub fn left_out(&self) -> Vec<String> {
        let mut paths: Vec<String> = Vec::new();
        for tracked in self.handoffs() {
            let group = tracked.step.phase.rsplit_once('/').map(|(group, _)| format!("{group}/")).unwrap_or_default();
            for skipped in tracked.route.iter().flat_map(|route| &route.skipped) {
                let path = format!("{group}{}", skipped.phase);
                if self.latest(&path).is_none() && !paths.contains(&path) {
                    paths.push(path);
                }
            }
        }
        paths
    }

    /// Returns how often somebody helped, or was asked, in this role beside a phase.
    pub(crate) fn beside(&self, role: Role, phase: &str) -> u32 {
        self.index.beside(role, phase)
    }

    /// Returns whether the run itself is finished.
    pub fn is_finished(&self) -> bool {
        self.root().handoff.state.name().is_finished()
    }
}

/// Reads what happened; the error says in which event that cannot be read.
fn fact_of(event: &Event) -> Result<Fact, JournalFault> {
    event.fact().map_err(|fault| JournalFault::Event { place: event.place(), fault })
}

/// Counts in tests how many handoffs are looked at, so that nobody looks at all of them to decide one thing.
fn looked_at(tracked: &TrackedHandoff) -> &TrackedHandoff {
    #[cfg(test)]
    cost::LOOKS.with(|looks| looks.set(looks.get() + 1));
    tracked
}

fn is_failure(fact: &Fact) -> bool {
    match fact {
        // What goes on is not over, and how it ends counts then.
        Fact::Happened(Command::Fail(fail)) => {
            matches!(fail.again, Again::Policy | Again::AtOnce | Again::NotBefore(_))
        }
        Fact::Happened(Command::Expire(_)) => true,
        Fact::Happened(Command::Verify(verify)) => matches!(verify.verdict, Verdict::Refuted { .. }) && !verify.repair,
        Fact::Accepted(_) | Fact::Happened(_) | Fact::Refused(_) => false,
    }
}
