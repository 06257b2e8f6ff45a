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
        let mut reached = flow.reach(first);
        reached[first] = true;
        for (step, before) in list.iter().copied().skip(1).zip(list) {
            let before = &flow.steps[*before].phase;
            // Where `next` itself is wrong, that is the mistake, and what was skipped by it follows from that.
            let is_mended = before.next.as_deref().is_some_and(|next| {
                next == before.id() || (next != "end" && flow.neighbour(step, next).is_none())
            });
            if !reached[step] && !is_mended {
                let passed = before.next.as_deref().map(|next| format!(": `{}` leads to `{next}`", before.id()));
                findings.add(
                    &flow.steps[step].pointer,
                    format!("unreachable phase `{}`{}", excerpt(flow.steps[step].phase.id()), passed.unwrap_or_default()),
                    "let an earlier phase lead to it, or remove it",
                );
            }
            // What can be reached only from here is not another mistake.
            if !reached[step] {
                reached[step] = true;
                flow.reach(step).into_iter().zip(&mut reached).for_each(|(further, reached)| *reached |= further);
            }
        }
    }
}
