//! A gate whose approvers cannot decide it.

use super::Findings;
use crate::model::terms::GateType;
use crate::settings::Principals;
use crate::wire::join;
use crate::workflow::{Case, GateFields};

rule! {
    /// ## What it checks
    /// Whether the approvers of a gate, in `gate` and `review`, can decide it:
    ///
    /// - `approvers`, `at_least` and `signed` need a blocking gate: silence and checks are nobody
    /// - `at_least` is not more than there are approvers, and not 0
    /// - with `signed: true` each of `approvers` has a key in `[approvers]` of `baton.toml`, and so has somebody if nobody is
    ///   named
    /// - nobody is named twice
    ///
    /// ## Why it matters
    /// A gate that nobody can open stops the run after all the work before it is done.
    ///
    /// ## Example
    /// ```yaml
    /// phases:
    ///   - {id: release, gate: {items: ["The changelog is complete"], approvers: [ana], at_least: 2}}
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// phases:
    ///   - {id: release, gate: {items: ["The changelog is complete"], approvers: [ana, ben], at_least: 2}}
    /// ```
    "gate-approvers": Workflow, Error => workflow check
}

fn check(case: &Case<'_>, findings: &mut Findings<'_>) {
    for step in &case.flow.steps {
        for (member, gate) in step.phase.gates() {
            let pointer = join(&step.pointer, member);
            if gate.names_deciders() && !case.is_unread(&pointer) {
                judge(gate, &pointer, &case.settings.signers, findings);
            }
        }
    }
}

fn judge(gate: &GateFields, pointer: &str, signers: &[Principals], findings: &mut Findings<'_>) {
    let kind = gate.r#type.unwrap_or(GateType::Blocking);
    if kind != GateType::Blocking {
        findings.add(
            pointer,
            format!("a gate that is {} goes on without its approvers", kind.as_str()),
            "make it `blocking`, or leave `approvers`, `at_least` and `signed` out",
        );
    }
    let count = gate.approvers.len() as u64;
    match gate.at_least {
        Some(0) => findings.add(&join(pointer, "at_least"), "nobody has to approve this", "name a number from 1"),
        Some(needed) if count > 0 && needed > count => findings.add(
            &join(pointer, "at_least"),
            format!("{needed} must approve, but only {count} may"),
            "name more `approvers`, or a smaller number",
        ),
        _ => {}
    }
    let is_signed = gate.signed == Some(true);
    for (index, name) in gate.approvers.iter().enumerate() {
        let at = join(&join(pointer, "approvers"), &index.to_string());
        if gate.approvers[..index].contains(name) {
            findings.add(&at, format!("{name} is named twice"), "each person counts once: leave one out");
        }
        if is_signed && !signers.iter().any(|principals| principals.include(name)) {
            let hint = "name the public key of each approver under [approvers] in baton.toml";
            findings.add(&at, format!("{name} cannot sign: there is no key of that name"), hint);
        }
    }
    let needed = usize::try_from(gate.at_least.unwrap_or(1)).unwrap_or(usize::MAX);
    let named = signers.iter().flat_map(Principals::plain).collect::<std::collections::BTreeSet<_>>().len();
    if is_signed && gate.approvers.is_empty() && named < needed {
        findings.add(
            &join(pointer, "signed"),
            format!("{needed} must sign, but baton.toml names {named} who can"),
            "name public keys under [approvers] in baton.toml",
        );
    }
}
