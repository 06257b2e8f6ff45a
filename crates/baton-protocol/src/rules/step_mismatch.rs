//! Steps of a workflow that contradict each other.

use super::{Case, RuleFindings};
use crate::model::request::WorkflowState;
use crate::wire::{Label, same_word};

rule! {
    /// ## What it checks
    /// The workflow state contradicts itself: the current step is also completed, a step is both completed and
    /// remaining, or a numbered current step does not fit the number of completed ones. Counting from 0 and from 1
    /// are both accepted, and steps that are numbers themselves are not counted. Applies to requests in the
    /// `package` and `native` dialects.
    ///
    /// ## Why it matters
    /// Resuming the workflow from this state skips a step or repeats one.
    ///
    /// ## Example
    /// ```yaml
    /// workflow_state:
    ///   current_step: 4
    ///   completed_steps: ["intake", "design"]
    ///   remaining_steps: ["design", "build"]
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// workflow_state:
    ///   current_step: 3
    ///   completed_steps: ["intake", "design"]
    ///   remaining_steps: ["build"]
    /// ```
    "step-mismatch": Package, Error => check
}

fn check(case: &Case<'_>, findings: &mut RuleFindings<'_>) {
    let Some(workflow) = case.package().and_then(|request| request.workflow.as_ref()) else {
        return;
    };
    let is_completed = |step: &Label| workflow.completed_steps.iter().any(|completed| same_step(completed, step));
    if let Some(current) = workflow.current_step.as_ref() {
        if is_completed(current) {
            findings.add(
                "/workflow/current_step",
                format!("`{current}` is the current step, but `completed_steps` has it already"),
                "name the step that comes now, or take it out of `completed_steps`",
            );
        } else if let Some(counted) = miscounted(current, workflow) {
            findings.add(
                "/workflow/current_step",
                format!("the current step is {counted}, but `completed_steps` has {}", workflow.completed_steps.len()),
                "correct the number, or list every completed step",
            );
        }
    }
    for (index, step) in workflow.remaining_steps.iter().enumerate() {
        if is_completed(step) {
            findings.add(
                &format!("/workflow/remaining_steps/{index}"),
                format!("`{step}` is both completed and remaining"),
                "leave it in one of the two lists",
            );
        }
    }
}

/// Returns the number of the current step if it cannot follow the completed ones.
fn miscounted(current: &Label, workflow: &WorkflowState) -> Option<u64> {
    let completed = &workflow.completed_steps;
    // Numbers are labels, not counts: a workflow may begin at 3 or have a step 4.5.
    if completed.is_empty() || completed.iter().any(|step| number(step).is_some()) {
        return None;
    }
    let count = completed.len() as u64;
    whole(current).filter(|current| *current != count && *current != count + 1)
}

fn same_step(left: &Label, right: &Label) -> bool {
    match (left, right) {
        (Label::Name(left), Label::Name(right)) => same_word(left, right),
        _ => number(left).is_some() && number(left) == number(right),
    }
}

fn number(step: &Label) -> Option<f64> {
    match step {
        Label::Number(number) => number.as_f64(),
        Label::Name(name) => name.trim().parse().ok(),
    }
}

fn whole(step: &Label) -> Option<u64> {
    match step {
        Label::Number(number) => number.as_u64(),
        Label::Name(name) => name.trim().parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(current: Label, completed: &[&str]) -> WorkflowState {
        let completed_steps = completed.iter().map(|name| Label::Name((*name).to_owned())).collect();
        WorkflowState { current_step: Some(current), completed_steps, ..WorkflowState::default() }
    }

    fn counted(current: u64, completed: &[&str]) -> Option<u64> {
        let current = Label::Number(current.into());
        miscounted(&current, &state(current.clone(), completed))
    }

    #[test]
    fn steps_count_from_zero_or_one() {
        assert_eq!(counted(2, &["a", "b"]), None);
        assert_eq!(counted(3, &["a", "b"]), None);
        assert_eq!(counted(4, &["a", "b"]), Some(4));
        assert_eq!(counted(1, &["a", "b"]), Some(1));
    }

    #[test]
    fn numbered_steps_and_unknown_pasts_are_not_counted() {
        assert_eq!(counted(7, &["5", "6"]), None);
        assert_eq!(counted(7, &[]), None);
    }

    #[test]
    fn a_number_is_the_same_step_however_it_is_written() {
        assert!(same_step(&Label::Number(2.into()), &Label::Name("2".to_owned())));
        assert!(same_step(&Label::Name("Code Review".to_owned()), &Label::Name("code-review".to_owned())));
        assert!(!same_step(&Label::Number(2.into()), &Label::Name("design".to_owned())));
    }
}
