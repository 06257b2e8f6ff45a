//! Two runs side by side: where they parted, what each phase came to, what it cost and how long it took.

use baton_engine::run::{Run, TrackedHandoff};
use baton_engine::step::Role;
use baton_views::run_summary::{PhaseSummary, RunSummary};
use baton_views::words::DID_NOT_PASS;
use maud::{Markup, html};

use crate::address;
use crate::layout::{self, Frame, Section, Viewer};
use crate::pieces::{cost, length, pill};
use crate::run::{name, own_words};
use crate::run_state::RunState;

/// One of two runs.
#[derive(Debug, Clone, Copy)]
pub struct ComparedRun<'c> {
    /// The run.
    pub run: &'c Run,
    /// Its phases.
    pub summary: &'c RunSummary,
    /// Its state.
    pub state: RunState,
}

/// The page.
pub fn page(viewer: &Viewer<'_>, a: &ComparedRun<'_>, b: &ComparedRun<'_>) -> Markup {
    let here = address::compare(&a.run.id, &b.run.id);
    let title = format!("{} and {}", a.run.id, b.run.id);
    let frame = Frame::still(&title, Section::Runs, &here);
    layout::page(
        viewer,
        &frame,
        html! {
            p.trail { a href=(address::RUNS) { "Runs" } }
            h1 { "Two runs" }
            (parted(a, b))
            (totals(a, b))
            (phases(a, b))
        },
    )
}

/// What a step came to, as far as two runs can agree on it.
fn came_to(tracked: &TrackedHandoff) -> (String, &'static str, bool) {
    (name(tracked), tracked.handoff.state.name().as_str(), tracked.passed())
}

fn steps(run: &Run) -> Vec<&TrackedHandoff> {
    run.handoffs().filter(|tracked| tracked.step.role != Role::Run).collect()
}

fn parted(a: &ComparedRun<'_>, b: &ComparedRun<'_>) -> Markup {
    let (first, second) = (steps(a.run), steps(b.run));
    let same = first.iter().zip(&second).take_while(|(one, other)| came_to(one) == came_to(other)).count();
    let side = |compared: &ComparedRun<'_>, step: Option<&&TrackedHandoff>| {
        html! {
            div.side {
                p { b { (compared.run.id) } }
                @match step {
                    Some(step) => {
                        p { a href=(address::handoff(&compared.run.id, &step.handoff.id)) { (name(step)) } " " (step_pill(step)) }
                        p.soft { (own_words(step)) }
                    }
                    None => p.soft { "had nothing more to do" }
                }
            }
        }
    };
    html! {
        @if same == first.len() && same == second.len() {
            p.lead { "Both went the same way: " (same) " steps with the same outcome." }
        } @else {
            section {
                h2 { "Where they parted" }
                p.soft { @if same == 0 { "At the first step." } @else { "After " (same) " equal steps, the last of them " b { (name(first[same - 1])) } "." } }
                div.sides { (side(a, first.get(same))) (side(b, second.get(same))) }
            }
        }
    }
}

fn step_pill(tracked: &TrackedHandoff) -> Markup {
    let state = tracked.handoff.state.name().as_str();
    if state == "completed" && !tracked.passed() {
        pill("failed", DID_NOT_PASS)
    } else {
        pill(state, &state.replace('_', " "))
    }
}

fn totals(a: &ComparedRun<'_>, b: &ComparedRun<'_>) -> Markup {
    let row = |words: &str, value: &dyn Fn(&ComparedRun<'_>) -> Markup| {
        html! { tr { th scope="row" { (words) } td { (value(a)) } td { (value(b)) } } }
    };
    html! {
        div.table tabindex="0" role="region" aria-label="Figures" { table {
            thead { tr { th { span.visually-hidden { "Figure" } } th { a href=(address::run(&a.run.id)) { (a.run.id) } } th { a href=(address::run(&b.run.id)) { (b.run.id) } } } }
            tbody {
                (row("State", &|side| pill(side.state.as_str(), side.state.words())))
                (row("Workflow", &|side| html! { (side.run.definition.name()) }))
                (row("Took", &|side| html! { (length(side.summary.total.took)) }))
                (row("Spent", &|side| cost(&side.summary.total.spending, side.summary.total.tokens)))
                (row("Attempts", &|side| html! { (side.summary.total.attempts) }))
                (row("Claims", &|side| html! { (side.summary.total.evidence.signs()) }))
            }
        } }
    }
}

fn phases(a: &ComparedRun<'_>, b: &ComparedRun<'_>) -> Markup {
    let mut names: Vec<String> = Vec::new();
    for row in a.summary.phases.iter().chain(&b.summary.phases) {
        let name = row.name.to_string();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let find = |side: &ComparedRun<'_>, name: &str| {
        side.summary.phases.iter().find(|row| row.name.to_string() == name).cloned()
    };
    html! {
        h2 { "Phase by phase" }
        div.table tabindex="0" role="region" aria-label="Phases" { table {
            thead { tr { th { "Phase" } th { (a.run.id) } th { (b.run.id) } } }
            tbody { @for name in &names {
                @let (one, other) = (find(a, name), find(b, name));
                @let differs = one.as_ref().map(|row| &row.outcome) != other.as_ref().map(|row| &row.outcome);
                tr.(if differs { "differs" } else { "same" }) { th scope="row" { (name) } td { (phase(one.as_ref())) } td { (phase(other.as_ref())) } }
            } }
        } }
    }
}

fn phase(row: Option<&PhaseSummary>) -> Markup {
    html! {
        @match row {
            None => span.quiet { "not visited" }
            Some(row) => {
                (row.outcome)
                div.quiet { (length(row.took)) " · " (cost(&row.spending, row.tokens)) @if row.attempts > 1 { " · " (row.attempts) " attempts" } " " (row.evidence.signs()) }
            }
        }
    }
}
