//! One run: why it waits or failed first, then what happened; its flow, its handoffs and its journal have own addresses.

use std::collections::BTreeMap;

use baton_engine::handoff::StateName;
use baton_engine::journal::Event;
use baton_engine::lifecycle::Decision;
use baton_engine::people::{ExpectedReply, Question};
use baton_engine::queue::QueueHolds;
use baton_engine::run::{Run, TrackedHandoff};
use baton_engine::step::Role;
use baton_engine::{EventKind, HandoffId};
use baton_views::graph::{of_run, svg};
use baton_views::run_summary::{RunSummary, size};
use baton_views::standing::{RunStanding, RunWait, waits_for, worked_on};
use baton_views::step_name::StepName;
use baton_views::timeline::in_words;
use baton_views::words::{counted, cut, one_line, telling_line};
use maud::{Markup, PreEscaped, html};

use crate::inbox::asked;
use crate::journal::{row as journal_row, step_of};
use crate::layout::{self, Frame, Section, Viewer};
use crate::markdown::spans;
use crate::pieces::{cost, empty, length, moment, pill, since, step_pill};
use crate::root_cause::RootCause;
use crate::run_actions::{self, RefusedAction};
use crate::run_state::{self, RunState};
use crate::timeline::Timeline;
use crate::{address, document, live};

/// How many handoffs are shown on the page of a run; the others on pages of their own.
const HANDOFFS_SHOWN: usize = 30;

/// How many handoffs are shown on a page of handoffs.
const HANDOFFS_PER_PAGE: usize = 40;

/// How many phases stand in the table of figures.
const PHASES_SHOWN: usize = 60;

/// How many of the events since somebody last looked are shown.
const NEWS_MAX: usize = 8;

/// The longest line about a handoff.
const WORDS_MAX: usize = 110;

/// A run with everything that its pages show.
#[derive(Debug, Clone, Copy)]
pub struct RunPage<'r> {
    /// The run.
    pub run: &'r Run,
    /// Its journal.
    pub events: &'r [Event],
    /// Its phases.
    pub summary: &'r RunSummary,
    /// Where it stands.
    pub standing: &'r RunStanding,
    /// What people are asked in it.
    pub questions: &'r [Question],
    /// The queues that hand out nothing now.
    pub holds: &'r QueueHolds,
    /// The number of the last event that the viewer has seen; `None` if they never looked.
    pub last_seen: Option<u64>,
}

impl RunPage<'_> {
    /// Returns its state in one word.
    pub fn state(&self, viewer: &Viewer<'_>) -> RunState {
        RunState::of(self.standing, self.questions.len(), self.waits_for(viewer).as_ref())
    }

    fn waits_for(&self, viewer: &Viewer<'_>) -> Option<RunWait> {
        waits_for(self.run.open().map(|tracked| &tracked.handoff), viewer.now, self.holds)
    }

    /// Writes in one sentence why it waits, or how it stands.
    pub fn why(&self, viewer: &Viewer<'_>) -> String {
        if let Some(first) = self.questions.first() {
            return asked(first);
        }
        if let Some(words) = self.called_off() {
            return words;
        }
        if matches!(self.standing, RunStanding::Driven(_)) {
            let open = self.run.open().map(|tracked| &tracked.handoff);
            let waits = self.waits_for(viewer).map(|waits| waits.words);
            if let Some(words) = waits.or_else(|| worked_on(open, viewer.now)) {
                return words;
            }
        }
        let mut phases = Vec::new();
        for tracked in self.run.open().filter(|tracked| !matches!(tracked.step.role, Role::Run | Role::Group)) {
            if !phases.contains(&tracked.step.phase) {
                phases.push(tracked.step.phase.clone());
            }
        }
        run_state::standing(self.standing, &self.run.root().handoff, &phases, viewer.now)
    }

    /// Returns who has called it off, and why; `None` if nobody has.
    fn called_off(&self) -> Option<String> {
        matches!(self.standing, RunStanding::Ended(StateName::Cancelled)).then(|| called_off(self.run, self.events))?
    }
}

