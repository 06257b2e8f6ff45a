//! Judges whether a blocked agent's reason can be routed.

use super::blocked_without_reason::blocked;
use super::placeholder::unfilled;
use super::{Case, RuleFindings};
use crate::diagnostic::excerpt;
use crate::wire::{fits, same_word, suggest};
use crate::workflow::REASONS;

rule! {
    /// ## What it checks
    /// Whether the `blocked_reason` of a blocked report is one of the reasons that can be routed: the usual ones
    /// (`security_concern`, `architecture_decision`, `test_failures`, `missing_requirements`, `unknown`,
    /// `missing_test_plan`, `implementation_unclear`, `architecture_change_needed`, `out_of_scope`,
    /// `schema_discovery_failed`) or one that the project has configured. Case, `-`, `_` and spaces do not matter. It
    /// applies to metadata-block, phase-block and native reports.
    ///
    /// It is a warning, because the set is open: no work is lost, but a person has to decide.
    ///
    /// ## Why it matters
    /// The routing table finds the next agent by this word. A new word matches no row, so somebody has to be asked who
    /// could have been left alone.
    ///
    /// ## Example
    /// ```json
    /// { "status": "blocked", "blocked_reason": "tests_failing" }
    /// ```
    ///
    /// ## Use instead
    /// ```json
    /// { "status": "blocked", "blocked_reason": "test_failures" }
    /// ```
    "unknown-reason": Shape, Warning => check
}

fn check(case: &Case<'_>, findings: &mut RuleFindings<'_>) {
    let Some(reason) = blocked(case).and_then(|report| report.blocked_reason.as_deref()) else { return };
    let own = &case.settings.reasons;
    // Blank reasons and unfilled templates have rules of their own.
    if knows(reason, REASONS, own) || reason.trim().is_empty() || unfilled(reason) {
        return;
    }
    let help = suggest(reason, &known_words(REASONS, own));
    findings.add(
        "/blocked_reason",
        format!("`{}` is not a reason that can be routed", excerpt(reason)),
        format!("{help}; any other goes to a person"),
    );
}

/// Returns whether a word is one of the usual ones or of the project's own.
pub(super) fn knows(word: &str, usual: &[&str], own: &[String]) -> bool {
    // Comparing spellings allocates; most words are written as they should be.
    usual.contains(&word)
        || usual.iter().any(|known| same_word(known, word))
        || own.iter().any(|known| fits(known, word))
}

/// Lists the usual words and the project's own, for suggestions.
pub(super) fn known_words<'w>(usual: &[&'w str], own: &'w [String]) -> Vec<&'w str> {
    usual.iter().copied().chain(own.iter().map(String::as_str)).collect()
}
