//! How handoffs are written for people: a table, and lines about one.

use std::collections::HashSet;
use std::time::Duration;

use baton_engine::handoff::{Note, Terms};
use baton_engine::{Handoff, HandoffId};
use baton_protocol::printable;
use baton_views::handoff::state;
use baton_views::words::{DID_NOT_PASS, ago, briefly};
use jiff::Timestamp;

use super::columns::{standing, tinted};
use super::sheet::{LABEL, Paint, wrapped};

/// What a narrow terminal goes without, the least important first.
const DISPENSABLE: [&str; 4] = ["PRIORITY", "TRIES", "TO", "CHANGED"];

/// Returns a table of handoffs: one line each, under a line of titles.
/// `not_passed` are those whose result is not good although they were completed.
pub(crate) fn table(handoffs: &[Handoff], not_passed: &HashSet<HandoffId>, now: Timestamp, paint: Paint) -> String {
    let mut rows = vec![["ID", "TO", "STATE", "PRIORITY", "TRIES", "CHANGED"].map(str::to_owned).to_vec()];
    rows.extend(handoffs.iter().map(|handoff| {
        vec![
            handoff.id.to_string(),
            handoff.terms.to.clone(),
            match not_passed.contains(&handoff.id) {
                true => DID_NOT_PASS.to_owned(),
                false => handoff.state.name().to_string(),
            },
            handoff.terms.priority.as_str().to_owned(),
            handoff.attempts.to_string(),
            ago(handoff.changed_at, now),
        ]
    }));
    tinted(rows, paint, &DISPENSABLE)
}

/// Returns a handoff for people: what matters now, one thing per line. On a terminal, long ones are wrapped.
pub(crate) fn lines(handoff: &Handoff, passed: bool, now: Timestamp, paint: Paint) -> String {
    let width = paint.terminal;
    let terms = &handoff.terms;
    let mut lines = vec![
        ("handoff", handoff.id.to_string()),
        ("from", format!("{} to {}", terms.from, terms.to)),
        ("state", if passed { state(handoff, now) } else { format!("{}, {DID_NOT_PASS}", state(handoff, now)) }),
        ("priority", terms.priority.as_str().to_owned()),
    ];
    // What is asked of a person is not tried.
    if !terms.asks_person() {
        let tries = format!("{} of {}", handoff.attempts, terms.retry.max_retries.saturating_add(1));
        lines.push(("tries", tries));
    }
    if handoff.run.as_str() != handoff.id.as_str() {
        lines.insert(1, ("run", handoff.run.to_string()));
    }
    let optional = [
        ("key", terms.key.as_deref().map(|key| Terms::readable_key(key).to_owned())),
        ("deadline", handoff.deadline.map(|deadline| deadline.to_string())),
        ("timeout", terms.timeout_ms.map(|limit| briefly(Duration::from_millis(limit)))),
        ("returns", terms.returns_to.as_ref().map(ToString::to_string)),
        ("finished", handoff.state.finished_at().map(|at| ago(at, now))),
        ("failure", handoff.last_failure.as_ref().map(ToString::to_string)),
    ];
    if let Some(step) = terms.step.as_ref().filter(|step| !step.phase.is_empty()) {
        lines.insert(1, ("phase", format!("{}, visit {}", step.phase, step.visit)));
    }
    lines.extend(optional.into_iter().filter_map(|(name, value)| Some((name, value?))));
    let line = |(name, value): &(&str, String)| {
        let line = row(name, value, width);
        let tint = standing(value).filter(|_| *name == "state");
        tint.map_or_else(|| line.clone(), |tint| line.replacen(value, &paint.tint(tint, value), 1))
    };
    let mut text: String = lines.iter().map(line).collect();
    for note in &handoff.notes {
        text.push_str(&note_line(note, width));
    }
    text
}

/// Returns a note for people.
pub(crate) fn note_line(note: &Note, width: Option<usize>) -> String {
    let asked = note.question.as_ref().map(|question| row("asked", question, width)).unwrap_or_default();
    format!("{asked}{}", row(note.about.as_str(), &format!("{}: {}", note.from, note.text), width))
}

/// Writes a text beside its name. Off a terminal its lines stay as long as they are.
fn row(name: &str, text: &str, width: Option<usize>) -> String {
    let text = printable(text);
    let text = match width {
        Some(width) => wrapped(&text, width.saturating_sub(LABEL.max(name.len() + 1)).max(LABEL)).join("\n"),
        None => text.trim_end().to_owned(),
    };
    format!("{name:<9} {}\n", text.replace('\n', &format!("\n{}", " ".repeat(LABEL))))
}
