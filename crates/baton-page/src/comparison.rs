//! Two runs side by side: where they diverged, what each phase came to, what it cost and how long it took.

use baton_engine::run::{Run, TrackedHandoff};
use baton_engine::step::Role;
use baton_views::run_summary::{PhaseSummary, RunSummary};
use baton_views::words::{counted, one_line, took};
use maud::{Markup, html};

use crate::address;
use crate::layout::{self, Frame, Section, Viewer};
use crate::pieces::{cost, length, pill, spent, step_pill, step_word};
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
            p.trail { a href=(viewer.runs) { "Runs" } }
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

/// Returns how many steps of two runs came to the same, from the first on.
fn equal_steps(first: &[&TrackedHandoff], second: &[&TrackedHandoff]) -> usize {
    first.iter().zip(second).take_while(|(one, other)| came_to(one) == came_to(other)).count()
}

fn parted(a: &ComparedRun<'_>, b: &ComparedRun<'_>) -> Markup {
    let (first, second) = (steps(a.run), steps(b.run));
    let same = equal_steps(&first, &second);
    let side = |compared: &ComparedRun<'_>, step: Option<&&TrackedHandoff>| {
        html! {
            div.side {
                p { b { (compared.run.id) } }
                @match step {
                    Some(step) => {
                        p { a href=(address::handoff(&compared.run.id, &step.handoff.id)) { (name(step)) } " " (step_pill(step.handoff.state.name(), step.passed())) }
                        p.soft { (own_words(step)) }
                    }
                    None => p.soft { "had nothing more to do" }
                }
            }
        }
    };
    html! {
        @if same == first.len() && same == second.len() {
            p.lead { "Both went the same way: " (counted(same, "step")) " with the same outcome." }
        } @else {
            section {
                h2 { "Where they diverged" }
                p.soft { @if same == 0 { "At the first step." } @else { "After " (counted(same, "equal step")) ", the last of them " b { (name(first[same - 1])) } "." } }
                div.sides { (side(a, first.get(same))) (side(b, second.get(same))) }
            }
        }
    }
}

fn totals(a: &ComparedRun<'_>, b: &ComparedRun<'_>) -> Markup {
    let row = |words: &str, value: &dyn Fn(&ComparedRun<'_>) -> Markup| {
        html! { tr { th scope="row" { (words) } td { (value(a)) } td { (value(b)) } } }
    };
    html! {
        div.table tabindex="0" role="region" aria-label="Figures" { table.compared {
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

/// Returns the names of all phases, each once.
fn phase_names(a: &ComparedRun<'_>, b: &ComparedRun<'_>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for row in a.summary.phases.iter().chain(&b.summary.phases) {
        let name = row.name.to_string();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn find<'c>(side: &ComparedRun<'c>, name: &str) -> Option<&'c PhaseSummary> {
    side.summary.phases.iter().find(|row| row.name.to_string() == name)
}

fn phases(a: &ComparedRun<'_>, b: &ComparedRun<'_>) -> Markup {
    let names = phase_names(a, b);
    html! {
        h2 { "Phase by phase" }
        div.table tabindex="0" role="region" aria-label="Phases" { table.compared {
            thead { tr { th { "Phase" } th { (a.run.id) } th { (b.run.id) } } }
            tbody { @for name in &names {
                @let (one, other) = (find(a, name), find(b, name));
                @let differs = one.map(|row| &row.outcome) != other.map(|row| &row.outcome);
                tr.(if differs { "differs" } else { "same" }) { th scope="row" { (name) } td { (phase(one)) } td { (phase(other)) } }
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
                @let signs = row.evidence.signs();
                @let is_paid = row.tokens > 0 || !row.spending.to_string().is_empty();
                div.quiet {
                    (length(row.took))
                    @if is_paid { " · " (cost(&row.spending, row.tokens)) }
                    @if row.attempts > 1 { " · " (row.attempts) " attempts" }
                    @if !signs.is_empty() { " · " (signs) }
                }
            }
        }
    }
}

/// The same as plain text, for programs.
pub(crate) fn plain(a: &ComparedRun<'_>, b: &ComparedRun<'_>) -> String {
    let mut text = String::new();
    let mut line = |label: &str, value: &dyn Fn(&ComparedRun<'_>) -> String| {
        let cell = |side| one_line(&value(side));
        text.push_str(&format!("{label:<10} {:<32} {}\n", cell(a), cell(b)));
    };
    line("run", &|side| side.run.id.to_string());
    line("workflow", &|side| side.run.definition.name().to_owned());
    line("state", &|side| side.state.words().to_owned());
    line("took", &|side| took(side.summary.total.took));
    line("spent", &|side| spent(&side.summary.total.spending, side.summary.total.tokens));
    line("attempts", &|side| side.summary.total.attempts.to_string());
    line("claims", &|side| side.summary.total.evidence.signs());
    let (first, second) = (steps(a.run), steps(b.run));
    let same = equal_steps(&first, &second);
    if same == first.len() && same == second.len() {
        text.push_str(&format!("\nboth went the same way: {} with the same outcome\n", counted(same, "step")));
    } else {
        text.push_str(&format!("\nthey diverged after {}:\n", counted(same, "equal step")));
        for (side, step) in [(a, first.get(same)), (b, second.get(same))] {
            let words = step.map_or_else(
                || "had nothing more to do".to_owned(),
                |step| {
                    format!(
                        "{} {}: {}",
                        name(step),
                        step_word(step.handoff.state.name(), step.passed()),
                        own_words(step)
                    )
                },
            );
            text.push_str(&format!("  {}: {}\n", side.run.id, one_line(&words)));
        }
    }
    text.push('\n');
    for phase in phase_names(a, b) {
        let cell = |side| find(side, &phase).map_or_else(|| "not visited".to_owned(), outcome);
        let (one, other) = (cell(a), cell(b));
        let sign = if one == other { ' ' } else { '≠' };
        text.push_str(&format!("{sign} {phase:<22} {one:<32} {other}\n"));
    }
    text
}

/// Describes in a line what a phase came to; how long it took differs between any two runs.
fn outcome(row: &PhaseSummary) -> String {
    let attempts = if row.attempts > 1 { format!(", {} attempts", row.attempts) } else { String::new() };
    format!("{}{attempts}", one_line(&row.outcome))
}
