//! The graph of a run: the workflow as it was when the run began, with how far each phase is.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};
use std::time::Duration;

use baton_engine::definition::Definition;
use baton_engine::handoff::State;
use baton_engine::run::{Run, TrackedHandoff};
use baton_engine::step::Role;
use baton_protocol::workflow::Workflow;
use jiff::Timestamp;

use super::{EdgeKind, Graph, GraphEdge, NodeKind, NodeMark, NodeProgress};
use crate::words::took;

/// What was seen of a node in all of its visits.
struct SeenNode {
    progress: NodeProgress,
    visits: usize,
    took: Duration,
}

impl SeenNode {
    fn mark(&self) -> NodeMark {
        let visits = if self.visits > 1 { format!("{} visits, ", self.visits) } else { String::new() };
        NodeMark { progress: self.progress, text: format!("{visits}{}", took(self.took)) }
    }
}

/// Draws a run as it is now.
pub fn marked(run: &Run, now: Timestamp) -> Graph {
    let definition = &run.definition;
    let nested = |folder: &Path, path: &str| nested_in(definition, folder, path);
    let mut graph = Graph::of(&definition.workflow, &definition.folder, &nested);
    graph.title = format!("{} ({})", graph.title, run.id);
    graph.is_run = true;
    // What a finished run has left behind is neither running nor does it take any longer.
    let now = run.root().handoff.state.finished_at().unwrap_or(now);
    let mut seen: BTreeMap<String, SeenNode> = BTreeMap::new();
    for tracked in run.handoffs().filter(|tracked| tracked.step.role.is_phase()) {
        see(seen.entry(drawn_path(definition, &tracked.step.phase)), tracked, run, now);
    }
    for (path, node) in seen {
        graph.mark(&path, node.mark());
    }
    for path in run.left_out() {
        graph.mark(&drawn_path(definition, &path), NodeMark { progress: NodeProgress::Skipped, text: String::new() });
    }
    draw_way(&mut graph, run);
    draw_help(&mut graph, run, now);
    graph
}

/// Says that nobody works on what a run was at: no process drives it any more.
pub fn without_driver(mut graph: Graph) -> Graph {
    let marks = graph.nodes.iter_mut().filter_map(|node| node.mark.as_mut());
    marks.filter(|mark| mark.progress == NodeProgress::Running).for_each(|mark| mark.progress = NodeProgress::Left);
    graph
}

/// Adds a visit to what was seen of a node.
fn see<K: Ord>(entry: Entry<'_, K, SeenNode>, tracked: &TrackedHandoff, run: &Run, now: Timestamp) {
    let node = entry.or_insert(SeenNode { progress: NodeProgress::Done, visits: 0, took: Duration::ZERO });
    node.visits += 1;
    node.took += tracked.took(now);
    node.progress = match (node.visits, progress(tracked, run)) {
        // Of the items of a list the one that is not done counts.
        (2.., NodeProgress::Done) if matches!(node.progress, NodeProgress::Running | NodeProgress::Waiting) => {
            node.progress
        }
        (_, latest) => latest,
    };
}

/// Draws the way that a run has gone from phase to phase.
fn draw_way(graph: &mut Graph, run: &Run) {
    let node = |graph: &Graph, tracked: &TrackedHandoff| graph.find(&drawn_path(&run.definition, &tracked.step.phase));
    let mut last = None;
    for tracked in run.handoffs().filter(|tracked| tracked.step.role.is_phase()) {
        let Some(to) = node(graph, tracked) else { continue };
        let before = tracked.step.after.as_ref().and_then(|after| run.find(after));
        let from = match before {
            Some(before) if before.step.role != Role::Run => node(graph, before),
            // The first one follows nothing but the run itself.
            _ if graph.nodes[to].parent.is_none() => Some(graph.only(NodeKind::Start)),
            _ => None,
        };
        if tracked.step.phase.split('/').count() == 1 {
            last = Some((to, tracked));
        }
        // The first phases of a group follow the group itself, which stands around them.
        if let Some(from) = from.filter(|from| *from != to && graph.nodes[to].parent != Some(*from)) {
            match past_left_out(graph, from, to) {
                Some(edges) => edges.into_iter().for_each(|edge| graph.edges[edge].taken = true),
                None if to < from => graph.take(from, to, EdgeKind::Failure, "went back"),
                None => graph.take(from, to, EdgeKind::Choice, "went on"),
            }
        }
    }
    if let (Some((last, tracked)), true) = (last, run.is_finished()) {
        let is_good = run.root().passed() && tracked.handoff.state.name().is_finished();
        let end = graph.only(if is_good { NodeKind::End } else { NodeKind::Stop });
        graph.take(last, end, EdgeKind::Choice, if is_good { "ended" } else { "stopped" });
    }
}

