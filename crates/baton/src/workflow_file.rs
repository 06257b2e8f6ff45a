//! A workflow file on the disk: where it is, what it says, and the files around it.

use std::fs;
use std::path::{Path, PathBuf};

use baton_engine::ssh::allowed_signers::AllowedSigner;
use baton_host::find_program;
use baton_protocol::surroundings::PathState;
use baton_protocol::workflow::{self, Files, Flow, NestedWorkflow, Workflow, WorkflowReading};

use crate::command_error::CommandError;
use crate::config::Approvers;
use crate::discover::{Input, NotRead};

/// The names of a workflow file in a folder.
const NAMES: [&str; 3] = ["workflow.yaml", "workflow.yml", "workflow.json"];

/// Finds the file that a path means: itself, or the workflow file in a folder.
pub(crate) fn locate(path: &Path) -> Result<PathBuf, String> {
    if !path.is_dir() {
        return Ok(path.to_owned());
    }
    let found = NAMES.iter().map(|name| path.join(name)).find(|file| file.is_file());
    found.ok_or_else(|| "there is no workflow.yaml in this folder; `baton init` writes one".to_owned())
}

/// A workflow that can be used, and the folder that its paths begin in.
#[derive(Debug)]
pub(crate) struct Opened {
    /// What the file says.
    pub workflow: Workflow,
    /// The folder of the file.
    pub folder: PathBuf,
}

/// Reads a workflow as far as it can be read; how it is judged is another question.
pub(crate) fn open(path: &Path) -> Result<Opened, CommandError> {
    let shown = path.display();
    let file = locate(path).map_err(|why| CommandError::usage(format!("{shown}: {why}")))?;
    let input = match file.as_os_str() == "-" {
        true => Input::Stdin,
        false => Input::File(file.clone()),
    };
    let bytes = input.read().map_err(|not_read| CommandError::usage(not_read.describe(&input.name())))?;
    let folder = folder_of(&file);
    match workflow::read(&bytes).workflow {
        Some(workflow) => Ok(Opened { workflow, folder }),
        None => Err(CommandError::usage(format!("{shown} cannot be read as a workflow"))
            .hint(format!("baton workflow check {shown} says why"))),
    }
}

/// Returns the folder that the paths of a workflow file begin in.
pub(crate) fn folder_of(file: &Path) -> PathBuf {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_owned()
}

/// Returns who can sign what a workflow lets people decide; fails if its gates name deciders, and their keys cannot be read.
pub(crate) fn signers(workflow: Option<&Workflow>, approvers: &Approvers) -> Result<Vec<AllowedSigner>, CommandError> {
    let steps = workflow.map(|workflow| Flow::of(workflow).steps).unwrap_or_default();
    let is_needed = steps.iter().flat_map(|step| step.phase.gates()).any(|(_, gate)| gate.names_deciders());
    if is_needed { approvers.signers() } else { Ok(Vec::new()) }
}

/// Reads a workflow file, or explains why it cannot be read.
pub(crate) fn read(input: &Input) -> Result<(Vec<u8>, WorkflowReading), NotRead> {
    match input.read() {
        Ok(bytes) => {
            let reading = workflow::read(&bytes);
            Ok((bytes, reading))
        }
        Err(NotRead::TooLarge(length)) => {
            Ok((Vec::new(), WorkflowReading::unreadable(baton_protocol::read::too_large(length))))
        }
        Err(problem) => Err(problem),
    }
}

/// The files around a workflow file.
#[derive(Debug)]
pub(crate) struct WorkflowFolder {
    file: PathBuf,
    folder: PathBuf,
    workspace: PathBuf,
}

impl WorkflowFolder {
    /// Looks from the folder of a workflow file, whose agents work in a workspace.
    pub(crate) fn new(file: &Path, workspace: &Path) -> Self {
        WorkflowFolder { file: file.to_owned(), folder: folder_of(file), workspace: workspace.to_owned() }
    }

    /// Returns whether one of the files that a workflow has as phases is this one, however deep.
    fn leads_back(&self, file: &Path, seen: &mut Vec<PathBuf>) -> bool {
        let Ok(file) = fs::canonicalize(file) else { return false };
        if fs::canonicalize(&self.file).is_ok_and(|own| own == file) {
            return true;
        }
        if seen.contains(&file) {
            return false;
        }
        let folder = folder_of(&file);
        seen.push(file.clone());
        let Some(workflow) = fs::read(&file).ok().and_then(|bytes| workflow::read(&bytes).workflow) else {
            return false;
        };
        let steps = Flow::of(&workflow).steps;
        let mut named = steps.iter().filter_map(|step| step.phase.workflow.as_deref());
        named.any(|path| locate(&folder.join(path)).is_ok_and(|file| self.leads_back(&file, seen)))
    }
}

/// Returns the names of what is in a folder; none of one that cannot be read.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

impl Files for WorkflowFolder {
    fn look(&self, path: &str) -> PathState {
        match fs::metadata(self.folder.join(path)) {
            Ok(found) if found.is_dir() => PathState::Folder { empty: false },
            Ok(found) if found.is_file() => PathState::File { bytes: found.len() },
            Ok(_) => PathState::Unreadable,
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => PathState::Unreadable,
            Err(_) => PathState::Missing,
        }
    }

    fn has_program(&self, program: &str) -> bool {
        // Joining an absolute path gives that path; a plain name is looked for in PATH.
        let program = if program.contains('/') { self.folder.join(program) } else { PathBuf::from(program) };
        find_program(&program, std::env::var_os("PATH").as_deref()).is_some()
    }

    fn is_in_workspace(&self, path: &str) -> bool {
        self.workspace.join(path).exists()
    }

    fn names(&self, folder: &str) -> Vec<String> {
        names(&self.folder.join(folder))
    }

    fn names_in_workspace(&self, folder: &str) -> Vec<String> {
        names(&self.workspace.join(folder))
    }

    fn nested(&self, path: &str) -> Option<NestedWorkflow> {
        let file = locate(&self.folder.join(path)).ok().filter(|file| file.is_file())?;
        let workflow = Input::File(file.clone()).read().ok().and_then(|bytes| workflow::read(&bytes).workflow);
        Some(NestedWorkflow { workflow, leads_back: self.leads_back(&file, &mut Vec::new()) })
    }

    fn has_variable(&self, name: &str) -> bool {
        std::env::var_os(name).is_some_and(|value| !value.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_by_name_and_by_path() {
        let around = WorkflowFolder::new(Path::new("/bin/workflow.yaml"), Path::new("."));
        assert!(around.has_program("sh") && around.has_program("./sh"));
        assert!(!around.has_program("no-such-program-here") && !around.has_program("./no-such-program-here"));
        let around = WorkflowFolder::new(Path::new("/etc/workflow.yaml"), Path::new("."));
        assert!(!around.has_program("./passwd"), "it cannot be executed");
    }

    #[test]
    fn a_name_alone_is_in_the_working_folder() {
        assert_eq!(folder_of(Path::new("workflow.yaml")), Path::new("."));
        assert_eq!(folder_of(Path::new("a/workflow.yaml")), Path::new("a"));
    }
}