/// Returns who has called a run off, and why.
pub fn called_off(run: &Run, events: &[Event]) -> Option<String> {
    let is_it = |event: &&Event| event.is(EventKind::Cancelled) && event.handoff == run.root().handoff.id;
    let words = in_words(events.iter().rev().find(is_it)?);
    Some(cut(&one_line(&format!("Called off {words}")), run_state::REASON_MAX))
}

/// The parts of a run that have their own address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tab {
    /// Why it waits or failed, and what happened.
    Overview,
    /// Its picture.
    Flow,
    /// Its handoffs.
    Handoffs,
    /// Its journal.
    Journal,
}

/// The page of a run.
pub fn page(viewer: &Viewer<'_>, page: &RunPage<'_>) -> Markup {
    overview(viewer, page, None)
}

/// The page of a run after a form that could not be accepted, with what was typed.
pub fn page_again(viewer: &Viewer<'_>, page: &RunPage<'_>, refused: &RefusedAction) -> Markup {
    overview(viewer, page, Some(refused))
}

fn overview(viewer: &Viewer<'_>, page: &RunPage<'_>, refused: Option<&RefusedAction>) -> Markup {
    framed(
        viewer,
        page,
        Tab::Overview,
        html! {
            (head(viewer, page, refused))
            (news(viewer, page))
            (timeline(viewer, page))
            (document::inputs(&page.run.definition.inputs, &address::document(&page.run.id, &page.run.root().handoff.id, "request")))
            (agenda(page))
        },
    )
}

/// The flow of a run as a picture.
pub fn flow_page(viewer: &Viewer<'_>, page: &RunPage<'_>) -> Markup {
    framed(viewer, page, Tab::Flow, flow(viewer, page))
}

/// The handoffs of a run, from this one on (0 is the first).
pub fn handoffs_page(viewer: &Viewer<'_>, page: &RunPage<'_>, from: usize) -> Markup {
    framed(viewer, page, Tab::Handoffs, handoffs(viewer, page, from))
}

/// One part of these pages alone, for the script; `None` if there is no such part. `from` is the first handoff of a page of
/// handoffs.
pub fn fragment(viewer: &Viewer<'_>, page: &RunPage<'_>, name: &str, from: usize) -> Option<Markup> {
    let part = match name {
        live::RUN_STATE => run_pill(page.state(viewer)),
        live::RUN_HEAD => head(viewer, page, None),
        live::RUN_TIMELINE => timeline(viewer, page),
        live::RUN_FLOW => flow(viewer, page),
        live::RUN_HANDOFFS => handoffs(viewer, page, from),
        _ => return None,
    };
    Some(layout::fragment(part))
}

fn framed(viewer: &Viewer<'_>, page: &RunPage<'_>, tab: Tab, content: Markup) -> Markup {
    let run = &page.run.id;
    let here = match tab {
        Tab::Overview => address::run(run),
        Tab::Flow => address::flow(run),
        Tab::Handoffs => address::handoffs(run),
        Tab::Journal => address::journal(run),
    };
    let stream = address::run_events(run, page.run.seq);
    let events = (!page.state(viewer).is_ended()).then_some(stream.as_str());
    let live = Frame::live(run.as_str(), Section::Runs, &here, events);
    let frame = Frame { is_typed_in: viewer.may_control && tab == Tab::Overview, ..live };
    layout::page(viewer, &frame, html! { (title(viewer, page.run, page.state(viewer), tab)) (content) })
}

/// Names the run and leads to its parts.
pub(crate) fn title(viewer: &Viewer<'_>, run: &Run, state: RunState, tab: Tab) -> Markup {
    let link = |target: Tab, address: String, words: &str| {
        let current = (tab == target).then_some("page");
        html! { a href=(address) aria-current=[current] { (words) } }
    };
    html! {
        p.trail { a href=(viewer.runs) { "Runs" } " / " (run.definition.name()) }
        h1.run-title { (run.id) " " (run_pill(state)) }
        nav.tabs aria-label="Parts of the run" {
            (link(Tab::Overview, address::run(&run.id), "Overview"))
            (link(Tab::Flow, address::flow(&run.id), "Flow"))
            (link(Tab::Handoffs, address::handoffs(&run.id), "Handoffs"))
            (link(Tab::Journal, address::journal(&run.id), "Journal"))
        }
    }
}

