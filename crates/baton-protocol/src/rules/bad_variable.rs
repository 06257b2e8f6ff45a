//! Variables that cannot be passed on.

use super::RuleFindings;
use crate::diagnostic::excerpt;
use crate::wire::join;
use crate::workflow::{WorkflowCase, is_own_variable};

rule! {
    /// ## What it checks
    /// Whether `env` of a workflow, an agent, a check, a command of `verify` or of a gate names variables that can be
    /// passed on: letters, digits and `_`, with at most one `*` for anything. What begins with `BATON_` is Baton's own,
    /// such as the address of the store: it is not passed on, and what an attempt needs of it is set.
    ///
    /// ## Why it matters
    /// A name with a mistake passes nothing on, and the program misses its key without anybody knowing why.
    ///
    /// ## Example
    /// ```yaml
    /// agents:
    ///   deployer: {command: [./deploy.sh], env: ["AWS_?", "$TOKEN", BATON_STORE]}
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// agents:
    ///   deployer: {command: [./deploy.sh], env: ["AWS_*", TOKEN]}
    /// ```
    "bad-variable": Workflow, Error => workflow check
}

fn check(case: &WorkflowCase<'_>, findings: &mut RuleFindings<'_>) {
    judge("/env", &case.workflow.env, findings);
    for (name, agent) in case.workflow.agents.iter() {
        judge(&join(&join("/agents", name), "env"), &agent.env, findings);
    }
    for step in &case.flow.steps {
        judge(&join(&step.pointer, "env"), &step.phase.env, findings);
        let checks = step.phase.gate.iter().flat_map(|gate| &gate.checks);
        for (place, checks) in [("verify", step.phase.verify.iter().collect()), ("gate/checks", checks.collect::<Vec<_>>())] {
            for (index, check) in checks.into_iter().enumerate() {
                judge(&format!("{}/{place}/{index}/env", step.pointer), &check.env, findings);
            }
        }
    }
}

fn judge(pointer: &str, patterns: &[String], findings: &mut RuleFindings<'_>) {
    for (index, pattern) in patterns.iter().enumerate() {
        let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '*';
        let (message, help) = if pattern.is_empty() {
            ("the name of the variable is empty".to_owned(), "write a name such as `API_KEY`, or remove it")
        } else if pattern.matches('*').count() > 1 {
            (format!("`{}` has more than one `*`", excerpt(pattern)), "use one `*`, such as `AWS_*`, or several patterns")
        } else if !pattern.chars().all(is_letter) || pattern.starts_with(|first: char| first.is_ascii_digit()) {
            let message = format!("`{}` is not the name of a variable", excerpt(pattern));
            (message, "use letters, digits and `_`, and `*` for anything; write the name without `$`")
        } else if is_own_variable(pattern) {
            let message = format!("`{}` is reserved for Baton, and is not passed on", excerpt(pattern));
            (message, "remove it; what an attempt needs is set as `BATON_…` by itself")
        } else {
            continue;
        };
        findings.add(&format!("{pointer}/{index}"), message, help);
    }
}
