//! What has changed since people decided about the same last. It comes before everything else: what is as it was, they know.

use std::collections::HashSet;

use baton_engine::engine::EarlierQuestion;
use baton_engine::people::Question;
use baton_views::words::{counted, inputs};
use maud::{Markup, html};

use crate::exhibit::{self, Exhibit};
use crate::layout::Viewer;
use crate::pieces::{prose, since};
use crate::{address, document};

/// The longest that is compared of what was said.
const LINES_MAX: usize = 60;

/// What was decided before, and what has changed since.
#[derive(Debug, Clone, Copy)]
pub struct ChangesSince<'q> {
    /// What was asked, and decided.
    pub earlier: &'q EarlierQuestion,
    /// The files that are not as they were then, with what has changed in them.
    pub changed: &'q [Exhibit],
    /// How many more there are.
    pub left_out: usize,
    /// How many files are as they were.
    pub unchanged: usize,
}

impl ChangesSince<'_> {
    /// Shows it above the question that is asked now.
    pub(crate) fn shown(&self, viewer: &Viewer<'_>, now: &Question, room: &mut exhibit::Shown) -> Markup {
        let EarlierQuestion { question: then, decide, at } = self.earlier;
        let (here, text) = (address::question(&now.handoff), address::question_text(&now.handoff));
        let place = exhibit::Place { run: &now.run, page: &here, part: "since", others: "since" };
        let (lines_then, lines_now) = (lines(then), lines(now));
        let (gone, new) = (without(&lines_then, &lines_now), without(&lines_now, &lines_then));
        let has_files = !self.changed.is_empty() || self.left_out > 0;
        html! {
            section.news #since {
                h2 { "Since " (decide.who()) " " (decide.decision.participle()) " it " span.quiet { (since(*at, viewer.now)) } }
                @if !now.decided_before.is_empty() {
                    (document::list("Before", now.decided_before.iter().map(String::as_str), &text))
                } @else if let Some(words) = decide.decision.words().or(decide.note.as_deref()) { (prose("said-then", words, &text)) }
                @if has_files {
                    h3 { "Changed files" }
                    (exhibit::opened(place, self.changed, self.left_out, room))
                }
                @if self.unchanged > 0 {
                    p.quiet { @if !has_files { "No file has changed. " } (counted(self.unchanged, "file")) " as before." }
                }
                @if !gone.is_empty() || !new.is_empty() {
                    h3 { "What is said about it" }
                    pre.lines tabindex="0" {
                        @for line in gone { span.minus { "- " (line) } "\n" }
                        @for line in new { span.plus { "+ " (line) } "\n" }
                    }
                } @else if !has_files && self.unchanged == 0 { p { "Nothing of it has changed." } }
            }
        }
    }
}

/// Returns what a question says about the work, line by line: what happened, what to look at, what the run was given.
fn lines(question: &Question) -> Vec<String> {
    let said = question.text.lines().map(str::to_owned).chain(question.items.iter().cloned());
    said.chain(inputs(&question.inputs)).filter(|line| !line.trim().is_empty()).collect()
}

/// Returns the first lines that are not among others.
fn without<'l>(lines: &'l [String], others: &[String]) -> Vec<&'l str> {
    let others: HashSet<&String> = others.iter().collect();
    lines.iter().filter(|line| !others.contains(line)).map(String::as_str).take(LINES_MAX).collect()
}
