//! Makes the graph of a workflow.

use std::path::{Path, PathBuf};

use baton_engine::flow::who_can_change_it;
use baton_protocol::model::terms::{GateType, Outcome};
use baton_protocol::wire::same_word;
use baton_protocol::workflow::{DEFAULT_ROUTES, GateFields, HUMAN, Phase, PhaseKind, Workflow};

use super::{EdgeKind, Graph, GraphEdge, GraphNode, NodeKind, shorten};

/// Opens a workflow file that another one names, with the folder that the paths in it begin in.
type Nested<'n> = &'n dyn Fn(&Path, &str) -> Option<(Workflow, PathBuf)>;

/// How deep workflows inside workflows are drawn; one could contain itself.
const NESTED_MAX: usize = 3;

/// The longest condition that is shown.
const LABEL_CHARACTERS: usize = 48;

impl Graph {
    /// Makes the graph of a workflow whose paths begin in a folder.
    pub fn of(workflow: &Workflow, folder: &Path, nested: Nested<'_>) -> Graph {
        let mut builder = Builder { graph: Graph::default(), nested, steps: Vec::new() };
        builder.graph.title = shorten(workflow.name.as_deref().unwrap_or("workflow"), 80);
        let start = builder.graph.only(NodeKind::Start);
        let end = builder.graph.only(NodeKind::End);
        let list = builder.list(workflow, &workflow.phases, None, folder, NESTED_MAX);
        let first = list.first().copied().unwrap_or(end);
        let condition = workflow.phases.first().and_then(|phase| phase.when.as_deref());
        builder.follow(start, first, condition);
        builder.connect(&workflow.phases, &list, Some(end));
        builder.routes(workflow);
        builder.graph
    }
}

struct Builder<'n> {
    graph: Graph,
    nested: Nested<'n>,
    /// The nodes of phases with agents, of the outermost workflow.
    steps: Vec<(usize, String)>,
}

