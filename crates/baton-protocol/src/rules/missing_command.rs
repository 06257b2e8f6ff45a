//! A program that cannot be found on this machine.

use super::RuleFindings;
use crate::surroundings::PathState;
use crate::wire::join;
use crate::workflow::{CommandLine, Files, Profile, WorkflowCase, is_interpreter, meant};

rule! {
    /// ## What it checks
    /// Whether the programs that a workflow file names without a path, in commands that are lists and by `profile`, can
    /// be found on this machine. Only paths that begin with `./` or `../` are relative to the workflow file. A program
    /// or an argument such as `agents/developer.sh` means a file in the workspace; the rule warns if it exists next to
    /// the workflow file instead. It also warns if the script of an agent exists in neither place. Of commands that are
    /// text for the shell only the first word is checked, and only if it is nearly the path of a file in the workspace.
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
        match command {
            CommandLine::Program(words) => judge_paths(files, &pointer, words, findings),
            CommandLine::Shell(text) => judge_text(files, &pointer, text, findings),
        }
    }
    for (name, agent) in case.workflow.agents.iter() {
        if let Some(CommandLine::Program(words)) = &agent.command {
            judge_script(files, &join(&join("/agents", name), "command"), words, findings);
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
    // At the start of a command `./` means the folder of the workflow file.
    let begins: [&[&str]; 2] = [&["./", "../", "/", "-"], &["/", "-"]];
    let is_found = |index: usize, word: &str| begins[index.min(1)].iter().any(|begin| word.starts_with(begin));
    let is_elsewhere = |word: &str| matches!(files.look(word), PathState::File { .. }) && !files.is_in_workspace(word);
    for (index, word) in words.iter().enumerate() {
        // A program without a path is searched for, wherever it stands.
        let is_searched_for = index == 0 && !word.contains('/');
        if word.is_empty() || is_searched_for || is_found(index, word) || !is_elsewhere(word) {
            continue;
        }
        let help = match index {
            0 => format!("write `./{word}`"),
            _ => {
                let path = word.trim_start_matches("./");
                format!("make it executable and start it itself: `[./{path}]`; or copy it into the workspace")
            }
        };
        let message = format!("`{word}` is beside the workflow file, but it is searched for in the workspace");
        return findings.add(&format!("{pointer}/{index}"), message, help);
    }
}

/// Warns of an agent whose script exists nowhere. Other commands may run what an agent has yet to write.
fn judge_script(files: &dyn Files, pointer: &str, words: &[String], findings: &mut RuleFindings<'_>) {
    let is_found = |path: &str| matches!(files.look(path), PathState::File { .. }) || files.is_in_workspace(path);
    let (index, script) = match words {
        [program, ..] if program.contains('/') && !program.starts_with(['.', '/']) => (0, program),
        [program, script, ..] if is_interpreter(program) && script.contains('/') && !script.starts_with('-') => (1, script),
        _ => return,
    };
    if !is_found(script) {
        let here = meant(script, |folder| files.names_in_workspace(folder));
        let beside = || meant(script, |folder| files.names(folder)).map(|path| format!("./{}", path.trim_start_matches("./")));
        let help = match here.or_else(|| beside().filter(|_| index == 0)) {
            Some(path) => format!("did you mean `{path}`?"),
            None => {
                let path = beside().unwrap_or_else(|| "./agents/developer.sh".to_owned());
                format!("start the script itself, with its path from the folder of the workflow file: `[{path}]`")
            }
        };
        findings.add(&format!("{pointer}/{index}"), format!("`{script}` does not exist in the workspace"), help);
    }
}

/// Warns of a text for the shell that begins with a path which nothing is at, while something of nearly that name is there.
fn judge_text(files: &dyn Files, pointer: &str, text: &str, findings: &mut RuleFindings<'_>) {
    let program = text.split_whitespace().next().unwrap_or_default();
    let is_path = program.contains('/') && !program.contains(['$', '`', '"', '\'', '*', '=', ';', '&', '|', '(', '>', '<']);
    if !is_path || files.is_in_workspace(program) {
        return;
    }
    if let Some(path) = meant(program, |folder| files.names_in_workspace(folder)) {
        let message = format!("`{program}` does not exist in the workspace");
        findings.add(pointer, message, format!("did you mean `{path}`?"));
    }
}
