//! The graph of a run: the workflow as it was when the run began, with how far each phase is.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use baton_engine::definition::Definition;
use baton_engine::handoff::State;
use baton_engine::run::{Run, TrackedHandoff};
use baton_protocol::workflow::Workflow;
use jiff::Timestamp;

use super::{Graph, NodeMark, NodeProgress};
use crate::words::took;

/// What was seen of a node in all of its visits.
struct SeenNode {
    progress: NodeProgress,
    visits: usize,
    took: Duration,
}

/// Draws a run as it is now.
pub fn marked(run: &Run, now: Timestamp) -> Graph {
    let definition = &run.definition;
    let nested = |folder: &Path, path: &str| nested_in(definition, folder, path);
    let mut graph = Graph::of(&definition.workflow, &definition.folder, &nested);
    graph.title = format!("{} ({})", graph.title, run.id);
    let mut seen: BTreeMap<String, SeenNode> = BTreeMap::new();
    for tracked in run.handoffs().filter(|tracked| tracked.step.role.is_phase()) {
        let path = drawn_path(definition, &tracked.step.phase);
        let took = span(tracked, now);
        let node =
            seen.entry(path).or_insert(SeenNode { progress: NodeProgress::Done, visits: 0, took: Duration::ZERO });
        node.visits += 1;
        node.took += took;
        node.progress = match (node.visits, progress(tracked)) {
            // Of the items of a list the one that is not done counts.
            (2.., NodeProgress::Done) if matches!(node.progress, NodeProgress::Running | NodeProgress::Waiting) => {
                node.progress
            }
            (_, latest) => latest,
        };
    }
    for (path, node) in seen {
        let visits = if node.visits > 1 { format!("{} visits, ", node.visits) } else { String::new() };
        graph.mark(&path, NodeMark { progress: node.progress, text: format!("{visits}{}", took(node.took)) });
    }
    for path in run.left_out() {
        graph.mark(&drawn_path(definition, &path), NodeMark { progress: NodeProgress::Skipped, text: String::new() });
    }
    graph
}

fn progress(tracked: &TrackedHandoff) -> NodeProgress {
    match &tracked.handoff.state {
        State::Completed { .. } if tracked.passed() => NodeProgress::Done,
        State::Completed { .. } | State::Failed { .. } | State::Cancelled { .. } => NodeProgress::Failed,
        State::AwaitingPerson { .. } | State::Blocked { .. } => NodeProgress::Waiting,
        State::Pending { .. } | State::Claimed { .. } | State::Verifying => NodeProgress::Running,
    }
}

fn span(tracked: &TrackedHandoff, now: Timestamp) -> Duration {
    let is_group = tracked.step.role == baton_engine::step::Role::Group;
    let begun = tracked.begun_at.filter(|_| !is_group).unwrap_or(tracked.handoff.accepted_at);
    let ended = tracked.handoff.state.finished_at().unwrap_or(now);
    Duration::try_from(ended.duration_since(begun)).unwrap_or_default()
}

/// Returns the path of a phase in the picture, which has one box for all items of a list.
fn drawn_path(definition: &Definition, path: &str) -> String {
    let mut drawn: Vec<&str> = Vec::new();
    let mut segments = path.split('/');
    let mut walked = String::new();
    while let Some(segment) = segments.next() {
        walked = if walked.is_empty() { segment.to_owned() } else { format!("{walked}/{segment}") };
        drawn.push(segment);
        let each = definition.locate(&walked).is_some_and(|located| located.phase().foreach.is_some());
        if let (true, Some(item)) = (each, segments.next()) {
            walked = format!("{walked}/{item}");
        }
    }
    drawn.join("/")
}

/// Finds a workflow inside another one, as it was when the run began.
fn nested_in(definition: &Definition, folder: &Path, path: &str) -> Option<(Workflow, PathBuf)> {
    if definition.folder == folder
        && let Some(inner) = definition.nested.get(path)
    {
        return Some((inner.workflow.clone(), inner.folder.clone()));
    }
    definition.nested.values().find_map(|inner| nested_in(inner, folder, path))
}
