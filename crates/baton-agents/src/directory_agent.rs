//! Agents that only know folders: a request is written, and whatever comes back is the answer.
//!
//! The name of the request follows from the handoff and from how many attempts have ended, so a driver that was killed
//! finds what it had begun. Retries and timeouts are those of the folders; what has failed there has failed for good.
//! Only a request that nobody picked up in time is given up here, and may be made again.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use baton_engine::agent::{Agent, EndedTurn, Job, Reply, Update, Updates};
use baton_engine::failure::{Code, Failure, Transience};
use baton_engine::handoff::WrittenDocument;
use baton_engine::retry::Policy;
use baton_engine::{Clock, HandoffId};
use baton_host::{SharedFolder, open_regular};
use baton_protocol::convert::convert;
use baton_protocol::wire::Label;
use baton_protocol::{Dialect, Hints, workflow};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::ReachFault;
use crate::directory::{
    Directory, DirectoryError, Folder, FolderHandoff, NewFolderHandoff, Priority, TIMEOUT_DEFAULT, WaitEnd,
};
use crate::process::permanent;

/// Who asks where the request does not say.
const FROM: &str = "@orchestrator";

/// How long a thread waits before it looks whether anybody still wants to know.
const SLICE: Duration = Duration::from_millis(200);

/// An agent that takes its work from a folder.
#[derive(Clone)]
pub struct DirectoryAgent {
    name: String,
    root: PathBuf,
    schemas: Option<PathBuf>,
    input_schema: Option<String>,
    output_schema: Option<String>,
    timeout: Option<Duration>,
    pick_up_within: Option<Duration>,
    policy: Policy,
    clock: Arc<dyn Clock>,
}

impl DirectoryAgent {
    /// Makes an agent from what a workflow says; the error says why it cannot be reached.
    pub fn new(
        name: &str,
        agent: &workflow::AgentFields,
        workflow_folder: &Path,
        clock: Arc<dyn Clock>,
    ) -> Result<DirectoryAgent, ReachFault> {
        let Some(root) = agent.directory.as_ref().filter(|root| !root.is_empty()) else {
            return Err(ReachFault::NoDirectory(name.to_owned()));
        };
        Ok(DirectoryAgent {
            name: name.to_owned(),
            root: PathBuf::from(root),
            schemas: agent.schemas.as_ref().map(|schemas| workflow_folder.join(schemas)),
            input_schema: agent.input_schema.clone(),
            output_schema: agent.output_schema.clone(),
            timeout: agent.timeout.map(workflow::Duration::as_std),
            pick_up_within: agent.pick_up_within.map(workflow::Duration::as_std),
            policy: Policy::of_workflow(agent.retry.as_ref()),
            clock,
        })
    }

    async fn try_attempt(&self, job: &Job, updates: &Updates) -> Result<Reply, Failure> {
        let id = format!("{}-{}", job.handoff, job.ended.saturating_add(1));
        let id = HandoffId::parse(id).map_err(|fault| permanent(Code::processing_error(), fault.to_string()))?;
        let new = self.request(job, &id);
        let patience = job.pick_up_within.or(self.pick_up_within).unwrap_or(new.timeout);
        let begun = self.clock.now();
        // What is handed over belongs to the run, not to the workflow: it lies in the workspace.
        let agent = DirectoryAgent { root: job.workspace.join(&self.root), ..self.clone() };
        in_place(&job.workspace, &agent.root)?;
        let directory = Arc::new(blocking(move || agent.create(&new)).await?.map_err(|error| told(&error))?);
        let mut lying = Lying { lies: false, updates };
        lying.seen(&directory, &id, Folder::Pending, self.clock.now());
        loop {
            let (folders, wanted, clock) = (Arc::clone(&directory), id.clone(), Arc::clone(&self.clock));
            let waited = blocking(move || match folders.wait(&wanted, Some(SLICE.min(patience)), &|| clock.now())? {
                WaitEnd::TimedOut(Folder::Pending) => {
                    let given_up = folders.give_up_unclaimed(&wanted, begun, patience, clock.now())?;
                    Ok((Folder::Pending, given_up.map(|failed| Err(unclaimed(&failed.handoff)))))
                }
                WaitEnd::TimedOut(folder) => Ok((folder, None)),
                WaitEnd::Failed(handoff) => Ok((Folder::Failed, Some(Err(failure(&handoff))))),
                WaitEnd::Completed(handoff) => Ok((Folder::Completed, Some(Ok(handoff)))),
            });
            let (folder, answer): (Folder, Option<Result<FolderHandoff, Failure>>) =
                waited.await?.map_err(|error| told(&error))?;
            lying.seen(&directory, &id, folder, self.clock.now());
            if let Some(answer) = answer {
                return self.reply(&directory, job, &id, answer?);
            }
        }
    }

