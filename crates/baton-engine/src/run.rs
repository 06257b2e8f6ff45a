//! A run as its journal tells it: every handoff with its step, its report and what was seen of it, and what was counted.
//!
//! [`Run::absorb`] takes the events one by one. Nothing else changes a run; the same journal gives the same run.

mod agenda;
mod counted;
mod tracked;

pub use agenda::Agenda;
pub use counted::Counted;
pub(crate) use tracked::read_document;
pub use tracked::{Told, Tracked};

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use baton_protocol::wire::same_word;
use jiff::Timestamp;

use crate::definition::Definition;
use crate::handoff::{Handoff, State};
use crate::id::{HandoffId, RunId};
use crate::journal::{Event, Fact};
use crate::lifecycle::{self, Command, Decision, Verdict};
use crate::step::{Role, Step};

/// What a person says at a limit to start counting anew.
pub const REVISE: &str = "revise";

/// Returns the folder of an attempt: `.baton/runs/RUN/STEP/FENCE` in the workspace.
pub fn attempt_folder(workspace: &Path, run: &RunId, handoff: &HandoffId, fence: u64) -> PathBuf {
    let name = handoff.as_str().strip_prefix(run.as_str()).unwrap_or(handoff.as_str()).trim_start_matches('.');
    workspace.join(".baton/runs").join(run.as_str()).join(name).join(fence.to_string())
}

/// A run as its journal tells it. Copies are cheap.
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
    /// What was counted since a person last revised the run.
    pub counted: Counted,
    agenda: Arc<Agenda>,
    handoffs: Vec<Arc<Tracked>>,
    places: HashMap<HandoffId, usize>,
    /// How often each phase was visited, since the beginning.
    visits: HashMap<String, u32>,
    /// What is not dealt with: handoffs that are not finished, or of which it was not decided what follows.
    open: Vec<usize>,
}

impl Run {
    /// Begins with the event that accepted a run; the error says why it is none.
    pub fn begin(event: &Event) -> Result<Run, String> {
        let Fact::Accepted(accept) = event.fact()? else { return Err("it does not begin with a request".to_owned()) };
        if accept.terms.step.as_ref().map(|step| step.role) != Some(Role::Run) {
            return Err(format!("{} is a handoff, not a run of a workflow", event.handoff));
        }
        let definition = Definition::of_request(&accept.request)?;
        let mut run = Run {
            id: event.run.clone(),
            definition: Arc::new(definition),
            seq: 0,
            started_at: event.at,
            counted: Counted::since(event.at),
            agenda: Arc::default(),
            handoffs: Vec::new(),
            places: HashMap::new(),
            visits: HashMap::new(),
            open: Vec::new(),
        };
        run.absorb(event)?;
        Ok(run)
    }

    /// Builds a run from its whole journal; the error says what is wrong with it.
    pub fn of_journal(events: &[Event]) -> Result<Run, String> {
        let (first, rest) = events.split_first().ok_or("there is no such run")?;
        let mut run = Run::begin(first)?;
        rest.iter().try_for_each(|event| run.absorb(event))?;
        Ok(run)
    }

    /// Takes the next event.
    pub fn absorb(&mut self, event: &Event) -> Result<(), String> {
        if event.seq != self.seq + 1 {
            return Err(format!("event {} follows event {}", event.seq, self.seq));
        }
        let fact = event.fact()?;
        let before = self.find(&event.handoff).map(|tracked| tracked.handoff.clone());
        let handoff = lifecycle::replay(before, fact.clone(), event.at)?;
        self.seq = event.seq;
        self.take(handoff, fact);
        Ok(())
    }

    /// Takes what happened to a handoff, and the handoff after it.
    pub(crate) fn take(&mut self, handoff: Handoff, fact: Fact) {
        let place = match self.places.get(&handoff.id) {
            Some(place) => *place,
            None => self.add(&handoff, &fact),
        };
        let at = handoff.changed_at;
        let tracked = Arc::make_mut(&mut self.handoffs[place]);
        let before = tracked.handoff.state.name();
        tracked.take(handoff, &fact);
        // What is refuted was not decided; what an agent says who asks for help stands.
        let stands = matches!(tracked.handoff.state, State::Completed { .. } | State::Blocked { .. });
        if let Some(told) = tracked.told.as_ref().filter(|_| stands && before != tracked.handoff.state.name())
            && told.settles_something()
        {
            let lane = lane(&self.definition, &tracked.step.phase);
            Arc::make_mut(&mut self.agenda).take(&tracked.handoff.id, &lane, told);
        }
        if let Fact::Happened(Command::Decide(decide)) = &fact
            && let (Decision::Answer { .. }, Some(asked)) = (&decide.decision, &decide.asked)
        {
            Arc::make_mut(&mut self.agenda).answered(asked);
        }
        let (step, handoff) = (tracked.step.clone(), &tracked.handoff);
        let settled = handoff.routed && handoff.state.name().is_finished();
        let failure = handoff.last_failure.as_ref().filter(|_| is_failure(&fact)).map(|failure| failure.to_string());
        self.counted.take(&step, &handoff.terms.to, &fact, failure, tracked.tokens_of(&fact));
        if revises(&step, &fact) {
            self.counted = Counted::since(at);
        }
        match (self.open.binary_search(&place), settled) {
            (Ok(index), true) => drop(self.open.remove(index)),
            (Err(index), false) => self.open.insert(index, place),
            (Ok(_), false) | (Err(_), true) => {}
        }
    }

