//! How the inbox is written: what waits, since when, what it is about, and how to answer it.

use baton_engine::Handoff;
use baton_engine::people::{ExpectedReply, Question};
use baton_protocol::printable;
use baton_views::question::{self, QuestionKind, choice_words, work};
use baton_views::words::{ago, cut, one_line};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::sheet::{Paint, Tint};

/// The longest line of what it is about.
const TITLE_MAX: usize = 92;

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
    let mut text = format!(
        "{} {} {}\n",
        paint.tint(tint, &format!("{:<13}", kind.as_str())),
        paint.tint(Tint::Strong, question.handoff.as_str()),
        paint.tint(Tint::Faint, &format!("· {}", printable(&one_line(&place.join(" · "))))),
    );
    let questions = question.questions.iter().map(|asked| asked.text.clone());
    let about = std::iter::once(question.title.clone()).chain(work(question)).chain(questions);
    let mut told: Vec<String> = Vec::new();
    for line in about.map(|line| one_line(line.trim())).filter(|line| !line.is_empty()) {
        if !told.contains(&line) {
            text.push_str(&format!("  {}\n", cut(&line, TITLE_MAX)));
            told.push(line);
        }
    }
    if !question.choices.is_empty() {
        text.push_str(&format!("  choices: {}\n", one_line(&choice_words(&question.choices).join(", "))));
    }
    if let Some(approval) = &question.approval {
        let so_far = handoff.approved_so_far().map(|votes| format!("; {votes}")).unwrap_or_default();
        text.push_str(&format!("  approvers: {}\n", one_line(&format!("{}{so_far}", approval.in_words()))));
    }
    let commands = commands(question, store).into_iter().map(|command| paint.tint(Tint::Cyan, &printable(&command)));
    text.push_str(&format!("  {}\n", commands.collect::<Vec<_>>().join("\n  ")));
    text
}

/// Returns the commands that answer it; each asks at the terminal for what it needs.
fn commands(question: &Question, store: &str) -> Vec<String> {
    let is_signed = question.approval.as_ref().is_some_and(|approval| approval.signed);
    let sign = if is_signed && question.reply != ExpectedReply::Clarification { " --sign" } else { "" };
    let with = |verb: &str| format!("baton {verb} {}{sign}{store}", question.handoff);
    match question.reply {
        ExpectedReply::Review => vec![with("approve"), with("reject"), with("ask")],
        // The agent that waits for the person can be asked, too.
        ExpectedReply::Escalation => vec![with("answer"), with("reject"), with("ask")],
        ExpectedReply::Approval | ExpectedReply::Request => vec![with("approve"), with("reject")],
        ExpectedReply::Clarification | ExpectedReply::Choice => vec![with("answer")],
    }
}