    /// Turns an answer into what the agent said.
    fn reply(
        &self,
        directory: &Directory,
        job: &Job,
        id: &HandoffId,
        mut answer: FolderHandoff,
    ) -> Result<Reply, Failure> {
        // The agent names its artifact as seen from its folder, everybody else sees it from the workspace.
        let places = [directory.root(), job.workspace.as_path()];
        let made = answer
            .artifact_path()
            .and_then(|path| places.map(|place| place.join(path)).into_iter().find(|path| path.exists()));
        if let Some(path) = &made {
            let seen = seen_from_workspace(path, directory.root(), job, id);
            answer.set_artifact_path(&seen.to_string_lossy());
        }
        if let Some(schema) = &self.output_schema {
            directory.check_answer(&answer, made.as_deref(), schema).map_err(|error| told(&error))?;
        }
        let text = serde_json::to_string_pretty(&answer.to_value()).unwrap_or_default();
        let path = std::path::absolute(directory.path(Folder::Completed, id)).ok();
        let source = directory.path(Folder::Completed, id).display().to_string();
        Ok(Reply { text, source, path, answers: Some(id.to_string()), ..Reply::default() })
    }

    /// Writes the request, unless it is there since an attempt that a crash ended.
    fn create(&self, new: &NewFolderHandoff) -> Result<Directory, DirectoryError> {
        let opened = match Directory::open(&self.root) {
            Err(DirectoryError::NoFolder { .. }) => Directory::init(&self.root),
            other => other,
        };
        let directory = match &self.schemas {
            Some(schemas) => opened?.schemas_in(schemas),
            None => opened?,
        };
        match directory.create(new, self.clock.now()) {
            Ok(_) | Err(DirectoryError::Exists { .. }) => Ok(directory),
            Err(error) => Err(error),
        }
    }

    fn request(&self, job: &Job, id: &HandoffId) -> NewFolderHandoff {
        let asked = asked(&job.request);
        let mut context = asked.get("context").and_then(Value::as_object).cloned().unwrap_or_default();
        // What the project says about itself beside the folders goes with every request.
        for (name, file) in PROJECT_FILES {
            if let Some(known) =
                project_file(&job.workspace, &job.workspace.join(&self.root).join("context").join(file))
            {
                context.entry(name).or_insert(known);
            }
        }
        let ours: [(&str, Value); 5] = [
            ("run", job.run.as_str().into()),
            ("phase", job.phase.as_str().into()),
            ("workspace", job.workspace.to_string_lossy().into()),
            ("output_directory", job.output_directory.to_string_lossy().into()),
            ("prompt", job.prompt.as_str().into()),
        ];
        // What other agents said may have any name; what the agent is told does not give way to it.
        context.extend(ours.map(|(name, value)| (name.to_owned(), value)));
        let text = |pointer: &str| asked.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
        let from = text("/source/agent_id")
            .map_or_else(|| FROM.to_owned(), |from| format!("@{}", from.trim_start_matches('@')));
        NewFolderHandoff {
            id: Some(id.clone()),
            from_phase: label(asked.pointer("/source/phase")),
            to_phase: label(asked.pointer("/target/phase")),
            input_schema: self.input_schema.clone().or_else(|| text("/input/schema")),
            context,
            output_type: text("/expected_output/artifact_type"),
            output_schema: self.output_schema.clone().or_else(|| text("/expected_output/schema")),
            destination: text("/expected_output/destination"),
            timeout: job.timeout.or(self.timeout).unwrap_or(TIMEOUT_DEFAULT),
            priority: text("/priority").and_then(|word| Priority::parse(&word)).unwrap_or(Priority::Normal),
            policy: self.policy,
            ..NewFolderHandoff::new(
                from,
                format!("@{}", self.name.trim_start_matches('@')),
                input(&asked, &job.request),
            )
        }
    }
}

