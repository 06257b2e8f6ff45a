//! How what came out about a claim is put down.

use baton_engine::evidence::{Examined, Finding};
use baton_protocol::rules::Rule;

/// Puts down what came out under a rule.
pub(super) fn entry(rule: &Rule, verdict: Finding, claim: impl Into<String>, seen: impl Into<String>) -> Examined {
    let (rule, claim, seen) = (rule.name.to_owned(), claim.into(), seen.into());
    Examined { rule, claim, verdict, seen, path: None, sha256: None, allowed: None, asks_person: false }
}

/// Puts down that a claim is so.
pub(super) fn verified(rule: &Rule, claim: impl Into<String>, seen: impl Into<String>) -> Examined {
    entry(rule, Finding::Verified, claim, seen)
}

/// Puts down that a claim is not so.
pub(super) fn refuted(rule: &Rule, claim: impl Into<String>, seen: impl Into<String>) -> Examined {
    entry(rule, Finding::Refuted, claim, seen)
}

/// Puts down that nobody can tell whether an agent did what it may not do: a person must look.
pub(super) fn unchecked(rule: &Rule, claim: impl Into<String>, seen: impl Into<String>) -> Examined {
    Examined { asks_person: true, ..entry(rule, Finding::Unverifiable, claim, seen) }
}

/// Puts down that nobody can tell.
pub(super) fn unverifiable(rule: &Rule, claim: impl Into<String>, seen: impl Into<String>) -> Examined {
    entry(rule, Finding::Unverifiable, claim, seen)
}
