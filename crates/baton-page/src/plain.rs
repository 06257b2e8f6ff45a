//! The same pages as plain text, for `curl` and for agents.

use baton_engine::step::Role;
use baton_protocol::printable;
use baton_views::details::ListedRun;
use baton_views::question::{QuestionKind, choice_words};
use baton_views::words::{ago, took};
use jiff::Timestamp;

use crate::inbox::{InboxList, headline};
use crate::layout::Viewer;
use crate::root_cause::RootCause;
use crate::run::{RunPage, name, own_words};
use crate::run_state::{RunState, why};
use crate::runs::{RunList, RunRow};

/// So many handoffs stand in the text of a run.
const HANDOFFS_MAX: usize = 200;

/// So many lines of an output are repeated.
const LINES_MAX: usize = 14;

/// The list of runs.
pub fn runs(list: &RunList<'_>, now: Timestamp) -> String {
    let mut text = String::new();
    if list.rows.is_empty() {
        text.push_str("no runs\n");
    }
    let width = list.rows.iter().map(|row| row.listed.root.id.as_str().chars().count()).max().unwrap_or_default();
    for RunRow { listed, spending, .. } in list.rows {
        let state = RunState::of(&listed.standing, listed.waiting.len());
        let id = listed.root.id.as_str();
        let gap = " ".repeat(width - id.chars().count());
        text.push_str(&format!("{id}{gap}  {:<11}  {}\n", state.as_str(), facts(listed, &spending.to_string(), now)));
    }
    if let Some(next) = list.next {
        text.push_str(&format!("more: {}\n", list.filter.address(next)));
    }
    printable(&text)
}

fn facts(listed: &ListedRun, cost: &str, now: Timestamp) -> String {
    let mut facts = vec![why(listed, now), listed.workflow.clone(), took(listed.took)];
    if !cost.is_empty() {
        facts.push(cost.to_owned());
    }
    facts.push(ago(listed.root.accepted_at, now));
    facts.join(" · ").replace('\n', " ")
}

/// A run: why it waits, what went wrong, what happened.
pub fn run(viewer: &Viewer<'_>, page: &RunPage<'_>) -> String {
    let total = &page.summary.total;
    let mut text = format!("run       {}\n", page.run.id);
    let mut line = |label: &str, words: &str| {
        if !words.is_empty() {
            text.push_str(&format!("{label:<9} {}\n", words.replace('\n', "\n          ")));
        }
    };
    line("workflow", page.run.definition.name());
    line("state", page.state().words());
    line("why", &page.why(viewer));
    line("took", &took(total.took));
    line("spent", &total.spending.to_string());
    line("claims", &total.evidence.signs());
    if let Some(cause) = RootCause::of(page.run, page.questions) {
        line("failed", &cause.failed.what);
        line("command", cause.failed.command.as_deref().unwrap_or_default());
        line("said last", &last_lines(&cause.failed.output));
        line("log", &cause.failed.log.map(|log| log.to_string_lossy().into_owned()).unwrap_or_default());
    }
    for question in page.questions {
        line("waits", &format!("{} ({})", headline(question), question.handoff));
    }
    text.push('\n');
    let steps: Vec<_> = page.run.handoffs().filter(|tracked| tracked.step.role != Role::Run).collect();
    let left_out = steps.len().saturating_sub(HANDOFFS_MAX);
    if left_out > 0 {
        text.push_str(&format!("… {left_out} handoffs before\n"));
    }
    for tracked in &steps[left_out..] {
        let state = tracked.handoff.state.name();
        text.push_str(&format!("{:<24} {:<16} {}\n", name(tracked), state.as_str(), own_words(tracked)));
    }
    printable(&text)
}

fn last_lines(output: &str) -> String {
    let lines: Vec<&str> = output.trim_end().lines().collect();
    lines[lines.len().saturating_sub(LINES_MAX)..].join("\n")
}

/// What waits for people, each with the command that answers it.
pub fn inbox(list: &InboxList<'_>, now: Timestamp) -> String {
    if list.waiting.is_empty() {
        return "nothing waits for a person\n".to_owned();
    }
    let mut text = String::new();
    for (handoff, question) in list.waiting {
        let kind = QuestionKind::of(handoff, question.ask).as_str();
        text.push_str(&format!(
            "{kind:<13} {} · run {} · {}\n",
            question.handoff,
            question.run,
            ago(handoff.changed_at, now)
        ));
        text.push_str(&format!("  {}\n", headline(question)));
        if !question.choices.is_empty() {
            text.push_str(&format!("  choices: {}\n", choice_words(&question.choices).join(", ")));
        }
        text.push_str(&format!("  baton show {}\n", question.handoff));
    }
    if list.more > 0 {
        text.push_str(&format!("and {} more\n", list.more));
    }
    printable(&text)
}
