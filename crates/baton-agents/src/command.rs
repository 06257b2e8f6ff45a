//! Agents that are commands: started once for each attempt, told by a prompt, heard by what they write.
//!
//! What an attempt is told and what it says stays in its folder: `prompt.md`, the request, `stdout.log`, `stderr.log`
//! and `report.md`. The report may also be a file in the output directory. Whether it is any good is judged by others.

mod answer;
mod files;
mod output_files;
mod words;

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use baton_engine::agent::{Agent, EndedTurn, Job, Update, Updates};
use baton_engine::failure::{Code, Failure};
use baton_engine::protection::Protection;
use baton_protocol::workflow::{self, Confinement, PromptBy, ReportFrom};
use serde_json::Value;

use crate::ReachFault;
use crate::acknowledgment::AcknowledgmentFile;
use crate::confinement::{Ground, OURS};
use crate::process::{
    Cage, Environment, FENCE, GRACE, HANDOFF, Launch, Launcher, Mark, RUN, ResourceLimits, STDOUT_BYTES_MAX, Sink,
    WORKSPACE, not_started, permanent, size,
};
use crate::profile::{self, Recipe};
pub use files::AttemptFiles;
use output_files::OutputFiles;

/// The longest prompt that is given as an argument: Linux takes 128 KiB for one.
const ARGUMENT_BYTES_MAX: usize = 120 * 1024;

/// An agent that is a command.
#[derive(Debug, Clone)]
pub struct CommandAgent {
    program: PathBuf,
    arguments: Vec<String>,
    recipe: Option<&'static Recipe>,
    prompt: PromptBy,
    report: ReportFrom,
    env: Vec<String>,
    set_env: Vec<(String, String)>,
    workflow_folder: PathBuf,
    timeout: Option<Duration>,
    grace: Duration,
    launcher: Launcher,
}

impl CommandAgent {
    /// Makes an agent from what a workflow says; the error says why it cannot be reached.
    pub fn new(name: &str, agent: &workflow::AgentFields, workflow_folder: &Path) -> Result<CommandAgent, ReachFault> {
        let folder = std::path::absolute(workflow_folder)
            .map_err(|error| ReachFault::WorkflowFolder { path: workflow_folder.to_owned(), why: error.to_string() })?;
        let recipe = agent.profile.map(profile::recipe);
        let prompt = agent.prompt.unwrap_or(PromptBy::Stdin);
        let (program, mut arguments) = match (&agent.command, recipe) {
            (Some(_), Some(_)) => return Err(ReachFault::CommandAndProfile(name.to_owned())),
            (Some(command), None) if command.is_empty() => {
                return Err(ReachFault::EmptyCommand(name.to_owned()));
            }
            (Some(command), None) => words::of(command, &folder, prompt),
            (None, Some(recipe)) => (PathBuf::from(recipe.program), Vec::new()),
            (None, None) => return Err(ReachFault::NoCommand(name.to_owned())),
        };
        arguments.extend(agent.arguments.iter().cloned());
        Ok(CommandAgent {
            program,
            arguments,
            recipe,
            prompt,
            report: agent.report.unwrap_or(ReportFrom::Auto),
            env: agent.env.clone(),
            set_env: agent.set_env.iter().map(|(key, value)| set(name, key, value)).collect::<Result<_, _>>()?,
            workflow_folder: folder,
            timeout: agent.timeout.map(workflow::Duration::as_std),
            grace: GRACE,
            launcher: Launcher::default(),
        })
    }

    /// Lets a launcher start the command that knows what is out of reach.
    #[must_use]
    pub fn started_by(mut self, launcher: Launcher) -> CommandAgent {
        self.launcher = launcher;
        self
    }

    /// Changes how long a command whose time is up may take to end by itself.
    #[must_use]
    pub fn with_grace(mut self, grace: Duration) -> CommandAgent {
        self.grace = grace;
        self
    }

    async fn try_attempt(&self, job: &Job, updates: &Updates) -> Result<EndedTurn, Failure> {
        let output = OutputFiles::remember(&job.output_directory);
        let files = AttemptFiles::prepare(job)?;
        let launch = self.launch(job, &files)?;
        let (program, environment) = (launch.program.clone(), launch.environment.clone());
        let limit = job.timeout.or(self.timeout);
        let running = self.launcher.run(launch, limit, self.grace);
        let ended = tokio::select! {
            ended = running => ended.map_err(|error| not_started(&program, &error))?,
            never = tell(AcknowledgmentFile::at(&files.acknowledgment), updates) => match never {},
        };
        let asked = answer::AskedCommand {
            job,
            files: &files,
            output: &output,
            environment: &environment,
            report: self.report,
        };
        Ok(answer::of(&ended, self.recipe, &asked))
    }