fn run_pill(state: RunState) -> Markup {
    html! { span #(live::RUN_STATE) { (pill(state.as_str(), state.words())) } }
}

fn head(viewer: &Viewer<'_>, page: &RunPage<'_>, refused: Option<&RefusedAction>) -> Markup {
    let total = &page.summary.total;
    let finished = page.run.root().handoff.state.finished_at();
    let cause = RootCause::of(page.run, page.questions);
    html! {
        div #(live::RUN_HEAD) {
            p.lead {
                @match page.questions.first() {
                    Some(question) => {
                        a href=(address::question(&question.handoff)) { (spans(&page.why(viewer))) }
                        @if let Some(asking) = page.run.find(&question.handoff) { span.quiet { " asked " (since(asking.handoff.changed_at, viewer.now)) } }
                    }
                    None => (spans(&page.why(viewer)))
                }
            }
            dl.figures {
                div { dt { "Started" } dd { (since(page.run.started_at, viewer.now)) } }
                @if finished.is_some() { div { dt { "Took" } dd { (length(total.took)) } } }
                div { dt { "Spent" } dd { (cost(&total.spending, total.tokens)) } }
                div { dt { "Work" } dd { (size(page.run)) ", " (counted(total.attempts, "attempt")) } }
                div { dt { "Evidence" } dd { @let signs = total.evidence.signs(); @if signs.is_empty() { "–" } @else { (signs) } } }
            }
            @if let Some(cause) = &cause { (cause.shown(viewer, page.run)) }
            @let others = page.questions.iter().skip(usize::from(!page.questions.is_empty()));
            @if page.questions.len() > 1 {
                ul.asked { @for question in others {
                    li { a href=(address::question(&question.handoff)) { (spans(&asked(question))) } }
                } }
            }
            (run_actions::shown(viewer, page, refused))
        }
    }
}

/// What happened since the viewer last looked.
fn news(viewer: &Viewer<'_>, page: &RunPage<'_>) -> Markup {
    let Some(last) = page.last_seen.filter(|last| *last < page.run.seq) else { return html! {} };
    let start = page.events.partition_point(|event| event.seq <= last);
    let is_step =
        [EventKind::Extended, EventKind::Claimed, EventKind::Accepted, EventKind::Routed, EventKind::Released];
    let is_news = |event: &&Event| !is_step.iter().any(|kind| event.is(*kind));
    let fresh: Vec<&Event> = page.events[start..].iter().filter(is_news).collect();
    let shown = fresh.len().saturating_sub(NEWS_MAX);
    html! {
        section.news {
            h2 { "Since you last looked " span.quiet { (counted(fresh.len(), "event")) } }
            ol.events { @for event in &fresh[shown..] { (journal_row(event, &step_of(page.run, &event.handoff), Some(viewer.now))) } }
            @if shown > 0 { p { a href=(address::journal(&page.run.id)) { "All of it" } } }
        }
    }
}

fn timeline(viewer: &Viewer<'_>, page: &RunPage<'_>) -> Markup {
    let steps = steps(page.run);
    let earlier = steps.len().saturating_sub(HANDOFFS_SHOWN);
    // What somebody works on grows without events.
    let grows = steps.iter().any(|tracked| tracked.handoff.state.name() == StateName::Claimed);
    html! {
        section #(live::RUN_TIMELINE) data-again[grows] {
            h2 { "What happened" }
            @if steps.is_empty() { (empty("Nothing yet", html! { p { "The first handoff appears here when it is sent." } })) }
            @else {
                (rows(viewer, page, &steps[earlier..]))
                @if earlier > 0 { p { a href=(address::handoffs(&page.run.id)) { (counted(earlier, "earlier handoff")) } } }
                (legend())
            }
        }
    }
}

