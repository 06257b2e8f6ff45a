//! A picture of the graph, in SVG, for light and dark pages.

mod layout;
mod text;

use std::fmt::Write;

use super::{EdgeKind, Graph, GraphEdge, GraphNode, NodeKind, NodeProgress};
use layout::{Layout, Path, Point, Rect, layout};

/// How round a turn is.
const TURN: f64 = 8.0;

/// How far a label stands above its line; what hangs below the letters must not touch it.
const LIFT: f64 = 6.0;

/// Up to this width a picture can still be read if it is made to fit the screen of a phone.
const NARROW_MAX: f64 = 520.0;

/// Draws a graph as a file of its own.
pub fn render(graph: &Graph) -> String {
    drawn(graph, &format!("<style>{STYLE}</style>\n"))
}

/// Draws a graph inside of a page, whose own style sheet says how its classes look: no style stands in the picture.
pub fn inline(graph: &Graph) -> String {
    drawn(graph, "")
}

fn drawn(graph: &Graph, style: &str) -> String {
    let layout = layout(graph);
    let (width, height) = (layout.width.ceil(), layout.height.ceil());
    let class = if style.is_empty() && width <= NARROW_MAX { "baton narrow" } else { "baton" };
    let title = escape(&graph.title);
    let mut picture = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"{class}\" width=\"{width}\" height=\"{height}\" \
viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{title}\">\n<title>{title}</title>\n{style}\
<defs>{}</defs>\n<rect class=\"page\" width=\"{width}\" height=\"{height}\" rx=\"14\"/>\n",
        markers()
    );
    line(&mut picture, "title", 24.0, 38.0, &graph.title);
    for (index, node) in graph.nodes.iter().enumerate().filter(|(index, _)| graph.is_box(*index)) {
        draw_node(&mut picture, node, layout.rects[index], true);
    }
    for (index, edge) in graph.edges.iter().enumerate() {
        let path = layout.paths[index].as_ref().unwrap_or(&Path::Down);
        let step = match (graph.is_run, edge.taken) {
            (false, _) => "",
            (true, true) => " taken",
            (true, false) => " untaken",
        };
        draw_edge(&mut picture, edge, path, step, &layout);
    }
    for (index, node) in graph.nodes.iter().enumerate().filter(|(index, _)| !graph.is_box(*index)) {
        draw_node(&mut picture, node, layout.rects[index], false);
    }
    picture.push_str("</svg>\n");
    picture
}

fn markers() -> String {
    let marker = |class: &str| {
        format!(
            "<marker id=\"baton-{class}\" class=\"{class}\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"11\" \
markerHeight=\"11\" markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0 0.5 8 4 0 7.5z\"/></marker>"
        )
    };
    ["next", "failure", "choice", "blocked"].map(marker).concat()
}

fn class_of(way: EdgeKind) -> &'static str {
    match way {
        EdgeKind::Next | EdgeKind::When => "next",
        EdgeKind::Failure => "failure",
        EdgeKind::Choice => "choice",
        EdgeKind::Route | EdgeKind::Blocked => "blocked",
    }
}

fn draw_edge(picture: &mut String, edge: &GraphEdge, path: &Path, step: &str, layout: &Layout) {
    let (from, to) = (layout.rects[edge.from], layout.rects[edge.to]);
    let class = class_of(edge.way);
    let drawn = match path {
        Path::Down => format!("M{:.1} {:.1}V{:.1}", from.center(), from.bottom(), to.y - 1.0),
        Path::Around { lane, from, to, .. } => around(*from, *to, *lane),
        Path::Aside { from, to, .. } => {
            let (bend, end) = (layout.bend, to.x - 1.0);
            let middle = (bend + end) / 2.0;
            let (out, back) = (from.y, to.y);
            format!("M{:.1} {out:.1}H{bend:.1}C{middle:.1} {out:.1} {middle:.1} {back:.1} {end:.1} {back:.1}", from.x)
        }
    };
    let _ = writeln!(picture, "<path class=\"way {class}{step}\" d=\"{drawn}\" marker-end=\"url(#baton-{class})\"/>");
    match (path, &edge.label) {
        (Path::Down, Some(label)) => on_the_way(picture, label, from.center(), (from.bottom() + to.y) / 2.0 - 2.0),
        (Path::Around { from, label, .. }, _) => {
            let _ = writeln!(
                picture,
                "<text class=\"label {class}\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                from.x - 7.0,
                from.y - LIFT,
                escape(label)
            );
        }
        (Path::Aside { from, label, .. }, _) => {
            line(picture, &format!("label {class}"), from.x + 8.0, from.y - LIFT, label);
        }
        _ => {}
    }
}

/// Leads around on the left, with round turns.
fn around(from: Point, to: Point, lane: f64) -> String {
    let (out, back) = (from.y, to.y);
    let down = if back > out { 1.0 } else { -1.0 };
    let turn = TURN.min((back - out).abs() / 2.0);
    format!(
        "M{:.1} {out:.1}H{:.1}Q{lane:.1} {out:.1} {lane:.1} {:.1}V{:.1}Q{lane:.1} {back:.1} {:.1} {back:.1}H{:.1}",
        from.x,
        lane + turn,
        out + down * turn,
        back - down * turn,
        lane + turn,
        to.x - 1.0,
    )
}

