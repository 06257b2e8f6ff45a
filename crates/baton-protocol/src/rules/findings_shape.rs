//! Findings that do not have the form of their phase.

use super::{Case, RuleFindings};
use crate::dialect::Dialect;
use crate::model::Report;
use crate::model::findings::{Parallel, Research, Validate, Write};
use crate::model::terms::{ExpectedOutput, Outcome, TaskPhase};
use crate::wire::join;

rule! {
    /// ## What it checks
    /// The findings of a report do not have the form that was asked for:
    ///
    /// - they are those of another phase than the report names;
    /// - they are not what the request's `expected_output` wants, where the request is known;
    /// - the work is complete, but the findings hold nothing that the phase knows. Lists that are there and empty
    ///   are fine: they say that nothing was found;
    /// - a relevance, a severity or the type of a conflict in them is unknown.
    ///
    /// Applies to reports in the `task` and `native` dialects.
    ///
    /// ## Why it matters
    /// The orchestrator reads the findings by phase. Findings of another form are not looked at, and an empty object
    /// reads like "nothing found".
    ///
    /// ## Example
    /// ```json
    /// { "phase": "research", "findings": { "files_created": [{ "path": "src/quota.rs" }] } }
    /// ```
    ///
    /// ## Use instead
    /// ```json
    /// { "phase": "write", "findings": { "files_created": [{ "path": "src/quota.rs" }] } }
    /// ```
    "findings-shape": Task, Error => check
}

fn check(case: &Case<'_>, findings: &mut RuleFindings<'_>) {
    if !matches!(case.dialect, Dialect::Task | Dialect::Native) {
        return;
    }
    let Some(report) = case.report() else { return };
    let Some(own) = report.findings.as_ref().map(|findings| findings.phase()) else {
        return;
    };
    if let Some(phase) = phase_of(report).filter(|phase| *phase != own) {
        let message = format!("these are the findings of `{}`, but the phase is `{}`", own.as_str(), phase.as_str());
        findings.add("/findings", message, format!("report {}", members_of(phase)));
    } else if let Some(wanted) = wanted(case).filter(|wanted| wanted.phase() != own) {
        let message =
            format!("the request wants `{}`, but these are the findings of `{}`", wanted.as_str(), own.as_str());
        findings.add("/findings", message, format!("report {}", members_of(wanted.phase())));
    } else if report.outcome == Some(Outcome::Complete) && says_nothing(case, report) {
        let message = format!("the work is complete, but the findings hold nothing that `{}` knows", own.as_str());
        findings.add("/findings", message, format!("report {}", members_of(own)));
    }
}

fn phase_of(report: &Report) -> Option<TaskPhase> {
    report.phase.as_ref()?.name().and_then(TaskPhase::parse)
}

fn wanted(case: &Case<'_>) -> Option<ExpectedOutput> {
    let expected = case.surroundings.request?.expectations.as_ref()?;
    expected.output.as_deref().and_then(ExpectedOutput::parse)
}

fn members(phase: TaskPhase) -> &'static [&'static str] {
    match phase {
        TaskPhase::Research => Research::MEMBERS,
        TaskPhase::Write => Write::MEMBERS,
        TaskPhase::Validate => Validate::MEMBERS,
        TaskPhase::Parallel => Parallel::MEMBERS,
    }
}

fn members_of(phase: TaskPhase) -> String {
    members(phase).join(", ")
}

/// Returns whether the findings have no member of their phase, not even an empty list.
fn says_nothing(case: &Case<'_>, report: &Report) -> bool {
    use crate::model::PhaseFindings;
    let phase = match report.findings.as_ref() {
        Some(PhaseFindings::Research(research)) if *research == Research::default() => TaskPhase::Research,
        Some(PhaseFindings::Write(write)) if *write == Write::default() => TaskPhase::Write,
        // The others have required members, which were looked for while reading.
        _ => return false,
    };
    !members(phase).iter().any(|member| case.kept(&join("/findings", member)).is_some())
}
