//! The list of runs: where each stands, why it waits, what it cost; filters in the address, and a cursor.

use baton_engine::session::Spending;
use baton_views::details::ListedRun;
use baton_views::words::counted;
use maud::{Markup, html};

use crate::layout::{self, Frame, Section, Viewer};
use crate::pieces::{cost, empty, length, pill, since};
use crate::run_state::{RunState, listed_state, why};
use crate::{address, live};

/// A run in the list.
#[derive(Debug, Clone)]
pub struct RunRow {
    /// The run.
    pub listed: ListedRun,
    /// What a person is asked first, in one sentence; empty if nobody is asked.
    pub asked: String,
    /// How many phases of its workflow have passed.
    pub phases_done: usize,
    /// How many phases its workflow has.
    pub phases: usize,
    /// What it has spent, as far as somebody has looked.
    pub spending: Spending,
    /// How many tokens it took.
    pub tokens: u64,
}

/// What is looked for: all of it is part of the address.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunFilter {
    /// Only runs in this state.
    pub state: Option<RunState>,
    /// Only runs of this workflow.
    pub workflow: String,
    /// Only runs whose ids, phases, agents, inputs or summaries contain this.
    pub text: String,
}

/// A page of the list.
#[derive(Debug, Clone)]
pub struct RunList<'l> {
    /// The runs, the newest first.
    pub rows: &'l [RunRow],
    /// What was looked for.
    pub filter: &'l RunFilter,
    /// How many runs there are in each state that fit the rest of the filter; `None` if nobody has counted.
    pub counts: Option<&'l [(RunState, usize)]>,
    /// Whether no run is left out of these counts.
    pub is_all_counted: bool,
    /// The workflows to choose from.
    pub workflows: &'l [String],
    /// Where the next page begins.
    pub next: Option<&'l str>,
    /// Whether this is not the first page.
    pub is_later: bool,
}

impl RunFilter {
    /// Returns the address of the list with this filter, from a place on.
    pub fn address(&self, after: &str) -> String {
        let state = self.state.map(RunState::as_str).unwrap_or_default();
        let members = [("state", state), ("workflow", &self.workflow), ("text", &self.text), ("after", after)];
        address::with_query(address::RUNS, &members)
    }

    fn in_state(&self, state: Option<RunState>) -> RunFilter {
        RunFilter { state, ..self.clone() }
    }

    fn is_empty(&self) -> bool {
        *self == RunFilter::default()
    }
}

/// The whole page.
pub fn page(viewer: &Viewer<'_>, list: &RunList<'_>) -> Markup {
    let here = list.filter.address("");
    let frame = Frame::live("Runs", Section::Runs, &here, Some(address::EVENTS));
    layout::page(
        viewer,
        &frame,
        html! {
            div.headline {
                h1 { "Runs" }
                @if viewer.may_start { a.button.main href=(address::START) { "Start a run" } }
            }
            (search(list))
            (rows(viewer, list))
        },
    )
}

/// The rows alone, for the script.
pub fn fragment(viewer: &Viewer<'_>, list: &RunList<'_>) -> Markup {
    layout::fragment(rows(viewer, list))
}

fn search(list: &RunList<'_>) -> Markup {
    let filter = list.filter;
    html! {
        form.search role="search" method="get" action=(address::RUNS) {
            @if let Some(state) = filter.state { input type="hidden" name="state" value=(state.as_str()); }
            label { span.visually-hidden { "Search runs" }
                input type="search" name="text" value=(filter.text) placeholder="Id, phase, agent or words";
            }
            label { span.visually-hidden { "Workflow" }
                select name="workflow" {
                    option value="" { "All workflows" }
                    @for workflow in list.workflows {
                        option value=(workflow) selected[*workflow == filter.workflow] { (workflow) }
                    }
                }
            }
            button type="submit" { "Search" }
        }
        nav.filters aria-label="State" {
            (chip(list, None, list.counts.map(|counts| counts.iter().map(|(_, count)| count).sum())))
            @for state in RunState::ALL {
                (chip(list, Some(state), list.counts.map(|counts| count_of(counts, state))))
            }
        }
    }
}

fn count_of(counts: &[(RunState, usize)], state: RunState) -> usize {
    counts.iter().find(|(counted, _)| *counted == state).map(|(_, count)| *count).unwrap_or_default()
}

fn chip(list: &RunList<'_>, state: Option<RunState>, count: Option<usize>) -> Markup {
    let filter = list.filter;
    let current = (filter.state == state).then_some("true");
    let words = state.map_or("all", RunState::words);
    html! {
        a.chip href=(filter.in_state(state).address("")) aria-current=[current] {
            (words) @if let Some(count) = count { " " span.count { (count) @if !list.is_all_counted { "+" } } }
        }
    }
}

fn rows(viewer: &Viewer<'_>, list: &RunList<'_>) -> Markup {
    html! {
        div #(live::RUNS) {
            @if list.rows.is_empty() { (nothing(viewer, list)) }
            @else {
                ul.cards.runs {
                    @for row in list.rows { (card(viewer, row)) }
                }
            }
            nav.pages aria-label="Pages" {
                @if list.is_later { a href=(list.filter.address("")) { "← Newest" } }
                @if let Some(next) = list.next { a rel="next" href=(list.filter.address(next)) { "Older runs →" } }
            }
        }
    }
}

fn nothing(viewer: &Viewer<'_>, list: &RunList<'_>) -> Markup {
    if list.filter.is_empty() {
        empty(
            "No runs yet",
            html! {
                p {
                    @if viewer.may_start { a href=(address::START) { "Start one here" } ", or in your project:" }
                    @else { "Start one in your project, and it appears here:" }
                }
                pre { "baton init\nbaton run" }
            },
        )
    } else if let Some(next) = list.next {
        let further = list.filter.address(next);
        empty(
            "Nothing fits so far",
            html! { p { "Older runs were not looked at yet. " a href=(further) { "Look further" } } },
        )
    } else {
        empty("Nothing fits", html! { p { a href=(address::RUNS) { "Show all runs" } } })
    }
}

fn card(viewer: &Viewer<'_>, row: &RunRow) -> Markup {
    let RunRow { listed, asked, phases_done, phases, spending, tokens } = row;
    let state = listed_state(listed);
    let address = address::run(&listed.root.run);
    html! {
        li.card data-item {
            div.card-head {
                a.card-name href=(address) { (listed.root.id) }
                (pill(state.as_str(), state.words()))
            }
            p.why {
                @match listed.waiting.first() {
                    Some(first) => a href=(address::question(&first.handoff)) { (why(listed, asked, viewer.now)) }
                    None => (why(listed, asked, viewer.now))
                }
            }
            div.facts {
                span { (listed.workflow) }
                (progress(*phases_done, *phases))
                span title="Spent" { (cost(spending, *tokens)) }
                span title="Took" { (length(listed.took)) }
                span { (since(listed.root.accepted_at, viewer.now)) }
            }
        }
    }
}

fn progress(done: usize, all: usize) -> Markup {
    let words = format!("{done} of {} done", counted(all, "phase"));
    html! {
        span.progress {
            progress value=(done) max=(all.max(1)) aria-label=(words) {}
            " " (done) "/" (all)
        }
    }
}
