//! Work that can only be sent back by a verdict that nobody asks for.

use super::RuleFindings;
use crate::wire::{closest, join, same_word};
use crate::workflow::{FlowStep, WorkflowCase, Within};

rule! {
    /// ## What it checks
    /// Whether an agent whose phase of a workflow file sends work back to an earlier phase (`on_failure: PHASE`) must say
    /// whether the work is good. It must in a phase with `kind: review` or `kind: validate`, and does not have to where
    /// `verify` decides. A group counts with its members.
    ///
    /// ## Why it matters
    /// "Complete" says that the agent has finished. Without `kind: review` its prompt may not ask for a `verdict`, and a
    /// report without one counts as passed: the way back is never taken.
    ///
    /// ## Example
    /// ```yaml
    /// phases:
    ///   - {id: build, agent: developer}
    ///   - {id: look, agent: reviewer, on_failure: build}
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// phases:
    ///   - {id: build, agent: developer}
    ///   - {id: look, agent: reviewer, kind: review, on_failure: build}
    /// ```
    "verdict-not-required": Workflow, Warning => workflow check
}

fn check(case: &WorkflowCase<'_>, findings: &mut RuleFindings<'_>) {
    for (index, step) in case.flow.steps.iter().enumerate() {
        // What runs at the same time is sent back by its group.
        let sender = step.parent.filter(|_| step.within == Within::Parallel).unwrap_or(index);
        let Some(back) = goes_back(case, sender).filter(|_| is_silent(step)) else { continue };
        let id = step.phase.id();
        findings.add(
            &join(&step.pointer, "id"),
            format!("`{id}` sends work back to `{back}`, but its report may leave out the verdict"),
            "add `kind: review`, so that a verdict is required; or `verify`, so that a command decides",
        );
    }
}

/// Returns the earlier phase that a phase sends work back to.
fn goes_back<'c>(case: &'c WorkflowCase<'_>, step: usize) -> Option<&'c str> {
    let back = case.flow.steps[step].phase.on_failure.as_deref()?;
    case.flow.neighbour(step, back).filter(|earlier| *earlier < step).map(|_| back)
}

/// Returns whether nothing but an optional verdict says that the work is not good.
fn is_silent(step: &FlowStep<'_>) -> bool {
    let phase = step.phase;
    let is_asked = match &phase.kind {
        // What is nearly one of these is reported as a misspelling.
        Some(kind) => closest(kind, &["review", "validate", "parallel"]).is_some(),
        // Without a kind the name says it, as in the task dialect.
        None => same_word(phase.id(), "validate"),
    };
    phase.agent.is_some() && !is_asked && phase.verify.is_empty() && phase.review.is_none()
}
