//! A workflow as a graph: what is drawn, before anybody decides how.
//!
//! One model for a workflow and for a run of it: a run only adds marks. Each format is a file beside this one.

mod build;
pub(crate) mod dot;
pub(crate) mod mermaid;
pub(crate) mod of_run;
pub(crate) mod svg;

/// What a node stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
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
}

impl Kind {
    /// Returns the word for people.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Kind::Start => "start",
            Kind::Agent => "agent",
            Kind::Check => "check",
            Kind::Parallel => "at the same time",
            Kind::Foreach => "for each",
            Kind::Workflow => "workflow",
            Kind::Gate => "gate",
            Kind::Helper => "helps when blocked",
            Kind::Person => "person",
            Kind::End => "end",
        }
    }

    /// Says whether other nodes may stand inside.
    pub(crate) fn is_group(self) -> bool {
        matches!(self, Kind::Parallel | Kind::Foreach | Kind::Workflow)
    }

    /// Says whether it stands beside the flow and not in it.
    pub(crate) fn is_beside(self) -> bool {
        matches!(self, Kind::Helper | Kind::Person)
    }
}

/// How far a node is in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
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
}

impl Progress {
    /// All of them.
    pub(crate) const ALL: [Progress; 5] =
        [Progress::Done, Progress::Running, Progress::Waiting, Progress::Failed, Progress::Skipped];

    /// Returns the word for people.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Progress::Done => "done",
            Progress::Running => "running",
            Progress::Waiting => "waiting",
            Progress::Failed => "failed",
            Progress::Skipped => "skipped",
        }
    }
}

/// What a run says about a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mark {
    /// How far it is.
    pub progress: Progress,
    /// More, such as "2 visits, 3.1 s".
    pub text: String,
}

/// Something that is drawn.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    /// The names of the phase and of those around it, such as `tools/review`; empty if it is no phase.
    pub path: String,
    /// What it stands for.
    pub kind: Kind,
    /// Its name.
    pub label: String,
    /// Who works, or what runs.
    pub detail: Option<String>,
    /// What else is worth knowing, in a few words each.
    pub notes: Vec<String>,
    /// The group that it stands in.
    pub parent: Option<usize>,
    /// What a run says about it.
    pub mark: Option<Mark>,
}

/// Why one node follows another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
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

impl Way {
    /// Says whether it is an exception and not the usual way.
    pub(crate) fn is_dashed(self) -> bool {
        matches!(self, Way::Blocked | Way::Route)
    }
}

/// A way from one node to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edge {
    /// Where it begins.
    pub from: usize,
    /// Where it ends.
    pub to: usize,
    /// Why.
    pub way: Way,
    /// The condition, the reason or the choice.
    pub label: Option<String>,
}

/// What is drawn.
#[derive(Debug, Clone, Default)]
pub(crate) struct Graph {
    /// Its title.
    pub title: String,
    /// The nodes; a group stands before what is inside it.
    pub nodes: Vec<Node>,
    /// The ways between them.
    pub edges: Vec<Edge>,
}

impl Graph {
    /// Returns the nodes inside a group, or those in none.
    pub(crate) fn children(&self, parent: Option<usize>) -> impl Iterator<Item = usize> {
        (0..self.nodes.len()).filter(move |node| self.nodes[*node].parent == parent)
    }

    /// Says whether a node is drawn as a box around others.
    pub(crate) fn is_box(&self, node: usize) -> bool {
        self.nodes[node].kind.is_group() && self.children(Some(node)).next().is_some()
    }

    /// Says how far a phase is in a run.
    pub(crate) fn mark(&mut self, path: &str, mark: Mark) {
        if let Some(node) = self.nodes.iter_mut().find(|node| node.path == path) {
            node.mark = Some(mark);
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
