//! One question: exactly what is decided about, what each answer leads to, what happened before, and the forms that decide.

use baton_engine::handoff::StateName;
use baton_engine::journal::Event;
use baton_engine::lifecycle::Decide;
use baton_engine::people::{ExpectedReply, FailedCommand, Question};
use baton_engine::{Handoff, HandoffId};
use baton_views::graph::{EdgeKind, Graph};
use baton_views::words::one_line;
use jiff::Timestamp;
use maud::{Markup, html};

use crate::exhibit::{self, Exhibit};
use crate::inbox::{headline, kind_pill};
use crate::journal::{is_told, row};
use crate::layout::{self, Frame, Section, Viewer};
use crate::markdown::spans;
use crate::pieces::{hidden, pill, prose, since, step_word, tail, typed_text};
use crate::since::ChangesSince;
use crate::{address, document, live};

/// How many of the last events are shown.
const EVENTS_MAX: usize = 12;

/// A question with everything that a decision needs.
#[derive(Debug, Clone, Copy)]
pub struct QuestionPage<'q> {
    /// The handoff that waits.
    pub handoff: &'q Handoff,
    /// What is asked.
    pub question: &'q Question,
    /// The files that are decided about, the oldest first.
    pub exhibits: &'q [Exhibit],
    /// How many more there are.
    pub exhibits_left_out: usize,
    /// What was decided before, and what has changed since.
    pub since: Option<ChangesSince<'q>>,
    /// The flow of the run, which says where each answer leads; `None` outside of workflows.
    pub flow: Option<&'q Graph>,
    /// What happened to the handoff, the oldest first.
    pub events: &'q [Event],
    /// What was wrong with a decision that was just sent, with the words that were typed.
    pub refused: Option<&'q SentAnswer>,
}

/// What somebody has sent that could not be taken. Nothing that they typed is lost.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SentAnswer {
    /// Why it was not taken, in a sentence.
    pub why: String,
    /// One of [`decision_words`].
    pub decision: String,
    /// Feedback, answers or a question.
    pub words: String,
    /// The choice.
    pub choice: String,
    /// What was said beyond that.
    pub note: String,
}

impl SentAnswer {
    /// Returns what was typed, as one text.
    fn typed(&self) -> String {
        let texts = [&self.choice, &self.words, &self.note].map(String::as_str);
        texts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n")
    }
}

/// Names of the fields of the forms that decide. The server reads them.
pub mod field {
    /// One of [`super::decision_words`].
    pub const DECISION: &str = "decision";
    /// The digest of what was shown.
    pub const SHOWN: &str = "shown";
    /// Feedback, answers or a question.
    pub const WORDS: &str = "words";
    /// The choice.
    pub const CHOICE: &str = "choice";
    /// What is said beyond that.
    pub const NOTE: &str = "note";
}

/// Returns the words of the field `decision`.
pub fn decision_words() -> [&'static str; 4] {
    ["approve", "reject", "answer", "ask"]
}

/// The page.
pub fn page(viewer: &Viewer<'_>, page: &QuestionPage<'_>) -> Markup {
    let question = page.question;
    let here = address::question(&question.handoff);
    let title = headline(question);
    let live = Frame::live(&title, Section::Inbox, &here, Some(address::EVENTS));
    let forms = decide(viewer, page);
    // Not everybody may decide, and not every question is one of yes or no.
    let is_decided_on = forms.0.contains("id=\"decide-approve\"");
    let frame = Frame { is_typed_in: true, is_decided_on, ..live };
    layout::page(
        viewer,
        &frame,
        html! {
            p.trail { a href=(address::INBOX) { "Inbox" } " / " a href=(address::run(&question.run)) { (question.run) }
                @if !question.phase.is_empty() { " / " (question.phase) } }
            h1.run-title { (spans(&title)) " " (kind_pill(page.handoff, question)) }
            p.quiet { (question.agent) " asked " (since(page.handoff.changed_at, viewer.now)) " · " code { (question.handoff) } }
            a.button.to-decision href="#decision" { "Decide" }
            div #(live::QUESTION) {}
            @if let Some(refused) = page.refused { div.cause role="alert" { p.cause-what { "Not decided: " (refused.why) } } }
            div.decision-page {
                div { (subject(viewer, page)) }
                section.decide #decision aria-label="Your decision" { (forms) }
            }
            (history(page))
        },
    )
}

