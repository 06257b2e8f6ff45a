//! Why a run stands still or has failed: the command, its last lines, and what to do.

use baton_engine::flow;
use baton_engine::people::{FailedCommand, Question};
use baton_engine::run::{Run, TrackedHandoff};
use baton_views::step_name::StepName;
use maud::{Markup, html};

use crate::address;
use crate::layout::Viewer;
use crate::pieces::tail;

/// How many of the last lines are shown.
const LINES_MAX: usize = 14;

/// Why a run stands still or has failed.
pub(crate) struct RootCause<'r> {
    pub(crate) step: &'r TrackedHandoff,
    pub(crate) failed: FailedCommand,
    /// The question that decides what follows.
    pub(crate) question: Option<&'r Question>,
}

impl<'r> RootCause<'r> {
    /// Finds it: what a person is asked about, or what failed last in a run that was given up.
    pub(crate) fn of(run: &'r Run, questions: &'r [Question]) -> Option<RootCause<'r>> {
        let asked = questions.iter().find_map(|question| {
            let failed = question.trouble.clone()?;
            let step = run.find(&failed.handoff)?;
            Some(RootCause { step, failed, question: Some(question) })
        });
        let has_failed = run.is_finished() && !run.root().passed();
        asked.or_else(|| {
            let mut steps = run.handoffs().rev().filter(|tracked| has_failed && tracked.step.role.is_phase());
            steps.find_map(|step| Some(RootCause { step, failed: flow::trouble(run, step)?, question: None }))
        })
    }

    /// Shows it.
    pub(crate) fn shown(&self, viewer: &Viewer<'_>, run: &Run) -> Markup {
        let FailedCommand { command, what, output, help, log, .. } = &self.failed;
        let id = &self.step.handoff.id;
        html! {
            section.cause aria-labelledby="cause" {
                h2 #cause { "What went wrong in " a href=(address::handoff(&run.id, id)) { (StepName::of(self.step)) } }
                p.cause-what { (what) }
                @if let Some(command) = command { p { code { (command) } } }
                @let whole = if log.is_some() { address::last_log(&run.id, id) } else { address::handoff_text(&run.id, id) };
                @if let Some(output) = output { (tail(output.text(), LINES_MAX, &whole)) }
                @if let Some(help) = help { p { "Hint: " (help) } }
                p.quiet { a href=(whole) { "All that it wrote" } }
                @match self.question {
                    Some(question) => p { a.button href=(address::question(&question.handoff)) { "Decide what follows" } }
                    None => p { "What to do: mend what went wrong, then "
                        @if viewer.may_control { a href={ "#" (address::RETRY_FROM) } { "do a phase again" } } @else { "do a phase again" }
                        ", or at a terminal: " code { "baton retry " (run.id) } }
                }
            }
        }
    }
}
