//! Where everything stands in the picture: a column of phases from top to bottom, groups as boxes around their phases,
//! ways back and forth in lanes on the left, and helpers and people in a column on the right.

use std::collections::HashMap;

use super::text;
use crate::graph::{EdgeKind, Graph, GraphEdge, NodeKind};

/// The narrowest box of a phase.
const BOX_WIDTH: f64 = 230.0;
/// Between two phases that follow each other.
const GAP: f64 = 38.0;
/// Between two phases that follow each other under a condition.
const GAP_WITH_LABEL: f64 = 58.0;
/// Between phases that run at the same time.
const SIDE_GAP: f64 = 18.0;
/// Inside a group, around its phases.
const PADDING: f64 = 18.0;
/// How many phases at the same time stand in one row.
const ROW: usize = 3;
/// Between two lanes.
const LANE: f64 = 16.0;
/// Around the whole picture.
const MARGIN: f64 = 24.0;
/// What an edge needs of the side of a box.
const PORT: f64 = 17.0;

/// A place in the picture.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Rect {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

impl Rect {
    pub(super) fn right(&self) -> f64 {
        self.x + self.width
    }

    pub(super) fn bottom(&self) -> f64 {
        self.y + self.height
    }

    pub(super) fn center(&self) -> f64 {
        self.x + self.width / 2.0
    }
}

/// How an edge is drawn.
#[derive(Debug, Clone)]
pub(super) enum Path {
    /// Straight down, from the bottom of one box to the top of the next.
    Down,
    /// Around on the left, along the lane at this place.
    Around { lane: f64, from: Point, to: Point, label: String },
    /// To somebody on the right.
    Aside { from: Point, to: Point, label: String },
}

/// Where an edge begins or ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Point {
    pub x: f64,
    pub y: f64,
}

/// Which end of an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum End {
    From,
    To,
}

/// Where everything stands.
#[derive(Debug, Default)]
pub(super) struct Layout {
    pub width: f64,
    pub height: f64,
    /// The place of each node.
    pub rects: Vec<Rect>,
    /// How each edge is drawn.
    pub paths: Vec<Option<Path>>,
    /// Where the labels of the edges to the right end.
    pub bend: f64,
}

/// Finds the place of everything.
pub(super) fn layout(graph: &Graph) -> Layout {
    let mut work = Work { graph, sides: Sides::of(graph), layout: Layout::default() };
    work.layout.rects = vec![Rect::default(); graph.nodes.len()];
    work.layout.paths = vec![None; graph.edges.len()];
    let is_in_flow = |node: &usize| !graph.nodes[*node].kind.is_beside();
    let mut column: Vec<usize> = graph.children(None).filter(is_in_flow).collect();
    column.sort_by_key(|node| match graph.nodes[*node].kind {
        NodeKind::Start => 0,
        NodeKind::End => 2,
        NodeKind::Stop => 3,
        _ => 1,
    });
    let head = MARGIN + 34.0;
    let (width, height) = work.list(&column, MARGIN, head);
    work.layout.height = head + height + MARGIN;
    work.layout.width = MARGIN + width + MARGIN;
    work.beside();
    let title = text::width(&graph.title, 17.0) + 2.0 * MARGIN;
    work.layout.width = work.layout.width.max(title);
    work.layout
}

/// Counts the edges that begin or end at the sides of boxes.
#[derive(Default)]
struct Sides {
    left: HashMap<usize, usize>,
    right: HashMap<usize, usize>,
}

impl Sides {
    fn of(graph: &Graph) -> Sides {
        let mut sides = Sides::default();
        for edge in &graph.edges {
            if graph.nodes[edge.to].kind.is_beside() {
                *sides.right.entry(outermost(graph, edge.from)).or_default() += 1;
            } else if let Some((from, to)) = beside_each_other(graph, edge).filter(|_| !is_down(graph, edge)) {
                *sides.left.entry(from).or_default() += 1;
                *sides.left.entry(to).or_default() += 1;
            }
        }
        sides
    }
}

/// Returns the outermost group around a node, or itself.
fn outermost(graph: &Graph, node: usize) -> usize {
    std::iter::successors(Some(node), |inner| graph.nodes[*inner].parent).last().unwrap_or(node)
}

