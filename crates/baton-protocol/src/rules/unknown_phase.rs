//! Judges the names of phases; the phases of tasks are a closed set and are judged while reading.

use super::unknown_reason::{known_words, knows};
use super::{Case, RuleFindings};
use crate::diagnostic::excerpt;
use crate::dialect::Dialect;
use crate::tree::plain_number;
use crate::wire::{Label, suggest};

rule! {
    /// ## What it checks
    /// Whether a phase is known. In the task dialect it is `research`, `write`, `validate` or `parallel`. In a
    /// phase-block, `phase` and `handoff.next_phase` are `schema_discovery`, `architecture`, `testing`,
    /// `implementation` or `review`, or one of the phases that the project has configured; `next_phase` may also be
    /// `complete`, after the last phase. Case, `-`, `_` and spaces do not matter, and a number such as 4.5 is
    /// always fine.
    ///
    /// ## Why it matters
    /// The next phase is looked up by its name. A name that nobody knows leads nowhere, and the work stops there.
    ///
    /// ## Example
    /// ```json
    /// { "phase": "implementation", "handoff": { "next_phase": "reveiw" } }
    /// ```
    ///
    /// ## Use instead
    /// ```json
    /// { "phase": "implementation", "handoff": { "next_phase": "review" } }
    /// ```
    "unknown-phase": Shape, Error => check
}

/// The phases that a phase-block can speak about.
pub(super) const PHASES: &[&str] = &["schema_discovery", "architecture", "testing", "implementation", "review"];
/// The phases that can come next.
const NEXT_PHASES: &[&str] = &["schema_discovery", "architecture", "testing", "implementation", "review", "complete"];

fn check(case: &Case<'_>, findings: &mut RuleFindings<'_>) {
    let Some(report) = case.report() else { return };
    if case.dialect != Dialect::PhaseBlock {
        return;
    }
    let next = report.next.as_ref().and_then(|next| next.phase.as_ref());
    let own = &case.settings.phases;
    for (pointer, phase, usual) in [("/phase", report.phase.as_ref(), PHASES), ("/next/phase", next, NEXT_PHASES)] {
        let Some(name) = phase.and_then(Label::name) else { continue };
        if knows(name, usual, own)
            || plain_number(name).is_some()
            || (pointer == "/phase" && case.surroundings.is_own_phase(name))
        {
            continue;
        }
        let message = if name.trim().is_empty() {
            "the name of the phase is blank".to_owned()
        } else {
            format!("unknown phase `{}`", excerpt(name))
        };
        findings.add(pointer, message, suggest(name, &known_words(usual, own)));
    }
}
