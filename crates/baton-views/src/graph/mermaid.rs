//! Mermaid flowcharts, which many pages draw by themselves.

use super::{EdgeKind, Graph, GraphEdge, GraphNode, NodeKind, NodeProgress};

/// Writes a graph as a Mermaid flowchart.
pub fn render(graph: &Graph) -> String {
    let mut text = format!("---\ntitle: \"{}\"\n---\nflowchart TD\n", graph.title.replace(['"', '\\', '\n'], " "));
    for node in graph.children(None) {
        write_node(graph, node, 1, &mut text);
    }
    for edge in &graph.edges {
        text.push_str(&write_edge(edge));
    }
    let taken = graph.edges.iter().enumerate().filter(|(_, edge)| edge.taken).map(|(index, _)| index.to_string());
    let taken: Vec<String> = taken.collect();
    if !taken.is_empty() {
        text.push_str(&format!("  linkStyle {} stroke-width:3px\n", taken.join(",")));
    }
    text.push_str("  classDef gate fill:#fff4d6,stroke:#b7791f,color:#3d2c00\n");
    text.push_str("  classDef beside fill:#f3ecfd,stroke:#7c4dbd,color:#2b1150,stroke-dasharray:4 3\n");
    for progress in NodeProgress::ALL {
        if graph.nodes.iter().any(|node| node.mark.as_ref().is_some_and(|mark| mark.progress == progress)) {
            let (fill, stroke) = colors(progress);
            let name = progress.as_str();
            text.push_str(&format!("  classDef {name} fill:{fill},stroke:{stroke},color:#111,stroke-width:2px\n"));
        }
    }
    text
}

fn colors(progress: NodeProgress) -> (&'static str, &'static str) {
    match progress {
        NodeProgress::Done => ("#d9f2e0", "#2f855a"),
        NodeProgress::Running => ("#d9e8fb", "#2b6cb0"),
        NodeProgress::Waiting | NodeProgress::Left => ("#fff4d6", "#b7791f"),
        NodeProgress::Failed => ("#fde0e0", "#c53030"),
        NodeProgress::Skipped | NodeProgress::Stopped => ("#eeeeee", "#888888"),
    }
}

fn write_node(graph: &Graph, index: usize, depth: usize, text: &mut String) {
    let node = &graph.nodes[index];
    let space = "  ".repeat(depth);
    if graph.is_box(index) {
        text.push_str(&format!("{space}subgraph n{index}[\"{}\"]\n", label(node)));
        // Among phases at the same time there are no ways that would put them side by side.
        let direction = if node.kind == NodeKind::Parallel { "LR" } else { "TB" };
        text.push_str(&format!("{space}  direction {direction}\n"));
        for child in graph.children(Some(index)) {
            write_node(graph, child, depth + 1, text);
        }
        text.push_str(&format!("{space}end\n"));
    } else {
        let (open, close) = shape(node.kind);
        text.push_str(&format!("{space}n{index}{open}\"{}\"{close}\n", label(node)));
    }
    if let Some(class) = class(node) {
        text.push_str(&format!("{space}class n{index} {class}\n"));
    }
}

fn shape(kind: NodeKind) -> (&'static str, &'static str) {
    match kind {
        NodeKind::Start | NodeKind::End | NodeKind::Stop => ("([", "])"),
        NodeKind::Gate => ("{{", "}}"),
        NodeKind::Check => ("[/", "/]"),
        NodeKind::Person => ("((", "))"),
        NodeKind::Workflow => ("[[", "]]"),
        NodeKind::Agent | NodeKind::Parallel | NodeKind::Foreach | NodeKind::Helper => ("[", "]"),
    }
}

fn class(node: &GraphNode) -> Option<&'static str> {
    match (&node.mark, node.kind) {
        (Some(mark), _) => Some(mark.progress.as_str()),
        (None, NodeKind::Gate) => Some("gate"),
        (None, NodeKind::Helper | NodeKind::Person) => Some("beside"),
        _ => None,
    }
}

fn label(node: &GraphNode) -> String {
    let mut lines = vec![match node.kind {
        NodeKind::Start | NodeKind::End | NodeKind::Stop | NodeKind::Person => escape(&node.label),
        _ => format!("<b>{}</b>", escape(&node.label)),
    }];
    lines.extend(node.detail.as_deref().map(escape));
    if !node.notes.is_empty() {
        lines.push(format!("<i>{}</i>", escape(&node.notes.join(" · "))));
    }
    lines.extend(node.mark.as_ref().map(|mark| escape(&mark.words(": "))));
    lines.join("<br>")
}

fn write_edge(edge: &GraphEdge) -> String {
    let arrow = if edge.way.is_dashed() { "-.->" } else { "-->" };
    let arrow = if edge.way == EdgeKind::Failure { "==>" } else { arrow };
    let label = edge.label.as_deref().map(|label| format!("|\"{}\"|", escape(label))).unwrap_or_default();
    format!("  n{} {arrow}{label} n{}\n", edge.from, edge.to)
}

/// Writes what Mermaid would take for its own as numbered entities.
fn escape(text: &str) -> String {
    let kept = |character: char| character.is_alphanumeric() || " .,:·-_/()'=!…+".contains(character);
    let mut escaped = String::new();
    for character in text.chars() {
        if kept(character) { escaped.push(character) } else { escaped.push_str(&format!("#{};", u32::from(character))) }
    }
    escaped
}