#[async_trait]
impl Agent for DirectoryAgent {
    async fn turn(&self, job: &Job, updates: &Updates) -> EndedTurn {
        self.try_attempt(job, updates).await.into()
    }
}

/// What a project keeps about itself in `context/`, and the member of a request's context that carries it.
const PROJECT_FILES: [(&str, &str); 2] = [("project", "project-context.json"), ("tech_stack", "tech-stack.json")];

/// The largest such file that requests carry; a larger one is read where it is.
const PROJECT_FILE_BYTES_MAX: u64 = 64 * 1024;

fn project_file(workspace: &Path, path: &Path) -> Option<Value> {
    let folder = SharedFolder::open(workspace, path.parent()?).ok()?;
    serde_json::from_slice(&folder.read(path.file_name()?, PROJECT_FILE_BYTES_MAX).ok()??).ok()
}

/// A request that lies in the folder until somebody picks it up.
struct Lying<'u> {
    lies: bool,
    updates: &'u Updates,
}

impl Lying<'_> {
    /// Takes note of where the request is, and tells when that changes.
    fn seen(&mut self, directory: &Directory, id: &HandoffId, folder: Folder, now: Timestamp) {
        let update = match (folder, self.lies) {
            (Folder::Pending, false) if is_ready(directory, id, now) => {
                Update::Waiting { place: directory.path(folder, id).display().to_string() }
            }
            (Folder::InProgress | Folder::Completed | Folder::Failed, true) => Update::PickedUp,
            (Folder::Pending, _) | (Folder::InProgress | Folder::Completed | Folder::Failed, false) => return,
        };
        self.lies = folder == Folder::Pending;
        // A hint; nobody may listen.
        let _ = self.updates.send(update);
    }
}

/// Returns whether a request can be picked up: between two attempts it cannot for a while.
fn is_ready(directory: &Directory, id: &HandoffId, now: Timestamp) -> bool {
    let waiting = directory.look(id).ok().and_then(|located| located.handoff);
    waiting.is_some_and(|handoff| handoff.time("not_before").is_none_or(|time| time <= now))
}

/// Returns the path of an artifact in the workspace. One that lies in a folder outside is copied to the output directory.
fn seen_from_workspace(made: &Path, root: &Path, job: &Job, id: &HandoffId) -> PathBuf {
    let lies_in = |folder: &Path| match (made.canonicalize(), folder.canonicalize()) {
        (Ok(made), Ok(folder)) => made.starts_with(folder),
        _ => false,
    };
    let inner = |path: &Path| path.strip_prefix(&job.workspace).unwrap_or(path).to_owned();
    // Only what the agent was given may be copied: it could name any file of this machine.
    if lies_in(&job.workspace) || !lies_in(root) || !made.is_file() {
        return inner(made);
    }
    let folder = job.output_directory.join(id.as_str());
    let copy = folder.join(made.file_name().unwrap_or_default());
    match copied(made, &copy, &job.workspace) {
        Ok(()) => inner(&copy),
        // Nobody can see it there, and the evidence tells that.
        Err(_) => inner(made),
    }
}

