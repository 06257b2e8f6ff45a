//! The port of a server to this machine.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use baton_engine::agent::Job;
use baton_engine::definition::Definition;
use baton_engine::driver::HandInWay;
use baton_engine::engine::Problem;
use baton_engine::evidence::{ChangedFile, SeenFile};
use baton_engine::handoff::{Handoff, Terms};
use baton_engine::run::attempt_folder;
use baton_engine::store::{ClaimedHandoff, Order, StoreError};
use baton_engine::{Fence, RunId};
use baton_protocol::workflow::{AgentFields, InputDeclaration, Workflow};
use baton_server::{
    AttemptFile, AttemptTexts, ClaimBriefing, Exhibit, HostProblem, KnownInput, KnownWorkflow, RunStart, ServerHost,
};

use crate::briefing::{self, Briefing};
use crate::command_error::CommandError;
use crate::config::Config;
use crate::exhibits::Exhibits;
use crate::output::Output;
use crate::running::{self, Started};
use crate::store::Session;
use crate::{logs, random, workflow_file};

/// This machine, as a server needs it.
pub(crate) struct ServerMachine {
    session: Arc<Session>,
    config: Config,
    /// Where workflows are.
    workflows: Vec<PathBuf>,
    /// Where agents work.
    workspace: PathBuf,
    output: Output,
}

impl ServerMachine {
    pub(crate) fn new(
        session: Arc<Session>,
        config: Config,
        workflows: Vec<PathBuf>,
        workspace: PathBuf,
        output: Output,
    ) -> ServerMachine {
        ServerMachine { session, config, workflows, workspace, output }
    }

    /// Looks whether the workflows that somebody named can be used.
    pub(crate) fn check(&self, named: &[PathBuf]) -> Result<(), CommandError> {
        named.iter().try_for_each(|path| workflow_file::open(path).map(drop))
    }

    /// Returns the workflows that can be read now, each with its path. Files may change while the server runs.
    fn readable(&self) -> impl Iterator<Item = (&Path, Workflow)> {
        let opened = |path: &'_ PathBuf| workflow_file::open(path).ok().map(|opened| opened.workflow);
        self.workflows.iter().filter_map(move |path| Some((path.as_path(), opened(path)?)))
    }
}

#[async_trait]
impl ServerHost for ServerMachine {
    fn workflows(&self) -> Vec<KnownWorkflow> {
        self.readable().map(|(_, workflow)| known(&workflow)).collect()
    }

    fn definition(&self, start: RunStart) -> Result<(RunId, Definition), HostProblem> {
        let RunStart { workflow: name, inputs, workspace, id } = start;
        let found = self.readable().find(|(_, workflow)| workflow.name.as_deref() == Some(&*name));
        let Some((path, workflow)) = found else {
            let names: Vec<String> = self.readable().filter_map(|(_, workflow)| workflow.name).collect();
            let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            let hint = Some(format!("known here: {known}"));
            return Err(HostProblem {
                is_unknown: true,
                pointer: Some("/workflow"),
                message: format!("unknown workflow `{name}`"),
                hint,
            });
        };
        let workspace = inside(&self.workspace, workspace.as_deref().unwrap_or_default())?;
        let are_wrong = Definition::inputs(&workflow, inputs.clone()).is_err();
        let started =
            Started { path, inputs, workspace: &workspace, input_hint: "give it in `inputs`", simulated: false };
        let wrong = |error| HostProblem { pointer: are_wrong.then_some("/inputs"), ..unusable(error) };
        let definition = running::definition(started, &self.config).map_err(wrong)?;
        let id = id.unwrap_or_else(|| running::new_run_id(definition.name()));
        Ok((id, definition))
    }

    fn workspace(&self) -> &Path {
        &self.workspace
    }

    fn tell_store(&self, trouble: Option<&StoreError>) {
        match trouble {
            Some(error) => self.output.error(&error.clone().into()),
            None => self.output.note("the store can be used again"),
        }
    }

    fn is_dead(&self, claimant: &str) -> bool {
        running::is_dead(claimant)
    }

    async fn brief(&self, claimed: &ClaimedHandoff, way: HandInWay) -> Result<ClaimBriefing, Problem> {
        let (engine, handoff) = (&self.session.engine, &claimed.handoff);
        let missing_artifacts = match &handoff.terms.step {
            Some(_) => {
                let definition = engine.definition_of(handoff).await?;
                let workspace = briefing::workspace(definition.as_ref());
                workspace.map(|folder| briefing::missing_artifacts(&claimed.request, &folder)).unwrap_or_default()
            }
            None => Vec::new(),
        };
        match briefing::brief_elsewhere(engine, claimed, way).await? {
            Ok(Briefing { brief, yardstick, .. }) => {
                let state = self.session.state.as_ref();
                if let Some(known) = briefing::remember(handoff, brief.scene.as_ref(), state).await {
                    // A claim that is lost by now needs none.
                    let _ = engine.store.apply(Order::new(handoff.id.clone(), known), engine.now()).await;
                }
                let Job { prompt, phase, workspace, output_directory, traceparent, .. } = brief.job;
                let inside = output_directory.strip_prefix(&workspace).unwrap_or(&output_directory);
                Ok(ClaimBriefing {
                    prompt: Some(prompt),
                    missing_artifacts,
                    handed_over: engine.files_handed_to(handoff).await?,
                    shortened: brief.shortened,
                    output_directory: (!phase.is_empty()).then(|| inside.to_owned()),
                    phase,
                    yardstick: Some(yardstick),
                    traceparent: traceparent.filter(|_| self.session.telemetry().is_some()),
                    ..ClaimBriefing::default()
                })
            }
            Err(why) => Ok(ClaimBriefing { no_prompt: Some(why), missing_artifacts, ..ClaimBriefing::default() }),
        }
    }

