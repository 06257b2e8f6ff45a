//! Access to the files around a workflow file. A port: this crate does no I/O, so the caller provides the access.

use super::Workflow;
use crate::surroundings::PathState;
use crate::wire::closest;

/// The files that a workflow file refers to.
pub trait Files {
    /// Returns what is at a path, relative to the workflow file or absolute.
    fn look(&self, path: &str) -> PathState;

    /// Returns whether something exists at a path, relative to the workspace.
    fn is_in_workspace(&self, path: &str) -> bool;

    /// Returns the names of what is in a folder, which is named as in `look`.
    fn names(&self, folder: &str) -> Vec<String>;

    /// Returns the names of what is in a folder of the workspace.
    fn names_in_workspace(&self, folder: &str) -> Vec<String>;

    /// Returns whether there is a program that can be started: a path as in `look`, or a name that is searched for.
    fn has_program(&self, program: &str) -> bool;

    /// Returns whether a variable of the environment is set.
    fn has_variable(&self, name: &str) -> bool;

    /// Reads the workflow at a path as in `look`; nothing if there is no file.
    fn nested(&self, path: &str) -> Option<NestedWorkflow>;
}

/// Returns the path that somebody may mean who names one that is not there: a file of nearly the same name in the same folder.
pub fn meant(path: &str, names: impl FnOnce(&str) -> Vec<String>) -> Option<String> {
    let (folder, name) = path.rsplit_once('/')?;
    let names = names(if folder.is_empty() { "/" } else { folder });
    let close = closest(name, &names.iter().map(String::as_str).collect::<Vec<_>>())?;
    (close != name).then(|| format!("{folder}/{close}"))
}

/// Returns whether a program runs the script that its first argument names, such as `sh` or `python3`.
pub fn is_interpreter(program: &str) -> bool {
    let name = program
        .rsplit('/')
        .next()
        .unwrap_or(program)
        .trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    ["sh", "bash", "dash", "zsh", "ksh", "python", "perl", "ruby", "node", "deno", "bun", "php"].contains(&name)
}

/// A workflow that runs as a phase of another one.
#[derive(Debug)]
pub struct NestedWorkflow {
    /// What it says, if it can be read.
    pub workflow: Option<Workflow>,
    /// Whether it has the workflow around it as a phase, itself or through others.
    pub leads_back: bool,
}
