//! One handoff: what was handed over, what arrived, the evidence, the prompt, the output, what it cost, what happened to it.

use baton_engine::evidence::ExaminedClaim;
use baton_engine::handoff::{StateName, WrittenDocument};
use baton_engine::handover::Handover;
use baton_engine::journal::Event;
use baton_engine::run::Run;
use baton_engine::session::Spending;
use baton_engine::{Fence, Handoff, HandoffId};
use baton_views::handoff::state as state_words;
use baton_views::words::counted;
use maud::{Markup, html};

use crate::exhibit::{self, Exhibit};
use crate::journal::{is_told, row, step_of};
use crate::layout::{self, Frame, Section, Viewer};
use crate::pieces::{cost, length, moment, prose, step_pill, tail, verbatim};
use crate::{address, document, live};

/// How many lines of the output are shown.
const OUTPUT_LINES_MAX: usize = 80;

/// How many links to other handoffs are shown.
const LINKS_MAX: usize = 8;

/// How many of the last events are shown.
const EVENTS_MAX: usize = 30;

/// How many of the last attempts are linked.
const ATTEMPTS_MAX: u64 = 20;

/// A handoff with everything that is known about it.
#[derive(Debug, Clone, Copy)]
pub struct HandoffPage<'h> {
    /// The handoff.
    pub handoff: &'h Handoff,
    /// Its run; `None` for one outside of workflows.
    pub run: Option<&'h Run>,
    /// What was asked.
    pub request: &'h WrittenDocument,
    /// What was answered last.
    pub report: Option<&'h WrittenDocument>,
    /// What those before have handed over.
    pub given: &'h [Handover],
    /// What was seen of its claims.
    pub examined: &'h [ExaminedClaim],
    /// The files that it is about.
    pub exhibits: &'h [Exhibit],
    /// How many more there are.
    pub exhibits_left_out: usize,
    /// What the agent was told in the attempt that is shown.
    pub prompt: Option<&'h str>,
    /// What that attempt wrote, or the end of it.
    pub output: Option<&'h str>,
    /// The attempt that is shown; the last one, unless another was asked for.
    pub attempt: Fence,
    /// What it has spent.
    pub spending: Spending,
    /// How many tokens it took.
    pub tokens: u64,
    /// What happened to it, the oldest first.
    pub events: &'h [Event],
}

/// The page.
pub fn page(viewer: &Viewer<'_>, page: &HandoffPage<'_>) -> Markup {
    let handoff = page.handoff;
    let here = address::handoff(&handoff.run, &handoff.id);
    let stream = address::run_events(&handoff.run, page.run.map_or(0, |run| run.seq));
    let events = (!handoff.state.name().is_finished()).then_some(stream.as_str());
    let name = name(page);
    let frame = Frame::live(&name, Section::Runs, &here, events);
    layout::page(viewer, &frame, content(viewer, page))
}

/// The content alone, for the script.
pub fn fragment(viewer: &Viewer<'_>, page: &HandoffPage<'_>) -> Markup {
    layout::fragment(content(viewer, page))
}

fn name(page: &HandoffPage<'_>) -> String {
    page.run.map_or_else(|| page.handoff.id.to_string(), |run| step_of(run, &page.handoff.id))
}

fn content(viewer: &Viewer<'_>, page: &HandoffPage<'_>) -> Markup {
    let handoff = page.handoff;
    let state = handoff.state.name();
    let passed = page.run.and_then(|run| run.find(&handoff.id)).is_none_or(|tracked| tracked.passed());
    html! {
        // What an attempt writes is not in the journal, so that no event tells of it.
        div #(live::HANDOFF) data-again[state == StateName::Claimed && page.run.is_some() && page.attempt == handoff.fence] {
            p.trail {
                a href=(viewer.runs) { "Runs" }
                @if page.run.is_some() { " / " a href=(address::run(&handoff.run)) { (handoff.run) } }
            }
            h1.run-title { (name(page)) " " (step_pill(state, passed)) }
            @let words = state_words(handoff, viewer.now);
            @if words != state.as_str() { p.lead { (words) } }
            (figures(page))
            @if state == StateName::AwaitingPerson {
                p { a.button href=(address::question(&handoff.id)) { "Decide" } }
            }
            (way(page))
            // Whoever asks for an attempt sees it first.
            @let is_first = state == StateName::Claimed || page.attempt != handoff.fence;
            @if is_first { (work(page)) }
            (arrived(page))
            (handed_over(page))
            @if !is_first { (work(page)) }
            (happened(page))
        }
    }
}

fn figures(page: &HandoffPage<'_>) -> Markup {
    let handoff = page.handoff;
    let ended = handoff.state.finished_at();
    // As on the page of the run: all attempts, also those before a person sent it back.
    let attempts = page.run.and_then(|run| run.find(&handoff.id)).map_or(handoff.attempts, |tracked| tracked.attempts);
    html! {
        dl.figures {
            div { dt { "From → to" } dd { (handoff.terms.from) " → " (handoff.terms.to) } }
            div { dt { "Sent" } dd { (moment(handoff.accepted_at)) } }
            @if let Some(ended) = ended {
                div { dt { "Took" } dd { (length(baton_views::words::span(handoff.accepted_at, ended))) } }
            }
            div { dt { "Attempts" } dd { (attempts) } }
            div { dt { "Spent" } dd { (cost(&page.spending, page.tokens)) } }
            div { dt { "Id" } dd { code { (handoff.id) } } }
        }
    }
}

