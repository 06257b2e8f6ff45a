//! How the inbox is written: what waits, since when, its subject, and how to answer it.

use baton_engine::Handoff;
use baton_engine::people::{ExpectedReply, Question};
use baton_protocol::printable;
use baton_views::question::{self, QuestionKind, choice_words, work};
use baton_views::words::{ago, one_line};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::columns::{fit, width};
use super::sheet::{Paint, Tint, wrapped};

/// The longest line of a subject.
const TITLE_MAX: usize = 93;

/// What stands before all lines but the first.
const INDENT: &str = "  ";

/// Returns the JSON form of something that waits, with the commands that answer it. `store` is what they need to find it.
pub(crate) fn json(handoff: &Handoff, question: &Question, store: &str) -> Value {
    let mut form = question::json(handoff, question);
    form["commands"] = json!(commands(question, store));
    form
}

/// Returns what waits for people: a few lines each.
pub(crate) fn lines(waiting: &[(Handoff, Question)], store: &str, now: Timestamp, paint: Paint) -> String {
    let blocks: Vec<String> =
        waiting.iter().map(|(handoff, question)| block(handoff, question, store, now, paint)).collect();
    blocks.join("\n")
}

fn block(handoff: &Handoff, question: &Question, store: &str, now: Timestamp, paint: Paint) -> String {
    // Elsewhere nothing is wrapped: whoever reads it there searches for lines.
    let room = paint.terminal.map_or(usize::MAX, |columns| columns.saturating_sub(INDENT.len()));
    let kind = QuestionKind::of(handoff, question.ask);
    let tint = match kind {
        QuestionKind::Limit | QuestionKind::Failure => Tint::Red,
        QuestionKind::Clarification | QuestionKind::Escalation => Tint::Yellow,
        QuestionKind::Review | QuestionKind::Gate => Tint::Green,
    };
    let mut place = Vec::new();
    if question.run.as_str() != question.handoff.as_str() {
        place.push(format!("run {}", question.run));
    }
    if !question.phase.is_empty() {
        place.push(format!("phase {}", question.phase));
    }
    place.push(format!("from {}", question.agent));
    place.push(ago(handoff.changed_at, now));
    let place = printable(&one_line(&place.join(" · ")));
    let head = format!("{:<13} {}", kind.as_str(), question.handoff);
    // On a narrow terminal the place has lines of its own.
    let fits = paint.terminal.is_none_or(|columns| width(&head) + 3 + width(&place) <= columns);
    let mut text = format!(
        "{} {}",
        paint.tint(tint, &format!("{:<13}", kind.as_str())),
        paint.tint(Tint::Strong, question.handoff.as_str()),
    );
    if fits {
        text.push_str(&format!(" {}\n", paint.tint(Tint::Faint, &format!("· {place}"))));
    } else {
        text.push('\n');
        wrapped(&place, room).iter().for_each(|line| text.push_str(&indented(&paint.tint(Tint::Faint, line))));
    }
    let questions = question.questions.iter().map(|asked| asked.text.clone());
    let about = std::iter::once(question.title.clone()).chain(work(question)).chain(questions);
    let mut told: Vec<String> = Vec::new();
    for line in about.map(|line| one_line(&line.trim().replace('\n', " · "))).filter(|line| !line.is_empty()) {
        if !told.contains(&line) {
            text.push_str(&indented(&fit(&line, room.min(TITLE_MAX))));
            told.push(line);
        }
    }
    // Advice is followed word by word: it is never cut.
    if let Some(help) = question.trouble.as_ref().and_then(|trouble| trouble.help.as_ref()) {
        wrapped(&one_line(&format!("hint: {help}")), room).iter().for_each(|line| text.push_str(&indented(line)));
    }
    if !question.choices.is_empty() {
        let choices = format!("choices: {}", one_line(&choice_words(&question.choices).join(", ")));
        wrapped(&choices, room).iter().for_each(|line| text.push_str(&indented(line)));
    }
    if let Some(approval) = &question.approval {
        let so_far = handoff.approved_so_far().map(|votes| format!("; {votes}")).unwrap_or_default();
        let approvers = one_line(&format!("approvers: {}{so_far}", approval.in_words()));
        wrapped(&approvers, room).iter().for_each(|line| text.push_str(&indented(line)));
    }
    // Commands are copied: they are never cut.
    for command in commands(question, store) {
        text.push_str(&indented(&paint.tint(Tint::Cyan, &printable(&command))));
    }
    text
}

fn indented(line: &str) -> String {
    format!("{INDENT}{line}\n")
}

/// Returns the command that answers it, if what was asked for is good.
pub(crate) fn command(question: &Question, store: &str) -> String {
    commands(question, store).swap_remove(0)
}

/// Returns the commands that answer it; each asks at the terminal for what it needs.
fn commands(question: &Question, store: &str) -> Vec<String> {
    let is_signed = question.approval.as_ref().is_some_and(|approval| approval.signed);
    let sign = if is_signed && question.reply != ExpectedReply::Clarification { " --sign" } else { "" };
    let with = |verb: &str| format!("baton {verb} {}{sign}{store}", question.handoff.in_shell());
    match question.reply {
        ExpectedReply::Review => vec![with("approve"), with("reject"), with("ask")],
        // The agent that waits for the person can be asked, too.
        ExpectedReply::Escalation => vec![with("answer"), with("reject"), with("ask")],
        ExpectedReply::Approval | ExpectedReply::Request => vec![with("approve"), with("reject")],
        ExpectedReply::GateChoice => vec![with("answer"), with("reject")],
        ExpectedReply::Clarification | ExpectedReply::Choice => vec![with("answer")],
    }
}