impl Builder<'_> {
    fn node(&mut self, kind: NodeKind, label: &str, parent: Option<usize>, path: String) -> usize {
        let label = shorten(label, 60);
        self.graph.nodes.push(GraphNode { path, kind, label, detail: None, notes: Vec::new(), parent, mark: None });
        self.graph.nodes.len() - 1
    }

    /// Adds the phases of a list and what is inside them.
    fn list(
        &mut self,
        workflow: &Workflow,
        phases: &[Phase],
        parent: Option<usize>,
        folder: &Path,
        deep: usize,
    ) -> Vec<usize> {
        phases.iter().map(|phase| self.phase(workflow, phase, parent, folder, deep)).collect()
    }

    fn phase(
        &mut self,
        workflow: &Workflow,
        phase: &Phase,
        parent: Option<usize>,
        folder: &Path,
        deep: usize,
    ) -> usize {
        let above = parent.map(|parent| self.graph.nodes[parent].path.clone()).unwrap_or_default();
        let path = if above.is_empty() { phase.id().to_owned() } else { format!("{above}/{}", phase.id()) };
        let node = self.node(kind_of(phase), phase.id(), parent, path);
        self.graph.nodes[node].detail = detail(phase);
        self.graph.nodes[node].notes = notes(phase);
        if let Some(agent) = phase.agent.as_ref().filter(|_| deep == NESTED_MAX) {
            self.steps.push((node, agent.clone()));
        }
        self.list(workflow, &phase.parallel, Some(node), folder, deep);
        let each = self.list(workflow, &phase.phases, Some(node), folder, deep);
        self.connect(&phase.phases, &each, None);
        if let Some((inner, folder)) =
            phase.workflow.as_deref().filter(|_| deep > 0).and_then(|path| (self.nested)(folder, path))
        {
            let inside = self.list(&inner, &inner.phases, Some(node), &folder, deep - 1);
            self.connect(&inner.phases, &inside, None);
        }
        node
    }

    /// Adds the ways between the phases of a list.
    fn connect(&mut self, phases: &[Phase], nodes: &[usize], end: Option<usize>) {
        let named = |id: &str| phases.iter().position(|phase| phase.id() == id).map(|index| nodes[index]);
        for (index, phase) in phases.iter().enumerate() {
            let here = nodes[index];
            let following = match phase.next.as_deref() {
                Some("end") => end,
                Some(id) => named(id),
                None => nodes.get(index + 1).copied().or(end),
            };
            if let Some(to) = following {
                let condition = nodes.iter().position(|node| *node == to).and_then(|at| phases[at].when.clone());
                self.follow(here, to, condition.as_deref());
            }
            match phase.on_failure.as_deref() {
                Some("gate") => {
                    let person = self.graph.only(NodeKind::Person);
                    self.edge(here, person, EdgeKind::Failure, Some("on failure"));
                }
                Some("stop") => {
                    let stop = self.graph.only(NodeKind::Stop);
                    self.edge(here, stop, EdgeKind::Failure, Some("on failure"));
                }
                Some(id) => self.edge_to(here, named(id), EdgeKind::Failure, "on failure"),
                None if judges(phase) => {
                    let said = if phase.gate.is_some() { "rejected" } else { "on failure" };
                    self.edge_to(
                        here,
                        who_can_change_it(&phases[..index], |_| true).map(|before| nodes[before]),
                        EdgeKind::Failure,
                        said,
                    );
                }
                None => {}
            }
            for (choice, target) in phase.gates().flat_map(|(_, gate)| &gate.choices) {
                match target.as_str().unwrap_or_default() {
                    // The usual way, which has a line already.
                    "next" => self.name_next(here, following, choice),
                    "stop" => {
                        let stop = self.graph.only(NodeKind::Stop);
                        self.edge(here, stop, EdgeKind::Choice, Some(choice));
                    }
                    "end" => self.edge_to(here, end, EdgeKind::Choice, choice),
                    id => self.edge_to(here, named(id), EdgeKind::Choice, choice),
                }
            }
        }
    }

    fn follow(&mut self, from: usize, to: usize, condition: Option<&str>) {
        let way = if condition.is_some() { EdgeKind::When } else { EdgeKind::Next };
        let label = condition.map(|condition| format!("when {condition}"));
        self.edge(from, to, way, label.as_deref());
    }

    fn name_next(&mut self, from: usize, to: Option<usize>, choice: &str) {
        let is_next = |edge: &&GraphEdge| {
            (edge.from, Some(edge.to)) == (from, to) && matches!(edge.way, EdgeKind::Next | EdgeKind::When)
        };
        if let Some(edge) = self.graph.edges.iter().find(is_next).cloned() {
            self.edge(edge.from, edge.to, edge.way, Some(choice));
        }
    }

    fn edge_to(&mut self, from: usize, to: Option<usize>, way: EdgeKind, label: &str) {
        if let Some(to) = to {
            self.edge(from, to, way, Some(label));
        }
    }

    /// Adds a way; a second one of the same kind between the same nodes only adds its label.
    fn edge(&mut self, from: usize, to: usize, way: EdgeKind, label: Option<&str>) {
        let label = label.map(|label| shorten(label, LABEL_CHARACTERS));
        let same = |edge: &&mut GraphEdge| (edge.from, edge.to, edge.way) == (from, to, way);
        match self.graph.edges.iter_mut().find(same) {
            Some(known) => {
                if let Some(label) = label.filter(|label| known.label.as_ref() != Some(label)) {
                    known.label = Some(known.label.take().map(|old| format!("{old}, {label}")).unwrap_or(label));
                }
            }
            None => self.graph.edges.push(GraphEdge { from, to, way, label, taken: false }),
        }
    }

    /// Adds where reports are routed. Rows for all agents would be lines from everywhere; a person has them as a note.
    fn routes(&mut self, workflow: &Workflow) {
        for (node, agent) in self.steps.clone() {
            let fits = |pattern: &str| same_word(pattern, &agent);
            for route in workflow.routes.iter().filter(|route| route.agent.as_deref().is_some_and(fits)) {
                let status = route.status.unwrap_or(Outcome::Blocked);
                let said = route.reason.as_deref().or(route.verdict.as_deref()).unwrap_or(status.as_str());
                if let Some(phase) = &route.phase {
                    let to = self.graph.nodes.iter().position(|node| node.path == *phase);
                    self.edge_to(node, to, EdgeKind::Route, said);
                } else if let Some(to) = &route.to {
                    let to = self.beside(to);
                    self.edge(node, to, EdgeKind::Blocked, Some(said));
                }
            }
            for row in DEFAULT_ROUTES.iter().filter(|row| fits(row.agent) && row.to != HUMAN) {
                let own = workflow.routes.iter().any(|route| {
                    route.agent.as_deref().is_none_or(|agent| agent == "*" || fits(agent))
                        && route.reason.as_deref().is_none_or(|reason| same_word(reason, row.reason))
                        && route.status.unwrap_or(Outcome::Blocked) == Outcome::Blocked
                });
                if !own && workflow.agent(row.to).is_some() {
                    let to = self.beside(row.to);
                    self.edge(node, to, EdgeKind::Blocked, Some(row.reason));
                }
            }
        }
    }

    /// Finds or adds the node of somebody whom others turn to.
    fn beside(&mut self, name: &str) -> usize {
        if same_word(name, HUMAN) {
            return self.graph.only(NodeKind::Person);
        }
        self.graph.helper(name)
    }
}

