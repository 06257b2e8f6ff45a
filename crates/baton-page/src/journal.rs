//! The journal of a run: every event with who or why, the newest first, page by page.

use baton_engine::journal::Event;
use baton_engine::run::Run;
use baton_engine::{EventKind, HandoffId};
use baton_views::timeline::in_words;
use baton_views::words::{counted, cut, one_line};
use jiff::Timestamp;
use maud::{Markup, html};

use crate::layout::{self, Frame, Section, Viewer};
use crate::pieces::{moment, since};
use crate::run::{Tab, name, title};
use crate::run_state::RunState;
use crate::{address, live};

/// How many events are shown on a page.
pub const EVENTS_PER_PAGE: usize = 100;

/// The longest line about an event.
const WORDS_MAX: usize = 240;

/// A page of the journal of a run.
#[derive(Debug, Clone, Copy)]
pub struct JournalPage<'j> {
    /// The run.
    pub run: &'j Run,
    /// Its state.
    pub state: RunState,
    /// The events of this page, the oldest first: at most [`EVENTS_PER_PAGE`].
    pub events: &'j [Event],
}

/// The page.
pub fn page(viewer: &Viewer<'_>, journal: &JournalPage<'_>) -> Markup {
    let run = &journal.run.id;
    let here = address::journal(run);
    let stream = address::run_events(run, journal.run.seq);
    let is_newest = journal.events.last().is_none_or(|event| event.seq == journal.run.seq);
    let events = (is_newest && !journal.state.is_ended()).then_some(stream.as_str());
    let frame = Frame::live(run.as_str(), Section::Runs, &here, events);
    layout::page(viewer, &frame, html! { (title(viewer, journal.run, journal.state, Tab::Journal)) (list(journal)) })
}

/// The events alone, for the script.
pub fn fragment(journal: &JournalPage<'_>) -> Markup {
    layout::fragment(list(journal))
}

fn list(journal: &JournalPage<'_>) -> Markup {
    let run = journal.run;
    let first = journal.events.first().map_or(0, |event| event.seq);
    let last = journal.events.last().map_or(0, |event| event.seq);
    html! {
        div #(live::RUN_JOURNAL) {
            p.quiet { "Events " (first) " to " (last) " of " (run.seq)
                @let left_out = journal.events.iter().filter(|event| !is_told(event)).count();
                @if left_out > 0 { ", without " (counted(left_out, "heartbeat")) }
                ". Each is bound to the one before it; "
                code { "baton audit verify" } " proves it." }
            ol.events {
                @for event in journal.events.iter().filter(is_told).rev() { (row(event, &step_of(run, &event.handoff), None)) }
            }
            nav.pages aria-label="Pages" {
                @if last < run.seq { a href=(address::journal(&run.id)) { "← Newest" } }
                @if first > 1 { a rel="next" href=(address::journal_before(&run.id, first)) { "Older →" } }
            }
        }
    }
}

/// Returns whether an event is worth a line: that somebody still works is not.
pub(crate) fn is_told(event: &&Event) -> bool {
    !event.is(EventKind::Extended)
}

/// Shows one event: when, where, what, and who or why.
pub(crate) fn row(event: &Event, step: &str, now: Option<Timestamp>) -> Markup {
    let words = cut(&one_line(&in_words(event)), WORDS_MAX);
    let (kind, words) = match words.strip_prefix("refuted: ") {
        // What was looked at and found wrong is not verified.
        Some(reasons) if event.is(EventKind::Verified) => ("refuted", reasons),
        _ => (event.kind.as_str(), words.as_str()),
    };
    html! {
        li.event.{ "event-" (kind) } id={ "event-" (event.seq) } {
            span.event-time { @match now { Some(now) => (since(event.at, now)), None => (moment(event.at)) } }
            span.event-place { a href=(address::handoff(&event.run, &event.handoff)) { (step) } }
            span.event-words { b { (kind) } @if words != kind { " " (words) } }
            span.event-seq.quiet title=(event.hash) { (event.seq) }
        }
    }
}

/// Names the step of a handoff.
pub(crate) fn step_of(run: &Run, id: &HandoffId) -> String {
    run.find(id).map_or_else(|| id.to_string(), name)
}
