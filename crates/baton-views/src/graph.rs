//! A workflow as a graph: what is drawn, before anybody decides how.
//!
//! One model for a workflow and for a run of it: a run only adds marks. Each format is a file beside this one.

mod build;
pub mod dot;
pub mod json;
pub mod mermaid;
pub mod of_run;
pub mod svg;

/// What a node stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeKind {
    /// Where a run begins.
    Start,
    /// A phase with an agent.
    Agent,
    /// A phase with a command.
    Check,
    /// Phases that run at the same time.
    Parallel,
    /// Phases that run for each item.
    Foreach,
    /// Another workflow.
    Workflow,
    /// A decision of a person.
    Gate,
    /// An agent that others turn to when they are blocked.
    Helper,
    /// A person whom others turn to.
    Person,
    /// Where a run ends.
    End,
    /// Where a run ends because somebody or something stopped it.
    Stop,
}

impl NodeKind {
    /// Returns the word for people.
    pub fn as_str(self) -> &'static str {
        match self {
            NodeKind::Start => "start",
            NodeKind::Agent => "agent",
            NodeKind::Check => "check",
            NodeKind::Parallel => "at the same time",
            NodeKind::Foreach => "for each",
            NodeKind::Workflow => "workflow",
            NodeKind::Gate => "gate",
            NodeKind::Helper => "helps when blocked",
            NodeKind::Person => "person",
            NodeKind::End => "end",
            NodeKind::Stop => "stopped",
        }
    }

    /// Returns whether other nodes may be inside.
    pub(crate) fn is_group(self) -> bool {
        matches!(self, NodeKind::Parallel | NodeKind::Foreach | NodeKind::Workflow)
    }

    /// Returns whether it is where a run begins or ends, and no work.
    pub(crate) fn is_terminal(self) -> bool {
        matches!(self, NodeKind::Start | NodeKind::End | NodeKind::Stop)
    }

    /// Returns whether it stands beside the flow and not in it.
    pub(crate) fn is_beside(self) -> bool {
        matches!(self, NodeKind::Helper | NodeKind::Person)
    }
}

/// How far a node is in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeProgress {
    /// It has passed.
    Done,
    /// It is being worked on.
    Running,
    /// It waits for somebody.
    Waiting,
    /// It has failed.
    Failed,
    /// It was left out.
    Skipped,
    /// It was called off before it ended.
    Stopped,
    /// It was begun, and nobody works on it now.
    Left,
}

impl NodeProgress {
    /// All of them.
    pub const ALL: [NodeProgress; 7] = [
        NodeProgress::Done,
        NodeProgress::Running,
        NodeProgress::Waiting,
        NodeProgress::Failed,
        NodeProgress::Skipped,
        NodeProgress::Stopped,
        NodeProgress::Left,
    ];

    /// Returns the word for people.
    pub fn as_str(self) -> &'static str {
        match self {
            NodeProgress::Done => "done",
            NodeProgress::Running => "running",
            NodeProgress::Waiting => "waiting",
            NodeProgress::Failed => "failed",
            NodeProgress::Skipped => "skipped",
            NodeProgress::Stopped => "stopped",
            NodeProgress::Left => "left",
        }
    }
}

/// What a run says about a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeMark {
    /// How far it is.
    pub progress: NodeProgress,
    /// More, such as "2 visits, 3.1 s".
    pub text: String,
}

impl NodeMark {
    /// Returns its words, with something between them.
    pub(crate) fn words(&self, between: &str) -> String {
        let progress = if self.progress == NodeProgress::Left { "not running" } else { self.progress.as_str() };
        if self.text.is_empty() { progress.to_owned() } else { format!("{progress}{between}{}", self.text) }
    }
}

/// Something that is drawn.
#[derive(Debug, Clone)]
pub struct GraphNode {
    /// The names of the phase and of those around it, such as `tools/review`; empty if it is not a phase.
    pub path: String,
    /// What it stands for.
    pub kind: NodeKind,
    /// Its name.
    pub label: String,
    /// Who works, or what runs.
    pub detail: Option<String>,
    /// What else is worth knowing, in a few words each.
    pub notes: Vec<String>,
    /// The group that it is in.
    pub parent: Option<usize>,
    /// What a run says about it.
    pub mark: Option<NodeMark>,
}

