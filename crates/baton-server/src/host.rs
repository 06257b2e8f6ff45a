//! What the machine provides, as a port: workflow files, workspaces, what is in them, and which processes are dead.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use baton_engine::definition::Definition;
use baton_engine::driver::HandInWay;
use baton_engine::engine::{Problem, Yardstick};
use baton_engine::evidence::{ChangedFile, SeenFile};
use baton_engine::handoff::Handoff;
use baton_engine::store::{ClaimedHandoff, StoreError};
use baton_engine::{Fence, RunId};
use baton_page::exhibit::Exhibit;
use serde_json::{Map, Value};

/// A workflow that runs can be started from.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownWorkflow {
    /// Its name.
    pub name: String,
    /// What it says about itself.
    pub description: Option<String>,
    /// What it must be given, in the order of the workflow.
    pub inputs: Vec<KnownInput>,
    /// Its phases, in order.
    pub phases: Vec<String>,
    /// Its agents.
    pub agents: Vec<String>,
    /// The queues in which their work waits.
    pub queues: Vec<String>,
}

/// Something that a workflow can be given, as it declares it.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownInput {
    /// Its name.
    pub name: String,
    /// What it is.
    pub description: Option<String>,
    /// What counts if nothing is given.
    pub default: Option<Value>,
    /// Whether a run cannot start without it.
    pub required: Option<bool>,
}

/// What a run is to be started with.
#[derive(Debug, Clone)]
pub struct RunStart {
    /// The name of the workflow.
    pub workflow: String,
    /// What it is given.
    pub inputs: Map<String, Value>,
    /// Where its agents work: a folder inside the server's workspace, or that itself.
    pub workspace: Option<String>,
    /// Its id, if the caller names it.
    pub id: Option<RunId>,
}

/// Why the machine could not provide something, with what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostProblem {
    /// Whether the thing that was named does not exist.
    pub is_unknown: bool,
    /// Which member of what was wanted is wrong, as a JSON pointer.
    pub pointer: Option<&'static str>,
    /// What happened.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}

/// What whoever has claimed a handoff is told beyond the request.
#[derive(Debug, Clone, Default)]
pub struct ClaimBriefing {
    /// The whole prompt, if one can be made.
    pub prompt: Option<String>,
    /// Why there is no prompt.
    pub no_prompt: Option<String>,
    /// Artifacts of the request that are not in the workspace.
    pub missing_artifacts: Vec<String>,
    /// The files that were handed over, as they were when they were examined.
    pub handed_over: Vec<SeenFile>,
    /// What was cut or left out of the prompt to fit the budget.
    pub shortened: Vec<String>,
    /// The phase that it is about; empty outside of a workflow.
    pub phase: String,
    /// Where the agent puts its output, inside the workspace.
    pub output_directory: Option<PathBuf>,
    /// What its report is judged by.
    pub yardstick: Option<Yardstick>,
    /// The attempt as the parent of the claimant's own spans, where spans are collected.
    pub traceparent: Option<String>,
}

/// A file of an attempt that people read as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptFile {
    /// What the agent was told.
    Prompt,
    /// What it has written.
    Log,
}

/// What an attempt at a handoff was told and has written, as far as that is on this machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AttemptTexts {
    /// What the agent was told.
    pub prompt: Option<String>,
    /// What it has written, or the end of it.
    pub output: Option<String>,
}

/// What the machine provides.
#[async_trait]
pub trait ServerHost: Send + Sync {
    /// Returns the workflows that runs can be started from.
    fn workflows(&self) -> Vec<KnownWorkflow>;

    /// Reads what a run is to be started with, and gives the run its id.
    fn definition(&self, start: RunStart) -> Result<(RunId, Definition), HostProblem>;

    /// Returns the folder of the server, in which or below which agents work.
    fn workspace(&self) -> &Path;

    /// Tells whoever runs the server why its store cannot be used, or with `None` that it can be again.
    fn tell_store(&self, trouble: Option<&StoreError>);

    /// Returns whether a claimant is known to be gone.
    fn is_dead(&self, claimant: &str) -> bool;

    /// Briefs whoever has claimed a handoff, and hands in the report in this way.
    async fn brief(&self, claimed: &ClaimedHandoff, way: HandInWay) -> Result<ClaimBriefing, Problem>;

    /// Lists what has changed since a claim, as far as that can be told here.
    async fn changed(&self, handoff: &Handoff, fence: Fence) -> Vec<String>;

    /// Returns what an attempt at a handoff of a run was told and has written.
    async fn attempt(&self, definition: &Definition, handoff: &Handoff, attempt: Fence) -> AttemptTexts;

    /// Returns all of a file of an attempt; `None` if it is not kept on this machine.
    async fn attempt_file(
        &self,
        definition: &Definition,
        handoff: &Handoff,
        attempt: Fence,
        file: AttemptFile,
    ) -> Option<String>;

    /// Shows files of a run as they were when they were examined, and what has changed in them.
    async fn exhibits(&self, run: &RunId, definition: Option<&Definition>, files: &[SeenFile]) -> Vec<Exhibit>;

    /// Shows files of a run that are not as they were when people decided about them: what has changed since.
    async fn changes(&self, run: &RunId, files: &[ChangedFile]) -> Vec<Exhibit>;

    /// Returns 256 bits that nobody can guess.
    fn secret(&self) -> Result<[u8; 32], HostProblem>;
}