    fn add(&mut self, handoff: &Handoff, fact: &Fact) -> usize {
        let place = self.handoffs.len();
        let tracked = Tracked::new(handoff.clone(), fact);
        if tracked.step.role.is_phase() {
            *self.visits.entry(tracked.step.phase.clone()).or_default() += 1;
        }
        self.handoffs.push(Arc::new(tracked));
        self.places.insert(handoff.id.clone(), place);
        place
    }

    /// Returns the handoff of the run itself.
    pub fn root(&self) -> &Tracked {
        &self.handoffs[0]
    }

    /// Returns the folder of an attempt: what its agent was told, and what it said.
    pub fn attempt_folder(&self, handoff: &HandoffId, fence: u64) -> PathBuf {
        attempt_folder(&self.definition.workspace, &self.id, handoff, fence)
    }

    /// Finds a handoff of the run.
    pub fn find(&self, id: &HandoffId) -> Option<&Tracked> {
        self.places.get(id).map(|place| &*self.handoffs[*place])
    }

    /// Returns all handoffs, in the order of their acceptance.
    pub fn handoffs(&self) -> impl DoubleEndedIterator<Item = &Tracked> {
        self.handoffs.iter().map(|tracked| &**tracked)
    }

    /// Returns the handoffs that are not dealt with, in the order of their acceptance.
    pub fn open(&self) -> impl Iterator<Item = &Tracked> {
        self.open.iter().map(|place| &*self.handoffs[*place])
    }

    /// Returns what somebody has claimed and holds.
    pub fn held_by<'r>(&'r self, claimant: &'r str) -> impl Iterator<Item = &'r Tracked> {
        self.open().filter(move |tracked| tracked.handoff.lease().is_some_and(|lease| lease.claimant == claimant))
    }

    /// Returns the handoffs that belong to a group, in the order of their acceptance.
    pub fn inside(&self, group: &HandoffId) -> impl Iterator<Item = &Tracked> {
        self.handoffs().filter(move |tracked| tracked.step.within.as_ref() == Some(group))
    }

    /// Returns what was decided and what is open.
    pub fn agenda(&self) -> &Agenda {
        &self.agenda
    }

    /// Returns how often a phase was visited.
    pub fn visits(&self, phase: &str) -> u32 {
        self.visits.get(phase).copied().unwrap_or_default()
    }

    /// Returns the latest visit of a phase.
    pub fn latest(&self, phase: &str) -> Option<&Tracked> {
        self.handoffs().rev().find(|tracked| tracked.step.role.is_phase() && tracked.step.phase == phase)
    }

    /// Returns the handoffs that wait for a person.
    pub fn waiting(&self) -> impl Iterator<Item = &Tracked> {
        self.open().filter(|tracked| matches!(tracked.handoff.state, State::AwaitingPerson { .. }))
    }

    /// Says whether the run itself is finished.
    pub fn is_finished(&self) -> bool {
        self.root().handoff.state.name().is_finished()
    }
}

/// Names the line of phases that a phase belongs to: empty for the run itself, and for groups the member or the item.
fn lane(definition: &Definition, path: &str) -> String {
    let mut lane = "";
    for (end, _) in path.match_indices('/') {
        let group = definition.locate(&path[..end]);
        let beside = group.is_some_and(|group| group.phase().foreach.is_some() || !group.phase().parallel.is_empty());
        if beside {
            let rest = path[end + 1..].find('/').map_or(path.len(), |length| end + 1 + length);
            lane = &path[..rest];
        }
    }
    if lane.is_empty() { String::new() } else { format!("{lane}/") }
}

/// Says whether a person has revised the run, so that counting starts anew.
fn revises(step: &Step, fact: &Fact) -> bool {
    let Fact::Happened(Command::Decide(decide)) = fact else { return false };
    let Decision::Answer { answers } = &decide.decision else { return false };
    step.role == Role::Limit && same_word(answers.trim(), REVISE)
}

fn is_failure(fact: &Fact) -> bool {
    match fact {
        Fact::Happened(Command::Fail(_) | Command::Expire(_)) => true,
        Fact::Happened(Command::Verify(verify)) => matches!(verify.verdict, Verdict::Refuted { .. }),
        Fact::Accepted(_) | Fact::Happened(_) | Fact::Refused(_) => false,
    }
}
