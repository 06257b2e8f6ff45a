//! What waits for people: the longest first, each with what it is about.

use baton_engine::Handoff;
use baton_engine::people::{ExpectedReply, Question};
use baton_views::question::{QuestionKind, choice_words, work};
use baton_views::words::{cut, inputs, one_line};
use maud::{Markup, html};

use crate::layout::{self, Frame, Section, Viewer};
use crate::markdown::spans;
use crate::pieces::{empty, pill, since};
use crate::{address, live};

/// The longest line of its subject.
const LINE_MAX: usize = 200;

/// The longest sentence about what a person is asked.
const ASKED_MAX: usize = 110;

/// A page of the inbox.
#[derive(Debug, Clone, Copy)]
pub struct InboxList<'i> {
    /// What waits, and what is asked.
    pub waiting: &'i [(Handoff, Question)],
    /// Where the next page begins.
    pub next: Option<&'i str>,
    /// How many others come behind this page.
    pub more: usize,
}

/// The page.
pub fn page(viewer: &Viewer<'_>, list: &InboxList<'_>) -> Markup {
    let frame = Frame::live("Inbox", Section::Inbox, address::INBOX, Some(address::EVENTS));
    layout::page(viewer, &frame, html! { h1 { "Inbox" } (questions(viewer, list)) })
}

/// The questions alone, for the script.
pub fn fragment(viewer: &Viewer<'_>, list: &InboxList<'_>) -> Markup {
    layout::fragment(questions(viewer, list))
}

fn questions(viewer: &Viewer<'_>, list: &InboxList<'_>) -> Markup {
    html! {
        div #(live::INBOX) {
            @if list.waiting.is_empty() {
                (empty("Nothing waits for you", html! {
                    p { "When a run needs a decision, it appears here. " a href=(address::RUNS) { "See what runs" } "." }
                }))
            } @else {
                ul.cards { @for (handoff, question) in list.waiting { (card(viewer, handoff, question)) } }
            }
            nav.pages aria-label="Pages" {
                span {}
                @if let Some(next) = list.next {
                    a rel="next" href=(address::with_query(address::INBOX, &[("after", next)])) { (list.more) " more →" }
                }
            }
        }
    }
}

fn card(viewer: &Viewer<'_>, handoff: &Handoff, question: &Question) -> Markup {
    html! {
        li.card data-item {
            div.card-head {
                a.card-name href=(address::question(&question.handoff)) { (question.run) ": " (spans(&headline(question))) }
                (kind_pill(handoff, question))
            }
            @let purpose = purpose(question);
            @if !purpose.is_empty() { p.purpose { (purpose) } }
            @for line in about(question) { p.why { (spans(&line)) } }
            @if !question.choices.is_empty() { p.why { "Choices: " (choice_words(&question.choices).join(", ")) } }
            div.facts {
                span { "run " a href=(address::run(&question.run)) { (question.run) } }
                @if !question.phase.is_empty() { span { "phase " (question.phase) } }
                span { "from " (question.agent) }
                @if let Some(approval) = &question.approval { span { "for " (approval.in_words()) } }
                span { "asked " (since(handoff.changed_at, viewer.now)) }
            }
        }
    }
}

/// Writes in one line what its run was given: what tells it from other runs of the same workflow.
pub(crate) fn purpose(question: &Question) -> String {
    cut(&inputs(&question.inputs).join(" · "), LINE_MAX)
}

/// Names a question in its own words.
pub(crate) fn headline(question: &Question) -> String {
    let title = one_line(gate_title(question).as_deref().unwrap_or(&question.title).trim());
    let first = if title.is_empty() { question.handoff.to_string() } else { title };
    cut(&first, LINE_MAX)
}

/// Writes in one sentence what a person is asked.
pub fn asked(question: &Question) -> String {
    if let Some(first) = question.questions.first().filter(|_| question.reply == ExpectedReply::Clarification) {
        let words = one_line(first.text.trim().lines().next().unwrap_or_default());
        return cut(&format!("{} asks: {words}", one_line(&question.agent)), ASKED_MAX);
    }
    let title = cut(&headline(question), ASKED_MAX);
    let is_named = question.phase.is_empty() || title.contains(&question.phase);
    if is_named { title } else { format!("{}: {title}", question.phase) }
}

/// Returns what the workflow asks at a gate: its name, or else what is to be decided.
fn gate_title(question: &Question) -> Option<String> {
    let is_gate = matches!(question.reply, ExpectedReply::Approval | ExpectedReply::GateChoice);
    let title = question.title.as_str();
    let name = title.strip_suffix(": approve?").or_else(|| title.strip_suffix(": choose one")).filter(|_| is_gate)?;
    if name != question.phase {
        return Some(name.to_owned());
    }
    question.document.as_ref()?.read_request()?.expectations?.deliverable
}

/// Shows what kind of question it is.
pub(crate) fn kind_pill(handoff: &Handoff, question: &Question) -> Markup {
    let kind = QuestionKind::of(handoff, question.ask);
    let class = match kind {
        QuestionKind::Failure | QuestionKind::Limit => "error",
        QuestionKind::Clarification | QuestionKind::Escalation => "blocked",
        QuestionKind::Review | QuestionKind::Gate => "waiting",
    };
    pill(class, kind.as_str())
}

fn about(question: &Question) -> Vec<String> {
    let title = one_line(question.title.trim());
    let questions = question.questions.iter().map(|asked| asked.text.clone());
    let mut told: Vec<String> = Vec::new();
    for line in work(question).into_iter().chain(questions) {
        let line = cut(&one_line(line.trim()), LINE_MAX);
        if !line.is_empty() && line != title && !told.contains(&line) {
            told.push(line);
        }
    }
    told.truncate(3);
    told
}