/// Shows above the question, while somebody looks at it, that it does not wait any more; nothing while it still does.
pub fn fragment(handoff: &Handoff, decide: Option<&Decide>) -> Markup {
    let is_open = handoff.state.name() == StateName::AwaitingPerson;
    layout::fragment(html! {
        div #(live::QUESTION) role="status" {
            @if !is_open {
                p.notice {
                    @match decide {
                        Some(decide) => { "Already " (decide.decision.participle()) " by " b { (decide.who()) } ". " }
                        None => "It does not wait for a person any more. "
                    }
                    a href=(address::handoff(&handoff.run, &handoff.id)) { "See what happened" }
                }
            }
        }
    })
}

/// The page for a question that was decided meanwhile: by whom and how, with what the viewer had typed.
pub fn already_decided(
    viewer: &Viewer<'_>,
    handoff: &Handoff,
    decide: Option<(&Decide, Timestamp)>,
    answer: &SentAnswer,
) -> Markup {
    let typed = answer.typed();
    let here = address::question(&handoff.id);
    let frame = Frame::still("Already decided", Section::Inbox, &here);
    layout::page(
        viewer,
        &frame,
        html! {
            h1 { "Already decided" }
            @match decide {
                Some((decide, at)) => {
                    p.lead { (pill("done", decide.decision.participle())) " by " b { (decide.who()) } " " (since(at, viewer.now)) span.quiet { " (through " (decide.door.in_words()) ")" } }
                    @if let Some(text) = decide.decision.words().or(decide.note.as_deref()) { (prose("said", text, &address::handoff_text(&handoff.run, &handoff.id))) }
                }
                None => p.lead { "It does not wait for a person any more: " (step_word(handoff.state.name(), true)) "." }
            }
            p { "Your decision was not recorded." }
            @if !typed.is_empty() { h2 { "What you had typed" } p.prose { (typed) } }
            p { a.button href=(address::INBOX) { "Back to the inbox" } " " a.button href=(address::handoff(&handoff.run, &handoff.id)) { "See what happened" } }
        },
    )
}

/// Everything that is decided about.
fn subject(viewer: &Viewer<'_>, page: &QuestionPage<'_>) -> Markup {
    let question = page.question;
    let shown = question.handed_in.as_ref().or(question.document.as_ref());
    let here = address::question(&question.handoff);
    let text = &address::question_text(&question.handoff);
    let place = exhibit::Place { run: &question.run, page: &here, part: "file", others: "text" };
    // What has changed comes first, and takes the room that it needs.
    let mut room = exhibit::Shown::default();
    html! {
        @if let Some(since) = &page.since { (since.shown(viewer, question, &mut room)) }
        @if let Some(failed) = &question.trouble { (trouble(page, failed)) }
        @if !question.text.trim().is_empty() { section { h2 { "So far" } (prose("so-far", &question.text, text)) } }
        @if !question.items.is_empty() {
            section { (document::list("Look at", question.items.iter().map(String::as_str), text)) }
        }
        @if !question.questions.is_empty() {
            section { h2 { "What is asked" } ol.asked-list { @for asked in &question.questions { li { (asked.text) } } } }
        }
        (document::inputs(&question.inputs, text))
        @if page.since.is_none() && !question.decided_before.is_empty() {
            section { (document::list("Before", question.decided_before.iter().map(String::as_str), text)) }
        }
        @if !page.exhibits.is_empty() {
            section { h2 { "Files" } (exhibit::opened(place, page.exhibits, page.exhibits_left_out, &mut room)) }
        }
        @if !question.examined.is_empty() {
            section { h2 { "Evidence" } (document::evidence(&question.examined, text)) }
        }
        @if let Some(written) = shown {
            @if written.read_request().is_some() {
                // What it asks stands above, in the words of the question.
                details.whole #request { summary { "The request to you" } (document::shown("document", written, text)) }
            } @else {
                section { h2 { "The document" } (document::shown_below("document", written, text, &question.text)) }
            }
        }
        @if !question.gaps.is_empty() {
            section { (document::list("Not fully caged", question.gaps.iter().map(String::as_str), text)) }
        }
    }
}

fn trouble(page: &QuestionPage<'_>, failed: &FailedCommand) -> Markup {
    let question = page.question;
    // A log belongs to an attempt; what failed without one says everything in its text.
    let whole = match &failed.log {
        Some(_) => address::last_log(&question.run, &failed.handoff),
        None => address::question_text(&question.handoff),
    };
    html! {
        section.cause {
            p.cause-what { (failed.what) }
            @if let Some(command) = &failed.command { p { code { (command) } } }
            @if let Some(output) = &failed.output { (tail(output.text(), 14, &whole)) }
            @if let Some(help) = &failed.help { p { "Hint: " (help) } }
            p.quiet { a href=(whole) { "All that it wrote" } }
        }
    }
}

