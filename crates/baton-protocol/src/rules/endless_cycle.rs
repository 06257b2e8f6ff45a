//! Phases that can follow each other for ever.

use super::RuleFindings;
use crate::workflow::{WorkflowCase, Flow};

rule! {
    /// ## What it checks
    /// Whether phases can follow each other in a circle, by `next`, `on_failure`, choices or routes, while
    /// `limits.visits_per_phase` is 0, which means without limit.
    ///
    /// ## Why it matters
    /// "Back to the developer until the tests pass" is how teams work, but two agents that do not understand each other
    /// go on until the money is gone. With a limit a person looks after a few rounds.
    ///
    /// ## Example
    /// ```yaml
    /// phases:
    ///   - {id: implementation, agent: developer}
    ///   - {id: tests, check: cargo test, on_failure: implementation}
    /// limits: {visits_per_phase: 0}
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// phases:
    ///   - {id: implementation, agent: developer}
    ///   - {id: tests, check: cargo test, on_failure: implementation}
    /// limits: {visits_per_phase: 5}
    /// ```
    "endless-cycle": Workflow, Error => workflow check
}

fn check(case: &WorkflowCase<'_>, findings: &mut RuleFindings<'_>) {
    if case.workflow.limits.as_ref().and_then(|limits| limits.visits_per_phase) != Some(0) {
        return;
    }
    let flow = &case.flow;
    let mut told = vec![false; flow.steps.len()];
    for step in 0..flow.steps.len() {
        if told[step] {
            continue;
        }
        let cycle = cycle(flow, step);
        if !cycle.is_empty() {
            let names: Vec<&str> = cycle.iter().map(|step| flow.steps[*step].phase.id()).collect();
            findings.add(
                &flow.steps[step].pointer,
                format!("these phases can follow each other forever: {}", names.join(", ")),
                "give `limits.visits_per_phase` a number above 0",
            );
        }
        cycle.into_iter().for_each(|step| told[step] = true);
    }
}

/// Returns the phases that a step shares a circle with, and itself.
fn cycle(flow: &Flow<'_>, step: usize) -> Vec<usize> {
    let (before, after) = (flow.origins(step), flow.reach(step));
    flow.neighbours(step).iter().copied().filter(|other| after[*other] && before[*other]).collect()
}