    async fn changed(&self, handoff: &Handoff, fence: Fence) -> Vec<String> {
        if handoff.fence != fence {
            return Vec::new();
        }
        let definition = self.session.engine.definition_of(handoff).await.ok().flatten();
        briefing::changed_since_claimed(handoff, definition.as_ref(), self.session.state.as_ref()).await
    }

    async fn attempt(&self, definition: &Definition, handoff: &Handoff, attempt: Fence) -> AttemptTexts {
        let read = |folder: PathBuf| AttemptTexts {
            prompt: logs::beginning(&folder.join("prompt.md")),
            output: logs::ends(&folder),
        };
        in_attempt(definition, handoff, attempt, read).await.unwrap_or_default()
    }

    async fn attempt_file(
        &self,
        definition: &Definition,
        handoff: &Handoff,
        attempt: Fence,
        file: AttemptFile,
    ) -> Option<String> {
        let read = move |folder: PathBuf| match file {
            AttemptFile::Prompt => logs::whole_file(&folder.join("prompt.md")),
            AttemptFile::Log => logs::whole(&folder),
        };
        in_attempt(definition, handoff, attempt, read).await.flatten()
    }

    async fn exhibits(&self, run: &RunId, definition: Option<&Definition>, files: &[SeenFile]) -> Vec<Exhibit> {
        let workspace = definition.map(|definition| definition.workspace.as_path());
        Exhibits::in_store(&self.session.store).files(run, workspace, files).await
    }

    async fn changes(&self, run: &RunId, files: &[ChangedFile]) -> Vec<Exhibit> {
        Exhibits::in_store(&self.session.store).changes(run, files).await
    }

    fn secret(&self) -> Result<[u8; 32], HostProblem> {
        random::secret().map_err(unusable)
    }
}

/// Reads something of the folder of an attempt, if that is where it should be.
async fn in_attempt<T: Send + 'static>(
    definition: &Definition,
    handoff: &Handoff,
    attempt: Fence,
    read: impl FnOnce(PathBuf) -> T + Send + 'static,
) -> Option<T> {
    let workspace = definition.workspace.clone();
    let folder = attempt_folder(&workspace, &handoff.run, &handoff.id, attempt);
    let read = move || is_really_inside(&folder, &workspace).then(|| read(folder));
    tokio::task::spawn_blocking(read).await.ok().flatten()
}

/// Returns whether a folder is where its path says. Agents can write there, and could put a link to a folder in its place
/// that they may not read.
fn is_really_inside(folder: &Path, workspace: &Path) -> bool {
    let Ok(inside) = folder.strip_prefix(workspace) else { return false };
    let (Ok(folder), Ok(workspace)) = (folder.canonicalize(), workspace.canonicalize()) else { return false };
    folder == workspace.join(inside)
}

fn known(workflow: &Workflow) -> KnownWorkflow {
    let name = workflow.name.clone().unwrap_or_default();
    let input = |(name, declared): (&str, &InputDeclaration)| {
        let InputDeclaration { description, default, required, .. } = declared.clone();
        KnownInput { name: name.to_owned(), description, default, required }
    };
    let queue = |(agent, fields): (&str, &AgentFields)| Terms::queue_for(&name, agent, fields);
    KnownWorkflow {
        queues: workflow.agents.iter().map(queue).collect(),
        description: workflow.description.clone(),
        inputs: workflow.inputs.iter().map(input).collect(),
        phases: workflow.phases.iter().map(|phase| phase.id().to_owned()).collect(),
        agents: workflow.agents.iter().map(|(name, _)| name.to_string()).collect(),
        name,
    }
}

/// Finds a folder inside another one. Nobody at a distance chooses where on this machine agents work, and a link that an agent
/// has left there does not either.
fn inside(folder: &Path, path: &str) -> Result<PathBuf, HostProblem> {
    let mut found = folder.to_owned();
    for part in Path::new(path).components() {
        match part {
            Component::Normal(name) if !name.as_encoded_bytes().starts_with(b".") => found.push(name),
            _ => return Err(outside("without `..` and without hidden folders")),
        }
        if found.is_symlink() {
            return Err(outside("and not a link"));
        }
    }
    Ok(found)
}

fn outside(what: &str) -> HostProblem {
    let message = format!("a workspace is a folder inside the server's workspace, {what}");
    HostProblem { is_unknown: false, pointer: Some("/workspace"), message, hint: None }
}

fn unusable(error: CommandError) -> HostProblem {
    HostProblem { is_unknown: false, pointer: None, message: error.message, hint: error.hints.into_iter().next() }
}
