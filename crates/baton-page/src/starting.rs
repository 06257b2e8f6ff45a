//! The form that starts a run: which workflow, what it is given, where its agents work.

use maud::{Markup, html};

use crate::address;
use crate::layout::{self, Frame, Section, Viewer};
use crate::pieces::{empty, hidden, typed_text};

/// A workflow that runs can be started from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartableWorkflow {
    /// Its name.
    pub name: String,
    /// What it says about itself.
    pub description: Option<String>,
    /// What it can be given.
    pub inputs: Vec<StartInput>,
    /// Its phases, in order.
    pub phases: Vec<String>,
}

/// Something that a workflow can be given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartInput {
    /// Its name.
    pub name: String,
    /// What it is.
    pub description: Option<String>,
    /// What counts if nothing is given, as somebody would type it.
    pub default: Option<String>,
    /// Whether a run cannot start without it.
    pub is_required: bool,
}

/// What stands in the form already: what somebody has sent that could not be taken, so that nothing they typed is lost, or what
/// another run was given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SentStart {
    /// Why it was not taken, in a sentence; empty if nothing was sent.
    pub why: String,
    /// What to do about it.
    pub advice: Option<String>,
    /// What was typed, by the name of the input.
    pub inputs: Vec<(String, String)>,
    /// The folder.
    pub workspace: String,
    /// The id.
    pub id: String,
}

/// Names of the fields of the form. The server reads them.
pub mod field {
    /// The name of the workflow.
    pub const WORKFLOW: &str = "workflow";
    /// Begins the name of the field of an input.
    pub const INPUT: &str = "input.";
    /// The folder.
    pub const WORKSPACE: &str = "workspace";
    /// The id.
    pub const ID: &str = "id";
}

/// The workflows to choose from.
pub fn choice(viewer: &Viewer<'_>, workflows: &[StartableWorkflow]) -> Markup {
    let frame = Frame::still("Start a run", Section::Runs, address::START);
    layout::page(
        viewer,
        &frame,
        html! {
            p.trail { a href=(address::RUNS) { "Runs" } }
            h1 { "Start a run" }
            @if workflows.is_empty() {
                (empty("This server knows no workflow", html! {
                    p { "Start the server with the folder or file of one:" }
                    pre { "baton serve --workflow PATH" }
                }))
            } @else {
                p.lead { "Which workflow?" }
                ul.cards { @for workflow in workflows {
                    li.card data-item {
                        div.card-head { a.card-name href=(address::start(&workflow.name)) { (workflow.name) } }
                        @if let Some(description) = &workflow.description { p.why { (description) } }
                        p.quiet { (workflow.phases.join(" → ")) }
                    }
                } }
            }
        },
    )
}

/// The form of one workflow. `sent` is what stands in it already.
pub fn form(viewer: &Viewer<'_>, workflow: &StartableWorkflow, sent: Option<&SentStart>) -> Markup {
    let here = address::start(&workflow.name);
    let title = format!("Start {}", workflow.name);
    let frame = Frame::still(&title, Section::Runs, &here);
    let empty = SentStart::default();
    let typed = sent.unwrap_or(&empty);
    layout::page(
        viewer,
        &frame,
        html! {
            p.trail { a href=(address::RUNS) { "Runs" } " / " a href=(address::START) { "Start a run" } }
            div.form-page {
                h1 { (title) }
                @if let Some(description) = &workflow.description { p.lead { (description) } }
                p.quiet { (workflow.phases.join(" → ")) }
                @if let Some(sent) = sent.filter(|sent| !sent.why.is_empty()) {
                    div.cause role="alert" {
                        p.cause-what { "Not started: " (sent.why) }
                        @if let Some(advice) = &sent.advice { p { "What to do: " (advice) } }
                    }
                }
                form method="post" action=(address::START) {
                    (hidden("csrf", viewer.csrf))
                    (hidden(field::WORKFLOW, &workflow.name))
                    @for input in &workflow.inputs { (input_field(input, typed)) }
                    label.field {
                        span { "Workspace " span.quiet { "(optional, a folder inside the server's own)" } }
                        input.wide name=(field::WORKSPACE) value=(typed_text(&typed.workspace)) placeholder="the server's own folder" autocomplete="off" spellcheck="false";
                    }
                    label.field {
                        span { "Id of the run " span.quiet { "(optional)" } }
                        input.wide name=(field::ID) value=(typed_text(&typed.id)) placeholder={ (workflow.name) "-…" } autocomplete="off" spellcheck="false";
                    }
                    p.quiet { "Two runs cannot work in the same folder at the same time, and none inside the folder of another. A run in the server's own folder keeps all others waiting until it ends." }
                    button.main type="submit" { "Start the run" }
                }
            }
        },
    )
}

fn input_field(input: &StartInput, typed: &SentStart) -> Markup {
    let value = typed.inputs.iter().find(|(name, _)| *name == input.name).map(|(_, value)| value.as_str());
    html! {
        label.field {
            span { (input.name)
                @if !input.is_required { " " span.quiet { "(optional)" } }
                @if let Some(description) = &input.description { span.hint { (description) } }
            }
            textarea.line name={ (field::INPUT) (input.name) } rows="1" required[input.is_required] placeholder=[input.default.as_deref()] {
                // The first line break of a field belongs to the markup, not to the text.
                "\n" (typed_text(value.unwrap_or_default()))
            }
        }
    }
}
