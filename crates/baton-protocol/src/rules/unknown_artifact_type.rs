//! Judges what artifacts of a package are called.

use super::{Case, RuleFindings};
use crate::diagnostic::excerpt;
use crate::dialect::Dialect;
use crate::wire::{same_word, suggest};

rule! {
    /// ## What it checks
    /// Whether the `type` of an artifact in a package is `spec`, `code`, `doc` or `config`. Case does not matter, and an
    /// artifact without a type is fine.
    ///
    /// ## Why it matters
    /// The receiver chooses by type what to read first. An unknown type does not help it.
    ///
    /// ## Example
    /// ```yaml
    /// artifacts:
    ///   - {path: specs/quota.md, type: markdown}
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// artifacts:
    ///   - {path: specs/quota.md, type: spec}
    /// ```
    "unknown-artifact-type": Package, Warning => check
}

const TYPES: &[&str] = &["spec", "code", "doc", "config"];

fn check(case: &Case<'_>, findings: &mut RuleFindings<'_>) {
    let Some(request) = case.request() else { return };
    if case.dialect != Dialect::Package {
        return;
    }
    let artifacts = request.context.iter().flat_map(|context| &context.artifacts).enumerate();
    for (index, artifact) in artifacts {
        if let Some(word) = artifact.fields.r#type.as_deref()
            && !TYPES.iter().any(|known| same_word(known, word))
            && !super::placeholder::unfilled(word)
        {
            findings.add(
                &format!("/context/artifacts/{index}/type"),
                format!("unknown type of artifact `{}`", excerpt(word)),
                suggest(word, TYPES),
            );
        }
    }
}
