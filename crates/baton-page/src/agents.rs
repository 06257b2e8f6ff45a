//! The agents: what waits for each, how often its work counts at once, what it claimed in vain, and what it costs.

use baton_engine::session::{Spending, dollars};
use baton_engine::{Handoff, HandoffId};
use baton_views::words::counted;
use jiff::Timestamp;
use maud::{Markup, html};

use crate::layout::{self, Frame, Section, Viewer};
use crate::pieces::{empty, pill, since, step_pill};
use crate::{address, live};

/// An agent with its queue and its figures.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentRow {
    /// Its name, or that of its queue.
    pub name: String,
    /// Whether its queue is paused.
    pub is_paused: bool,
    /// How many may work at the same time; `None` for no limit.
    pub limit: Option<u32>,
    /// How many handoffs wait for it.
    pub waiting: u64,
    /// Since when the oldest of them waits.
    pub oldest: Option<Timestamp>,
    /// How many it works on.
    pub working: u64,
    /// How many of its handoffs wait for somebody else: a person, or another agent that helps.
    pub held_up: u64,
    /// What came of its work.
    pub figures: AgentFigures,
}

/// What came of an agent's work in a time.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct AgentFigures {
    /// How many handoffs have ended.
    pub ended: u64,
    /// How many of them were completed.
    pub completed: u64,
    /// How many of them were completed by their first report: nobody and nothing sent it back.
    pub first_pass: u64,
    /// How many attempts they took.
    pub attempts: u64,
    /// How many claims were examined.
    pub claims: u64,
    /// How many of them were refuted.
    pub refuted: u64,
    /// What all of it cost, also what failed.
    pub spending: Spending,
}

/// All agents.
#[derive(Debug, Clone, Copy)]
pub struct AgentList<'a> {
    /// The agents.
    pub rows: &'a [AgentRow],
    /// Over how many of the latest handoffs of each agent that have ended the figures are worked out.
    pub recent: u32,
}

/// The page.
pub fn page(viewer: &Viewer<'_>, list: &AgentList<'_>) -> Markup {
    let frame = Frame::live("Agents", Section::Agents, address::AGENTS, Some(address::EVENTS));
    layout::page(viewer, &frame, html! { h1 { "Agents" } (agents(viewer, list)) })
}

/// The agents alone, for the script.
pub fn fragment(viewer: &Viewer<'_>, list: &AgentList<'_>) -> Markup {
    layout::fragment(agents(viewer, list))
}

fn agents(viewer: &Viewer<'_>, list: &AgentList<'_>) -> Markup {
    html! {
        div #(live::AGENTS) {
            @if list.rows.is_empty() {
                (empty("No agents yet", html! {
                    p { "Agents of workflows that the server knows appear here, and those that something is sent to:" }
                    pre { "baton serve --workflow PATH\nbaton send request.yaml --to AGENT" }
                }))
            } @else {
                ul.cards { @for row in list.rows { (card(viewer, row)) } }
                p.quiet { "Figures over the latest " (list.recent) " handoffs of each agent that have ended. Accepted first time: handoffs whose first report counted, of all that ended. Cost per completion: everything that was spent, also on what failed, by completed handoffs." }
            }
        }
    }
}

fn card(viewer: &Viewer<'_>, row: &AgentRow) -> Markup {
    let AgentRow { name, is_paused, limit, waiting, oldest, working, held_up, figures } = row;
    html! {
        li.card data-item {
            div.card-head {
                a.card-name href=(address::agent(name)) { (name) }
                @if *is_paused { (pill("interrupted", "paused")) }
                @else if *working > 0 { (pill("running", &format!("{working} working"))) }
                @if *waiting > 0 { (pill("pending", &format!("{waiting} queued"))) }
                @if *held_up > 0 { (pill("waiting", &format!("{held_up} held up"))) }
            }
            p.why {
                @if *is_paused { "Nothing is handed out while the queue is paused." }
                @else if *waiting == 0 && *working == 0 {
                    @if *held_up > 0 { "Goes on when a person has decided, or another agent has helped." }
                    @else if figures.ended == 0 { "No work so far." } @else { "Nothing waits." }
                }
                @else if let Some(oldest) = oldest { "The oldest was sent " (since(*oldest, viewer.now)) "." }
                @if let Some(limit) = limit { " At most " (limit) " at the same time." }
            }
            @if figures.ended > 0 { dl.figures {
                div { dt { "Completed" } dd { (figures.completed) span.quiet { " of " (figures.ended) " ended" } } }
                div { dt { "Accepted first time" } dd { (share(figures.first_pass, figures.ended)) } }
                div { dt { "Refuted claims" } dd { (share(figures.refuted, figures.claims)) } }
                div { dt { "Cost per completion" } dd { (price(figures)) } }
            } }
        }
    }
}