/// Writes a condition across the line that it is about.
fn on_the_way(picture: &mut String, label: &str, x: f64, y: f64) {
    let width = text::width(label, 11.0) + 14.0;
    let _ = writeln!(
        picture,
        "<rect class=\"plate\" x=\"{:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"20\" rx=\"10\"/>\
<text class=\"label condition\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
        x - width / 2.0,
        y - 10.0,
        y + 4.0,
        escape(label)
    );
}

fn draw_node(picture: &mut String, node: &GraphNode, rect: Rect, is_box: bool) {
    let Rect { x, y, width, height } = rect;
    let kind = kind_class(node.kind);
    if node.kind.is_terminal() {
        let _ = writeln!(
            picture,
            "<g class=\"{kind}\"><rect class=\"pill\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" \
height=\"{height:.1}\" rx=\"{:.1}\"/><text class=\"pilltext\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text></g>",
            height / 2.0,
            rect.center(),
            y + height / 2.0 + 4.5,
            escape(&node.label)
        );
        return;
    }
    let shape = if is_box { "group" } else { "box" };
    let progress = match node.mark.as_ref().map(|mark| mark.progress) {
        Some(NodeProgress::Left) => NodeProgress::Waiting.as_str(),
        Some(progress) => progress.as_str(),
        None => "",
    };
    let _ = writeln!(
        picture,
        "<g class=\"{kind} {progress}\"><rect class=\"{shape}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" \
height=\"{height:.1}\" rx=\"11\"/>"
    );
    if node.mark.is_some() {
        let _ = writeln!(
            picture,
            "<path class=\"stripe\" d=\"M{:.1} {:.1}a10 10 0 0 0 -5.5 9v{:.1}a10 10 0 0 0 5.5 9z\"/>",
            x + 6.0,
            y + 1.2,
            height - 20.4
        );
    }
    // What makes a box taller than its text is shared out above and below.
    let top = if is_box { y } else { y + (height - text::height(node)) / 2.0 };
    let _ = writeln!(
        picture,
        "<circle class=\"badge\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"14\"/><path class=\"icon\" transform=\"translate({:.1} {:.1})\" d=\"{}\"/>",
        x + 27.0,
        top + 27.0,
        x + 19.0,
        top + 19.0,
        icon(node.kind)
    );
    let left = x + text::INDENT;
    line(picture, "kind", left, top + 20.0, &node.kind.as_str().to_uppercase());
    line(picture, "name", left, top + 37.0, &node.label);
    let mut bottom = top + 55.0;
    if let Some(detail) = &node.detail {
        line(picture, "detail", left, bottom, detail);
        bottom += 17.0;
    }
    if !node.notes.is_empty() {
        line(picture, "notes", left, bottom, &node.notes.join(" · "));
    }
    if let Some(mark) = &node.mark {
        let _ = writeln!(
            picture,
            "<text class=\"mark\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            rect.right() - 12.0,
            top + 20.0,
            escape(&mark.words(" · "))
        );
    }
    picture.push_str("</g>\n");
}

fn kind_class(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::Start => "start",
        NodeKind::Agent => "agent",
        NodeKind::Check => "check",
        NodeKind::Parallel | NodeKind::Foreach | NodeKind::Workflow => "several",
        NodeKind::Gate => "gate",
        NodeKind::Helper => "helper",
        NodeKind::Person => "person",
        NodeKind::End => "end",
        NodeKind::Stop => "stop",
    }
}

/// Returns an icon in a square of 16.
fn icon(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::Start | NodeKind::End | NodeKind::Stop => "",
        // A head with two eyes and an antenna.
        NodeKind::Agent | NodeKind::Helper => "M3 6.5h10v7H3zM8 6.5V3M6 9.5v1.2M10 9.5v1.2M8 3h.01",
        NodeKind::Check => "M2.5 8.5l3.5 3.5 7.5-8",
        NodeKind::Parallel => "M3 3v10M8 3v10M13 3v10",
        NodeKind::Foreach => "M13 8a5 5 0 1 1-1.6-3.7M13 2.5v3h-3",
        NodeKind::Workflow => "M2.5 2.5h5v4h-5zM8.5 9.5h5v4h-5zM5 6.5v5h3.5",
        NodeKind::Gate => "M8 2l6 6-6 6-6-6zM8 5.5v3M8 10.8v.01",
        NodeKind::Person => "M8 7.6a2.6 2.6 0 1 0 0-5.2 2.6 2.6 0 0 0 0 5.2zM3 14c0-2.8 2.2-4.4 5-4.4s5 1.6 5 4.4",
    }
}

fn line(picture: &mut String, class: &str, x: f64, y: f64, words: &str) {
    let _ = writeln!(picture, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escape(words));
}

/// Writes text so that it is nothing but text; what XML cannot hold is left out.
fn escape(words: &str) -> String {
    let mut escaped = String::new();
    for character in words.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            '\u{fffe}' | '\u{ffff}' => {}
            character if character.is_control() => escaped.push(' '),
            character => escaped.push(character),
        }
    }
    escaped
}

/// The looks, for light pages and for dark ones.
const STYLE: &str = include_str!("svg/style.css");
