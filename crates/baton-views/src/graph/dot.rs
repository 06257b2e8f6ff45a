//! DOT, for Graphviz.

use super::{EdgeKind, Graph, GraphEdge, GraphNode, NodeKind, NodeProgress};

/// Writes a graph in DOT.
pub fn render(graph: &Graph) -> String {
    let mut text = format!("digraph workflow {{\n  label={};\n", quote(&graph.title));
    text.push_str("  labelloc=t;\n  compound=true;\n  rankdir=TB;\n");
    text.push_str("  node [shape=box, style=\"rounded,filled\", fillcolor=white, fontname=\"sans-serif\"];\n");
    text.push_str("  edge [fontname=\"sans-serif\", fontsize=10];\n");
    for node in graph.children(None) {
        write_node(graph, node, 1, &mut text);
    }
    for edge in &graph.edges {
        text.push_str(&write_edge(graph, edge));
    }
    text + "}\n"
}

fn write_node(graph: &Graph, index: usize, depth: usize, text: &mut String) {
    let node = &graph.nodes[index];
    let space = "  ".repeat(depth);
    if graph.is_box(index) {
        text.push_str(&format!("{space}subgraph cluster_{index} {{\n{space}  label={};\n", quote(&label(node))));
        text.push_str(&format!("{space}  style=\"rounded\";\n{space}  color={};\n", quote(border(node))));
        for child in graph.children(Some(index)) {
            write_node(graph, child, depth + 1, text);
        }
        text.push_str(&format!("{space}}}\n"));
        return;
    }
    let shape = match node.kind {
        NodeKind::Start | NodeKind::End | NodeKind::Stop => "oval",
        NodeKind::Gate => "hexagon",
        NodeKind::Check => "parallelogram",
        NodeKind::Person => "circle",
        NodeKind::Workflow => "folder",
        NodeKind::Agent | NodeKind::Parallel | NodeKind::Foreach | NodeKind::Helper => "box",
    };
    let style = if node.kind.is_beside() { ", style=\"rounded,dashed\"" } else { "" };
    let (label, color) = (quote(&label(node)), quote(border(node)));
    text.push_str(&format!("{space}n{index} [label={label}, shape={shape}, color={color}{style}];\n"));
}

fn border(node: &GraphNode) -> &'static str {
    match (node.mark.as_ref().map(|mark| mark.progress), node.kind) {
        (Some(NodeProgress::Done), _) => "#2f855a",
        (Some(NodeProgress::Running), _) => "#2b6cb0",
        (Some(NodeProgress::Waiting | NodeProgress::Left), _) | (None, NodeKind::Gate) => "#b7791f",
        (Some(NodeProgress::Failed), _) => "#c53030",
        (Some(NodeProgress::Skipped | NodeProgress::Stopped), _) => "#888888",
        (None, NodeKind::Helper | NodeKind::Person) => "#7c4dbd",
        (None, _) => "#444444",
    }
}

fn label(node: &GraphNode) -> String {
    let mut lines = vec![node.label.clone()];
    lines.extend(node.detail.clone());
    if !node.notes.is_empty() {
        lines.push(node.notes.join(" · "));
    }
    lines.extend(node.mark.as_ref().map(|mark| mark.words(": ")));
    lines.join("\n")
}

/// Writes an edge. One that begins or ends at a group is drawn to a node in it and cut off at the border.
fn write_edge(graph: &Graph, edge: &GraphEdge) -> String {
    let mut attributes = Vec::new();
    if graph.is_box(edge.from) {
        attributes.push(format!("ltail=cluster_{}", edge.from));
    }
    if graph.is_box(edge.to) {
        attributes.push(format!("lhead=cluster_{}", edge.to));
    }
    attributes.extend(edge.label.as_deref().map(|label| format!("label={}", quote(label))));
    if edge.way.is_dashed() {
        attributes.push("style=dashed, constraint=false".to_owned());
    }
    if edge.way == EdgeKind::Failure {
        attributes.push("color=\"#c53030\", constraint=false".to_owned());
    }
    if edge.taken {
        attributes.push("penwidth=2.5".to_owned());
    }
    let (from, to) = (leaf(graph, edge.from, true), leaf(graph, edge.to, false));
    if attributes.is_empty() {
        format!("  n{from} -> n{to};\n")
    } else {
        format!("  n{from} -> n{to} [{}];\n", attributes.join(", "))
    }
}

/// Finds a node in a group: the last one to leave it, the first one to enter it.
fn leaf(graph: &Graph, node: usize, leaving: bool) -> usize {
    let mut children = graph.children(Some(node));
    let child = if leaving { children.last() } else { children.next() };
    child.map_or(node, |child| leaf(graph, child, leaving))
}

fn quote(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}
