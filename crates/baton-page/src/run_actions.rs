//! What can be done with a run, each with the reason that the journal keeps.

use baton_engine::run::Run;
use maud::{Markup, html};

use crate::address;
use crate::layout::Viewer;
use crate::pieces::{hidden, typed_text};
use crate::run::RunPage;
use crate::run_state::RunState;
use crate::starting::field;

/// What somebody has sent about a run that could not be done. Nothing that they typed is lost.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RefusedAction {
    /// Which form it was: `retry` or `cancel`.
    pub form: &'static str,
    /// Why it was not done, in a sentence.
    pub why: String,
    /// The phase that was chosen.
    pub from: String,
    /// The note or the reason.
    pub words: String,
    /// The inputs, by their names.
    pub inputs: Vec<(String, String)>,
}

/// Shows the forms of a run.
pub(crate) fn shown(viewer: &Viewer<'_>, page: &RunPage<'_>, refused: Option<&RefusedAction>) -> Markup {
    let run = &page.run.id;
    html! {
        @if let Some(refused) = refused {
            div.cause role="alert" { p.cause-what { "Not done: " (refused.why) } }
        }
        div.actions {
            @if viewer.may_control { (controls(viewer, page, refused)) }
            (fold("compare", "Compare", false, html! {
                form method="get" action=(address::COMPARE) {
                    (hidden("a", run.as_str()))
                    label.field { span { "With which run" } input name="b" required placeholder="run id"; }
                    button type="submit" { "Compare" }
                }
            }))
        }
        @if viewer.may_control && page.state(viewer) == RunState::Completed {
            p.quiet { "A completed run cannot be repeated; "
                @if viewer.may_start { a href=(like(page.run)) { "start a new one" } } @else { "start a new one" } "." }
            // The run may have ended while somebody was typing.
            @if let Some(typed) = refused.filter(|refused| !refused.words.is_empty()) {
                h2 { "What you had typed" } p.prose { (typed.words) }
            }
        }
    }
}

fn controls(viewer: &Viewer<'_>, page: &RunPage<'_>, refused: Option<&RefusedAction>) -> Markup {
    let (run, state) = (&page.run.id, page.state(viewer));
    let typed = |form: &str| refused.filter(|refused| refused.form == form);
    let words = |form: &str| typed(form).map(|refused| refused.words.as_str()).unwrap_or_default();
    let from = typed("retry").map(|refused| refused.from.as_str()).unwrap_or_default();
    html! {
        @if state == RunState::Interrupted {
            form method="post" action=(address::resume(run)) {
                (hidden("csrf", viewer.csrf))
                button.main type="submit" { "Resume" }
            }
        }
        @if matches!(state, RunState::Failed | RunState::Cancelled | RunState::Interrupted) {
            (fold("retry", "Do a phase again", typed("retry").is_some(), html! {
                form method="post" action=(address::retry(run)) {
                    (hidden("csrf", viewer.csrf))
                    label.field { span { "From" } select #(address::RETRY_FROM) name="from" {
                        option value="" { "the phase that it came to last" }
                        @for phase in visited(page.run) { option value=(phase) selected[phase == from] { (phase) } }
                    } }
                    label.field { span { "Why, and what the agent should know" } textarea name="note" required { (typed_text(words("retry"))) } }
                    (inputs(page.run, typed("retry")))
                    p.quiet { "Earlier results are kept; limits start again from zero. The note stands in the journal." }
                    @if viewer.may_start { p.quiet { "Or " a href=(like(page.run)) { "start another run like this one" } "." } }
                    button.main type="submit" { "Do it again" }
                }
            }))
        }
        @if !state.is_ended() {
            (fold("cancel", "Cancel the run", typed("cancel").is_some(), html! {
                form method="post" action=(address::cancel(run)) {
                    (hidden("csrf", viewer.csrf))
                    label.field { span { "Why" } textarea name="reason" required { (typed_text(words("cancel"))) } }
                    p.quiet { "Agents that work are stopped. The reason stands in the journal." }
                    button.danger type="submit" { "Cancel the run" }
                }
            }))
        }
    }
}

/// Shows what the run was given, to be edited.
fn inputs(run: &Run, refused: Option<&RefusedAction>) -> Markup {
    let definition = &run.definition;
    let value = |name: &str| match refused.and_then(|refused| refused.inputs.iter().find(|(typed, _)| typed == name)) {
        Some((_, typed)) => typed_text(typed),
        None => html! { (definition.typed(name)) },
    };
    html! {
        @if !definition.inputs.is_empty() {
            details.inputs open[refused.is_some()] {
                summary { "Its inputs" }
                p.quiet { "What is changed here counts from that phase on. Nothing can be changed behind a place where a person decides, such as a gate or a review: nobody there has seen other inputs." }
                @for (name, _) in definition.workflow.inputs.iter() {
                    label.field { span { (name) }
                        textarea.line name={ (field::INPUT) (name) } rows="1" {
                            // The first line break of a field belongs to the markup, not to the text.
                            "\n" (value(name))
                        }
                    }
                }
            }
        }
    }
}

fn like(run: &Run) -> String {
    address::start_like(run.definition.name(), &run.id)
}

/// A form that opens on demand.
fn fold(id: &str, words: &str, is_open: bool, content: Markup) -> Markup {
    html! { details.act #(id) open[is_open] { summary.button { (words) } (content) } }
}

fn visited(run: &Run) -> Vec<&str> {
    let mut phases: Vec<&str> = Vec::new();
    for tracked in run.handoffs().filter(|tracked| tracked.step.role.is_phase()) {
        let phase = tracked.step.phase.as_str();
        if !phase.contains('/') && !phases.contains(&phase) {
            phases.push(phase);
        }
    }
    phases
}
