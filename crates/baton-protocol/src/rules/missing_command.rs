//! A program that cannot be found on this machine.

use super::RuleFindings;
use crate::surroundings::PathState;
use crate::wire::join;
use crate::workflow::{WorkflowCase, CommandLine, Files, Profile};

rule! {
    /// ## What it checks
    /// Whether the programs that a workflow file names without a path, in commands that are lists and by `profile`, can
    /// be found on this machine. Only paths that begin with `./` or `../` are relative to the workflow file. A program
    /// or an argument such as `agents/developer.sh` means a file in the workspace; the rule warns if it exists next to
    /// the workflow file instead. Commands that are text for the shell are not checked.
    ///
    /// It is a warning: the workflow may run on another machine.
    ///
    /// ## Why it matters
    /// The run would stop at the first phase of that agent, after the work of all phases before it. Arguments are passed on as
    /// they are, so `sh agents/developer.sh` works only where the workspace is the folder of the workflow.
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
    for (pointer, command) in case.commands() {
        if let CommandLine::Program(words) = command {
            judge_paths(files, &pointer, words, findings);
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
                format!("the program `{program}` was not found on this machine"),
                "install it, or write its path; `./` is beside the workflow file",
            );
        }
    }
}

/// Warns of a file that is beside the workflow, but is looked for in the workspace.
fn judge_paths(files: &dyn Files, pointer: &str, words: &[String], findings: &mut RuleFindings<'_>) {
    let is_dotted = |word: &str| ["./", "../", "/", "-"].iter().any(|begin| word.starts_with(begin));
    let is_elsewhere = |word: &str| matches!(files.look(word), PathState::File { .. }) && !files.is_in_workspace(word);
    for (index, word) in words.iter().enumerate() {
        // A program without a path is searched for, wherever it stands.
        let is_searched_for = index == 0 && !word.contains('/');
        if word.is_empty() || is_searched_for || is_dotted(word) || !is_elsewhere(word) {
            continue;
        }
        let help = match index {
            0 => format!("write `./{word}`"),
            _ => format!("make it executable and start it itself: `[./{word}]`; or copy it into the workspace"),
        };
        let message = format!("`{word}` is beside the workflow file, but it is searched for in the workspace");
        return findings.add(&format!("{pointer}/{index}"), message, help);
    }
}
