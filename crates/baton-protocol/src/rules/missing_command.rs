//! A program that cannot be found on this machine.

use super::RuleFindings;
use crate::wire::join;
use crate::workflow::{WorkflowCase, CommandLine, Profile};

rule! {
    /// ## What it checks
    /// Whether the programs that a workflow file names without a path, in commands that are lists and by `profile`, can be
    /// found on this machine. Text for the shell is not looked into.
    ///
    /// It is a warning: the workflow may run on another machine.
    ///
    /// ## Why it matters
    /// The run would stop at the first phase of that agent, after the work of all phases before it.
    ///
    /// ## Example
    /// ```yaml
    /// agents:
    ///   developer: {command: [pyhton3, agent.py]}
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// agents:
    ///   developer: {command: [python3, agent.py]}
    /// ```
    "missing-command": Workflow, Warning => workflow check
}

fn check(case: &WorkflowCase<'_>, findings: &mut RuleFindings<'_>) {
    let Some(files) = case.files else { return };
    let mut programs: Vec<(String, &str)> = Vec::new();
    for (pointer, command) in case.commands() {
        if let CommandLine::Program(words) = command {
            programs.extend(words.first().map(|word| (format!("{pointer}/0"), word.as_str())));
        }
    }
    for (name, agent) in case.workflow.agents.iter() {
        programs.extend(agent.profile.map(|profile| (join(&join("/agents", name), "profile"), Profile::as_str(profile))));
    }
    let is_name = |program: &str| !program.is_empty() && !program.contains(['/', '\\']);
    for (pointer, program) in programs.into_iter().filter(|(_, program)| is_name(program)) {
        if !files.has_program(program) {
            findings.add(
                &pointer,
                format!("the program `{program}` is not on this machine"),
                "install it, or write its path; `./` is beside the workflow file",
            );
        }
    }
}
