//! A phase that is gone to, but does not exist.

use super::RuleFindings;
use crate::diagnostic::excerpt;
use crate::wire::{closest, distinct, join};
use crate::workflow::{WorkflowCase, Within};

rule! {
    /// ## What it checks
    /// Whether every phase that something leads to exists in the workflow file:
    ///
    /// - `next`: a phase of the same list, or `end`
    /// - `on_failure`: a phase of the same list, `gate` or `stop`
    /// - `choices` of a gate: a phase of the same list, `next`, `stop` or `end`
    /// - `phase` of a route: any phase
    ///
    /// Phases that run at the same time cannot lead to each other, and a phase cannot lead to itself.
    ///
    /// ## Why it matters
    /// Otherwise the mistake is only found when the run gets there, after the work of all phases before it.
    ///
    /// ## Example
    /// ```yaml
    /// phases:
    ///   - {id: implementation, agent: developer}
    ///   - {id: tests, check: cargo test, on_failure: implementaton}
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// phases:
    ///   - {id: implementation, agent: developer}
    ///   - {id: tests, check: cargo test, on_failure: implementation}
    /// ```
    "unknown-target": Workflow, Error => workflow check
}

fn check(case: &WorkflowCase<'_>, findings: &mut RuleFindings<'_>) {
    for (index, step) in case.flow.steps.iter().enumerate() {
        let alone = step.within == Within::Parallel;
        let judge = |target: &str, pointer: &str, words: &[&str], findings: &mut RuleFindings<'_>| {
            if words.contains(&target) || (!alone && case.flow.neighbour(index, target).is_some()) {
                return;
            }
            let beside = case.flow.neighbours(index).iter().filter(|_| !alone);
            let usable = beside.map(|other| case.flow.steps[*other].phase.id()).chain(words.iter().copied());
            report(target, pointer, &usable.collect::<Vec<_>>(), findings);
        };
        // Among parallel phases `next` itself is the mistake.
        if let Some(next) = step.phase.next.as_deref()
            && !alone
        {
            let pointer = join(&step.pointer, "next");
            if next == step.phase.id() {
                let message = format!("the phase `{}` leads only to itself", excerpt(next));
                findings.add(&pointer, message, "name another phase or `end`; without `next` the following phase comes next");
            } else {
                judge(next, &pointer, &["end"], findings);
            }
        }
        if let Some(target) = &step.phase.on_failure {
            judge(target, &join(&step.pointer, "on_failure"), &["gate", "stop"], findings);
        }
        for (member, gate) in step.phase.gates() {
            let choices = join(&join(&step.pointer, member), "choices");
            for (choice, target) in &gate.choices {
                // Anything but text does not name a phase either.
                judge(target.as_str().unwrap_or_default(), &join(&choices, choice), &["next", "stop", "end"], findings);
            }
        }
    }
    let known: Vec<&str> = case.flow.steps.iter().map(|step| step.phase.id()).collect();
    for (index, route) in case.workflow.routes.iter().enumerate() {
        if let Some(phase) = route.phase.as_deref().filter(|phase| !known.contains(phase)) {
            report(phase, &format!("/routes/{index}/phase"), &known, findings);
        }
    }
}

/// Returns what is called by a name here that other tools have for it.
fn usual_word(target: &str) -> Option<&'static str> {
    match target.to_ascii_lowercase().as_str() {
        "human" | "person" | "ask" | "manual" | "escalate" | "approval" => Some("gate"),
        "fail" | "abort" | "exit" | "error" => Some("stop"),
        "done" | "finish" | "complete" => Some("end"),
        "continue" => Some("next"),
        _ => None,
    }
}

fn report(target: &str, pointer: &str, usable: &[&str], findings: &mut RuleFindings<'_>) {
    let meant = closest(target, usable).or_else(|| usual_word(target).filter(|word| usable.contains(word)));
    let help = match meant {
        Some(meant) => format!("did you mean `{meant}`?"),
        None if usable.contains(&"gate") && target == "retry" => {
            "an agent tries again by itself: `retry: {max_retries: 2}`; name a phase, `gate` or `stop` here".to_owned()
        }
        None => format!("use one of: {}", distinct(usable).join(", ")),
    };
    findings.add(pointer, format!("unknown phase `{}`", excerpt(target)), help);
}
