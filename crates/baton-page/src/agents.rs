//! The agents: what waits for each, how often its work counts at once, what it claimed in vain, and what it costs.

use baton_engine::session::{Spending, dollars};
use baton_views::words::counted;
use jiff::Timestamp;
use maud::{Markup, html};

use crate::layout::{self, Frame, Section, Viewer};
use crate::pieces::{empty, pill, since};
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
    /// How many of them were completed, and what they claim was verified.
    pub verified: u64,
    /// How many of the completed ones counted with their first report.
    pub first_pass: u64,
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
                p.quiet { "Figures over the latest " (list.recent) " handoffs of each agent that have ended. Accepted first time: completed handoffs whose first report counted. Cost per completion: everything that was spent, also on what failed, by completions that were verified." }
            }
        }
    }
}

fn card(viewer: &Viewer<'_>, row: &AgentRow) -> Markup {
    let AgentRow { name, is_paused, limit, waiting, oldest, working, held_up, figures } = row;
    html! {
        li.card data-item {
            div.card-head {
                a.card-name href=(address::with_query(address::RUNS, &[("text", name)])) { (name) }
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
                div { dt { "Verified completions" } dd { (figures.verified) span.quiet { " of " (figures.ended) " ended" } } }
                div { dt { "Accepted first time" } dd { (share(figures.first_pass, figures.verified)) } }
                div { dt { "Refuted claims" } dd { (share(figures.refuted, figures.claims)) } }
                div { dt { "Cost per completion" } dd { (price(figures)) } }
            } }
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
        @match (spent.cost_micros, figures.verified) {
            (Some(micros), 1..) => {
                @if unpriced > 0 { "> " }
                (dollars(micros / figures.verified)) " "
                span.quiet { "(" (dollars(micros)) " by " (figures.verified) @if unpriced > 0 { ", " (counted(u64::from(unpriced), "turn")) " without a price" } ")" }
            }
            (Some(micros), 0) => { (dollars(micros)) span.quiet { " spent, nothing completed" } }
            (None, _) => "–"
        }
    }
}
