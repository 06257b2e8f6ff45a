//! Checks: commands that Baton runs itself, compared with what the report says about them.

use baton_engine::evidence::{CheckCommand, CheckOutcome, ExaminedClaim, Scene};
use baton_protocol::model::Report;
use baton_protocol::model::terms;
use baton_protocol::rules::claim_refuted::RULE;

use super::entry::{refuted, unverifiable, verified};
use super::passed::{PassedClaim, said};
use super::{LocalEvidence, criteria};
use crate::confinement::Bounds;

/// A check that was run.
struct Ran<'a> {
    check: &'a CheckCommand,
    outcome: CheckOutcome,
}

impl LocalEvidence {
    /// Runs everything that must pass, and compares it with what the report says.
    pub(super) async fn examine_checks(&self, scene: &Scene, report: &Report) -> Vec<ExaminedClaim> {
        if !is_finished(report) {
            return Vec::new();
        }
        // Tests write caches and results, wherever that is; what they change is compared afterwards.
        let bounds = Bounds::of_tests(scene.writes.as_deref());
        let mut ran: Vec<Ran> = Vec::new();
        for check in &scene.checks {
            ran.push(Ran { check, outcome: self.carry_out(scene, check, bounds).await });
        }
        let mut examined: Vec<ExaminedClaim> = ran.iter().map(must_pass).collect();
        examined.extend(said(report).iter().map(|said| compare(said, &ran)));
        for (criterion, check) in criteria::commands(scene) {
            // The same command is not run twice: it would say the same.
            let known = ran.iter().find(|ran| ran.check.words == check.words).map(|ran| ran.outcome.clone());
            let outcome = match known {
                Some(outcome) => outcome,
                None => self.carry_out(scene, &check, bounds).await,
            };
            let criterion = format!("the criterion “{criterion}”");
            examined.push(judge(format!("{criterion} holds"), format!("{criterion} does not hold"), &outcome));
        }
        examined
    }
}

/// Returns whether commands are run for a report.
pub(super) fn runs_commands(scene: &Scene, report: &Report) -> bool {
    is_finished(report) && !(scene.checks.is_empty() && criteria::commands(scene).is_empty())
}

/// Returns whether the agent says that its work is done; before that, nothing has to pass.
pub(super) fn is_finished(report: &Report) -> bool {
    use terms::Outcome::{Blocked, Complete, Failed, NeedsClarification, NeedsReview, Partial};
    match report.outcome {
        None | Some(Complete | Partial | NeedsReview) => true,
        Some(Blocked | NeedsClarification | Failed) => false,
    }
}

fn must_pass(ran: &Ran<'_>) -> ExaminedClaim {
    let check = format!("the check `{}`", ran.check.name);
    judge(format!("{check} passed"), format!("{check} failed"), &ran.outcome)
}

fn judge(passed: String, failed: String, outcome: &CheckOutcome) -> ExaminedClaim {
    if outcome.passed {
        verified(&RULE, passed, outcome.ended.clone())
    } else {
        refuted(&RULE, failed, failure(outcome))
    }
}

/// Compares one claim with the checks that it is about.
fn compare(said: &PassedClaim, ran: &[Ran<'_>]) -> ExaminedClaim {
    let claim = format!("claims `{}`", said.words);
    let mut about = ran.iter().filter(|ran| said.is_about(ran.check)).peekable();
    if about.peek().is_none() {
        return unverifiable(&RULE, claim, "but Baton has no check for it");
    }
    let failed = about.find(|ran| !ran.outcome.passed);
    match (said.passed, failed) {
        (true, None) => verified(&RULE, claim, "and Baton saw it pass"),
        (false, Some(ran)) => verified(&RULE, claim, format!("and `{}` failed: {}", ran.check.name, ran.outcome.ended)),
        (true, Some(ran)) => {
            refuted(&RULE, claim, format!("but `{}` failed: {}", ran.check.name, failure(&ran.outcome)))
        }
        // It may have failed where the agent ran it; whoever says so has not lied to look better.
        (false, None) => unverifiable(&RULE, claim, "but it passes when Baton runs it"),
    }
}

fn failure(outcome: &CheckOutcome) -> String {
    if outcome.tail.is_empty() {
        outcome.ended.clone()
    } else {
        format!("{}; it wrote: {}", outcome.ended, last_lines(&outcome.tail))
    }
}

/// Returns the last lines of an output: the reason is usually there.
fn last_lines(tail: &str) -> String {
    let lines: Vec<&str> = tail.lines().collect();
    lines[lines.len().saturating_sub(12)..].join("\n")
}
