//! A gate whose particulars do not fit its type.

use super::RuleFindings;
use crate::model::terms::GateType;
use crate::wire::join;
use crate::workflow::{WorkflowCase, GateFields};

rule! {
    /// ## What it checks
    /// Whether the gates of a workflow file, in `gate` and `review`, have what their type needs and nothing else:
    ///
    /// - `advisory` needs `after`, the time after which it continues; no other type may have it
    /// - `auto` needs `checks`, the commands that decide; no other type may have them
    /// - a gate of its own needs `items`, the points that the person approves, unless it is `auto`
    ///
    /// A gate without a type is blocking. Names of choices must not be empty.
    ///
    /// ## Why it matters
    /// An advisory gate without a time would either wait forever or not at all. A blocking gate with `after` looks as
    /// if it would continue by itself, but it never does.
    ///
    /// ## Example
    /// ```yaml
    /// phases:
    ///   - {id: release, gate: {type: blocking, items: ["The changelog is complete"], after: 1h}}
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// phases:
    ///   - {id: release, gate: {type: advisory, items: ["The changelog is complete"], after: 1h}}
    /// ```
    "gate-kind": Workflow, Error => workflow check
}

fn check(case: &WorkflowCase<'_>, findings: &mut RuleFindings<'_>) {
    for step in &case.flow.steps {
        for (member, gate) in step.phase.gates() {
            let pointer = join(&step.pointer, member);
            if !case.is_unread(&pointer) {
                judge(gate, &pointer, member == "gate", findings);
            }
        }
    }
}

fn judge(gate: &GateFields, pointer: &str, is_phase: bool, findings: &mut RuleFindings<'_>) {
    let kind = gate.r#type.unwrap_or(GateType::Blocking);
    let word = kind.as_str();
    match (kind, gate.after) {
        (GateType::Advisory, None) => findings.add(
            pointer,
            "an advisory gate does not say when it continues",
            "add `after`: how long it waits for an answer, such as `1h`; or make it `blocking`",
        ),
        (GateType::Blocking | GateType::Auto, Some(_)) => findings.add_name(
            &join(pointer, "after"),
            format!("a gate that is {word} does not continue by itself"),
            "make it `advisory`, or leave `after` out",
        ),
        _ => {}
    }
    match (kind, gate.checks.is_empty()) {
        (GateType::Auto, true) => {
            findings.add(pointer, "nothing decides this auto gate", "add `checks`: the commands that must pass");
        }
        (GateType::Blocking | GateType::Advisory, false) => findings.add_name(
            &join(pointer, "checks"),
            format!("a gate that is {word} is decided by a person, not by checks"),
            "make it `auto`, or move the checks to a phase of their own",
        ),
        _ => {}
    }
    if is_phase && kind != GateType::Auto && gate.items.iter().all(|item| item.trim().is_empty()) {
        findings.add(pointer, "the gate does not say what to look at", "add each point that is approved: `items: [The changelog is complete]`");
    }
    if gate.choices.keys().any(|choice| choice.trim().is_empty()) {
        findings.add(&join(pointer, "choices"), "a choice has no name", "name each choice as the person sees it");
    }
}
