//! A workflow that cannot run as a phase of another one.

use super::RuleFindings;
use crate::diagnostic::excerpt;
use crate::wire::{closest, join};
use crate::workflow::{FlowStep, WorkflowCase, Workflow};

rule! {
    /// ## What it checks
    /// Whether the workflow files that run as phases (`workflow: FILE`) can: they can be read, they do not lead back to the
    /// workflow that they are a phase of, and `inputs` of the phase has what they require and nothing that they do not
    /// know.
    ///
    /// ## Why it matters
    /// The run would stop at that phase, after the work of all phases before it.
    ///
    /// ## Example
    /// ```yaml
    /// phases:
    ///   - {id: build, workflow: ./build.yaml, inputs: {langauge: inputs.language}}
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// phases:
    ///   - {id: build, workflow: ./build.yaml, inputs: {language: inputs.language}}
    /// ```
    "nested-workflow": Workflow, Error => workflow check
}

fn check(case: &WorkflowCase<'_>, findings: &mut RuleFindings<'_>) {
    let Some(files) = case.files else { return };
    for step in &case.flow.steps {
        let Some(path) = step.phase.workflow.as_deref() else { continue };
        let Some(nested) = files.nested(path) else { continue };
        let at = join(&step.pointer, "workflow");
        match &nested.workflow {
            _ if nested.leads_back => {
                findings.add(&at, format!("`{path}` leads back to this workflow: an endless cycle"), "name another workflow");
            }
            None => findings.add(&at, format!("`{path}` is not a workflow"), format!("`baton workflow check {path}` says why")),
            Some(workflow) => judge_inputs(step, path, workflow, findings),
        }
    }
}

fn judge_inputs(step: &FlowStep<'_>, path: &str, nested: &Workflow, findings: &mut RuleFindings<'_>) {
    let known: Vec<&str> = nested.inputs.names().collect();
    let mut meant = Vec::new();
    for name in step.phase.inputs.keys().filter(|name| !known.contains(&name.as_str())) {
        let help = match closest(name, &known) {
            Some(close) => {
                meant.push(close);
                format!("did you mean `{close}`?")
            }
            None if known.is_empty() => "it has none".to_owned(),
            None => format!("it has: {}", known.join(", ")),
        };
        let pointer = join(&join(&step.pointer, "inputs"), name);
        findings.add_name(&pointer, format!("`{path}` has no input `{}`", excerpt(name)), help);
    }
    let is_required = |name: &&str| nested.inputs.get(name).is_some_and(|input| input.required == Some(true));
    let is_given = |name: &str| step.phase.inputs.contains_key(name) || meant.contains(&name);
    for name in known.iter().filter(|name| is_required(name) && !is_given(name)) {
        let help = format!("add `inputs: {{{name}: …}}` to the phase, with an expression such as `inputs.{name}`");
        findings.add(&join(&step.pointer, "workflow"), format!("`{path}` needs the input `{name}`"), help);
    }
}