/// Why one node follows another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EdgeKind {
    /// It comes next.
    Next,
    /// It comes next if a condition holds.
    When,
    /// The first one failed.
    Failure,
    /// A person chose it.
    Choice,
    /// A report is routed there.
    Route,
    /// The first one is blocked.
    Blocked,
}

impl EdgeKind {
    /// Returns whether it is an exception and not the usual way.
    pub(crate) fn is_dashed(self) -> bool {
        matches!(self, EdgeKind::Blocked | EdgeKind::Route)
    }
}

/// A way from one node to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphEdge {
    /// Where it begins.
    pub from: usize,
    /// Where it ends.
    pub to: usize,
    /// Why.
    pub way: EdgeKind,
    /// The condition, the reason or the choice.
    pub label: Option<String>,
    /// Whether a run has gone this way.
    pub taken: bool,
}

/// What is drawn.
#[derive(Debug, Clone, Default)]
pub struct Graph {
    /// Its title.
    pub title: String,
    /// The nodes; a group stands before what is inside it.
    pub nodes: Vec<GraphNode>,
    /// The ways between them.
    pub edges: Vec<GraphEdge>,
    /// Whether it is a run, so that the ways that were not taken step back.
    pub is_run: bool,
}

impl Graph {
    /// Returns the nodes inside a group, or those in none.
    pub(crate) fn children(&self, parent: Option<usize>) -> impl Iterator<Item = usize> {
        (0..self.nodes.len()).filter(move |node| self.nodes[*node].parent == parent)
    }

    /// Returns whether a node is drawn as a box around others.
    pub(crate) fn is_box(&self, node: usize) -> bool {
        self.nodes[node].kind.is_group() && self.children(Some(node)).next().is_some()
    }

    /// Finds the node of a phase.
    pub(crate) fn find(&self, path: &str) -> Option<usize> {
        self.nodes.iter().position(|node| node.path == path && !path.is_empty())
    }

    /// Marks how far a phase is in a run.
    pub(crate) fn mark(&mut self, path: &str, mark: NodeMark) {
        if let Some(node) = self.find(path) {
            self.nodes[node].mark = Some(mark);
        }
    }

    /// Adds a node that no phase is named by.
    pub(crate) fn add(&mut self, kind: NodeKind, label: &str) -> usize {
        let (path, label) = (String::new(), shorten(label, 60));
        self.nodes.push(GraphNode { path, kind, label, detail: None, notes: Vec::new(), parent: None, mark: None });
        self.nodes.len() - 1
    }

    /// Finds or adds the node of a kind that there is only one of.
    pub(crate) fn only(&mut self, kind: NodeKind) -> usize {
        let known = self.nodes.iter().position(|node| node.kind == kind);
        let label = if kind == NodeKind::Person { "a person" } else { kind.as_str() };
        known.unwrap_or_else(|| self.add(kind, label))
    }

    /// Finds or adds the node of an agent that others turn to.
    pub(crate) fn helper(&mut self, name: &str) -> usize {
        let known = self.nodes.iter().position(|node| node.kind == NodeKind::Helper && node.label == shorten(name, 60));
        known.unwrap_or_else(|| self.add(NodeKind::Helper, name))
    }

    /// Notes that a run has gone from one node to another; where no way was drawn, this one is.
    pub(crate) fn take(&mut self, from: usize, to: usize, way: EdgeKind, label: &str) {
        let mut known = false;
        for edge in self.edges.iter_mut().filter(|edge| (edge.from, edge.to) == (from, to)) {
            (edge.taken, known) = (true, true);
        }
        if !known {
            self.edges.push(GraphEdge { from, to, way, label: Some(label.to_owned()), taken: true });
        }
    }
}

/// Cuts a text to so many characters, on one line.
pub(crate) fn shorten(text: &str, characters_max: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line: String = line.chars().filter(|character| !character.is_control()).collect();
    match line.char_indices().nth(characters_max.saturating_sub(1)) {
        Some((end, _)) if line[end..].chars().count() > 1 => format!("{}…", &line[..end]),
        _ => line,
    }
}

#[cfg(test)]
mod tests;