/// Lifts the ends of an edge to nodes of the same list.
fn beside_each_other(graph: &Graph, edge: &GraphEdge) -> Option<(usize, usize)> {
    let above = |node: usize| std::iter::successors(Some(node), |inner| graph.nodes[*inner].parent);
    above(edge.from).find_map(|from| {
        let to = above(edge.to).find(|to| graph.nodes[*to].parent == graph.nodes[from].parent)?;
        (from != to || edge.from == edge.to).then_some((from, to))
    })
}

/// Returns whether an edge leads to the next phase of the list.
fn is_down(graph: &Graph, edge: &GraphEdge) -> bool {
    if !matches!(edge.way, EdgeKind::Next | EdgeKind::When) {
        return false;
    }
    let (from, to) = (&graph.nodes[edge.from], &graph.nodes[edge.to]);
    let mut between = graph.children(from.parent).filter(|node| {
        let kind = graph.nodes[*node].kind;
        !kind.is_terminal() && !kind.is_beside()
    });
    match (from.kind, to.kind) {
        (NodeKind::Start, NodeKind::End) => between.next().is_none(),
        (NodeKind::Start, _) => between.next() == Some(edge.to),
        (_, NodeKind::End) => between.last() == Some(edge.from),
        _ => between.find(|node| *node > edge.from) == Some(edge.to) && from.parent == to.parent,
    }
}

struct Work<'g> {
    graph: &'g Graph,
    sides: Sides,
    layout: Layout,
}

