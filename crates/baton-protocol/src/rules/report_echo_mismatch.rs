//! A report that answers another request than the one it is for.

use super::{Case, Findings};
use crate::dialect::Dialect;
use crate::wire::same_word;

rule! {
    /// ## What it checks
    /// The report does not echo its request: the identifier differs or, in the `task` dialect, the phase. Applies to
    /// reports of every dialect that has identifiers, and only where the request is known.
    ///
    /// ## Why it matters
    /// The identifier is the only thread between question and answer. An agent that answers from memory, or for its
    /// neighbour, makes a phase advance on work that was never done for it.
    ///
    /// ## Example
    /// The request has `"task_id": "export-07"` and `"phase": "write"`.
    /// ```json
    /// { "task_id": "export-06", "phase": "research", "status": "complete" }
    /// ```
    ///
    /// ## Use instead
    /// ```json
    /// { "task_id": "export-07", "phase": "write", "status": "complete" }
    /// ```
    "report-echo-mismatch": Task, Error => check
}

fn check(case: &Case<'_>, findings: &mut Findings<'_>) {
    let (Some(report), Some(request)) = (case.report(), case.surroundings.request) else {
        return;
    };
    if let (Some(said), Some(asked)) = (&report.id, &request.id)
        && said != asked
    {
        findings.add(
            "/id",
            format!("this answers `{said}`, but the request is `{asked}`"),
            format!("repeat the request's identifier, `{asked}`, or give the answer to the request that it belongs to"),
        );
    }
    if case.dialect != Dialect::Task {
        return;
    }
    if let (Some(said), Some(asked)) = (&report.phase, &request.phase)
        && !same_word(&said.to_string(), &asked.to_string())
    {
        findings.add(
            "/phase",
            format!("this is about the phase `{said}`, but the request is about `{asked}`"),
            format!("repeat the request's phase, `{asked}`, and answer for it"),
        );
    }
}
