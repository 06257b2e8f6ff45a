//! Where the command of an attempt works: its workspace, its files, and the variables that tell it about them.

use std::ffi::OsString;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use baton_agents::AttemptFiles;
use baton_agents::process::WORKSPACE;
use baton_agents::workspace::WorkspaceFolder;
use baton_engine::driver::QueueBrief;
use baton_engine::evidence::Scene;
use baton_engine::run::attempt_folder;
use baton_engine::{Code, Failure};

use crate::own_folder;
use crate::random;

/// Where the command of an attempt works.
pub(super) struct Workplace {
    /// What it is told, and where it answers.
    pub files: AttemptFiles,
    /// The prompt.
    pub prompt: String,
    /// What evidence looks at, in a run.
    pub scene: Option<Scene>,
    /// The workspace; where the worker was started if there is none on this machine.
    pub folder: Option<PathBuf>,
    variables: Vec<(&'static str, OsString)>,
    _temporary: Option<TemporaryFolder>,
}

impl Workplace {
    /// Makes the files of an attempt: in the workspace of its run, as for agents that a driver starts, or else in a
    /// folder that lasts as long as the attempt.
    pub(super) fn prepare(brief: QueueBrief, given: Option<&WorkspaceFolder>) -> Result<Workplace, Failure> {
        let QueueBrief { mut job, workflow_folder, scene, .. } = brief;
        let theirs = Some(job.workspace.as_path()).filter(|path| path.is_absolute() && path.is_dir());
        let folder = given.map(WorkspaceFolder::root).or(theirs).map(Path::to_owned);
        let mut variables: Vec<(&'static str, OsString)> = Vec::new();
        variables.extend(folder.iter().map(|folder| (WORKSPACE, folder.into())));
        let mut temporary = None;
        match (job.phase.is_empty(), &folder) {
            (false, Some(workspace)) => {
                // The same workspace may have another path on this machine.
                let output = job.output_directory.strip_prefix(&job.workspace).unwrap_or(&job.output_directory);
                variables.push(("BATON_OUTPUT_DIRECTORY", workspace.join(output).into()));
                job.folder = attempt_folder(workspace, &job.run, &job.handoff, job.fence);
                let made = own_folder::make_below(workspace, &job.folder);
                made.map_err(|error| not_made(&job.folder, &error))?;
            }
            _ => job.folder = temporary.insert(TemporaryFolder::make()?).0.clone(),
        }
        if !job.phase.is_empty() {
            variables.push(("BATON_PHASE", job.phase.clone().into()));
        }
        variables.extend(job.traceparent.take().map(|parent| ("TRACEPARENT", parent.into())));
        // A server does not tell where on its machine that is.
        if let Some(workflow_folder) = workflow_folder {
            variables.push(("BATON_WORKFLOW_DIRECTORY", workflow_folder.into()));
        }
        let files = AttemptFiles::prepare(&job, own_folder::workspace_of(&job.folder))?;
        variables.extend(files.variables().map(|(name, path)| (name, path.into())));
        Ok(Workplace { files, prompt: job.prompt, scene, folder, variables, _temporary: temporary })
    }

    /// Returns the variables that tell the command where it works.
    pub(super) fn variables(&self) -> impl Iterator<Item = (&'static str, &OsString)> {
        self.variables.iter().map(|(name, value)| (*name, value))
    }

    /// Returns what the command said: its report file, or else what it wrote to stdout.
    pub(super) fn said(&self, stdout: Vec<u8>) -> Result<Vec<u8>, Failure> {
        let filed = self.files.report()?.map(String::into_bytes);
        Ok(filed.unwrap_or_else(|| without_prompt(stdout, &self.prompt)))
    }
}

/// Takes out the prompt. It holds a valid example, and a command that only repeats it has not reported.
fn without_prompt(stdout: Vec<u8>, prompt: &str) -> Vec<u8> {
    match std::str::from_utf8(&stdout) {
        Ok(text) if text.contains(prompt.trim()) => text.replace(prompt.trim(), "").into_bytes(),
        Ok(_) | Err(_) => stdout,
    }
}

/// A folder that only we can look into, and that goes with us.
struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    fn make() -> Result<TemporaryFolder, Failure> {
        let path = std::env::temp_dir().join(format!("baton-{}", random::word()));
        let made = DirBuilder::new().mode(0o700).create(&path);
        made.map(|()| TemporaryFolder(path.clone())).map_err(|error| not_made(&path, &error))
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // What cannot be removed is left to whoever cleans temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn not_made(path: &Path, error: &io::Error) -> Failure {
    Failure::new(Code::processing_error(), format!("cannot make the folder {}: {error}", path.display()))
}
