//! A file that the workflow speaks of and that is not there.

use super::RuleFindings;
use crate::surroundings::PathState;
use crate::wire::join;
use crate::workflow::{CommandLine, Files, WorkflowCase, meant};

rule! {
    /// ## What it checks
    /// Whether the files are there that a workflow file names, relative to itself: programs with a path that begins with
    /// `./`, `../` or `/`, `template`, the folder `schemas` with `input_schema` and `output_schema`, and other workflow
    /// files. Programs must be executable.
    ///
    /// ## Why it matters
    /// The run would stop where the file is needed for the first time, after the work of all phases before it.
    ///
    /// ## Example
    /// ```yaml
    /// agents:
    ///   developer: {command: [./no-such-file.sh]}
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// agents:
    ///   developer: {command: [./agents/developer.sh]}
    /// ```
    "missing-file": Workflow, Error => workflow check
}

fn check(case: &WorkflowCase<'_>, findings: &mut RuleFindings<'_>) {
    let Some(files) = case.files else { return };
    for (pointer, command) in case.commands() {
        let CommandLine::Program(words) = command else { continue };
        let Some(program) = words.first().filter(|program| is_path(program)) else { continue };
        if !files.has_program(program) {
            let (message, help) = match files.look(program) {
                PathState::File { .. } => (
                    format!("`{program}` is not executable"),
                    "make it so with `chmod +x`, or start it with its interpreter".to_owned(),
                ),
                _ if is_several_words(files, program) => (
                    format!("the program `{program}` does not exist"),
                    "each argument is an item of its own: `[./agent.sh, --fast]`".to_owned(),
                ),
                _ => (
                    format!("the program `{program}` does not exist"),
                    near(files, program).unwrap_or_else(|| "`./` means the folder of the workflow file".to_owned()),
                ),
            };
            findings.add(&format!("{pointer}/0"), message, help);
        }
    }
    for (pointer, path, want) in named(case) {
        judge(files, &pointer, &path, want, findings);
    }
}

/// Returns the advice to write the name of a file that is there.
fn near(files: &dyn Files, path: &str) -> Option<String> {
    meant(path, |folder| files.names(folder)).map(|path| format!("did you mean `{path}`?"))
}

/// Returns whether a program is named together with its arguments.
fn is_several_words(files: &dyn Files, program: &str) -> bool {
    program.split_once(' ').is_some_and(|(first, _)| files.has_program(first))
}

/// Returns whether a program is named by a path that does not depend on where it is started.
fn is_path(program: &str) -> bool {
    ["./", "../", "/"].iter().any(|beginning| program.starts_with(beginning))
}

#[derive(Clone, Copy, PartialEq)]
enum Want {
    File,
    Folder,
    /// A file, or a folder with `workflow.yaml`.
    Workflow,
}

fn named(case: &WorkflowCase<'_>) -> Vec<(String, String, Want)> {
    let mut found = Vec::new();
    for (name, agent) in case.workflow.agents.iter() {
        let at = |member: &str| join(&join("/agents", name), member);
        found.extend(agent.template.clone().map(|path| (at("template"), path, Want::File)));
        let Some(folder) = &agent.schemas else { continue };
        found.push((at("schemas"), folder.clone(), Want::Folder));
        for (member, schema) in [("input_schema", &agent.input_schema), ("output_schema", &agent.output_schema)] {
            let path = |schema: &String| format!("{}/{schema}", folder.trim_end_matches('/'));
            found.extend(schema.as_ref().map(|schema| (at(member), path(schema), Want::File)));
        }
    }
    for step in &case.flow.steps {
        let nested = step.phase.workflow.clone();
        found.extend(nested.map(|path| (join(&step.pointer, "workflow"), path, Want::Workflow)));
    }
    found
}

fn judge(files: &dyn Files, pointer: &str, path: &str, want: Want, findings: &mut RuleFindings<'_>) {
    let (is_there, what) = match (files.look(path), want) {
        (PathState::Unreadable, _) => (false, "can be read"),
        (PathState::File { .. }, Want::File | Want::Workflow) | (PathState::Folder { .. }, Want::Folder) => return,
        (PathState::Folder { .. }, Want::Workflow) => {
            (matches!(files.look(&format!("{path}/workflow.yaml")), PathState::File { .. }), "a folder with `workflow.yaml`")
        }
        (_, Want::File | Want::Workflow) => (false, "a file"),
        (_, Want::Folder) => (false, "a folder"),
    };
    if !is_there {
        let message = match what {
            "can be read" => format!("`{path}` cannot be read"),
            what => format!("there should be {what} at `{path}`"),
        };
        // What is beside the workflow file may be named without its folder.
        let near = if path.contains('/') { near(files, path) } else { near(files, &format!("./{path}")) };
        let help = near.unwrap_or_else(|| "paths are relative to the folder of the workflow file".to_owned());
        findings.add(pointer, message, help);
    }
}