fn decide(viewer: &Viewer<'_>, page: &QuestionPage<'_>) -> Markup {
    let question = page.question;
    let is_signed = question.approval.as_ref().is_some_and(|approval| approval.signed)
        && question.reply != ExpectedReply::Clarification;
    html! {
        h2 { "Your decision" }
        @if let Some(approval) = question.approval.as_ref() {
            p.soft { "Decided by " (approval.in_words()) "." }
            @for vote in &question.approvals {
                p { @if vote.withdrawn { "– " } @else { "✓ " } (vote.who()) @if let Some(choice) = &vote.choice { ": " (choice) } @if vote.withdrawn { " (withdrawn)" } }
            }
        }
        @if !viewer.may_decide { (only_looking(viewer, &question.handoff)) }
        @else if is_signed { (signing(question)) }
        @else { (forms(viewer, page)) }
        p.digest.quiet { "It counts for exactly what is shown here and in " a href=(address::question_text(&question.handoff)) { "the whole text" } ": " code title=(question.shown.0) { (question.shown.0.chars().take(12).collect::<String>()) } }
    }
}

/// Explains how somebody who may not decide becomes somebody who may.
fn only_looking(viewer: &Viewer<'_>, handoff: &HandoffId) -> Markup {
    let log_in = address::with_query(address::LOG_IN, &[("back", &address::question(handoff))]);
    html! {
        p.soft { "You can look, but not decide. Decisions need the token of an approver." }
        @if viewer.name.is_none() { p.soft { "Make one where the store is:" } pre { "baton token create --role approver" } }
        p { a.button href=(log_in) { "Log in as an approver" } }
    }
}

/// Explains that gates which demand signatures are decided where the key is.
fn signing(question: &Question) -> Markup {
    let digest: String = question.shown.0.chars().take(12).collect();
    html! {
        p { "This gate counts signed decisions only. Sign where your key is:" }
        @for verb in verbs(question.reply) {
            pre { "baton " (verb) " " (question.handoff) " --sign --shown " (digest) }
        }
    }
}

fn verbs(reply: ExpectedReply) -> &'static [&'static str] {
    match reply {
        ExpectedReply::Review => &["approve", "reject", "ask"],
        ExpectedReply::Escalation => &["answer", "reject", "ask"],
        ExpectedReply::Approval | ExpectedReply::Request => &["approve", "reject"],
        ExpectedReply::GateChoice => &["answer", "reject"],
        ExpectedReply::Clarification | ExpectedReply::Choice => &["answer"],
    }
}

fn forms(viewer: &Viewer<'_>, page: &QuestionPage<'_>) -> Markup {
    let reply = page.question.reply;
    html! {
        @for verb in verbs(reply) {
            @match *verb {
                "approve" => (form(viewer, page, "approve", true, html! {
                    label.field { span { "Note " span.quiet { @if ends_run(page) { "(optional)" } @else { "(optional, goes to the next agent)" } } } textarea name=(field::NOTE) { (typed_text(&typed(page, verb).note)) } }
                    button.main type="submit" { "Approve" }
                }))
                "reject" => (form(viewer, page, "reject", false, html! {
                    label.field { span { "What must change" } textarea name=(field::WORDS) required { (typed_text(&typed(page, verb).words)) } }
                    button.danger type="submit" { "Reject" }
                }))
                "ask" => (form(viewer, page, "ask", false, html! {
                    label.field { span { "Your question" } textarea name=(field::WORDS) required { (typed_text(&typed(page, verb).words)) } }
                    button type="submit" { "Ask" }
                }))
                _ => (form(viewer, page, "answer", true, answer(page)))
            }
        }
    }
}

/// Returns what was typed into a form that could not be taken.
fn typed(page: &QuestionPage<'_>, verb: &str) -> SentAnswer {
    page.refused.filter(|sent| sent.decision == verb).cloned().unwrap_or_default()
}

/// One form, with where it leads. The usual one is open, the others open on demand.
fn form(viewer: &Viewer<'_>, page: &QuestionPage<'_>, verb: &str, is_usual: bool, content: Markup) -> Markup {
    let question = page.question;
    let fields = html! {
        form method="post" action=(address::decide(&question.handoff)) {
            (hidden("csrf", viewer.csrf))
            (hidden(field::DECISION, verb))
            (hidden(field::SHOWN, &question.shown.0))
            p.leads.soft { (leads_to(page, verb)) }
            (content)
        }
    };
    html! {
        @if is_usual { div.act-open id={ "decide-" (verb) } { (fields) } }
        @else {
            @let is_sent = page.refused.is_some_and(|sent| sent.decision == verb);
            details.act id={ "decide-" (verb) } open[is_sent] { summary.button { (words_of(verb)) } (fields) }
        }
    }
}

