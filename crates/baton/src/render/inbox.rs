//! How the inbox is written: what waits, since when, what it is about, and how to answer it.

use baton_engine::Handoff;
use baton_engine::approval::Approval;
use baton_engine::handoff::Digest;
use baton_engine::people::{ExpectedReply, FailedCommand, Question};
use baton_protocol::model::Document;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::columns::cut;
use super::handoff::{ago, one_line, question_kind};
use super::recorded;
use super::sheet::{Paint, Tint};
use crate::output::printable;

/// The longest line of what it is about.
const TITLE_MAX: usize = 92;

/// Returns the JSON form of something that waits. `store` is what commands need to find the store.
pub(crate) fn json(handoff: &Handoff, question: &Question, store: &str) -> Value {
    let choice = |(word, meaning): &(String, String)| json!({ "choice": word, "meaning": meaning });
    let Digest(digest) = &question.shown;
    json!({
        "id": question.handoff.as_str(),
        "run": question.run.as_str(),
        "phase": Some(&question.phase).filter(|phase| !phase.is_empty()),
        "ask": question_kind(handoff, question.ask),
        "agent": question.agent,
        "since": handoff.changed_at,
        "title": question.title,
        "items": question.items,
        "questions": question.questions.iter().map(|asked| &asked.text).collect::<Vec<_>>(),
        "options": question.questions.iter().map(|asked| words(&asked.options)).collect::<Vec<_>>(),
        "choices": question.choices.iter().map(choice).collect::<Vec<_>>(),
        "trouble": question.trouble.as_ref().map(trouble),
        "examined": recorded::examined(&question.examined),
        "not_caged": question.gaps,
        "approval": question.approval.as_ref().map(approval),
        "approvals": recorded::votes(&question.approvals),
        "document": question.document.as_ref().map(super::handoff::document),
        "digest": digest,
        "commands": commands(question, store),
    })
}

/// Returns what is demanded of whoever decides.
fn approval(approval: &Approval) -> Value {
    let names: Vec<&str> = approval.approvers.iter().map(|approver| approver.name.as_str()).collect();
    json!({ "at_least": approval.at_least, "signed": approval.signed, "approvers": names })
}

fn trouble(trouble: &FailedCommand) -> Value {
    json!({
        "command": trouble.command,
        "failure": trouble.what,
        "output": trouble.output,
        "log": trouble.log.as_ref().map(|log| log.to_string_lossy()),
    })
}

fn words(options: &[(String, String)]) -> Vec<&str> {
    options.iter().map(|(word, _)| word.as_str()).collect()
}

/// Returns what waits for people: a few lines each.
pub(crate) fn lines(waiting: &[(Handoff, Question)], store: &str, now: Timestamp, paint: Paint) -> String {
    let blocks: Vec<String> =
        waiting.iter().map(|(handoff, question)| block(handoff, question, store, now, paint)).collect();
    blocks.join("\n")
}

fn block(handoff: &Handoff, question: &Question, store: &str, now: Timestamp, paint: Paint) -> String {
    let kind = question_kind(handoff, question.ask);
    let tint = match kind {
        "limit" | "failure" => Tint::Red,
        "clarification" | "escalation" => Tint::Yellow,
        _ => Tint::Green,
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
        paint.tint(tint, &format!("{kind:<13}")),
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
        text.push_str(&format!("  choices: {}\n", one_line(&words(&question.choices).join(", "))));
    }
    if let Some(approval) = &question.approval {
        let so_far = handoff.approved_so_far().map(|votes| format!("; {votes}")).unwrap_or_default();
        text.push_str(&format!("  approvers: {}\n", one_line(&format!("{}{so_far}", approval.in_words()))));
    }
    let commands = commands(question, store).into_iter().map(|command| paint.tint(Tint::Cyan, &printable(&command)));
    text.push_str(&format!("  {}\n", commands.collect::<Vec<_>>().join("\n  ")));
    text
}

/// Returns what was done, where that is to be judged.
fn work(question: &Question) -> Option<String> {
    match (question.reply, question.document.as_ref()?.read()?) {
        (ExpectedReply::Review, Document::Report(report)) => report.summary,
        (ExpectedReply::Approval, Document::Request(request)) => request.context?.summary,
        _ => None,
    }
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
