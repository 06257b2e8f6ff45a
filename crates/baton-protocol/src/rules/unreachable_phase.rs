//! A phase that no way leads to.

use super::RuleFindings;
use crate::diagnostic::excerpt;
use crate::workflow::{WorkflowCase, Within};

rule! {
    /// ## What it checks
    /// Whether every phase of a workflow file can be reached from the first one of its list: by the order of the list,
    /// `next`, `on_failure`, the choices of a gate, or a route.
    ///
    /// ## Why it matters
    /// A review that `next` jumps over never happens, and the file still looks as if it did.
    ///
    /// ## Example
    /// ```yaml
    /// phases:
    ///   - {id: implementation, agent: developer, next: release}
    ///   - {id: review, agent: reviewer}
    ///   - {id: release, check: ./release.sh}
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// phases:
    ///   - {id: implementation, agent: developer}
    ///   - {id: review, agent: reviewer}
    ///   - {id: release, check: ./release.sh}
    /// ```
    "unreachable-phase": Workflow, Error => workflow check
}

fn check(case: &WorkflowCase<'_>, findings: &mut RuleFindings<'_>) {
    let flow = &case.flow;
    for list in flow.lists() {
        let Some(first) = list.first().copied().filter(|first| flow.steps[*first].within != Within::Parallel) else {
            continue;
        };
        let reached = flow.reach(first);
        for step in list.iter().copied().filter(|step| *step != first && !reached[*step]) {
            findings.add(
                &flow.steps[step].pointer,
                format!("nothing leads to the phase `{}`", excerpt(flow.steps[step].phase.id())),
                "let a phase before it go on to it, or drop it",
            );
        }
    }
}