    fn launch(&self, job: &Job, files: &AttemptFiles) -> Result<Launch, Failure> {
        if !job.workspace.is_dir() {
            let message = format!("the workspace {} is not a folder", job.workspace.display());
            return Err(permanent(Code::dependency_missing(), message));
        }
        let mut input = Vec::new();
        let mut arguments = self.recipe.map(|recipe| (recipe.arguments)(&files.folder)).unwrap_or_default();
        arguments.extend(self.arguments.iter().cloned());
        match self.prompt {
            PromptBy::Stdin => {
                arguments.extend(
                    self.recipe.into_iter().flat_map(|recipe| recipe.before_stdin).map(|&word| word.to_owned()),
                );
                input = job.prompt.clone().into_bytes();
            }
            PromptBy::Argument => {
                let before = self.recipe.into_iter().flat_map(|recipe| recipe.before_argument);
                arguments.extend(before.map(|&word| word.to_owned()));
                arguments.push(as_argument(&job.prompt)?);
            }
        }
        let environment = self.environment(job, files);
        let program = environment.find(&self.program);
        // Somebody else may run a workflow under the same name in another workspace at the same time.
        let mark = Mark::new([
            (RUN, job.run.to_string()),
            (HANDOFF, job.handoff.to_string()),
            (FENCE, job.fence.to_string()),
            (WORKSPACE, job.workspace.to_string_lossy().into_owned()),
        ]);
        let cage = self.cage(job, files, &environment);
        let log = |path: &Path| Sink::log(path).map_err(|error| files::unwritable(path, &error));
        Ok(Launch {
            arguments,
            folder: Some(job.workspace.clone()),
            environment,
            mark,
            input,
            stdout: log(&files.stdout)?,
            stderr: log(&files.stderr)?,
            stdout_bytes_max: self.recipe.map_or(STDOUT_BYTES_MAX, |recipe| recipe.stdout_bytes_max),
            cage,
            limits: ResourceLimits::of(&job.confinement.cage),
            ..Launch::new(program)
        })
    }

    /// Returns what the command may see and change.
    fn cage(&self, job: &Job, files: &AttemptFiles, environment: &Environment) -> Option<Cage> {
        let is_closed = job.writes.is_some() || job.output_directory.starts_with(job.workspace.join(OURS));
        if !job.confinement.off && is_closed {
            // Only what is there can be opened up. What cannot be made is missed by the command itself.
            let _ = std::fs::create_dir_all(&job.output_directory);
        }
        let ground = Ground {
            workspace: &job.workspace,
            writes: job.writes.as_deref(),
            own: vec![&job.output_directory, &files.folder],
            home: profile::home(self.recipe),
            environment,
        };
        ground.cage(&job.confinement)
    }

    /// Returns what the command sees. What a workflow sets wins over what is inherited, and ours wins over both.
    fn environment(&self, job: &Job, files: &AttemptFiles) -> Environment {
        let known = self.recipe.into_iter().flat_map(|recipe| recipe.inherits).copied();
        let mut environment = Environment::reduced(self.env.iter().map(String::as_str).chain(known));
        for (name, value) in &self.set_env {
            environment.set(name, value);
        }
        environment.set("BATON_ATTEMPT", job.attempt.to_string());
        environment.set("BATON_AGENT", &job.agent);
        environment.set("BATON_PHASE", &job.phase);
        environment.set(WORKSPACE, &job.workspace);
        environment.set("BATON_OUTPUT_DIRECTORY", &job.output_directory);
        environment.set("BATON_WORKFLOW_DIRECTORY", &self.workflow_folder);
        for (name, path) in files.variables() {
            environment.set(name, path);
        }
        environment
    }
}

#[async_trait]
impl Agent for CommandAgent {
    async fn turn(&self, job: &Job, updates: &Updates) -> EndedTurn {
        self.try_attempt(job, updates).await.unwrap_or_else(|failure| Err(failure).into())
    }

    fn protection(&self, confinement: &Confinement) -> Option<Protection> {
        Some(Launcher::protection_of(confinement))
    }
}

/// Tells what the command says about having understood, as long as it works.
async fn tell(mut file: AcknowledgmentFile, updates: &Updates) -> Infallible {
    loop {
        let text = file.next().await;
        // Whoever does not listen reads the last word when the command has ended.
        let _ = updates.send(Update::Acknowledged(text));
    }
}

fn as_argument(prompt: &str) -> Result<String, Failure> {
    let refused = |why: String| {
        let message =
            format!("the prompt cannot be an argument: {why}; let the agent read it from stdin (prompt: stdin)");
        Err(permanent(Code::processing_error(), message))
    };
    if prompt.len() > ARGUMENT_BYTES_MAX {
        return refused(format!("it has {}, and at most {ARGUMENT_BYTES_MAX} fit", size(prompt.len())));
    }
    if prompt.contains('\0') {
        return refused("there is a NUL in it".to_owned());
    }
    Ok(prompt.to_owned())
}

fn set(agent: &str, name: &str, value: &Value) -> Result<(String, String), ReachFault> {
    let value = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Bool(flag) => flag.to_string(),
        Value::Null => String::new(),
        Value::Array(_) | Value::Object(_) => {
            return Err(ReachFault::VariableNotText { agent: agent.to_owned(), name: name.to_owned() });
        }
    };
    if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
        return Err(ReachFault::VariableNotPossible { agent: agent.to_owned(), name: name.to_owned() });
    }
    Ok((name.to_owned(), value))
}