/// Returns the usual way from one node to another, if it leads past nothing but phases that were left out.
fn past_left_out(graph: &Graph, from: usize, to: usize) -> Option<Vec<usize>> {
    let is_left_out =
        |node: usize| graph.nodes[node].mark.as_ref().is_some_and(|mark| mark.progress == NodeProgress::Skipped);
    let (mut here, mut edges) = (from, Vec::new());
    while here != to {
        let is_usual = |edge: &GraphEdge| {
            edge.from == here
                && matches!(edge.way, EdgeKind::Next | EdgeKind::When)
                && (edge.to == to || is_left_out(edge.to))
        };
        let next = graph.edges.iter().position(is_usual).filter(|edge| !edges.contains(edge))?;
        edges.push(next);
        here = graph.edges[next].to;
    }
    (edges.len() > 1).then_some(edges)
}

/// Draws who has helped and who was asked.
fn draw_help(graph: &mut Graph, run: &Run, now: Timestamp) {
    let mut seen: BTreeMap<usize, SeenNode> = BTreeMap::new();
    for tracked in run.handoffs() {
        let (way, label) = match tracked.step.role {
            Role::Delegation => (EdgeKind::Blocked, "asked"),
            Role::Escalation => (EdgeKind::Blocked, "asked"),
            Role::Failure => (EdgeKind::Failure, "failed"),
            Role::Limit => (EdgeKind::Failure, "limit reached"),
            Role::Run | Role::Work | Role::Check | Role::Group | Role::Gate => continue,
        };
        let Some(from) = graph.find(&drawn_path(&run.definition, &tracked.step.phase)) else { continue };
        let to = match tracked.step.role {
            Role::Delegation => graph.helper(&tracked.handoff.terms.to),
            _ => graph.only(NodeKind::Person),
        };
        graph.take(from, to, way, label);
        see(seen.entry(to), tracked, run, now);
    }
    for (node, seen) in seen {
        graph.nodes[node].mark = Some(seen.mark());
    }
}

fn progress(tracked: &TrackedHandoff, run: &Run) -> NodeProgress {
    let is_open = |other: &TrackedHandoff| matches!(other.handoff.state, State::AwaitingPerson { .. });
    let asks = |other: &TrackedHandoff| other.step.about.as_ref() == Some(&tracked.handoff.id) && is_open(other);
    match &tracked.handoff.state {
        State::Completed { .. } if tracked.passed() => NodeProgress::Done,
        State::Cancelled { .. } => NodeProgress::Stopped,
        // What has failed waits while a person is asked about it.
        State::Completed { .. } | State::Failed { .. } if run.handoffs().any(asks) => NodeProgress::Waiting,
        State::Completed { .. } | State::Failed { .. } => NodeProgress::Failed,
        _ if run.is_finished() => NodeProgress::Stopped,
        State::AwaitingPerson { .. } | State::Blocked { .. } => NodeProgress::Waiting,
        State::Pending { .. } | State::Claimed { .. } | State::Verifying => NodeProgress::Running,
    }
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
        if each && let Some(item) = segments.next() {
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
