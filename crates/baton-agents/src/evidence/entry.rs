//! How what came out about a claim is put down.

use baton_engine::evidence::{ClaimFinding, ClaimKind, ExaminedClaim};
use baton_protocol::rules::Rule;

/// The words for a file that nobody has made or changed since the first attempt.
const UNCHANGED: &str = "unchanged since before the work began";

/// Puts down what came out under a rule.
pub(super) fn entry(
    rule: &Rule,
    verdict: ClaimFinding,
    claim: impl Into<String>,
    seen: impl Into<String>,
) -> ExaminedClaim {
    ExaminedClaim::new(rule.name, verdict, claim, seen)
}

/// Puts down that a claim is so.
pub(super) fn verified(rule: &Rule, claim: impl Into<String>, seen: impl Into<String>) -> ExaminedClaim {
    entry(rule, ClaimFinding::Verified, claim, seen)
}

/// Puts down that a claim is not so.
pub(super) fn refuted(rule: &Rule, claim: impl Into<String>, seen: impl Into<String>) -> ExaminedClaim {
    entry(rule, ClaimFinding::Refuted, claim, seen)
}

/// Notes that it is unknown whether an agent did what it may not do: a person must look.
pub(super) fn unchecked(rule: &Rule, claim: impl Into<String>, seen: impl Into<String>) -> ExaminedClaim {
    ExaminedClaim { asks_person: true, ..entry(rule, ClaimFinding::Unverifiable, claim, seen) }
}

/// Notes that it cannot be verified.
pub(super) fn unverifiable(rule: &Rule, claim: impl Into<String>, seen: impl Into<String>) -> ExaminedClaim {
    entry(rule, ClaimFinding::Unverifiable, claim, seen)
}

/// Adds that the file is as it was before the work began: nobody has made it.
pub(super) fn unchanged(examined: ExaminedClaim) -> ExaminedClaim {
    let seen = match &examined.seen {
        seen if seen.is_empty() => UNCHANGED.to_owned(),
        seen => format!("{seen}, {UNCHANGED}"),
    };
    ExaminedClaim { seen, kind: Some(ClaimKind::Unchanged), ..examined }
}
