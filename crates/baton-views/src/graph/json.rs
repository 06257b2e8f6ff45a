//! The picture as JSON, for whoever draws it themselves.

use serde_json::{Value, json};

use super::{EdgeKind, Graph, GraphEdge, GraphNode};

/// Returns the JSON form: edges name nodes by their index.
pub fn render(graph: &Graph) -> Value {
    json!({
        "version": 1,
        "title": graph.title,
        "is_run": graph.is_run,
        "nodes": graph.nodes.iter().map(node).collect::<Vec<_>>(),
        "edges": graph.edges.iter().map(edge).collect::<Vec<_>>(),
    })
}

fn node(node: &GraphNode) -> Value {
    json!({
        "path": node.path,
        "kind": node.kind.as_str(),
        "label": node.label,
        "detail": node.detail,
        "notes": node.notes,
        "parent": node.parent,
        "progress": node.mark.as_ref().map(|mark| mark.progress.as_str()),
        "text": node.mark.as_ref().map(|mark| &mark.text),
    })
}

fn edge(edge: &GraphEdge) -> Value {
    let way = match edge.way {
        EdgeKind::Next => "next",
        EdgeKind::When => "when",
        EdgeKind::Failure => "failure",
        EdgeKind::Choice => "choice",
        EdgeKind::Route => "route",
        EdgeKind::Blocked => "blocked",
    };
    json!({ "from": edge.from, "to": edge.to, "way": way, "label": edge.label, "taken": edge.taken })
}
