//! Finds handoffs of a run without looking at all of them: by phase, by what they are about, by what is open.
//!
//! It follows from the handoffs, one event at a time. All of it is shared between a run and its copies.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use jiff::Timestamp;
use rpds::{HashTrieMapSync, RedBlackTreeSetSync};

use super::TrackedHandoff;
use crate::handoff::{State, WrittenDocument};
use crate::id::HandoffId;
use crate::step::Role;

/// A handoff by its place in the order of their acceptance.
pub(super) type Place = usize;

/// Where handoffs of a run are found.
#[derive(Debug, Clone, Default)]
pub(super) struct Index {
    places: HashTrieMapSync<HandoffId, Place>,
    /// How many of the first ones the run has left behind when it began again from a phase.
    left_behind: Place,
    /// The visits of each phase, the first one first.
    visits: HashTrieMapSync<String, Vec<Place>>,
    /// How often somebody helped, or was asked, beside a phase.
    beside: HashTrieMapSync<(Role, String), u32>,
    /// Help for a handoff, and questions about it, the first one first.
    about: HashTrieMapSync<HandoffId, Vec<Place>>,
    /// Reports that are in files of their agents, by what they say.
    reports: HashTrieMapSync<u64, Vec<Place>>,
    /// What is not dealt with: handoffs that are not finished, or of which it was not decided what follows.
    pub(super) open: RedBlackTreeSetSync<Place>,
    /// What waits for a person.
    pub(super) waiting: RedBlackTreeSetSync<Place>,
    /// What may have to be decided: it has changed since somebody last looked.
    pub(super) undecided: RedBlackTreeSetSync<Place>,
    /// Agents and commands by the time of their last event.
    worked: RedBlackTreeSetSync<(Timestamp, Place)>,
}

impl Index {
    /// Takes a new handoff.
    pub(super) fn add(&mut self, place: Place, tracked: &TrackedHandoff) {
        let step = &tracked.step;
        self.places.insert_mut(tracked.handoff.id.clone(), place);
        if step.role.is_phase() {
            push(&mut self.visits, &step.phase, place);
        } else {
            let key = (step.role, step.phase.clone());
            let count = self.beside.get(&key).copied().unwrap_or_default();
            self.beside.insert_mut(key, count + 1);
        }
        if let Some(about) = &step.about {
            push(&mut self.about, about, place);
        }
    }

    /// Takes that a handoff has changed. `before` is when it changed before that.
    pub(super) fn update(&mut self, place: Place, tracked: &TrackedHandoff, before: Timestamp) {
        let handoff = &tracked.handoff;
        if !self.is_left_behind(place) {
            put(&mut self.open, place, !(handoff.routed && handoff.state.name().is_finished()));
            put(&mut self.waiting, place, matches!(handoff.state, State::AwaitingPerson { .. }));
        }
        self.mark(place, tracked);
        if matches!(tracked.step.role, Role::Work | Role::Delegation | Role::Check) && tracked.begun_at.is_some() {
            self.worked.remove_mut(&(before, place));
            self.worked.insert_mut((handoff.changed_at, place));
        }
    }

    /// Remembers that somebody must look whether something follows from a handoff, if that can be.
    pub(super) fn mark(&mut self, place: Place, tracked: &TrackedHandoff) {
        let TrackedHandoff { handoff, step, .. } = tracked;
        let can_be = match &handoff.state {
            State::Completed { .. } | State::Failed { .. } | State::Cancelled { .. } | State::Blocked { .. } => {
                !handoff.routed
            }
            State::Pending { .. } => step.role == Role::Group,
            State::Claimed { .. } | State::Verifying | State::AwaitingPerson { .. } => false,
        };
        let can_be = can_be && step.role != Role::Run && !self.is_left_behind(place);
        put(&mut self.undecided, place, can_be);
    }

    /// Takes that nothing follows any more from all that there is, except for the run itself.
    pub(super) fn leave_behind(&mut self) {
        self.left_behind = self.places.size();
        (self.open, self.waiting, self.undecided) = Default::default();
    }

    fn is_left_behind(&self, place: Place) -> bool {
        place != 0 && place < self.left_behind
    }

    /// Takes a report that is in a file of its agent.
    pub(super) fn add_report(&mut self, place: Place, written: &WrittenDocument) {
        if written.path.is_some() {
            push(&mut self.reports, &fingerprint(written), place);
        }
    }

    pub(super) fn place(&self, id: &HandoffId) -> Option<Place> {
        self.places.get(id).copied()
    }

    pub(super) fn visits(&self, phase: &str) -> &[Place] {
        self.visits.get(phase).map_or(&[], Vec::as_slice)
    }

    pub(super) fn beside(&self, role: Role, phase: &str) -> u32 {
        self.beside.get(&(role, phase.to_owned())).copied().unwrap_or_default()
    }

    pub(super) fn about(&self, id: &HandoffId) -> &[Place] {
        self.about.get(id).map_or(&[], Vec::as_slice)
    }

    /// Returns those that may have handed in the same text in the same file.
    pub(super) fn reports(&self, written: &WrittenDocument) -> &[Place] {
        self.reports.get(&fingerprint(written)).map_or(&[], Vec::as_slice)
    }

    /// Returns the agents and commands about which something happened after a time.
    pub(super) fn worked_since(&self, since: Timestamp) -> impl Iterator<Item = Place> {
        let after = (since, Place::MAX);
        self.worked.range((std::ops::Bound::Excluded(after), std::ops::Bound::Unbounded)).map(|(_, place)| *place)
    }
}

fn put(set: &mut RedBlackTreeSetSync<Place>, place: Place, is_in: bool) {
    match (is_in, set.contains(&place)) {
        (true, false) => set.insert_mut(place),
        (false, true) => drop(set.remove_mut(&place)),
        (true, true) | (false, false) => {}
    }
}

fn push<K: Clone + Eq + std::hash::Hash>(map: &mut HashTrieMapSync<K, Vec<Place>>, key: &K, place: Place) {
    match map.get_mut(key) {
        Some(places) => places.push(place),
        None => map.insert_mut(key.clone(), vec![place]),
    }
}

fn fingerprint(written: &WrittenDocument) -> u64 {
    let mut hasher = DefaultHasher::new();
    (&written.path, &written.text).hash(&mut hasher);
    hasher.finish()
}
