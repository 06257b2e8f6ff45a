//! A decision for a person that is handed to an agent.

use super::{Case, RuleFindings};
use crate::dialect::Dialect;
use crate::model::request::Party;
use crate::model::terms::HandoffKind;

rule! {
    /// ## What it checks
    /// An escalation or a gate is not addressed to a person (`human`). A package with a `gate` or a
    /// `validation_request` is a gate, whatever its `kind` says. Applies to requests in the `package` and `native`
    /// dialects.
    ///
    /// ## Why it matters
    /// Both exist because an agent may not decide. Addressed to an agent, the decision is made by the wrong party,
    /// and it looks as if it had been approved.
    ///
    /// ## Example
    /// ```yaml
    /// to: {agent: release-manager, reason: "Gate before production"}
    /// gate: {type: blocking, name: production-release}
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// to: {agent: human, reason: "Gate before production"}
    /// gate: {type: blocking, name: production-release}
    /// ```
    "escalation-not-to-human": Package, Error => check
}

fn check(case: &Case<'_>, findings: &mut RuleFindings<'_>) {
    let Some(request) = case.package() else { return };
    let what = match request.kind {
        _ if request.gate.is_some() => "a gate",
        Some(HandoffKind::Gate) => "a gate",
        Some(HandoffKind::Escalation) => "an escalation",
        _ => return,
    };
    if request.to.as_ref().is_some_and(Party::is_person) {
        return;
    }
    let message = match request.to.as_ref().and_then(|to| to.agent.as_deref()) {
        Some(agent) => format!("{what} goes to a person, but this one is addressed to `{agent}`"),
        // In a package the missing receiver was told while reading.
        None if case.dialect == Dialect::Package => return,
        None => format!("{what} goes to a person, but this one has no receiver"),
    };
    findings.add("/to/agent", message, "address it to `human`, or hand it over as sequential work or a delegation");
}
