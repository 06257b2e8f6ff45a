//! What happened earlier in a run, in a line each; and what was decided and is still open.

use std::collections::HashSet;

use super::{Handover, ending, givers, place, sheet::Sheet};
use crate::run::{Run, TrackedHandoff};
use crate::step::Role;

/// Returns what happened earlier: a line for each earlier phase, decisions that stand, questions that are open.
pub(crate) fn index(run: &Run, receiver: &TrackedHandoff) -> Option<Handover> {
    let given: HashSet<&str> = givers(run, &receiver.step).into_iter().map(|giver| giver.handoff.id.as_str()).collect();
    let mut sheet = Sheet::default();
    let earlier = entries(run, receiver).into_iter().filter(|entry| !given.contains(entry.handoff.id.as_str()));
    let line = |entry: &TrackedHandoff| format!("{}: {}", super::label(entry), ending(run, entry));
    sheet.list("earlier phases", earlier.map(line));
    let others = |by: &str| !given.contains(by) && by != receiver.handoff.id.as_str();
    let decisions = run.agenda().decisions().filter(|(by, _)| others(by.as_str()));
    sheet.list("decisions that stand", decisions.map(|(by, made)| format!("{} ({by})", super::text::decision(made))));
    let questions = run.agenda().questions().filter(|(by, _)| others(by.as_str()));
    sheet.list("open questions", questions.map(|(by, open)| format!("{} ({by})", super::text::open_question(open))));
    let text = sheet.into_text();
    let (label, file) = ("earlier in this run".to_owned(), Some(format!("{}.earlier.md", place(run, receiver))));
    (!text.is_empty()).then_some(Handover { label, from: None, text, file })
}

/// Returns the latest visit of every phase that can be seen from a step: its neighbours, and those of the groups around.
pub(super) fn entries<'r>(run: &'r Run, receiver: &TrackedHandoff) -> Vec<&'r TrackedHandoff> {
    let mut found = Vec::new();
    let path = &receiver.step.phase;
    let ends = path.match_indices('/').map(|(end, _)| end).chain([path.len()]);
    for located in ends.filter_map(|end| run.definition.locate(&path[..end])) {
        let parallel = located.is_branch();
        let latest =
            located.siblings.iter().filter(|_| !parallel).filter_map(|phase| run.latest(&located.path_of(phase)));
        // That a check passed tells nobody anything.
        let over = latest.filter(|entry| {
            entry.handoff.state.name().is_finished() && !(entry.step.role == Role::Check && entry.passed())
        });
        found.extend(over.filter(|entry| entry.step.phase != *path));
    }
    found
}