/// Returns whether a phase can send the work of others back, unless the workflow says what follows.
fn judges(phase: &Phase) -> bool {
    let is_review = phase.kind.as_deref().is_some_and(|kind| same_word(kind, "review"));
    match phase.sole_kind() {
        Some(PhaseKind::Check | PhaseKind::Parallel | PhaseKind::Foreach | PhaseKind::Workflow) => true,
        Some(PhaseKind::Gate) => phase.gates().all(|(_, gate)| gate.choices.is_empty()),
        Some(PhaseKind::Agent) => is_review,
        None => false,
    }
}

fn kind_of(phase: &Phase) -> NodeKind {
    match phase.kinds().first() {
        Some(PhaseKind::Check) => NodeKind::Check,
        Some(PhaseKind::Parallel) => NodeKind::Parallel,
        Some(PhaseKind::Foreach) => NodeKind::Foreach,
        Some(PhaseKind::Workflow) => NodeKind::Workflow,
        Some(PhaseKind::Gate) => NodeKind::Gate,
        Some(PhaseKind::Agent) | None => NodeKind::Agent,
    }
}

/// Returns who works, or what runs.
fn detail(phase: &Phase) -> Option<String> {
    let item = || phase.r#as.as_deref().unwrap_or("item").to_owned();
    let text = match phase.kinds().first()? {
        PhaseKind::Agent => phase.agent.clone()?,
        PhaseKind::Check => phase.check.as_ref()?.to_string(),
        PhaseKind::Parallel => phase.pass_when.unwrap_or_default().to_string().replace('_', " "),
        PhaseKind::Foreach => format!("{} in {}", item(), phase.foreach.as_deref()?),
        PhaseKind::Workflow => phase.workflow.clone()?,
        PhaseKind::Gate => gate_words(phase.gate.as_ref()?),
    };
    Some(shorten(&text, LABEL_CHARACTERS))
}

fn gate_words(gate: &GateFields) -> String {
    let kind = gate.r#type.unwrap_or(GateType::Blocking).as_str();
    match (&gate.name, gate.items.len()) {
        (Some(name), _) => format!("{kind}: {name}"),
        (None, 0) => kind.to_owned(),
        (None, 1) => format!("{kind}, 1 point"),
        (None, count) => format!("{kind}, {count} points"),
    }
}

fn notes(phase: &Phase) -> Vec<String> {
    let mut notes = Vec::new();
    notes.extend(phase.review.as_ref().map(|review| gate_words(&review.gate) + " review"));
    match phase.verify.len() {
        0 => {}
        1 => notes.push("1 verification".to_owned()),
        count => notes.push(format!("{count} verifications")),
    }
    notes.extend(phase.timeout.map(|timeout| format!("at most {timeout}")));
    let retries = phase.retry.as_ref().and_then(|retry| retry.max_retries);
    notes.extend(retries.map(|count| if count == 1 { "1 retry".to_owned() } else { format!("{count} retries") }));
    notes
}