fn steps(run: &Run) -> Vec<&TrackedHandoff> {
    run.handoffs().filter(|tracked| tracked.step.role != Role::Run).collect()
}

fn rows(viewer: &Viewer<'_>, page: &RunPage<'_>, steps: &[&TrackedHandoff]) -> Markup {
    let timeline = Timeline::of(page.run, page.events, viewer.now);
    let verb = |question: &Question| if question.reply == ExpectedReply::Clarification { "answer" } else { "decide" };
    let asked: BTreeMap<&HandoffId, &str> =
        page.questions.iter().map(|question| (&question.handoff, verb(question))).collect();
    html! {
        div.tracks {
            div.track-row.track-head aria-hidden="true" { span {} (timeline.axis()) span {} }
            @for tracked in steps {
                @let id = &tracked.handoff.id;
                div.track-row data-item {
                    div.track-name {
                        a href=(address::handoff(&page.run.id, id)) { (name(tracked)) }
                        span.quiet { " " (who(tracked)) }
                        @if let Some(verb) = asked.get(id) { " " a.badge href=(address::question(id)) { (verb) } }
                    }
                    (timeline.track(id))
                    div.track-end { (tracked_pill(tracked)) }
                    p.track-words { (own_words(tracked)) }
                }
            }
        }
    }
}

/// Names a step with the number of its visit, where there are several.
pub(crate) fn name(tracked: &TrackedHandoff) -> String {
    let name = StepName::of(tracked);
    if tracked.step.visit > 1 { format!("{name} #{}", tracked.step.visit) } else { name.to_string() }
}

/// Shows where a step is. A gate that somebody has rejected has not failed.
pub(crate) fn tracked_pill(tracked: &TrackedHandoff) -> Markup {
    let decision = tracked.decided.as_ref().map(|decide| &decide.decision);
    match (tracked.step.role, tracked.handoff.state.name(), decision) {
        (Role::Gate, StateName::Failed, Some(Decision::Reject { .. })) => pill("failed", "rejected"),
        (_, state, _) => step_pill(state, tracked.passed()),
    }
}

fn who(tracked: &TrackedHandoff) -> String {
    let attempts = if tracked.attempts > 1 { format!(", {} attempts", tracked.attempts) } else { String::new() };
    match tracked.step.role {
        Role::Work | Role::Delegation => format!("{}{attempts}", tracked.handoff.terms.to),
        Role::Check => format!("check{attempts}"),
        Role::Group | Role::Run => "group".to_owned(),
        Role::Gate | Role::Escalation | Role::Failure | Role::Limit => {
            tracked.deciders().unwrap_or_else(|| "a person".to_owned())
        }
    }
}

/// Writes in one line what came of a handoff, in the words of whoever did it.
pub(crate) fn own_words(tracked: &TrackedHandoff) -> String {
    let handoff = &tracked.handoff;
    let failure = handoff.last_failure.as_ref().filter(|_| !tracked.passed()).map(|failure| failure.text());
    let decided = tracked.decided.as_ref().map(|decide| {
        let note = decide.note.as_ref().map(|note| format!(": {note}")).unwrap_or_default();
        match &decide.decision {
            Decision::Approve => format!("approved{note}"),
            Decision::Reject { feedback } => format!("rejected: {feedback}"),
            Decision::Answer { answers } => format!("{}{note}", answers.trim()),
            Decision::Ask { question } => format!("asked: {question}"),
        }
    });
    let summary = tracked.report().and_then(|report| report.summary.clone());
    let asked = tracked.asked().and_then(|request| request.instructions.clone());
    let words = match tracked.step.role {
        Role::Gate | Role::Escalation | Role::Failure | Role::Limit => decided.or(asked),
        _ if handoff.state.name().is_finished() => failure.or(summary).or(asked),
        _ => failure.map(|why| format!("before: {why}")).or(summary).or(asked),
    };
    let words = words.unwrap_or_default();
    cut(&one_line(telling_line(&words)), WORDS_MAX)
}

