//! A gate that does not say what to validate.

use super::{Case, RuleFindings};
use crate::model::terms::HandoffKind;

rule! {
    /// ## What it checks
    /// A gate lists no items to validate, or only empty ones. Applies to requests in the `package` and `native`
    /// dialects.
    ///
    /// ## Why it matters
    /// A person who is asked to approve "this" approves everything or nothing, and the record does not show what
    /// was approved.
    ///
    /// ## Example
    /// ```yaml
    /// gate: {type: blocking, name: data-model}
    /// validation_request:
    ///   options: {approve: "Go on", reject: "Change it"}
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// gate: {type: blocking, name: data-model}
    /// validation_request:
    ///   items:
    ///     - "Invoices keep their number when they are corrected"
    ///   options: {approve: "Go on", reject: "Change it"}
    /// ```
    "gate-without-items": Package, Error => check
}

fn check(case: &Case<'_>, findings: &mut RuleFindings<'_>) {
    let Some(request) = case.package() else { return };
    if request.gate.is_none() && request.told_kind() != HandoffKind::Gate {
        return;
    }
    let items = request.gate.as_ref().map(|gate| &gate.items[..]).unwrap_or_default();
    if items.iter().all(|item| item.trim().is_empty()) {
        findings.add(
            "/gate/items",
            "the gate does not say what to validate",
            "list each point that the person approves or rejects",
        );
    }
}
