//! Names of phases and agents that cannot be folders, or mean something else.

use super::{RuleFindings, unsafe_id};
use crate::model::request::Party;
use crate::wire::{join, same_word};
use crate::workflow::WorkflowCase;

rule! {
    /// ## What it checks
    /// Whether the names of phases and agents in a workflow file can safely be part of file names, as in `unsafe-id`. A
    /// phase must not be called `end`, `gate`, `stop`, `next` or `human`; an agent must not be called `human` or `*`.
    ///
    /// ## Why it matters
    /// The output, the logs and the record of a phase are in folders with its name. The reserved words already have a
    /// meaning in `next`, `on_failure` and routes: nothing could lead to a phase called `stop`. A number such as `4.5`
    /// is a name; expressions reach it as `phases['4.5']`.
    ///
    /// ## Example
    /// ```yaml
    /// phases:
    ///   - {id: v1.0/review, agent: reviewer}
    ///   - {id: stop, agent: reviewer}
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// phases:
    ///   - {id: review-v1, agent: reviewer}
    ///   - {id: shutdown, agent: reviewer}
    /// ```
    "unsafe-name": Workflow, Error => workflow check
}

/// Words that already mean something where phases are named.
const RESERVED: [&str; 8] = ["end", "gate", "stop", "next", "human", "question", "limit", "failure"];

/// Receivers that are not agents.
const RECEIVERS: [&str; 3] = ["orchestrator", "group", "check"];

const HELP: &str = "use letters, digits, `-` and `_`, and begin with a letter or a digit";

fn check(case: &WorkflowCase<'_>, findings: &mut RuleFindings<'_>) {
    for step in case.flow.steps.iter().filter(|step| step.phase.id.is_some()) {
        let (id, pointer) = (step.phase.id(), join(&step.pointer, "id"));
        if let Some(fault) = unsafe_id::fault(id) {
            findings.add(&pointer, format!("this name cannot safely be a folder: {fault}"), HELP);
        } else if RESERVED.iter().any(|word| word.eq_ignore_ascii_case(id)) {
            findings.add(&pointer, format!("`{id}` is a reserved name"), "choose another name");
        }
    }
    for name in case.workflow.agents.names() {
        let pointer = join("/agents", name);
        let person = Party { agent: Some(name.to_owned()), ..Party::default() }.is_person();
        if person || name == "*" || RECEIVERS.iter().any(|receiver| same_word(receiver, name)) {
            findings.add_name(&pointer, format!("`{name}` is a reserved name"), "choose another name");
        } else if let Some(fault) = unsafe_id::fault(name) {
            findings.add_name(&pointer, format!("this name cannot safely be part of a file name: {fault}"), HELP);
        }
    }
}