fn words_of(verb: &str) -> &'static str {
    match verb {
        "reject" => "Reject with feedback",
        "ask" => "Ask the agent first",
        _ => "Answer",
    }
}

fn answer(page: &QuestionPage<'_>) -> Markup {
    let question = page.question;
    let typed = typed(page, "answer");
    let takes_words = !question.reply.is_choice();
    html! {
        @if !question.choices.is_empty() {
            fieldset.choices {
                legend.visually-hidden { "Choices" }
                @for (word, meaning) in &question.choices {
                    label.choice { input type="radio" name=(field::CHOICE) value=(typed_text(word)) required[!takes_words] checked[*word == typed.choice];
                        span { b { (word) } @if !meaning.is_empty() { " " span.soft { (meaning) } }
                            @if let Some(to) = edge_to(page, word) { " " span.quiet { "→ " (to) } } } }
                }
            }
        }
        @if takes_words {
            label.field {
                span { @if question.choices.is_empty() { "Your answer" } @else { "Or in your own words" } }
                textarea name=(field::WORDS) required[question.choices.is_empty()] { (typed_text(&typed.words)) }
            }
        } @else {
            label.field { span { "Note " span.quiet { "(optional)" } } textarea name=(field::NOTE) { (typed_text(&typed.note)) } }
        }
        button.main type="submit" { "Answer" }
    }
}

/// Returns what follows from an answer.
fn leads_to(page: &QuestionPage<'_>, verb: &str) -> String {
    let question = page.question;
    let agent = one_line(&question.agent);
    let is_gate = matches!(question.reply, ExpectedReply::Approval | ExpectedReply::GateChoice);
    let next = next_of(page, &[EdgeKind::Next, EdgeKind::When]);
    let back = next_of(page, &[EdgeKind::Failure]);
    match verb {
        "approve" if ends_run(page) => "Approving ends the run.".to_owned(),
        "approve" => match next {
            Some(next) => format!("Leads to {next}."),
            None => "The work is accepted, and the run goes on.".to_owned(),
        },
        "reject" if is_gate => match back {
            Some(back) => format!("The gate fails; leads to {back}."),
            None => "The gate fails, and the run asks what follows.".to_owned(),
        },
        "reject" => format!("Goes back to {agent} with your words."),
        "ask" => format!("{agent} gets your question; its next report comes back here."),
        _ if question.reply.is_choice() => "The run goes on as you choose.".to_owned(),
        _ => format!("{agent} gets its question with your answer, and goes on."),
    }
}

/// Returns whether nothing comes after an approval.
fn ends_run(page: &QuestionPage<'_>) -> bool {
    next_of(page, &[EdgeKind::Next, EdgeKind::When]).as_deref() == Some("end")
}

/// Names where the flow leads from the phase of the question.
fn next_of(page: &QuestionPage<'_>, ways: &[EdgeKind]) -> Option<String> {
    let graph = page.flow?;
    let from = graph.nodes.iter().position(|node| node.path == page.question.phase && !node.path.is_empty())?;
    let names: Vec<&str> = graph
        .edges
        .iter()
        .filter(|edge| edge.from == from && ways.contains(&edge.way))
        .map(|edge| graph.nodes[edge.to].label.as_str())
        .collect();
    (!names.is_empty()).then(|| names.join(" or "))
}

/// Names where a choice leads, where the workflow says so.
fn edge_to<'g>(page: &QuestionPage<'g>, choice: &str) -> Option<&'g str> {
    let graph = page.flow?;
    let from = graph.nodes.iter().position(|node| node.path == page.question.phase && !node.path.is_empty())?;
    let names = |label: &str| label.split(',').any(|word| word.trim() == choice);
    let edge = graph
        .edges
        .iter()
        .find(|edge| edge.from == from && edge.way == EdgeKind::Choice && edge.label.as_deref().is_some_and(names))?;
    Some(graph.nodes[edge.to].label.as_str())
}

fn history(page: &QuestionPage<'_>) -> Markup {
    let events: Vec<_> = page.events.iter().filter(is_told).collect();
    let from = events.len().saturating_sub(EVENTS_MAX);
    html! {
        @if !page.events.is_empty() {
            section { h2 { "What happened before" } ol.events {
                @for event in events[from..].iter().rev() { (row(event, &page.question.phase, None)) }
            } }
        }
    }
}