/// Where it came from and where it led, with links to those before, after and beside it.
fn way(page: &HandoffPage<'_>) -> Markup {
    let Some((run, tracked)) = page.run.and_then(|run| Some((run, run.find(&page.handoff.id)?))) else {
        return html! {};
    };
    let is_shown = |id: &&HandoffId| id.as_str() != run.id.as_str();
    let link = |id: &HandoffId| html! { a href=(address::handoff(&run.id, id)) { (step_of(run, id)) } };
    let followed = run.handoffs().filter(|other| other.step.after.as_ref() == Some(&page.handoff.id));
    let helped = run.handoffs().filter(|other| other.step.about.as_ref() == Some(&page.handoff.id));
    let next: Vec<&HandoffId> = followed.chain(helped).map(|other| &other.handoff.id).take(LINKS_MAX).collect();
    html! {
        ul.way-list {
            @if let Some(after) = tracked.step.after.as_ref().filter(is_shown) { li { "After " (link(after)) } }
            @if let Some(about) = tracked.step.about.as_ref().filter(is_shown) { li { "About " (link(about)) } }
            @if let Some(route) = &tracked.route {
                li { "Then " b { (route.to) } ": " (route.why)
                    @if let Some(instead) = &route.instead_of { " (the agent suggested " (instead) ")" } }
            }
            @if !next.is_empty() { li { "See " @for (index, id) in next.iter().enumerate() { @if index > 0 { ", " } (link(id)) } } }
        }
    }
}

fn arrived(page: &HandoffPage<'_>) -> Markup {
    let Handoff { id, run, .. } = page.handoff;
    let failure = page.handoff.last_failure.as_ref();
    let text = &address::handoff_text(run, id);
    html! {
        section {
            h2 { "Report" }
            @if let Some(failure) = failure {
                @if page.handoff.state.name() == StateName::Completed {
                    details.whole #failure { summary { "An earlier attempt failed: " (failure.code.as_str()) } (tail(&failure.text(), 14, text)) }
                } @else {
                    div.cause { p.cause-what { "Last failure: " (failure.code.as_str()) } (tail(&failure.text(), 14, text)) }
                }
            }
            @match page.report {
                Some(report) => (document::shown("report", report, &address::document(run, id, "report"))),
                None => p.quiet { "No report yet." }
            }
            @if !page.examined.is_empty() {
                h3 { "Evidence " span.quiet { (counted(page.examined.len(), "claim")) } }
                (document::evidence(page.examined, text))
            }
            @if !page.exhibits.is_empty() {
                @let here = address::handoff(run, id);
                @let place = exhibit::Place { run, page: &here, part: "file", others: "text" };
                h3 { "Files" } (exhibit::shown(place, page.exhibits, page.exhibits_left_out))
            }
        }
    }
}

fn handed_over(page: &HandoffPage<'_>) -> Markup {
    let Handoff { id, run, .. } = page.handoff;
    let text = &address::handoff_text(run, id);
    html! {
        section {
            h2 { "Request" }
            (document::shown("request", page.request, &address::document(run, id, "request")))
            @for (index, note) in page.handoff.notes.iter().enumerate() {
                h3 { (note.about.as_str()) " by " (note.from) }
                @if let Some(question) = &note.question { p.quiet { (question) } }
                (prose(&format!("note-{index}"), &note.text, text))
            }
            @for (index, given) in page.given.iter().enumerate() {
                details.given id={ "given-" (index) } {
                    summary { (given.label) @if let Some(file) = &given.file { span.quiet { " " (file) } } }
                    (verbatim(&given.text, text))
                }
            }
        }
    }
}

fn work(page: &HandoffPage<'_>) -> Markup {
    let Handoff { id, run, fence, .. } = page.handoff;
    let is_last = page.attempt == *fence;
    html! {
        @if page.prompt.is_some() || page.output.is_some() || fence.0 > 1 {
            section #attempt {
                h2 { @if is_last { "The last attempt" } @else { "Attempt " (page.attempt) } }
                (attempts(page))
                @if let Some(prompt) = page.prompt {
                    details #prompt { summary { "Prompt " span.quiet { (counted(prompt.lines().count(), "line")) } } (verbatim(prompt, &address::prompt(run, id, page.attempt))) }
                }
                @match page.output {
                    Some(output) => {
                        @let log = address::log(run, id, page.attempt);
                        details #output open[!is_last || !page.handoff.state.name().is_finished()] {
                            summary { "Output " span.quiet { (counted(output.lines().count(), "line")) } }
                            (tail(output, OUTPUT_LINES_MAX, &log))
                            p.quiet { a href=(log) { "All of it" } }
                        }
                    }
                    None => p.quiet { "It has written nothing that is kept here." }
                }
            }
        }
    }
}

/// Leads to the other attempts.
fn attempts(page: &HandoffPage<'_>) -> Markup {
    let Handoff { id, run, fence: Fence(last), .. } = page.handoff;
    let first = last.saturating_sub(ATTEMPTS_MAX).max(1);
    let link = |attempt: u64| address::attempt(run, id, Fence(attempt));
    html! {
        @if *last > 1 {
            p.quiet {
                "Attempts: "
                @if first > 1 { a href=(link(1)) { "1" } " … " }
                @for attempt in first..=*last {
                    @if attempt == page.attempt.0 { b aria-current="true" { (attempt) } } @else { a href=(link(attempt)) { (attempt) } }
                    " "
                }
            }
        }
    }
}

fn happened(page: &HandoffPage<'_>) -> Markup {
    let events: Vec<_> = page.events.iter().filter(is_told).collect();
    let from = events.len().saturating_sub(EVENTS_MAX);
    let name = name(page);
    html! {
        section {
            h2 { "What happened to it" }
            ol.events { @for event in events[from..].iter().rev() { (row(event, &name, None)) } }
            @if from > 0 { p { a href=(address::journal(&page.handoff.run)) { "Earlier events" } } }
        }
    }
}