impl Work<'_> {
    /// Puts nodes below each other, with lanes on their left. Returns how much room they take.
    fn list(&mut self, nodes: &[usize], x: f64, y: f64) -> (f64, f64) {
        let lanes = self.lanes(nodes);
        let count = lanes.iter().map(|(_, lane)| lane + 1).max().unwrap_or(0);
        let labels = lanes.iter().map(|(edge, _)| self.around_label(&self.graph.edges[*edge]));
        let label = labels.map(|label| text::width(&label, 11.0)).fold(0.0, f64::max);
        let left = if count == 0 { 0.0 } else { label + 22.0 + count as f64 * LANE };
        let sizes: Vec<(f64, f64)> = nodes.iter().map(|node| self.node(*node, 0.0, 0.0)).collect();
        let conditions = self.graph.edges.iter().filter(|edge| nodes.contains(&edge.to) && is_down(self.graph, edge));
        let condition = conditions.filter_map(|edge| edge.label.as_deref()).map(|text| text::width(text, 11.0) + 20.0);
        let width = sizes.iter().map(|size| size.0).chain(condition).fold(0.0, f64::max);
        let mut bottom = y;
        for (index, (node, size)) in nodes.iter().zip(&sizes).enumerate() {
            if index > 0 {
                bottom += self.gap(*node);
            }
            self.node(*node, x + left + (width - size.0) / 2.0, bottom);
            bottom += size.1;
        }
        self.place_lanes(&lanes, x);
        (left + width, bottom - y)
    }

    fn gap(&self, node: usize) -> f64 {
        let is_labelled = |edge: &GraphEdge| edge.to == node && edge.label.is_some() && is_down(self.graph, edge);
        if self.graph.edges.iter().any(is_labelled) { GAP_WITH_LABEL } else { GAP }
    }

    /// Returns the label of an edge that leads around; where it begins inside a group, with the name of the phase.
    fn around_label(&self, edge: &GraphEdge) -> String {
        let said = edge.label.clone().unwrap_or_default();
        match beside_each_other(self.graph, edge) {
            Some((from, _)) if from != edge.from => format!("{}: {said}", self.graph.nodes[edge.from].label),
            _ => said,
        }
    }

    /// Puts a node somewhere, with everything inside it. Returns how much room it takes.
    fn node(&mut self, node: usize, x: f64, y: f64) -> (f64, f64) {
        let (width, height) = if self.graph.is_box(node) { self.group(node, x, y) } else { self.leaf(node) };
        self.layout.rects[node] = Rect { x, y, width, height };
        (width, height)
    }

    fn leaf(&self, node: usize) -> (f64, f64) {
        let shown = &self.graph.nodes[node];
        if shown.kind.is_terminal() {
            return (84.0, 32.0);
        }
        let ports = |sides: &HashMap<usize, usize>| sides.get(&node).copied().unwrap_or(0) as f64 * PORT + 8.0;
        let height = text::height(shown).max(ports(&self.sides.left)).max(ports(&self.sides.right));
        (text::inner_width(shown).max(BOX_WIDTH), height)
    }

    fn group(&mut self, node: usize, x: f64, y: f64) -> (f64, f64) {
        let children: Vec<usize> = self.graph.children(Some(node)).collect();
        let head = text::height(&self.graph.nodes[node]);
        let (left, top) = (x + PADDING, y + head);
        let (width, height) = match self.graph.nodes[node].kind {
            NodeKind::Parallel => self.rows(&children, left, top),
            _ => self.list(&children, left, top),
        };
        let width = (width + 2.0 * PADDING).max(text::inner_width(&self.graph.nodes[node]));
        (width, head + height + PADDING)
    }

    /// Puts nodes side by side, a few in each row.
    fn rows(&mut self, nodes: &[usize], x: f64, y: f64) -> (f64, f64) {
        let (mut width, mut bottom): (f64, f64) = (0.0, y);
        // Four stand two and two, not three and one.
        let rows = nodes.len().div_ceil(ROW).max(1);
        for (index, row) in nodes.chunks(nodes.len().div_ceil(rows).max(1)).enumerate() {
            bottom += if index > 0 { SIDE_GAP } else { 0.0 };
            let (mut right, mut tallest): (f64, f64) = (x, 0.0);
            for (index, node) in row.iter().enumerate() {
                right += if index > 0 { SIDE_GAP } else { 0.0 };
                let size = self.node(*node, right, bottom);
                right += size.0;
                tallest = tallest.max(size.1);
            }
            for node in row.iter().filter(|node| !self.graph.is_box(**node)) {
                self.layout.rects[*node].height = tallest;
            }
            width = width.max(right - x);
            bottom += tallest;
        }
        (width, bottom - y)
    }

    /// Gives each edge that leads around a lane of its own where it would meet another.
    fn lanes(&self, nodes: &[usize]) -> Vec<(usize, usize)> {
        let position = |node: usize| nodes.iter().position(|other| *other == node);
        let mut around: Vec<(usize, usize, usize)> = Vec::new();
        for (index, edge) in self.graph.edges.iter().enumerate().filter(|(_, edge)| !is_down(self.graph, edge)) {
            let ends = beside_each_other(self.graph, edge);
            let ends = ends.and_then(|(from, to)| Some((position(from)?, position(to)?)));
            around.extend(ends.map(|(from, to)| (index, from.min(to), from.max(to))));
        }
        around.sort_by_key(|(_, top, bottom)| bottom - top);
        let mut taken: Vec<Vec<(usize, usize)>> = Vec::new();
        let mut lanes = Vec::new();
        for (edge, top, bottom) in around {
            let is_free = |lane: &Vec<(usize, usize)>| lane.iter().all(|(from, to)| bottom < *from || *to < top);
            let lane = taken.iter().position(is_free).unwrap_or(taken.len());
            taken.resize(taken.len().max(lane + 1), Vec::new());
            taken[lane].push((top, bottom));
            lanes.push((edge, lane));
        }
        lanes
    }

    fn place_lanes(&mut self, lanes: &[(usize, usize)], x: f64) {
        let count = lanes.iter().map(|(_, lane)| lane + 1).max().unwrap_or(0);
        let ports = self.left_ports(lanes);
        for (edge, lane) in lanes {
            let Some((from, to)) = beside_each_other(self.graph, &self.graph.edges[*edge]) else { continue };
            let point = |end: End| Point {
                x: self.layout.rects[if end == End::From { from } else { to }].x,
                y: ports.get(&(*edge, end)).copied().unwrap_or_default(),
            };
            self.layout.paths[*edge] = Some(Path::Around {
                lane: x + (count - lane) as f64 * LANE - LANE / 2.0,
                from: point(End::From),
                to: point(End::To),
                label: self.around_label(&self.graph.edges[*edge]),
            });
        }
    }

    /// Returns how high each edge begins and ends at the left of its boxes, so that no line crosses another without need:
    /// those that go up stand above those that go down, and of two that go the same way the one in the outer lane is farther
    /// from where both go.
    fn left_ports(&self, lanes: &[(usize, usize)]) -> HashMap<(usize, End), f64> {
        let mut ends: HashMap<usize, Vec<(usize, i64, usize, End)>> = HashMap::new();
        for (edge, lane) in lanes {
            let Some((from, to)) = beside_each_other(self.graph, &self.graph.edges[*edge]) else { continue };
            for (here, there, end) in [(from, to, End::From), (to, from, End::To)] {
                let goes_down = self.layout.rects[there].y > self.layout.rects[here].y;
                let lane = i64::try_from(*lane).unwrap_or(0);
                let order = if goes_down { (1, -lane) } else { (0, lane) };
                ends.entry(here).or_default().push((order.0, order.1, *edge, end));
            }
        }
        let mut ports = HashMap::new();
        for (node, mut ends) in ends {
            ends.sort_unstable();
            let mut used = HashMap::new();
            for (_, _, edge, end) in ends {
                ports.insert((edge, end), self.port(node, &mut used, true));
            }
        }
        ports
    }

    /// Returns the height of the next free port at a side of a box.
    fn port(&self, node: usize, used: &mut HashMap<usize, usize>, left: bool) -> f64 {
        let side = if left { &self.sides.left } else { &self.sides.right };
        let total = side.get(&node).copied().unwrap_or(1).max(1);
        let index = used.entry(node).or_default();
        *index += 1;
        let rect = self.layout.rects[node];
        // The ports of a large group stay near its head.
        let room = rect.height.min((total as f64 + 1.0) * PORT * 1.6).max(rect.height.min(60.0));
        rect.y + room * *index as f64 / (total as f64 + 1.0)
    }

    /// Puts helpers and people on the right, near those who turn to them.
    fn beside(&mut self) {
        let graph = self.graph;
        let mut used = HashMap::new();
        let mut aside: Vec<(usize, Point, String)> = Vec::new();
        for (index, edge) in graph.edges.iter().enumerate().filter(|(_, edge)| graph.nodes[edge.to].kind.is_beside()) {
            let outer = outermost(graph, edge.from);
            let said = edge.label.clone().unwrap_or_default();
            let label = if outer == edge.from { said } else { format!("{}: {said}", graph.nodes[edge.from].label) };
            let from = Point { x: self.layout.rects[outer].right(), y: self.port(outer, &mut used, false) };
            aside.push((index, from, label));
        }
        if aside.is_empty() {
            return;
        }
        let end = |(_, from, label): &(usize, Point, String)| from.x + text::width(label, 11.0) + 22.0;
        self.layout.bend = aside.iter().map(end).fold(self.layout.width - MARGIN, f64::max);
        let x = self.layout.bend + 56.0;
        let mut wanted: Vec<(usize, f64)> = graph
            .children(None)
            .filter(|node| graph.nodes[*node].kind.is_beside())
            .map(|node| {
                let heights: Vec<f64> = aside
                    .iter()
                    .filter(|(edge, ..)| graph.edges[*edge].to == node)
                    .map(|(_, from, _)| from.y)
                    .collect();
                (node, heights.iter().sum::<f64>() / heights.len().max(1) as f64)
            })
            .collect();
        wanted.sort_by(|left, right| left.1.total_cmp(&right.1));
        let mut bottom = self.layout.rects.first().map_or(0.0, |start| start.y);
        for (node, height) in wanted {
            let size = self.leaf(node);
            let arriving = aside.iter().filter(|(edge, ..)| graph.edges[*edge].to == node).count() as f64;
            let size =
                (size.0.min(210.0).max(text::inner_width(&graph.nodes[node])), size.1.max(arriving * 12.0 + 10.0));
            let y = (height - size.1 / 2.0).max(bottom);
            self.layout.rects[node] = Rect { x, y, width: size.0, height: size.1 };
            bottom = y + size.1 + 22.0;
            self.layout.width = self.layout.width.max(x + size.0 + MARGIN);
        }
        self.layout.height = self.layout.height.max(bottom - 22.0 + MARGIN);
        self.place_aside(aside);
    }

    fn place_aside(&mut self, mut aside: Vec<(usize, Point, String)>) {
        aside.sort_by(|left, right| left.1.y.total_cmp(&right.1.y));
        let mut arrived: HashMap<usize, usize> = HashMap::new();
        let total = |node: usize| self.graph.edges.iter().filter(|edge| edge.to == node).count().max(1) as f64;
        for (edge, from, label) in aside {
            let node = self.graph.edges[edge].to;
            let index = arrived.entry(node).or_default();
            *index += 1;
            let rect = self.layout.rects[node];
            let to = Point { x: rect.x, y: rect.y + rect.height * *index as f64 / (total(node) + 1.0) };
            self.layout.paths[edge] = Some(Path::Aside { from, to, label });
        }
    }
}