fn legend() -> Markup {
    let entries = [
        ("bar-worked", "worked"),
        ("bar-works", "works"),
        ("bar-failed", "failed or refuted"),
        ("bar-cancelled", "called off"),
        ("bar-repaired", "repaired"),
        ("bar-person", "waited for a person"),
        ("bar-blocked", "blocked"),
        ("bar-queued", "queued"),
    ];
    html! {
        p.legend {
            @for (class, words) in entries {
                span { svg width="12" height="10" aria-hidden="true" { rect.(class) width="12" height="10" rx="3" {} } " " (words) }
            }
            span { "⋯ silence, drawn short" }
        }
    }
}

/// What was decided and what is open, by agents and people.
fn agenda(page: &RunPage<'_>) -> Markup {
    let agenda = page.run.agenda();
    let decisions: Vec<_> = agenda.decisions().collect();
    let questions: Vec<_> = agenda.questions().collect();
    html! {
        @if !decisions.is_empty() {
            section {
                h2 { "Decided" }
                dl.agenda { @for (by, made) in decisions.iter().take(20) {
                    div { dt { (made.decision.as_deref().unwrap_or_default()) }
                        dd { (made.rationale.as_deref().unwrap_or_default()) " " a.quiet href=(address::handoff(&page.run.id, by)) { (step_of(page.run, by)) } } }
                } }
            }
        }
        @if !questions.is_empty() {
            section {
                h2 { "Open questions" }
                ul { @for (by, open) in questions.iter().take(20) {
                    li { (open.question.as_deref().unwrap_or_default()) " " a.quiet href=(address::handoff(&page.run.id, by)) { (step_of(page.run, by)) } }
                } }
            }
        }
    }
}

fn flow(viewer: &Viewer<'_>, page: &RunPage<'_>) -> Markup {
    let graph = of_run::marked(page.run, viewer.now);
    html! {
        div.flow #(live::RUN_FLOW) tabindex="0" role="region" aria-label="Flow of the run" {
            // The drawing escapes every text in it.
            (PreEscaped(svg::inline(&graph)))
        }
    }
}

fn handoffs(viewer: &Viewer<'_>, page: &RunPage<'_>, from: usize) -> Markup {
    let steps = steps(page.run);
    let from = from.min(steps.len());
    let to = (from + HANDOFFS_PER_PAGE).min(steps.len());
    let at = |from: usize| format!("{}?from={from}", address::handoffs(&page.run.id));
    html! {
        div #(live::RUN_HANDOFFS) {
            h2 { "Handoffs " span.quiet { (counted(steps.len(), "handoff")) } }
            (rows(viewer, page, &steps[from..to]))
            (phases(page))
            nav.pages aria-label="Pages" {
                @if from > 0 { a href=(at(from.saturating_sub(HANDOFFS_PER_PAGE))) { "← Earlier" } }
                @if to < steps.len() { a href=(at(to)) { "Later →" } }
            }
        }
    }
}

/// The run phase by phase, with its figures.
fn phases(page: &RunPage<'_>) -> Markup {
    html! {
        h2 { "By phase" }
        div.table tabindex="0" role="region" aria-label="Phases" { table {
            thead { tr { th { "Phase" } th { "Who" } th.number { "Visits" } th.number { "Attempts" } th.number { "Took" } th { "Spent" } th { "Evidence" } th { "Outcome" } } }
            tbody {
                @for row in page.summary.phases.iter().take(PHASES_SHOWN) {
                    tr {
                        th scope="row" { (row.name) } td { (row.agent) }
                        td.number { (row.visits) } td.number { (row.attempts) } td.number { (length(row.took)) }
                        td { (cost(&row.spending, row.tokens)) } td { (row.evidence.signs()) } td { (cut(&row.outcome, WORDS_MAX)) }
                    }
                }
            }
        } }
        @let more = page.summary.phases.len().saturating_sub(PHASES_SHOWN);
        @if more > 0 { p.quiet { "and " (more) " more phases; " code { "baton show " (page.run.id) } " has all of them" } }
        p.quiet { "Started " (moment(page.run.started_at)) }
    }
}
