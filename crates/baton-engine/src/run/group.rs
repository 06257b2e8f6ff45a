//! The lanes of a group, as far as they have come: an item of a list, a branch, or the phases of a workflow inside.
//!
//! They are updated event by event, so that the state of a group is known without looking at all members.

use std::collections::HashMap;
use std::sync::Arc;

use rpds::{HashTrieMapSync, VectorSync};
use serde_json::Value;

use super::index::Place;
use super::{RecordFault, TrackedHandoff};
use crate::definition::LocatedPhase;
use crate::sabotage::{Bug, planted};

/// The items of a foreach, by their key.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Items {
    list: Vec<(String, Value)>,
    by_key: HashMap<String, usize>,
}

impl Items {
    /// Reads the items that a group was made with; the error says that the record of them is damaged.
    pub(super) fn of(group: &TrackedHandoff) -> Result<Items, RecordFault> {
        let damaged = || RecordFault::Items(group.step.phase.clone());
        let data = group.asked().and_then(|request| request.input.as_ref()?.data.as_ref()).ok_or_else(damaged)?;
        let items = data.get("items").and_then(Value::as_array).ok_or_else(damaged)?;
        let item = |item: &Value| Some((item.get("key")?.as_str()?.to_owned(), item.get("value")?.clone()));
        let list: Vec<(String, Value)> = items.iter().map(item).collect::<Option<_>>().ok_or_else(damaged)?;
        let by_key = list.iter().enumerate().map(|(index, (key, _))| (key.clone(), index)).collect();
        Ok(Items { list, by_key })
    }

    pub(crate) fn value(&self, key: &str) -> Option<&Value> {
        self.by_key.get(key).map(|index| &self.list[*index].1)
    }
}

/// How far a lane has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    Going,
    Passed,
    Failed,
}

/// A line of phases inside a group that has begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lane {
    /// The last visit of one of its phases.
    pub(super) last: Place,
    pub(crate) progress: Progress,
}

/// Which lanes a group has.
#[derive(Debug, Clone, PartialEq)]
enum Names {
    Items(Arc<Items>),
    Branches(Vec<String>),
    /// A workflow inside is one line of phases.
    Workflow(String),
}

/// A group, as far as it has come.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    names: Arc<Names>,
    lanes: HashTrieMapSync<usize, Lane>,
    /// The visits of phases that belong to it, in the order of their acceptance.
    pub(super) members: VectorSync<Place>,
    /// How many lanes have begun and are not done.
    pub(crate) going: usize,
    pub(crate) passed: usize,
    /// The lanes before this one have begun, or were left out when it was their turn.
    pub(crate) next: usize,
    /// Whether a person has let one more lane begin beyond a limit.
    pub(crate) is_waived: bool,
}

impl Group {
    /// Begins a group without members; the error says why its lanes are unknown.
    pub(super) fn new(located: &LocatedPhase<'_>, tracked: &TrackedHandoff) -> Result<Group, RecordFault> {
        let phase = located.phase();
        let names = if phase.workflow.is_some() {
            Names::Workflow(phase.id().to_owned())
        } else if phase.foreach.is_some() {
            Names::Items(tracked.items()?)
        } else {
            Names::Branches(phase.parallel.iter().map(|branch| branch.id().to_owned()).collect())
        };
        let (lanes, members) = (HashTrieMapSync::new_sync(), VectorSync::new_sync());
        Ok(Group { names: Arc::new(names), lanes, members, going: 0, passed: 0, next: 0, is_waived: false })
    }

    /// Returns how many lanes there are, begun or not.
    pub(crate) fn len(&self) -> usize {
        match &*self.names {
            Names::Items(items) => items.list.len(),
            Names::Branches(names) => names.len(),
            Names::Workflow(_) => 1,
        }
    }

    /// Returns the name of a lane: the item, the branch or the phase.
    pub(crate) fn name(&self, lane: usize) -> &str {
        match &*self.names {
            Names::Items(items) => items.list.get(lane).map_or("", |(key, _)| key),
            Names::Branches(names) => names.get(lane).map_or("", |name| name),
            Names::Workflow(name) => name,
        }
    }

    /// Returns the lanes that have begun, in their order.
    pub(crate) fn begun(&self) -> impl Iterator<Item = (usize, Lane)> {
        (0..self.next).filter_map(|lane| Some((lane, *self.lanes.get(&lane)?)))
    }

    /// Returns which lane a phase belongs to, by its path without that of the group.
    pub(super) fn lane_of(&self, rest: &str) -> Option<usize> {
        let name = rest.split('/').next().unwrap_or_default();
        match &*self.names {
            Names::Items(items) => items.by_key.get(name).copied(),
            Names::Branches(names) => names.iter().position(|known| known == name),
            Names::Workflow(_) => Some(0),
        }
    }

    /// Returns the last visit of a phase in a lane.
    pub(super) fn last(&self, lane: usize) -> Option<Place> {
        self.lanes.get(&lane).map(|lane| lane.last)
    }

    /// Takes how far a lane has come.
    pub(super) fn set(&mut self, lane: usize, now: Lane) {
        let before = self.lanes.get(&lane).map(|lane| lane.progress);
        self.lanes.insert_mut(lane, now);
        if before.is_none() {
            self.next = self.next.max(lane + 1);
            self.is_waived &= planted(Bug::LimitWaivedForAll);
        }
        for (progress, is_now) in before.map(|progress| (progress, false)).into_iter().chain([(now.progress, true)]) {
            let count = match progress {
                Progress::Going => &mut self.going,
                Progress::Passed => &mut self.passed,
                Progress::Failed => continue,
            };
            *count = if is_now { *count + 1 } else { count.saturating_sub(1) };
        }
    }
}
