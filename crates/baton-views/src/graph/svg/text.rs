//! How much room text takes. The font is whatever the reader has, so this is a careful guess.

use crate::graph::GraphNode;

/// Where text begins in a box: behind the icon.
pub(super) const INDENT: f64 = 50.0;

/// Guesses the width of a text in a font of so many pixels.
pub(super) fn width(text: &str, size: f64) -> f64 {
    let share = |character: char| match character {
        'i' | 'j' | 'l' | 't' | 'f' | 'r' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | '(' | ')' | '[' | ']' => {
            0.36
        }
        'm' | 'w' | 'M' | 'W' | '@' | '…' | '%' => 0.92,
        ' ' => 0.3,
        'A'..='Z' | '=' | '+' | '<' | '>' => 0.7,
        character if (character as u32) < 0x2E80 => 0.58,
        _ => 1.05,
    };
    text.chars().map(share).sum::<f64>() * size
}

/// Returns the width of a box that holds all text of a node.
pub(super) fn inner_width(node: &GraphNode) -> f64 {
    let mark = node.mark.as_ref().map(|mark| width(&mark.words(" · "), 11.0) * 1.15 + 18.0).unwrap_or_default();
    let lines = [
        width(&node.kind.as_str().to_uppercase(), 10.0) * 1.12 + mark,
        width(&node.label, 14.0) * 1.18,
        node.detail.as_deref().map(|detail| width(detail, 12.0)).unwrap_or_default(),
        width(&node.notes.join(" · "), 11.0),
    ];
    INDENT + 16.0 + lines.into_iter().fold(0.0, f64::max)
}

/// Returns the height of the text of a node with the space around it.
pub(super) fn height(node: &GraphNode) -> f64 {
    let detail = if node.detail.is_some() { 18.0 } else { 0.0 };
    let notes = if node.notes.is_empty() { 0.0 } else { 17.0 };
    52.0 + detail + notes
}