/// An agent with a page of its handoffs, the newest first.
#[derive(Debug, Clone, Copy)]
pub struct AgentWork<'a> {
    /// The agent.
    pub row: &'a AgentRow,
    /// Its handoffs, also those outside of runs.
    pub handoffs: &'a [Handoff],
    /// The last one, if there are more.
    pub next: Option<&'a HandoffId>,
    /// Over how many of the latest handoffs the figures are worked out.
    pub recent: u32,
}

/// The page of one agent.
pub fn work_page(viewer: &Viewer<'_>, work: &AgentWork<'_>) -> Markup {
    let name = &work.row.name;
    let here = address::agent(name);
    let frame = Frame::live(name, Section::Agents, &here, Some(address::EVENTS));
    layout::page(
        viewer,
        &frame,
        html! {
            p.trail { a href=(address::AGENTS) { "Agents" } }
            h1 { (name) }
            (its_work(viewer, work))
        },
    )
}

/// What changes of the page of one agent, for the script.
pub fn work_fragment(viewer: &Viewer<'_>, work: &AgentWork<'_>) -> Markup {
    layout::fragment(its_work(viewer, work))
}

fn its_work(viewer: &Viewer<'_>, work: &AgentWork<'_>) -> Markup {
    html! {
        div #(live::AGENTS) {
            ul.cards { (card(viewer, work.row)) }
            h2 { "Handoffs" }
            @if work.handoffs.is_empty() { p.quiet { "None so far." } }
            @else {
                ul.cards.runs { @for handoff in work.handoffs { (its_handoff(viewer, handoff)) } }
            }
            @if let Some(next) = work.next {
                nav.pages aria-label="Pages" {
                    a rel="next" href=(address::with_query(&address::agent(&work.row.name), &[("after", next.as_str())])) { "Older handoffs →" }
                }
            }
        }
    }
}

fn its_handoff(viewer: &Viewer<'_>, handoff: &Handoff) -> Markup {
    html! {
        li.card data-item {
            div.card-head {
                a.card-name href=(address::handoff(&handoff.run, &handoff.id)) { (handoff.id) }
                (step_pill(handoff.state.name(), true))
            }
            div.facts {
                span { "from " (handoff.terms.from) }
                @if handoff.terms.step.is_some() { span { "run " a href=(address::run(&handoff.run)) { (handoff.run) } } }
                span { (since(handoff.accepted_at, viewer.now)) }
            }
        }
    }
}

/// Writes a percentage with its counts; nothing has no percentage.
fn share(part: u64, whole: u64) -> Markup {
    html! {
        @if whole == 0 { "–" }
        @else { (part.saturating_mul(100) / whole) " % " span.quiet { "(" (part) " of " (whole) ")" } }
    }
}

fn price(figures: &AgentFigures) -> Markup {
    let Spending { spent, unpriced } = figures.spending;
    html! {
        @match (spent.cost_micros, figures.completed) {
            (Some(micros), 1..) => {
                @if unpriced > 0 { "> " }
                (dollars(micros / figures.completed)) " "
                span.quiet { "(" (dollars(micros)) " by " (figures.completed) @if unpriced > 0 { ", " (counted(u64::from(unpriced), "turn")) " without a price" } ")" }
            }
            (Some(micros), 0) => { (dollars(micros)) span.quiet { " spent, nothing completed" } }
            (None, _) => "–"
        }
    }
}