/// Copies a file that somebody else has made to a place where somebody else may have put anything.
fn copied(made: &Path, copy: &Path, workspace: &Path) -> io::Result<()> {
    let mut from = open_regular(made)?;
    let folder = copy.parent().unwrap_or(workspace);
    let mut to = SharedFolder::make(workspace, folder)?.create(copy.file_name().unwrap_or_default())?;
    io::copy(&mut from, &mut to).map(drop)
}

/// Makes sure that no link leads to the folders of handoffs: what another agent has linked may lead anywhere.
fn in_place(workspace: &Path, root: &Path) -> Result<(), Failure> {
    let handoffs = Folder::ALL.map(|folder| root.join("handoffs").join(folder.as_str()));
    for folder in handoffs.into_iter().chain(["artifacts", "context", "schemas"].map(|name| root.join(name))) {
        let stays =
            SharedFolder::stays_below(workspace, &folder).and_then(|()| SharedFolder::stays_below(root, &folder));
        stays.map_err(|why| {
            let message = format!("cannot hand anything over in {}: {why}", root.display());
            permanent(Code::processing_error(), message)
        })?;
    }
    Ok(())
}

/// Does what waits for the disk or for others on a thread that may.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Failure> {
    let lost = |error| Failure::new(Code::processing_error(), format!("the wait was lost: {error}"));
    tokio::task::spawn_blocking(work).await.map_err(lost)
}

/// Returns the request as the folders write it.
fn asked(request: &WrittenDocument) -> Value {
    let reading = baton_protocol::read(request.text.as_bytes(), Hints::default());
    let converted = match (&reading.document, reading.dialect) {
        (Some(document), Some(dialect)) => convert(document, dialect, Dialect::Mailbox).ok(),
        _ => None,
    };
    converted.map_or(Value::Object(Map::new()), |converted| converted.value)
}

/// Reads a phase.
fn label(value: Option<&Value>) -> Option<Label> {
    match value? {
        Value::Number(number) => Some(Label::Number(number.clone())),
        Value::String(name) => Some(Label::Name(name.clone())),
        _ => None,
    }
}

/// Returns what to work on; the whole request where it does not say.
fn input(asked: &Value, request: &WrittenDocument) -> Value {
    let said = asked.pointer("/input/data").cloned().filter(|input| !input.is_null());
    said.or_else(|| serde_json::from_str(&request.text).ok()).unwrap_or_else(|| json!({ "request": request.text }))
}

/// Returns what went wrong on the other side. The folders have tried again as often as was agreed.
fn failure(handoff: &FolderHandoff) -> Failure {
    let code = handoff.text(&["error", "code"]).and_then(|code| Code::parse(code).ok());
    let message = handoff.text(&["error", "message"]).unwrap_or("the agent failed and did not say why");
    permanent(code.unwrap_or_else(Code::processing_error), message)
}

/// Returns that nobody was there. Somebody may be next time, so it is tried again as often as the workflow says.
fn unclaimed(handoff: &FolderHandoff) -> Failure {
    Failure::new(Code::timeout(), failure(handoff).message)
}

fn told(error: &DirectoryError) -> Failure {
    match error {
        DirectoryError::Violations { what, violations, .. } => {
            let places = violations.iter().map(|found| format!("\n{}: {}", found.pointer, found.message));
            // What was made may be better next time; what was asked stays as it is.
            let chance = if *what == "the output" { Transience::Transient } else { Transience::Permanent };
            let message = format!("{error}{}", places.collect::<String>());
            Failure { chance, ..Failure::new(Code::schema_validation_failed(), message) }
        }
        DirectoryError::MissingSchema { .. } | DirectoryError::BrokenSchema { .. } => {
            permanent(Code::dependency_missing(), error.to_string())
        }
        _ => Failure::new(Code::processing_error(), error.to_string()),
    }
}
