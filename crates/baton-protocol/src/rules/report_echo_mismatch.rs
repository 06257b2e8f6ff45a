//! A report that answers another request than the one it is for, or is somebody else's.

use super::{Case, RuleFindings, unknown_phase};
use crate::diagnostic::excerpt;
use crate::dialect::Dialect;
use crate::model::terms::TaskPhase;
use crate::model::{Report, Request};
use crate::tree::plain_number;
use crate::wire::{Label, same_word};

rule! {
    /// ## What it checks
    /// Whether the report belongs to the work that was asked for:
    ///
    /// - the identifier is that of the request, in every dialect that has identifiers;
    /// - the phase is that of the request, in the `task` dialect, if the request names `research`, `write`, `validate` or
    ///   `parallel`;
    /// - the agent is the one that worked, in every dialect that names it, packages included;
    /// - the phase is the one that was worked in, in `phase-block` and `native`: its id, or the last part of its path. In
    ///   a phase that is not called `schema_discovery`, `architecture`, `testing`, `implementation` or `review`, a
    ///   phase-block may use these words too. Numbers are not compared.
    ///
    /// Case, `-`, `_` and spaces do not matter. The first two need the request, the others a run.
    ///
    /// ## Why it matters
    /// These fields are the only thread between question and answer. An agent that answers from memory, or for its
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

fn check(case: &Case<'_>, findings: &mut RuleFindings<'_>) {
    check_agent(case, findings);
    let Some(report) = case.report() else { return };
    if let Some(request) = case.surroundings.request {
        check_request(case, report, request, findings);
    }
    if matches!(case.dialect, Dialect::PhaseBlock | Dialect::Native) {
        check_phase(case, report, findings);
    }
}

fn check_request(case: &Case<'_>, report: &Report, request: &Request, findings: &mut RuleFindings<'_>) {
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
    // A request in another dialect may call its phase anything; the phases of tasks are a closed set.
    let asked = request.phase.as_ref().and_then(Label::name).and_then(TaskPhase::parse).map(TaskPhase::as_str);
    if let (Some(said), Some(asked)) = (&report.phase, asked)
        && !same_word(&said.to_string(), asked)
    {
        findings.add(
            "/phase",
            format!("this is about the phase `{said}`, but the request is about `{asked}`"),
            format!("repeat the request's phase, `{asked}`, and answer for it"),
        );
    }
}

/// Compares who the document is from with who worked.
fn check_agent(case: &Case<'_>, findings: &mut RuleFindings<'_>) {
    let from = match case.report() {
        Some(report) => report.from.as_ref(),
        None => case.request().and_then(|request| request.from.as_ref()),
    };
    let said = from.and_then(|from| from.agent.as_deref());
    if let (Some(said), Some(worked)) = (said, case.surroundings.agent)
        && !same_word(bare(said), bare(worked))
    {
        findings.add(
            "/from/agent",
            format!("this is from `{}`, but `{worked}` did the work", excerpt(said)),
            format!("write `{worked}`, and report your own work only"),
        );
    }
}

/// Some protocols write an agent as `@name`.
fn bare(agent: &str) -> &str {
    agent.trim().trim_start_matches('@')
}

/// Compares the phase that a report is about with the one that was worked in.
fn check_phase(case: &Case<'_>, report: &Report, findings: &mut RuleFindings<'_>) {
    let Some(path) = case.surroundings.phase else { return };
    let Some(said) = report.phase.as_ref().and_then(|phase| phase.name()) else { return };
    let own = path.rsplit('/').next().unwrap_or(path);
    let usual = |word: &str| unknown_phase::PHASES.iter().any(|known| same_word(known, word));
    // The seed's five words say what kind of work it was, where the workflow calls its phase otherwise.
    let kind_of_work = case.dialect == Dialect::PhaseBlock && usual(said) && !usual(own);
    if said.trim().is_empty()
        || plain_number(said).is_some()
        || kind_of_work
        || case.surroundings.is_own_phase(said)
    {
        return;
    }
    findings.add(
        "/phase",
        format!("this is about the phase `{}`, but the work was done in `{path}`", excerpt(said)),
        format!("write `{own}`, and report what was done in it"),
    );
}
